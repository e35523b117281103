"""Transition modelling: predicted preconditions and effects against the gold domain, and planning with them.

`eai` counts as the Embodied Agent Interface's evaluator: actions that were not asked for, unreadable clauses, unknown
predicates and unreadable outputs are left out; in planning, the gold action replaces a missing one, and an action may
name objects. `strict`, ours, counts all of these and replaces nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

from scenecypher.evaluation.eai.counting import ConfusionCounts, Metric, sum_counts
from scenecypher.evaluation.eai.scoring import Figures, Judgement, f1_figures, percent_cell
from scenecypher.evaluation.eai.transition_gold import (
    asked_actions,
    categories_of,
    category_of_predicate,
    gold_actions,
    transition_task_ids,
)
from scenecypher.evaluation.eai.transition_matching import PredicateMatch, match_predicates, predicate_names
from scenecypher.evaluation.eai.transition_planning import CachedPlanner, unbound_names
from scenecypher.evaluation.eai.transition_text import PddlAction, parse_actions, parse_expression
from scenecypher.planner.symbolic.engine import check_engine

CATEGORIES: Final = (
    "object_states",
    "object_orientation",
    "object_affordance",
    "spatial_relations",
    "non-spatial_relations",
)


class TransitionScorer:
    """Scorer of 296 outputs; `planned` of them, evenly spread, are also planned with (None: all; 0: none)."""

    def __init__(self, planned: int | None = None) -> None:
        ids = transition_task_ids()
        count = len(ids) if planned is None else min(planned, len(ids))
        self._planned = frozenset(ids[at * len(ids) // count] for at in range(count))
        self._planner = CachedPlanner()
        if self._planned:
            check_engine()

    def task_ids(self) -> Sequence[str]:
        """Return the tasks with a problem, by number."""
        return transition_task_ids()

    def score(self, task_id: str, output: str | None) -> Judgement:
        """Count by category in both ways, and check that there is a plan (None if not planned)."""
        found = None if output is None else parse_actions(output)
        judged = judge_actions(task_id, found)
        if task_id not in self._planned:
            return {**judged, "plan": None, "strict_plan": None}
        plan = found is not None and self._planner.succeeds(task_id, found)
        return {**judged, "plan": plan, "strict_plan": plan and not judged["missing"] and not judged["unbound"]}

    def figures(self, judged: Sequence[Judgement], *, intervals: Collection[str] = ()) -> Figures:
        """Return precision, recall and F1 in total and by category, and the planner's success likewise."""
        return transition_figures(judged, intervals=intervals)


def judge_actions(task_id: str, found: Mapping[str, PddlAction] | None) -> Judgement:
    """Return the judgement of one output's actions, without planning; None is an unreadable output."""
    asked = asked_actions(task_id)
    predicted = found or {}
    counts: dict[str, ConfusionCounts] = defaultdict(ConfusionCounts)
    strict: dict[str, ConfusionCounts] = defaultdict(ConfusionCounts)
    unreadable = 0
    for name in asked:
        for part, gold in _parts(gold_actions()[name]):
            one = match_predicates(getattr(predicted[name], part), gold) if name in predicted else PredicateMatch()
            unreadable += not one.readable
            _add_counts(counts, one)
            missed = name not in predicted or not one.readable
            _add_counts(strict, PredicateMatch(misses=predicate_names([parse_expression(gold)])) if missed else one)
    invented = sorted(predicted.keys() - set(asked))
    for name in invented:
        _add_counts(strict, PredicateMatch(alarms=_all_names(predicted[name])))
    return {
        "task": task_id,
        "categories": list(categories_of(task_id)),
        "parsed": found is not None,
        "counts": {name: one.as_list() for name, one in counts.items()} if found is not None else {},
        "strict": {name: one.as_list() for name, one in strict.items()},
        "missing": len(set(asked) - predicted.keys()),
        "invented": len(invented),
        "unreadable": unreadable,
        "unbound": sum(bool(unbound_names(action)) for action in predicted.values()),
    }


def transition_figures(judged: Sequence[Judgement], *, intervals: Collection[str] = ()) -> Figures:
    """Return the figures of one model."""
    return {
        **_scores(judged, "counts", "", intervals),
        **_scores(judged, "strict", "strict_", intervals),
        **_plans(judged),
        "unparsed": percent_cell(sum(not one["parsed"] for one in judged), len(judged)),
    }


def transition_outcome(found: Judgement) -> tuple[str, bool]:
    """Return an output's outcome, and whether there is a plan."""
    ended = "not planned" if found["plan"] is None else "no plan"
    return (ended if found["parsed"] else "unread"), bool(found["plan"])


def _scores(judged: Sequence[Judgement], key: str, prefix: str, intervals: Collection[str]) -> Figures:
    by_category = {
        category: sum_counts(ConfusionCounts.of(one[key][category]) for one in judged if category in one[key])
        for category in CATEGORIES
    }
    whole, rows = sum_counts(by_category.values()), partial(_rows, judged, key)
    found = f1_figures(whole, _names(prefix), rows=partial(rows, CATEGORIES), intervals=intervals)
    for category, counts in by_category.items():
        names = _names(f"{prefix}{category}.")
        found |= f1_figures(counts, names, rows=partial(rows, (category,)), intervals=intervals)
    return found


def _rows(judged: Sequence[Judgement], key: str, categories: Sequence[str]) -> list[ConfusionCounts]:
    return [sum_counts(ConfusionCounts.of(one[key][name]) for name in categories if name in one[key]) for one in judged]


def _names(prefix: str) -> dict[Metric, str]:
    return {"precision": f"{prefix}p", "recall": f"{prefix}r", "f1": f"{prefix}f1"}


def _plans(judged: Sequence[Judgement]) -> Figures:
    """Return planning success: `planner` over readable outputs, as the original; `strict_planner` over all planned."""
    tried = [one for one in judged if one["plan"] is not None]
    read = [one for one in tried if one["parsed"]]
    groups = {
        "planner": read,
        **{f"planner.{name}": [one for one in read if name in one["categories"]] for name in CATEGORIES},
    }
    found = {name: percent_cell(sum(one["plan"] for one in group), len(group)) for name, group in groups.items()}
    return found | {"strict_planner": percent_cell(sum(one["strict_plan"] for one in tried), len(tried))}


def _add_counts(counts: dict[str, ConfusionCounts], found: PredicateMatch) -> None:
    categories = category_of_predicate()
    for at, group in enumerate((found.hits, found.alarms, found.misses)):
        for predicate in group:
            if predicate in categories:
                one = [0, 0, 0]
                one[at] = 1
                counts[categories[predicate]] += ConfusionCounts.of(one)


def _all_names(action: PddlAction) -> frozenset[str]:
    found: set[str] = set()
    for _, text in _parts(action):
        try:
            found |= predicate_names([parse_expression(text)])
        except ValueError:
            continue
    return frozenset(found)


def _parts(action: PddlAction) -> Iterable[tuple[str, str]]:
    return (("precondition", action.precondition), ("effect", action.effect))
