"""Interrupted, missing and repeated samples are counted, and tables are complete with them."""

from __future__ import annotations

from typing import Any

import pytest

from scenecypher.evaluation.eai import action_sequencing, goal_interpretation, subgoal
from scenecypher.evaluation.eai.scoring import (
    ConfusionCounts,
    OutputScorer,
    interrupted_judgement,
    metric_interval,
    sum_counts,
)
from scenecypher.evaluation.eai.task_table import EAI_TASKS, value_of


@pytest.fixture(autouse=True)
def collect_streams() -> None:
    """Replace the collection after each test, since nothing here runs Inspect."""


def judgement_of(**said: Any) -> dict[str, Any]:
    nothing = {"states": [1, 1], "relations": [0, 0], "actions": [0, 0, 0]}
    return {"outcome": "executed", "human": False, "additional_step": 0, "steps": 1, **nothing, **said}


def test_interrupted_samples_miss_all_gold_goals() -> None:
    goals = goal_interpretation
    kinds = {kind: [4, 0, 0] for kind in ("node", "edge", "action")}
    perfect = {"parsed": True, **kinds, **{f"strict_{k}": v for k, v in kinds.items()}}
    judged = [perfect, *(interrupted_judgement(goals, one) for one in goals.task_ids()[:9])]
    found = goals.figures(judged)
    assert value_of(found["strict_f1"]) < 60
    assert found["all_f1"].value == 100, "as the original counts"
    row = EAI_TASKS["goal"].ssc_cells(judged)
    assert (row["f1"].value, row["eai_f1"].value) == (found["strict_f1"].value, 100), "beside the paper's: the first"
    assert row.keys() == {column.key for column in EAI_TASKS["goal"].ssc_columns}


@pytest.mark.parametrize("scorer", [action_sequencing, subgoal])
def test_interrupted_samples_are_failures_without_a_class(scorer: OutputScorer) -> None:
    found = scorer.figures([interrupted_judgement(scorer, one) for one in ("231_2", "27_2")])
    assert {name: one.count for name, one in found.items() if one.count} == {"broke_off": 2}
    assert found["state_goals"].n


def test_interrupted_samples_fail_even_without_goals() -> None:
    found = action_sequencing.figures([judgement_of(outcome="broke_off", states=[0, 0])])
    assert {name for name, one in found.items() if one.count} == {"broke_off"}


def test_a_pooled_figure_has_an_interval_over_outputs() -> None:
    rows = [ConfusionCounts(3, 1, 0), ConfusionCounts(0, 2, 2), ConfusionCounts(1, 0, 1)] * 20
    for part in ("precision", "recall", "f1"):
        low, high = metric_interval(rows, part)
        assert 0 < low < getattr(sum_counts(rows), part) < high < 1
        few = metric_interval(rows[:6], part)
        assert few[1] - few[0] > high - low, "fewer outputs, a wider interval"
    assert metric_interval([ConfusionCounts()], "f1") == (0, 0)
    assert metric_interval([ConfusionCounts(2)] * 3, "precision") == (1, 1)
