"""Recorded plans have the same outcomes as in the original's own engine."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Final

import pytest

from scenecypher.db.condition import evaluate
from scenecypher.evaluation.eai import action_sequencing, subgoal
from scenecypher.evaluation.eai.action_sequencing import PlanExecution, met_goals_range
from scenecypher.evaluation.eai.grounding import GroundedStep, Unreadable, expand, ground_plan
from scenecypher.evaluation.eai.task_table import EAI_TASKS, TaskName
from scenecypher.evaluation.eai.tasks import task_goals, task_start
from scenecypher.importers.virtualhome import package_folder
from tests.evaluation.eai.samples import OUTPUTS, outputs
from tests.planner.actions.evolving_graph import Engine, line_of

TASKS: Final = ("231_2", "750_2", "211_1", "511_1")
"""Tasks of the sample whose scenes the quick tests import."""
FIGURES: Final = ("parsing", "hallucination", "arguments", "wrong_order", "missing_step", "affordance")
CATEGORIES: Final = {
    "NotParseable": ("parsing",),
    "Hallucination": ("hallucination", "arguments"),
    "Runtime": FIGURES[3:],
    "GoalUnreachable": ("goal_missed",),
    "Correct": ("correct",),
}
"""Outcomes by the original's name."""
ENDS: Final = {
    "claude-3-haiku-20240307": "correct",
    "cohere-command-r": "arguments",
    "cohere-command-r-plus": "affordance",
}


def judge_with_engine(task_id: str, plan: tuple[GroundedStep, ...]) -> Mapping[str, Any]:
    """Return the judgement by the original's engine, in memory."""
    start = task_start(task_id)
    engine, wanted = Engine(start.graph, pinned=False), task_goals(task_id, start.graph)
    outcome, needless, words = "executed", 0, list[str]()
    for step in plan:
        verdict = engine.step(line_of(step.call.name, step.call.arguments))
        if verdict.feasible:
            words.append(step.word)
        elif verdict.mistake == "additional_step":
            needless += 1
        else:
            outcome = str(verdict.mistake)
            break
    end = engine.graph(start.graph)
    states, relations = ([evaluate(one, end, {}) for one in kind] for kind in (wanted.states, wanted.relations))
    return {
        "outcome": outcome,
        "additional_step": needless,
        "steps": len(words),
        "states": [sum(states), len(states)],
        "relations": [sum(relations), len(relations)],
        "actions": [*met_goals_range(words, wanted.actions), len(wanted.actions)],
    }


def test_plans_end_as_in_the_engine() -> None:
    outcomes = set[str]()
    for model, task_id, said in outputs("action-sequencing"):
        if task_id not in TASKS:
            continue
        judged = action_sequencing.score(task_id, said)
        outcomes.add(judged["outcome"])
        plan = ground_plan(said, task_start(task_id).objects)
        if isinstance(plan, Unreadable):
            assert (judged["outcome"], judged["steps"]) == (plan.fault, 0)
        else:
            wanted = judge_with_engine(task_id, plan)
            assert {key: judged[key] for key in wanted} == wanted, (model, task_id)
        assert judged["human"] == (task_id == "511_1")
    assert outcomes == {"executed", *FIGURES}
    assert action_sequencing.score("231_2", None)["outcome"] == "parsing"


def test_sub_goals_are_expanded_and_carried_out() -> None:
    said = OUTPUTS["subgoal"]
    ends = {model: subgoal.score("231_2", said[model]["231_2"])["outcome"] for model in ENDS}
    assert ends == ENDS
    held = '{"output": ["INSIDE(plate.1000, sink.42) or ON(x)", "CLEAN(plate.1000)", "ONTOP(plate.1000, plate)"]}'
    assert subgoal.score("231_2", held)["outcome"] in {"parsing", *FIGURES}


def test_a_copied_execution_goes_on_by_itself() -> None:
    begun = PlanExecution([task_start("231_2").graph])
    agent = begun.graphs[0].by_kind["Agent"][0]
    (ways,) = expand("FACING", (agent, "sink_42"), agent=agent, holds=bool)
    tried = begun.copy()
    tried.execute(ways)
    assert (len(begun.graphs), begun.executed, begun.mistakes) == (1, [], [])
    assert len(tried.graphs) == 1 + len(tried.executed) > 1


@pytest.mark.slow
def test_sub_goals_end_as_in_the_original() -> None:
    pytest.importorskip("lark")
    from virtualhome_eval.evaluation.subgoal_decomposition.subgoal_sim_utils import evaluate_task

    folder = package_folder()
    where = SimpleNamespace(dataset_dir=str(folder / "dataset"), resource_dir=str(folder / "resources/virtualhome"))
    vocabulary = str(next(folder.rglob("vocabulary.json")))
    for model, task_id, said in outputs("subgoal"):
        kind, *rest = evaluate_task(vocabulary, 1, task_id, said, where)
        judged = subgoal.score(task_id, said)
        assert judged["outcome"] in CATEGORIES[kind], (model, task_id, kind)
        if isinstance(counts := rest[-1], dict) and "node_tot_num" in counts:
            met = [judged[key] for key in ("states", "relations", "actions")]
            assert met == [
                [counts[f"{key}_success_num"], counts[f"{key}_tot_num"]] for key in ("node", "edge", "action")
            ]


@pytest.mark.parametrize(
    ("task", "judged", "ended"),
    [
        ("action-sequencing", {"outcome": "executed", "relations": [1, 1]}, ("executed", True)),
        ("action-sequencing", {"outcome": "executed", "relations": [0, 1]}, ("goal_missed", False)),
        ("goal", {"parsed": True, "strict_edge": [1, 0, 0]}, ("inexact", True)),
        ("goal", {"parsed": True, "strict_edge": [1, 1, 0]}, ("inexact", False)),
        ("goal", {"parsed": False, "strict_edge": [0, 0, 1]}, ("unread", False)),
        ("transition", {"parsed": True, "strict": {"object_states": [2, 0, 0]}}, ("inexact", True)),
        ("transition", {"parsed": True, "strict": {"object_states": [2, 0, 1]}}, ("inexact", False)),
        ("transition", {"parsed": True, "strict": {"object_states": [2, 1, 0]}}, ("inexact", False)),
    ],
)
def test_outcome_of_an_output(task: TaskName, judged: dict[str, Any], ended: tuple[str, bool]) -> None:
    others = {"states": [0, 0], "relations": [0, 0], "actions": [0, 0, 0]}
    strict = {f"strict_{kind}": [0, 0, 0] for kind in ("node", "edge", "action")}
    assert EAI_TASKS[task].scorer.outcome(others | strict | judged) == ended
