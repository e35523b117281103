"""Action sequencing: recorded plans, each executed in a scene of the database and checked against its task's goals.

As published, a plan equal to the human program counts as executed but not as successful, by an oversight of the
original; the `corrected` figures count what it achieves. The original tries action goals in an order that follows
Python's set order, so the smallest and the largest success over all orders are reported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from itertools import permutations
from typing import Any, Final, TypeAlias

from scenecypher.db.store.condition_check import condition_values
from scenecypher.evaluation.eai.grounding import GroundedStep, Unreadable, ground_plan
from scenecypher.evaluation.eai.plan_execution import PlanExecution, count_met_goals
from scenecypher.evaluation.eai.scoring import INTERRUPTED, Figures, Judgement, percent_cell, value_cell
from scenecypher.evaluation.eai.task_scenes import TaskScenePool
from scenecypher.evaluation.eai.tasks import (
    TaskGoals,
    TaskStart,
    all_task_ids,
    count_relation_goals,
    task_goals,
    task_start,
)
from scenecypher.evaluation.interval import bootstrap
from scenecypher.evaluation.world_pool import WorldPool
from scenecypher.importers.task import ActionGoal

GoalRange: TypeAlias = tuple[int, int]
"""Smallest and largest number of goals met."""

ERRORS: Final = (
    *("parsing", "hallucination", "arguments"),
    *("wrong_order", "missing_step", "affordance", "unseen_object"),
)
"""Errors that end a plan."""


class ActionScorer:
    """Scorer of the 305 tasks with at most one relation goal, counted as in the original."""

    def __init__(self, pool: WorldPool | None = None) -> None:
        self._scenes = TaskScenePool(pool)

    def task_ids(self) -> Sequence[str]:
        """Return the tasks with at most one relation goal. Raises InputError, ServiceError without `eai-eval`."""
        return tuple(task_id for task_id in all_task_ids() if count_relation_goals(task_id) < 2)

    def score(self, task_id: str, output: str | None) -> Judgement:
        """Judge one plan: its first fatal mistake, the goals that hold at the end, and success by order of actions."""
        start = task_start(task_id)
        wanted = task_goals(task_id, start.graph)
        plan = Unreadable("parsing", "no output") if output is None else ground_plan(output, start.objects)
        if isinstance(plan, Unreadable):
            return _unexecuted_judgement(plan, wanted)
        return self._execute(task_id, start, wanted, plan)

    def figures(self, judged: Sequence[Judgement], *, intervals: Collection[str] = ()) -> Figures:
        """Return one model's figures; all but the `corrected` ones are counted as in the original.

        An interrupted sample counts as a failure without a class.
        """
        count = len(judged)
        as_published = [_without_met_goals(one) if one["human"] else one for one in judged]
        figures = {"executed": percent_cell(sum(one["outcome"] == "executed" for one in judged), count)}
        for reading, rows in (("success", as_published), ("corrected", judged)):
            for order, name in enumerate(("least", "most")):
                figures[f"{reading}_{name}"] = percent_cell(sum(meets_all_goals(one, order) for one in rows), count)
        figures |= {name: percent_cell(sum(one["outcome"] == name for one in judged), count) for name in ERRORS}
        extra = [one["additional_step"] for one in as_published]
        rate = sum(extra) / count if count else None  # needless steps per task, possibly over 1
        interval = partial(bootstrap, extra) if "additional_step" in intervals else None
        figures["additional_step"] = value_cell(rate, count, interval)
        figures["human"] = percent_cell(sum(one["human"] for one in judged), count)
        figures |= _goal_figures(as_published)
        figures[INTERRUPTED] = percent_cell(sum(one["outcome"] == INTERRUPTED for one in judged), count)
        return figures

    def _execute(self, task_id: str, start: TaskStart, wanted: TaskGoals, plan: tuple[GroundedStep, ...]) -> Judgement:
        with self._scenes.lease(task_id) as (store, scene):
            execution = PlanExecution(store, scene, start.graph)
            executed = execution.execute(plan)
            truth = condition_values(store, scene, wanted.graph)
        states, relations = truth[: len(wanted.states)], truth[len(wanted.states) :]
        least, most = met_goals_range([step.word for step in execution.executed], wanted.actions)
        return {
            "outcome": "executed" if executed else execution.mistakes[-1],
            "human": is_human_program(plan, start),
            "additional_step": execution.mistakes.count("additional_step"),
            "steps": len(execution.executed),
            "states": [sum(states), len(states)],
            "relations": [sum(relations), len(relations)],
            "actions": [least, most, len(wanted.actions)],
        }


def met_goals_range(words: Sequence[str], wanted: Sequence[ActionGoal]) -> GoalRange:
    """Return the fewest and the most action goals that the executed words meet, over all orders of the goals."""
    counts = [count_met_goals(words, order) for order in permutations(wanted)]
    return min(counts), max(counts)


def is_human_program(plan: Sequence[GroundedStep], start: TaskStart) -> bool:
    """Check that a plan equals the recorded human program, word for word."""
    steps = [(step.word.lower(), step.call.arguments) for step in plan]
    return steps == [(step.action, step.arguments) for step in start.program]


def _goal_figures(judged: Sequence[Judgement]) -> Figures:
    """Return the shares of met goals; action goals by the worst and by the best order."""
    states, of_states = column_sums((one["states"] for one in judged), 2)
    relations, of_relations = column_sums((one["relations"] for one in judged), 2)
    least, most, of_actions = column_sums((one["actions"] for one in judged), 3)
    whole = of_states + of_relations + of_actions
    return {
        "state_goals": percent_cell(states, of_states),
        "relation_goals": percent_cell(relations, of_relations),
        "action_goals_least": percent_cell(least, of_actions),
        "action_goals_most": percent_cell(most, of_actions),
        "goals_least": percent_cell(states + relations + least, whole),
        "goals_most": percent_cell(states + relations + most, whole),
    }


def column_sums(rows: Iterable[Sequence[int]], width: int) -> tuple[int, ...]:
    """Return the sums of `width` columns."""
    return tuple(sum(column) for column in zip([0] * width, *rows, strict=True))


def meets_all_goals(one: Judgement, order: int = 0) -> bool:
    """Check that all goals are met, by the worst (0) or the best (1) order of actions, even if the plan failed."""
    graph = all(one[kind][0] == one[kind][1] for kind in ("states", "relations"))
    return bool(
        one["outcome"] not in _NOT_EXECUTED
        and graph
        and one["actions"][order] == one["actions"][2]
        and not one.get("void")
    )


_NOT_EXECUTED: Final = ("parsing", "hallucination", "arguments", INTERRUPTED)


def sequence_outcome(found: Judgement) -> tuple[str, bool]:
    """Return an output's outcome, and whether it met all goals by the best order."""
    done = meets_all_goals(found, 1)
    return ("goal_missed" if found["outcome"] == "executed" and not done else found["outcome"]), done


def _without_met_goals(one: Judgement) -> Judgement:
    """Return the judgement of a human program as the original counts it: no goal is checked."""
    states, relations, actions = one["states"][1], one["relations"][1], one["actions"][2]
    return {
        **one,
        "void": True,
        "additional_step": 0,
        "states": [0, states],
        "relations": [0, relations],
        "actions": [0, 0, actions],
    }


def _unexecuted_judgement(unreadable: Unreadable, wanted: TaskGoals) -> dict[str, Any]:
    return {
        "outcome": unreadable.fault,
        "why": unreadable.why,
        "human": False,
        "additional_step": 0,
        "steps": 0,
        "states": [0, len(wanted.states)],
        "relations": [0, len(wanted.relations)],
        "actions": [0, 0, len(wanted.actions)],
    }
