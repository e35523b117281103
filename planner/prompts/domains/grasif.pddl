; Rooms, things in them, a robot with one hand: the predicates and actions of LookPlanGraph's domain (appendix D).
; Mended: what it uses is required; what is carried is in no room, so that it is nowhere twice, and what is in or on it
; comes along; what is put down is free of what it was on before. Left as it is: affordances are not known here, and
; only what a thing is directly inside of can shut it in.
(define (domain grasif)
  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions :universal-preconditions :conditional-effects)
  (:types room object agent)
  (:predicates
    (robot-in ?r - room)
    (object-room ?o - object ?r - room)
    (agent-hold ?o - object)
    (hand-empty)
    (ontop ?o - object ?s - object)
    (inside ?o - object ?c - object)
    (closed ?o - object)
    (on-state ?o - object))
  (:action go_to
    :parameters (?from - room ?to - room)
    :precondition (robot-in ?from)
    :effect (and (not (robot-in ?from)) (robot-in ?to)))
  (:action pick_up
    :parameters (?o - object ?s - object ?r - room)
    :precondition (and (robot-in ?r) (object-room ?o ?r) (hand-empty)
      (or (ontop ?o ?s) (and (inside ?o ?s) (not (closed ?s)))))
    :effect (and (agent-hold ?o) (not (hand-empty)) (not (ontop ?o ?s)) (not (inside ?o ?s)) (not (object-room ?o ?r))
      (forall (?c - object) (when (or (inside ?c ?o) (ontop ?c ?o)) (not (object-room ?c ?r))))))
  (:action put_on
    :parameters (?o - object ?s - object ?r - room)
    :precondition (and (robot-in ?r) (object-room ?s ?r) (agent-hold ?o))
    :effect (and (not (agent-hold ?o)) (hand-empty) (ontop ?o ?s) (object-room ?o ?r)
      (forall (?c - object) (when (or (inside ?c ?o) (ontop ?c ?o)) (object-room ?c ?r)))))
  (:action put_inside
    :parameters (?o - object ?c - object ?r - room)
    :precondition (and (robot-in ?r) (object-room ?c ?r) (agent-hold ?o) (not (closed ?c)))
    :effect (and (not (agent-hold ?o)) (hand-empty) (inside ?o ?c) (object-room ?o ?r)
      (forall (?d - object) (when (or (inside ?d ?o) (ontop ?d ?o)) (object-room ?d ?r)))))
  (:action turn_on
    :parameters (?d - object ?r - room)
    :precondition (and (robot-in ?r) (object-room ?d ?r) (not (on-state ?d)))
    :effect (on-state ?d))
  (:action turn_off
    :parameters (?d - object ?r - room)
    :precondition (and (robot-in ?r) (object-room ?d ?r) (on-state ?d))
    :effect (not (on-state ?d)))
  (:action open
    :parameters (?c - object ?r - room)
    :precondition (and (robot-in ?r) (object-room ?c ?r) (closed ?c))
    :effect (not (closed ?c)))
  (:action close
    :parameters (?c - object ?r - room)
    :precondition (and (robot-in ?r) (object-room ?c ?r) (not (closed ?c)))
    :effect (closed ?c)))
