; A kitchen with drawers, dishes and a robot, in the richer parts of PDDL.
(define (domain small-kitchen)
  (:requirements :adl :action-costs)
  (:types
    room thing - object
    furniture item - thing
    cupboard table - furniture
    dish tool - item
    robot - object)
  (:constants sink - furniture)
  (:predicates
    (robot-in ?r - room)
    (stands-in ?f - furniture ?r - room)
    (joined ?a ?b - room)
    (on ?i - item ?f - (either table cupboard))
    (in ?i - item ?c - cupboard)
    (opened ?c - cupboard)
    (dirty ?d - dish)
    (wet ?i - item)
    (holds ?r - robot ?i - item)
    (alarm))
  (:functions (total-cost) - number)
  (:action go
    :parameters (?who - robot ?from ?to - room)
    :precondition (and (robot-in ?from) (or (joined ?from ?to) (joined ?to ?from)) (not (= ?from ?to)))
    :effect (and (not (robot-in ?from)) (robot-in ?to) (increase (total-cost) 1)))
  (:action open
    :parameters (?who - robot ?c - cupboard ?r - room)
    :precondition (and (not (opened ?c)) (robot-in ?r) (stands-in ?c ?r))
    :effect (opened ?c))
  (:action shut
    :parameters (?who - robot ?c - cupboard ?r - room)
    :precondition (and (opened ?c) (robot-in ?r) (stands-in ?c ?r)
                       (forall (?d - dish) (imply (in ?d ?c) (not (dirty ?d)))))
    :effect (not (opened ?c)))
  (:action grasp
    :parameters (?who - robot ?i - item ?f - (either table cupboard) ?r - room)
    :precondition (and (robot-in ?r) (stands-in ?f ?r) (not (exists (?o - item) (holds ?who ?o))) (on ?i ?f))
    :effect (and (holds ?who ?i) (not (on ?i ?f))))
  (:action take-out
    :parameters (?who - robot ?i - item ?r - room)
    :precondition (and (robot-in ?r) (not (exists (?o - item) (holds ?who ?o)))
                       (exists (?c - cupboard) (and (in ?i ?c) (opened ?c) (stands-in ?c ?r))))
    :effect (and (holds ?who ?i) (forall (?c - cupboard) (when (in ?i ?c) (not (in ?i ?c))))))
  (:action lay
    :parameters (?who - robot ?i - item ?t - table ?r - room)
    :precondition (and (holds ?who ?i) (robot-in ?r) (stands-in ?t ?r))
    :effect (and (not (holds ?who ?i)) (on ?i ?t)))
  (:action stow
    :parameters (?who - robot ?i - item ?c - cupboard ?r - room)
    :precondition (and (holds ?who ?i) (robot-in ?r) (stands-in ?c ?r) (opened ?c))
    :effect (and (not (holds ?who ?i)) (in ?i ?c) (when (wet ?i) (alarm))))
  ; wash all that is dirty and on a table here, at the sink
  (:action wash
    :parameters (?who - robot ?r - room)
    :precondition (and (robot-in ?r) (stands-in sink ?r) (exists (?d - dish) (dirty ?d)))
    :effect (and (forall (?d - dish)
                   (when (exists (?t - table) (and (on ?d ?t) (stands-in ?t ?r))) (and (not (dirty ?d)) (wet ?d))))
                 (not (alarm)))))
