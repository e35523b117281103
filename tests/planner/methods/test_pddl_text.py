"""Parsing of PDDL problems written by a model."""

from __future__ import annotations

import pytest

from scenecypher.errors import ReplyRejected
from scenecypher.planner.methods.baselines.whole_plans import goal_facts, read_problem

PROBLEM = """Here it is:
(Define (problem P) (:domain d) ; a remark
  (:objects Cup-1 - object  kitchen)
  (:init (closed fridge-1) (not (closed cup-1)) (inside cup-1 fridge-1))
  (:goal (and (not (closed fridge-1)) (forall (?x - object) (inside ?x fridge-1)))))"""


def test_what_is_not_so_at_first_need_not_be_said() -> None:
    problem = read_problem(PROBLEM)
    assert problem.objects == {"cup-1": "object", "kitchen": "object"}
    assert problem.init == (("closed", "fridge-1"), ("inside", "cup-1", "fridge-1"))
    assert [*goal_facts(problem.goal)] == [(("closed", "fridge-1"), False), (("inside", "?x", "fridge-1"), True)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("go to the kitchen", "no PDDL problem"),
        ("(define (problem p)", "its brackets do not close"),
        ("(open fridge)", "no PDDL problem"),
        ("(define (problem p) (:objects) (:init))", "the problem lacks :goal"),
        ("(define (problem p) (:objects) (:init) (:goal))", "the problem lacks one goal"),
        ("(" * 100, "its brackets do not close"),
    ],
)
def test_what_is_no_problem_is_told(text: str, told: str) -> None:
    with pytest.raises(ReplyRejected, match=told):
        read_problem(text)
