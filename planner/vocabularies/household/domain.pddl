; Rooms, furniture and things in a home, a robot with one hand. What is carried is in no room, and what is in or on it
; comes along. Affordances are not known here, and only what a thing is directly inside of can shut it in.
(define (domain household)
  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions :universal-preconditions :conditional-effects)
  (:types room object)
  (:predicates
    (robot-in ?r - room)
    (in-room ?x - object ?r - room)
    (held ?x - object)
    (hand-empty)
    (on ?x - object ?y - object)
    (inside ?x - object ?y - object)
    (closed ?x - object)
    (on-state ?x - object))
  (:action go_to
    :parameters (?here - room ?x - room)
    :precondition (robot-in ?here)
    :effect (and (not (robot-in ?here)) (robot-in ?x)))
  (:action pick_up
    :parameters (?x - object ?here - room)
    :precondition (and (robot-in ?here) (in-room ?x ?here) (hand-empty) (forall (?c - object) (or (not (inside ?x ?c)) (not (closed ?c)))))
    :effect (and (held ?x) (not (hand-empty)) (not (in-room ?x ?here)) (forall (?y - object) (and (not (on ?x ?y)) (not (inside ?x ?y)))) (forall (?c - object) (when (or (inside ?c ?x) (on ?c ?x)) (not (in-room ?c ?here))))))
  (:action put_on
    :parameters (?x - object ?y - object ?here - room)
    :precondition (and (held ?x) (robot-in ?here) (in-room ?y ?here))
    :effect (and (not (held ?x)) (hand-empty) (on ?x ?y) (in-room ?x ?here) (forall (?c - object) (when (or (inside ?c ?x) (on ?c ?x)) (in-room ?c ?here)))))
  (:action put_in
    :parameters (?x - object ?y - object ?here - room)
    :precondition (and (held ?x) (robot-in ?here) (in-room ?y ?here) (not (closed ?y)))
    :effect (and (not (held ?x)) (hand-empty) (inside ?x ?y) (in-room ?x ?here) (forall (?c - object) (when (or (inside ?c ?x) (on ?c ?x)) (in-room ?c ?here)))))
  (:action open
    :parameters (?x - object ?here - room)
    :precondition (and (closed ?x) (robot-in ?here) (in-room ?x ?here))
    :effect (not (closed ?x)))
  (:action close
    :parameters (?x - object ?here - room)
    :precondition (and (not (closed ?x)) (robot-in ?here) (in-room ?x ?here))
    :effect (closed ?x))
  (:action switch_on
    :parameters (?x - object ?here - room)
    :precondition (and (not (on-state ?x)) (robot-in ?here) (in-room ?x ?here))
    :effect (on-state ?x))
  (:action switch_off
    :parameters (?x - object ?here - room)
    :precondition (and (on-state ?x) (robot-in ?here) (in-room ?x ?here))
    :effect (not (on-state ?x))))
