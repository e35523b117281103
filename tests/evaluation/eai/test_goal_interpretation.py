"""Goal interpretation, counted by hand: as the original counts, and in the strict way."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scenecypher.evaluation.eai import goal_interpretation
from scenecypher.evaluation.eai.goal_interpretation import GoldGoals, judge_goals
from scenecypher.evaluation.eai.scoring import ConfusionCounts, Figures, Judgement, sum_counts
from scenecypher.evaluation.eai.task_table import value_of
from tests.evaluation.eai.recorded import RECORDED

WANTED = GoldGoals(
    nodes=frozenset({(1, "ON"), (1, "CLOSED")}),
    edges=frozenset({(2, "ON", 1)}),
    actions=(frozenset({"WASH", "RINSE"}),),
    ids={"lamp": 1, "cup": 2},
)


@pytest.fixture(autouse=True)
def collect_streams() -> None:
    """Replace the collection after each test, since nothing here runs Inspect."""


def said(nodes: list[Any], edges: list[Any], actions: list[Any]) -> str:
    return json.dumps({"node goals": nodes, "edge goals": edges, "action goals": actions})


def judged(nodes: list[Any], edges: list[Any], actions: list[Any]) -> Judgement:
    return judge_goals(WANTED, said(nodes, edges, actions))


def figures(*judgements: Judgement) -> Figures:
    return goal_interpretation.figures(judgements)


def percent(found: Figures, name: str) -> float:
    return value_of(found[name])


def test_precision_recall_and_f1() -> None:
    counts = sum_counts([ConfusionCounts(2, 1, 1), ConfusionCounts(1, 0, 1)])
    assert ([*counts], counts.precision, counts.recall) == ([3, 1, 2], 0.75, 0.6)
    assert counts.f1 == pytest.approx(2 / 3)
    assert (ConfusionCounts().precision, ConfusionCounts().recall, ConfusionCounts().f1) == (0, 0, 0)


def test_right_wrong_unknown_and_malformed_goals() -> None:
    found = judged(
        [{"name": "lamp", "state": "ON"}, {"name": "lamp", "state": "OFF"}, {"name": "sun", "state": "ON"}],
        [{"from_name": "cup", "relation": "ON", "to_name": "lamp"}, {"from_name": "cup", "relation": "ON"}],
        [{"action": "wash"}],
    )
    assert (found["node"], found["edge"], found["action"]) == ([1, 1, 1], [1, 0, 0], [1, 0, 0])
    assert (found["strict_node"], found["strict_edge"]) == ([1, 2, 1], [1, 1, 0]), "ours counts what that leaves out"


def test_only_the_original_counts_repeated_action_goals() -> None:
    found = judged([], [], [{"action": "WASH"}, {"action": "RINSE"}, {"action": "WASH", "why": "it is dirty"}])
    assert found["action"] == [3, 0, -2], "as the original, whose misses go below nought"
    assert found["strict_action"] == [1, 2, 0]


def test_equal_goals_count_once_and_empty_ones_not_at_all() -> None:
    lamp = {"name": "lamp", "state": "ON"}
    assert judged([lamp, dict(reversed(lamp.items())), {}], [], [])["node"] == [1, 0, 1]


@pytest.mark.parametrize("output", [None, "", "I think so", "[]", "{" * 90_000, "9" * 200_000])
def test_unreadable_outputs_are_left_out_by_the_original_and_missed_by_ours(output: str | None) -> None:
    found = judge_goals(WANTED, output)
    assert (found["parsed"], found["node"], found["strict_node"]) == (False, [0, 0, 0], [0, 0, 2])


@pytest.mark.parametrize(
    "goals", ["lamp", 7, None, {"name": "lamp"}, [["lamp", "ON"]], [{"name": ["lamp"], "state": {}}]]
)
def test_malformed_lists_are_counted(goals: Any) -> None:
    found = judge_goals(WANTED, json.dumps({"node goals": goals}))
    assert (found["node"], found["strict_node"]) == ([0, 0, 2], [0, 1, 2])


def test_the_figures_of_a_model_have_their_denominators() -> None:
    whole = judged(
        [{"name": "lamp", "state": "ON"}, {"name": "lamp", "state": "CLOSED"}],
        [{"from_name": "cup", "relation": "ON", "to_name": "lamp"}],
        [{"action": "RINSE"}],
    )
    found = figures(whole, judge_goals(WANTED, "nothing"), judge_goals(WANTED, None))
    assert percent(found, "all_f1") == 100, "published figures leave out what can't be read"
    assert percent(found, "strict_f1") == pytest.approx(200 * (1 / 3) / (4 / 3))
    assert (found["all_precision"].n, found["strict_all_recall"].n) == (4, 12)


def test_recorded_outputs_are_counted_as_the_original_counts_them() -> None:
    found = {
        model: {task_id: goal_interpretation.score(task_id, output) for task_id, output in outputs.items()}
        for model, outputs in RECORDED["goal"].items()
    }
    assert found["gpt-4o-2024-05-13"]["27_2"]["node"] == [3, 1, 0]
    assert found["gpt-4o-2024-05-13"]["27_2"]["edge"] == [0, 2, 2]
    assert found["claude-3-opus-20240229"]["27_2"]["node"] == [2, 2, 1]
    assert [one["parsed"] for one in found["cohere-command-r"].values()] == [False, False, True]
    gpt = figures(*found["gpt-4o-2024-05-13"].values())
    assert (percent(gpt, "strict_node_precision"), percent(gpt, "strict_node_recall")) == (70, 100)
