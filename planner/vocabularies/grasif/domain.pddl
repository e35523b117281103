; Rooms, things in them, a robot with one hand: the predicates and actions of LookPlanGraph's domain (appendix D), made
; from the operators by `python -m planner.prompts.domains.making`.
; Mended: what it uses is required; what is carried is in no room, so that it is nowhere twice, and what is in or on it
; comes along; the room of what a thing is taken from is not asked for, since it follows. Left as it is: affordances are
; not known here, and only what a thing is directly inside of can shut it in.
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
    :parameters (?here - room ?x - room)
    :precondition (robot-in ?here)
    :effect (and (not (robot-in ?here)) (robot-in ?x)))
  (:action pick_up
    :parameters (?x - object ?parent - object ?here - room)
    :precondition (and (robot-in ?here) (object-room ?x ?here) (hand-empty) (or (ontop ?x ?parent) (and (inside ?x ?parent) (not (closed ?parent)))))
    :effect (and (not (ontop ?x ?parent)) (not (inside ?x ?parent)) (not (object-room ?x ?here)) (forall (?c - object) (when (or (inside ?c ?x) (ontop ?c ?x)) (not (object-room ?c ?here)))) (agent-hold ?x) (not (hand-empty))))
  (:action put_on
    :parameters (?held - object ?x - object ?here - room)
    :precondition (and (agent-hold ?held) (robot-in ?here) (object-room ?x ?here))
    :effect (and (not (agent-hold ?held)) (hand-empty) (ontop ?held ?x) (object-room ?held ?here) (forall (?c - object) (when (or (inside ?c ?held) (ontop ?c ?held)) (object-room ?c ?here)))))
  (:action put_inside
    :parameters (?held - object ?x - object ?here - room)
    :precondition (and (agent-hold ?held) (robot-in ?here) (object-room ?x ?here) (not (closed ?x)))
    :effect (and (not (agent-hold ?held)) (hand-empty) (inside ?held ?x) (object-room ?held ?here) (forall (?c - object) (when (or (inside ?c ?held) (ontop ?c ?held)) (object-room ?c ?here)))))
  (:action turn_on
    :parameters (?x - object ?here - room)
    :precondition (and (not (on-state ?x)) (robot-in ?here) (object-room ?x ?here))
    :effect (on-state ?x))
  (:action turn_off
    :parameters (?x - object ?here - room)
    :precondition (and (on-state ?x) (robot-in ?here) (object-room ?x ?here))
    :effect (not (on-state ?x)))
  (:action open
    :parameters (?x - object ?here - room)
    :precondition (and (closed ?x) (robot-in ?here) (object-room ?x ?here))
    :effect (not (closed ?x)))
  (:action close
    :parameters (?x - object ?here - room)
    :precondition (and (not (closed ?x)) (robot-in ?here) (object-room ?x ?here))
    :effect (closed ?x)))
