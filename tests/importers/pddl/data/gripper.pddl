; A robot with two grippers carries balls between rooms.
(define (domain two-grippers)
  (:requirements :strips :typing)
  (:types room ball gripper robot)
  (:predicates
    (robot-at ?r - robot ?a - room)
    (at ?b - ball ?a - room)
    (free ?g - gripper)
    (carry ?b - ball ?g - gripper))
  ; go from one room to another
  (:action move
    :parameters (?r - robot ?from ?to - room)
    :precondition (robot-at ?r ?from)
    :effect (and (not (robot-at ?r ?from)) (robot-at ?r ?to)))
  ; take a ball of this room with a free gripper
  (:action pick
    :parameters (?r - robot ?b - ball ?a - room ?g - gripper)
    :precondition (and (at ?b ?a) (robot-at ?r ?a) (free ?g))
    :effect (and (carry ?b ?g) (not (at ?b ?a)) (not (free ?g))))
  ; put down what a gripper carries
  (:action drop
    :parameters (?r - robot ?b - ball ?a - room ?g - gripper)
    :precondition (and (carry ?b ?g) (robot-at ?r ?a))
    :effect (and (at ?b ?a) (free ?g) (not (carry ?b ?g)))))
