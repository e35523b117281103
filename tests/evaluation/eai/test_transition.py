"""Transition modelling: parsing, and matching clause by clause; all cases are counted by hand."""

from __future__ import annotations

import json

import pytest

from scenecypher.evaluation.eai import transition
from scenecypher.evaluation.eai.pddl import (
    PddlAction,
    match_predicates,
    matching_brackets,
    parse_actions,
    parse_expression,
)
from scenecypher.evaluation.eai.scoring import interrupted_judgement
from scenecypher.evaluation.eai.task_table import value_of
from scenecypher.evaluation.eai.transition import asked_actions, gold_actions, judge_actions
from tests.evaluation.eai.recorded import RECORDED

TASK = "27_2"
ACTION = "(:action grab :parameters (?char - character ?obj - object) :precondition {} :effect {})"


@pytest.fixture(autouse=True)
def collect_streams() -> None:
    """Replace the collection after each test, since nothing here runs Inspect."""


def names(predicted: str, gold: str) -> tuple[set[str], set[str], set[str]]:
    found = match_predicates(predicted, gold)
    assert found is not None
    return set(found.hits), set(found.alarms), set(found.misses)


@pytest.mark.parametrize(
    ("predicted", "gold", "hits", "alarms", "misses"),
    [
        ("(and (a ?x) (b ?x))", "(and (b ?x) (a ?x))", {"a", "b"}, set(), set()),
        ("(and (a ?x) (c ?x))", "(and (a ?x) (b ?x))", {"a"}, {"c"}, {"b"}),
        ("(and (a ?x))", "(and (a ?x) (b ?x))", {"a"}, set(), {"b"}),
        ("(a ?x)", "(and (a ?x))", set(), {"a"}, {"a"}),
        ("(a ?x)", "(a ?y)", set(), {"a"}, {"a"}),
        ("()", "(and (a ?x))", set(), set(), {"a"}),
        ("(and (not (a ?x)))", "(and (not (a ?x)) (b ?x))", {"a"}, set(), {"b"}),
        ("(and (not (a ?x)))", "(and (a ?x))", set(), {"a"}, {"a"}),
        ("(and (when (a ?x) (b ?x)))", "(and (when (a ?x) (c ?x)))", set(), {"a", "b"}, {"a", "c"}),
        ("(exists (?y - object) (a ?y))", "(exists (?z - object) (a ?z))", {"a"}, set(), set()),
        ("(exists (?y - object) (a ?y))", "(forall (?y - object) (a ?y))", set(), {"a"}, {"a"}),
    ],
)
def test_predicates_that_agree_are_extra_or_missing(
    predicted: str, gold: str, hits: set[str], alarms: set[str], misses: set[str]
) -> None:
    assert names(predicted, gold) == (hits, alarms, misses)


def test_a_clause_that_agrees_elsewhere_also_counts_as_wrong() -> None:
    assert names("(and (b ?x) (c ?x))", "(and (a ?x) (b ?x))") == ({"b"}, {"b", "c"}, {"a"})


@pytest.mark.parametrize("text", ["(and (a ?x)", "a)", "((a) (and))", "(not (a) (b))", "(" * 99_999])
def test_unreadable_text_has_no_predicates(text: str) -> None:
    assert match_predicates(text, "(and (a ?x))") is None


def test_every_gold_expression_is_read_and_agrees_with_itself() -> None:
    for action in gold_actions().values():
        for text in (action.precondition, action.effect):
            assert parse_expression(text)
            assert names(text, text)[1:] == (set(), set())


def test_actions_are_read_from_json_fences_and_bare_text() -> None:
    text = ACTION.format("(and (grabbable ?obj) ; it can be held\n (next_to ?char ?obj))", "()")
    for output in (json.dumps({"output": text}), f"```json\n{json.dumps({'output': text})}\n```"):
        assert parse_actions(output) == {
            "grab": PddlAction(
                "grab", "(?char - character ?obj - object)", "(and (grabbable ?obj) (next_to ?char ?obj))", "()"
            )
        }
    assert parse_actions("Sorry.") == {}
    assert parse_actions(json.dumps({"output": ["no", "text"]})) is None
    assert parse_actions("(:action grab :parameters (?obj :precondition () :effect ()") is None
    assert parse_actions("(" * 200_000) is None


def test_unclosed_brackets_are_scanned_once() -> None:
    text = "(:action a :parameters () :precondition (and :effect (b " * 1_500
    found = matching_brackets(text)
    assert len(found) == 1_500, "only parameters are closed, and the text is read once for all"
    assert parse_actions(text) == {"a": PddlAction("a", "()", "()", "()")}
    assert parse_actions(f"{ACTION.format('()', '')} :effect") is not None


def test_missing_invented_and_unreadable_actions_count_in_strict_figures_only() -> None:
    asked = asked_actions(TASK)
    gold = {name: gold_actions()[name] for name in asked}
    perfect = judge_actions(TASK, gold)
    assert {key: row[1:] for key, row in perfect["counts"].items()} == {key: [0, 0] for key in perfect["counts"]}
    odd = PddlAction("fly", "()", "()", "(and (inside ?char ?sky))")
    less = {name: gold[name] for name in asked[1:]}
    found = judge_actions(TASK, {**less, "fly": odd, asked[1]: PddlAction(asked[1], "()", "(and", "()")})
    assert sum(row[2] for row in found["strict"].values()) > sum(row[2] for row in found["counts"].values())
    assert found["strict"]["spatial_relations"][1] == 1
    figures = transition.figures([perfect, interrupted_judgement(transition, TASK)])
    assert figures["f1"].value == 100
    assert figures["strict_f1"].value == pytest.approx(200 / 3), "half is missed"


def test_recorded_outputs_are_scored() -> None:
    ids = RECORDED["transition"]["gpt-4o-2024-05-13"]
    judged = [transition.score(task_id, output) for task_id, output in ids.items()]
    assert all(one["parsed"] for one in judged)
    figures = {name: value_of(one) for name, one in transition.figures(judged).items()}
    assert figures["f1"] == pytest.approx(figures["strict_f1"])
    assert 0 < figures["f1"] < 100
    assert len(transition.task_ids()) == 296
