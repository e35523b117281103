"""Merging of samples part by part, and votes across models; ours, not the paper's."""

from __future__ import annotations

import json
from collections.abc import Callable

from scenecypher.evaluation.eai.recordings import RecordedOutput
from scenecypher.evaluation.eai.task_table import EAI_TASKS
from scenecypher.evaluation.eai.transition import TransitionScorer
from scenecypher.evaluation.eai.transition_gold import asked_actions, gold_actions, transition_task_ids
from scenecypher.evaluation.eai.transition_text import parse_actions
from scenecypher.evaluation.ssc.cross_model import (
    best_single,
    compare_with_best,
    judge_outputs,
    single_models,
    sweep,
    vote_across_models,
    vote_with_early_stop,
)
from scenecypher.evaluation.ssc.forms import goal_form, transition_form


def goals(*states: str) -> str:
    nodes = [{"name": "lamp", "state": state} for state in states]
    return json.dumps({"node goals": nodes, "edge goals": [], "action goals": []})


def open_deed(*conditions: str) -> str:
    parts = " ".join(f"({one} ?obj)" for one in conditions)
    text = (
        f"(:action open :parameters (?char - character ?obj - object) :precondition (and {parts}) :effect (open ?obj))"
    )
    return json.dumps({"output": text})


def test_goals_of_a_majority_of_valid_samples_are_kept() -> None:
    found = EAI_TASKS["goal"].merge(
        [goals("ON", "CLEAN"), goals("ON"), "garbage", goals("ON", "CLOSED"), goals("CLEAN", "ON")]
    )
    assert found is not None
    assert goal_form(found) == goal_form(goals("ON")), "CLEAN has two of four"
    assert EAI_TASKS["goal"].merge(["garbage"]) is None


def test_clauses_of_a_majority_of_valid_samples_are_kept() -> None:
    samples = [
        open_deed("closed", "can_open"),
        open_deed("can_open", "clean"),
        open_deed("can_open", "closed"),
        "garbage",
    ]
    found = EAI_TASKS["transition"].merge(samples)
    assert found is not None
    assert transition_form(found) == transition_form(open_deed("can_open", "closed"))
    made = parse_actions(found)
    assert made is not None
    assert made["open"].parameters == gold_actions()["open"].parameters


def test_the_most_central_sequence_is_an_unchanged_sample() -> None:
    common = '{"WALK": ["cup"], "GRAB": ["cup"], "WALK": ["sink"]}'
    longer = '{"WALK": ["cup"], "GRAB": ["cup"], "WALK": ["sink"], "TOUCH": ["sink"]}'
    odd = '{"SIT": ["chair"]}'
    assert EAI_TASKS["action-sequencing"].merge([odd, longer, "garbage", common, common]) == common
    assert EAI_TASKS["subgoal"].merge(["garbage"]) is None


def test_a_vote_across_models_is_compared_with_the_best_of_them() -> None:
    ids = transition_task_ids()[:12]
    outputs: dict[str, Callable[[str], str]] = {"a": _gold, "b": _gold, "c": _backwards, "d": lambda _: "garbage"}
    recorded = {name: tuple(RecordedOutput(task_id, of(task_id)) for task_id in ids) for name, of in outputs.items()}
    of = judge_outputs(EAI_TASKS["transition"], TransitionScorer(0), recorded, ids=ids)
    assert [line.valid for line in single_models(of)] == [12, 12, 12, 0]
    vote = vote_across_models(of)
    assert (of.scorer.figures(vote.judged)["f1"].value, vote.valid, vote.of) == (100, 12, 12)
    assert vote_with_early_stop(of).used == 2, "two others can only draw level"
    found = compare_with_best(of, vote, best_single(of, "f1"))
    assert (found.voted, found.best, found.low, found.high) == (100, 100, 0, 0)
    assert "no clear difference" in found.verdict
    assert dict(sweep(of, "f1", sizes=(4, 99))) == {4: 100}


def _backwards(task_id: str) -> str:
    return _gold(task_id).replace("(next_to ?char ?obj)", "(next_to ?obj ?char)")


def _gold(task_id: str) -> str:
    return json.dumps({"output": "\n".join(gold_actions()[name].pddl() for name in asked_actions(task_id))})


def test_each_resample_has_its_own_best_single_model() -> None:
    ids = transition_task_ids()[:12]
    halves = {name: {task_id: _gold(task_id) for task_id in ids[at::2]} for at, name in enumerate("ab")}
    recorded = {name: tuple(RecordedOutput(*pair) for pair in found.items()) for name, found in halves.items()}
    of = judge_outputs(EAI_TASKS["transition"], TransitionScorer(0), recorded, ids=ids)
    best = best_single(of, "strict_f1")
    assert sum(best.resampled) / len(best.resampled) > best.percent, "another is the best one in some of them"
