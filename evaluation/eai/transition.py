"""Transition modelling: predicted preconditions and effects against the gold domain.

`counts` are as by the Embodied Agent Interface's evaluator: actions that were not asked for, unreadable clauses,
unknown predicates and unreadable outputs are left out; `strict` ones, ours, have all of these.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from scenecypher.errors import InputError
from scenecypher.evaluation.eai.pddl import (
    PddlAction,
    PredicateMatch,
    match_predicates,
    parse_actions,
    parse_expression,
    predicate_names,
)
from scenecypher.evaluation.eai.scoring import (
    ConfusionCounts,
    Figures,
    Judgement,
    Metric,
    f1_figures,
    sum_counts,
)
from scenecypher.importers.json_file import read_json
from scenecypher.importers.virtualhome import REPAIR, package_folder, task_order

RESOURCES: Final = Path("resources/virtualhome")


@cache
def task_ids() -> Sequence[str]:
    """Return the 296 tasks that have a PDDL problem, by number. Raises InputError, ServiceError without `eai-eval`."""
    return tuple(sorted(_read("success_task.json"), key=task_order))


@cache
def gold_actions() -> Mapping[str, PddlAction]:
    """Return the actions of the gold domain by name."""
    return {
        name: PddlAction(name, action["action_parameters"], action["action_preconditions"], action["action_effects"])
        for name, action in _read("gold_action.json").items()
    }


def asked_actions(task_id: str) -> tuple[str, ...]:
    """Return the actions that a model must define for a task."""
    return tuple(_read("id2action.json")[task_id])


def asked_for(task_id: str) -> str:
    """Return in words what a task asks for."""
    return ", ".join(asked_actions(task_id))


@cache
def domain_head() -> str:
    """Return the domain's types and predicates, without the closing bracket."""
    return (package_folder() / RESOURCES / "virtualhome_pd.pddl").read_text(encoding="utf-8")


@cache
def _read(name: str) -> Any:
    path = package_folder() / RESOURCES / name
    if not path.is_file():
        raise InputError(f"{name} is missing in the installed data: {REPAIR}")
    return read_json(path)


CATEGORIES: Final = (
    "object_states",
    "object_orientation",
    "object_affordance",
    "spatial_relations",
    "non-spatial_relations",
)

PARTS: Final = ("precondition", "effect")
SHORT: Final[Mapping[Metric, str]] = {"precision": "p", "recall": "r", "f1": "f1"}


def score(task_id: str, output: str | None) -> Judgement:
    """Count by category in both ways."""
    return judge_actions(task_id, None if output is None else parse_actions(output))


def figures(judged: Sequence[Judgement], *, intervals: Collection[str] = ()) -> Figures:
    """Return precision, recall and F1 in total and by category."""
    found: Figures = {}
    for key, prefix in (("counts", ""), ("strict", "strict_")):
        counted = [one[key] for one in judged]
        groups = {"": CATEGORIES} | {f"{it}.": (it,) for it in CATEGORIES if key == "counts"}
        for group, categories in groups.items():
            found |= f1_figures(counted, categories, partial(_name, prefix + group), intervals=intervals)
    return found


def outcome(judged: Judgement) -> tuple[str, bool]:
    """Return an output's outcome, and whether no predicate is wrong or missed."""
    exact = judged["parsed"] and not any(sum(row[1:]) for row in judged["strict"].values())
    return ("inexact" if judged["parsed"] else "unread"), exact


def _name(group: str, part: Metric) -> str:
    return group + SHORT[part]


def judge_actions(task_id: str, found: Mapping[str, PddlAction] | None) -> Judgement:
    """Return the judgement of one output's actions; None is an unreadable output."""
    asked, predicted = asked_actions(task_id), found or {}
    counts: dict[str, ConfusionCounts] = defaultdict(ConfusionCounts)
    strict: dict[str, ConfusionCounts] = defaultdict(ConfusionCounts)
    for name in asked:
        for part in PARTS:
            gold = getattr(gold_actions()[name], part)
            one = match_predicates(getattr(predicted[name], part), gold) if name in predicted else None
            _add_counts(counts, one or PredicateMatch())
            _add_counts(strict, one or PredicateMatch(misses=predicate_names([parse_expression(gold)])))
    for name in predicted.keys() - set(asked):
        _add_counts(strict, PredicateMatch(alarms=_all_names(predicted[name])))
    counted = {"counts": {} if found is None else counts, "strict": strict}
    return {"parsed": found is not None} | {
        kind: {name: [*row] for name, row in rows.items()} for kind, rows in counted.items()
    }


def _add_counts(counts: dict[str, ConfusionCounts], found: PredicateMatch) -> None:
    """Add to the counts of categories those of the predicates of a clause."""
    for predicate in frozenset().union(*found):
        if category := _read("predicates_category.json").get(predicate):
            here = ConfusionCounts(*(int(predicate in group) for group in found))
            counts[category] = sum_counts((counts[category], here))


def _all_names(action: PddlAction) -> frozenset[str]:
    found: set[str] = set()
    for part in PARTS:
        with suppress(ValueError):
            found |= predicate_names([parse_expression(getattr(action, part))])
    return frozenset(found)
