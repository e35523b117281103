"""Action sequencing: recorded plans, each carried out in a scene of the database and checked against its task's goals.

As published: what a person's program says word for word counts as executed and as no success, by an oversight of the
original; `corrected` counts what it achieves. The original tries action goals in an order that follows Python's set
order, so that the smallest and the largest success over all orders are told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import permutations
from typing import Any, Final, TypeAlias

from scenecypher.db.store.condition_check import condition_values
from scenecypher.evaluation.eai.acting import Acting, words_met
from scenecypher.evaluation.eai.grounding import Planned, Unreadable, grounded
from scenecypher.evaluation.eai.home import Home
from scenecypher.evaluation.eai.scoring import BROKE_OFF, Figure, Judgement, measure, share
from scenecypher.evaluation.eai.tasks import Goals, Situation, all_tasks, goals, relation_goals, situation
from scenecypher.evaluation.interval import bootstrap
from scenecypher.evaluation.stage import Stage
from scenecypher.importers.task import ActionGoal

Met: TypeAlias = tuple[int, int]
"""How many of how many."""

ERRORS: Final = (
    ("parsing", "parsing"),
    ("hallucination", "hallucination"),
    ("arguments", "argnum"),
    ("wrong_order", "wrong_order"),
    ("missing_step", "missing_step"),
    ("affordance", "affordance"),
    ("unseen_object", ""),
)
"""What ends a plan, and the key of the published figure."""


class ActionScorer:
    """Of the 305 tasks with at most one relation goal, as the original counts them."""

    version: Final = "1"

    def __init__(self, stage: Stage | None = None) -> None:
        self._home = Home(stage)

    def task_ids(self) -> Sequence[str]:
        """Those with at most one relation goal. Raises InputError where `eai-eval` is not installed."""
        return tuple(task_id for task_id in all_tasks() if relation_goals(task_id) < 2)

    def score(self, task_id: str, output: str | None) -> Judgement:
        """What came of one plan: its first fatal mistake, goals that hold at the end, success by order of actions."""
        start = situation(task_id)
        wanted = goals(task_id, start.graph)
        plan = Unreadable("parsing", "no output") if output is None else grounded(output, start.objects)
        if isinstance(plan, Unreadable):
            return _nothing_done(plan, wanted)
        return self._carried_out(task_id, start, wanted, plan)

    def figures(self, judged: Sequence[Judgement]) -> Sequence[Figure]:
        """One model's figures; those without `corrected` in their name are counted as the original counts."""
        return sequence_figures(judged)

    def _carried_out(self, task_id: str, start: Situation, wanted: Goals, plan: tuple[Planned, ...]) -> Judgement:
        with self._home.at(task_id) as (store, scene):
            acting = Acting(store, scene, start.graph)
            executed = acting.carry_out(plan)
            truth = condition_values(store, scene, wanted.graph)
        states, relations = truth[: len(wanted.states)], truth[len(wanted.states) :]
        least, most = met_by_order([step.word for step in acting.done], wanted.actions)
        return {
            "outcome": "executed" if executed else acting.mistakes[-1],
            "human": is_program(plan, start),
            "additional_step": acting.mistakes.count("additional_step"),
            "steps": len(acting.done),
            "states": [sum(states), len(states)],
            "relations": [sum(relations), len(relations)],
            "actions": [least, most, len(wanted.actions)],
        }


def action_scorer() -> ActionScorer:
    """The scorer of action sequencing."""
    return ActionScorer()


def met_by_order(words: Sequence[str], wanted: Sequence[ActionGoal]) -> Met:
    """The fewest and the most action goals that the executed words meet, over all orders of the goals."""
    counts = [words_met(words, order) for order in permutations(wanted)]
    return min(counts), max(counts)


def is_program(plan: Sequence[Planned], start: Situation) -> bool:
    """Whether a plan is the recorded person's program, word for word."""
    said = [(step.word.lower(), step.call.arguments) for step in plan]
    return said == [(step.action, step.arguments) for step in start.program]


def sequence_figures(judged: Sequence[Judgement]) -> Sequence[Figure]:
    """The figures of one model. A sample that broke off counts as a failure of no class."""
    count = len(judged)
    as_published = [_nothing_met(one) if one["human"] else one for one in judged]
    figures = [share("executed", sum(one["outcome"] == "executed" for one in judged), of=count, published="esr")]
    for prefix, rows in (("", as_published), ("corrected_", judged)):
        key = "" if prefix else "tsr"
        reading = "success" if not prefix else "corrected"
        figures.append(share(f"{reading}_least", sum(map(succeeds, rows)), of=count, published=key))
        figures.append(share(f"{reading}_most", sum(succeeds(one, 1) for one in rows), of=count, published=key))
    figures += [
        share(name, sum(one["outcome"] == name for one in judged), of=count, published=key) for name, key in ERRORS
    ]
    extra = [one["additional_step"] for one in as_published]
    rate = sum(extra) / count if count else None  # steps a task, which may be more than one
    again = partial(bootstrap, extra)
    figures.append(measure("additional_step", rate, of=count, published="additional_step", resampled=again))
    figures.append(share("human", sum(one["human"] for one in judged), of=count))
    figures += _goal_figures(as_published)
    figures.append(share(BROKE_OFF, sum(one["outcome"] == BROKE_OFF for one in judged), of=count))
    return figures


def _goal_figures(judged: Sequence[Judgement]) -> Iterable[Figure]:
    """Goals met, of all goals: an action goal by the worst and by the best order."""
    states, of_states = total((one["states"] for one in judged), 2)
    relations, of_relations = total((one["relations"] for one in judged), 2)
    least, most, of_actions = total((one["actions"] for one in judged), 3)
    whole = of_states + of_relations + of_actions
    yield share("state_goals", states, of=of_states, published="state_goal")
    yield share("relation_goals", relations, of=of_relations, published="relation_goal")
    yield share("action_goals_least", least, of=of_actions, published="action_goal")
    yield share("action_goals_most", most, of=of_actions, published="action_goal")
    yield share("goals_least", states + relations + least, of=whole, published="total_goal")
    yield share("goals_most", states + relations + most, of=whole, published="total_goal")


def total(rows: Iterable[Sequence[int]], width: int) -> tuple[int, ...]:
    """The sums of `width` columns."""
    return tuple(sum(column) for column in zip([0] * width, *rows, strict=True))


def succeeds(one: Judgement, order: int = 0) -> bool:
    """Whether all goals are met, by the worst (0) or the best (1) order of actions; executed to the end or not."""
    graph = all(one[kind][0] == one[kind][1] for kind in ("states", "relations"))
    return bool(
        one["outcome"] not in _UNREAD and graph and one["actions"][order] == one["actions"][2] and not one.get("void")
    )


_UNREAD: Final = ("parsing", "hallucination", "arguments", BROKE_OFF)


def _nothing_met(one: Judgement) -> Judgement:
    """As the original counts a person's program: no goal is looked at."""
    states, relations, actions = one["states"][1], one["relations"][1], one["actions"][2]
    return {
        **one,
        "void": True,
        "additional_step": 0,
        "states": [0, states],
        "relations": [0, relations],
        "actions": [0, 0, actions],
    }


def _nothing_done(why: Unreadable, wanted: Goals) -> dict[str, Any]:
    return {
        "outcome": why.fault,
        "why": why.why,
        "human": False,
        "additional_step": 0,
        "steps": 0,
        "states": [0, len(wanted.states)],
        "relations": [0, len(wanted.relations)],
        "actions": [0, 0, len(wanted.actions)],
    }
