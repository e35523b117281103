; Blocks on a table and an arm that holds one of them; nobody is named who acts.
(define (domain blocks-and-an-arm)
  (:requirements :strips :equality :negative-preconditions)
  (:predicates
    (on ?x ?y)
    (on-table ?x)
    (clear ?x)
    (hand-empty)
    (holding ?x))
  ; lift a block from the table
  (:action pick-up
    :parameters (?x)
    :precondition (and (clear ?x) (on-table ?x) (hand-empty))
    :effect (and (not (on-table ?x)) (not (clear ?x)) (not (hand-empty)) (holding ?x)))
  (:action put-down
    :parameters (?x)
    :precondition (holding ?x)
    :effect (and (not (holding ?x)) (clear ?x) (hand-empty) (on-table ?x)))
  ; lay the held block on another
  (:action stack
    :parameters (?x ?y)
    :precondition (and (holding ?x) (clear ?y) (not (= ?x ?y)))
    :effect (and (not (holding ?x)) (not (clear ?y)) (clear ?x) (hand-empty) (on ?x ?y)))
  ; lift a block from another
  (:action unstack
    :parameters (?x ?y)
    :precondition (and (on ?x ?y) (clear ?x) (hand-empty))
    :effect (and (holding ?x) (clear ?y) (not (clear ?x)) (not (hand-empty)) (not (on ?x ?y)))))
