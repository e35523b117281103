; Things in a home, and an agent that walks up to them; one hand is enough for what is planned here.
(define (domain virtualhome)
  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions :universal-preconditions :conditional-effects)
  (:types object)
  (:predicates
    (near ?x - object)
    (held ?x - object)
    (hand-free)
    (on ?x - object ?y - object)
    (inside ?x - object ?y - object)
    (closed ?x - object)
    (on-state ?x - object))
  (:action walk
    :parameters (?x - object)
    :precondition (not (near ?x))
    :effect (and (forall (?y - object) (not (near ?y))) (near ?x)))
  (:action grab
    :parameters (?x - object)
    :precondition (and (near ?x) (hand-free) (forall (?c - object) (or (not (inside ?x ?c)) (not (closed ?c)))))
    :effect (and (held ?x) (not (hand-free)) (forall (?y - object) (and (not (on ?x ?y)) (not (inside ?x ?y))))))
  (:action put_on
    :parameters (?x - object ?y - object)
    :precondition (and (held ?x) (near ?y))
    :effect (and (not (held ?x)) (hand-free) (on ?x ?y)))
  (:action put_in
    :parameters (?x - object ?y - object)
    :precondition (and (held ?x) (near ?y) (not (closed ?y)))
    :effect (and (not (held ?x)) (hand-free) (inside ?x ?y)))
  (:action open
    :parameters (?x - object)
    :precondition (and (near ?x) (closed ?x) (hand-free))
    :effect (not (closed ?x)))
  (:action close
    :parameters (?x - object)
    :precondition (and (near ?x) (not (closed ?x)))
    :effect (closed ?x))
  (:action switch_on
    :parameters (?x - object)
    :precondition (and (near ?x) (not (on-state ?x)))
    :effect (on-state ?x))
  (:action switch_off
    :parameters (?x - object)
    :precondition (and (near ?x) (on-state ?x))
    :effect (not (on-state ?x))))
