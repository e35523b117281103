"""Transition modelling: predicted preconditions and effects against the gold domain, and planning with them.

`counts` are as by the Embodied Agent Interface's evaluator: actions that were not asked for, unreadable clauses,
unknown predicates and unreadable outputs are left out; `strict` ones, ours, have all of these. In planning, the gold
action replaces a missing one, and an action may name objects. Fast Downward plans in a subprocess with limits of time
and memory.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, Final

from scenecypher.errors import InputError
from scenecypher.evaluation.eai.pddl import (
    QUANTIFIERS,
    Expression,
    PddlAction,
    PredicateMatch,
    expression_text,
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
    percent_cell,
    sum_counts,
)
from scenecypher.importers.json_file import read_json
from scenecypher.importers.virtualhome import REPAIR, package_folder, task_order
from scenecypher.planner.symbolic.engine import LAMA, TimeLimit, check_engine, solve

RESOURCES: Final = Path("resources/virtualhome")


@cache
def transition_task_ids() -> tuple[str, ...]:
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
def problem(task_id: str) -> str:
    """Return the task's PDDL problem."""
    name = "_".join(_read("id2task.json")[task_id].split())
    return (package_folder() / RESOURCES / "problem_pddl" / name / f"{task_id}.pddl").read_text(encoding="utf-8")


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


TIMEOUT_S: Final = 20.0
"""Time limit of one plan, in seconds; the original allows 100 s, and no recorded output took over 2 s."""
MAX_MEMORY: Final = "1G"

NEVER: Final = "(never)"
"""Predicate that nothing makes true."""
NOTHING: Final[Expression] = ("and",)
"""Effect that changes nothing."""

_NAME: Final = re.compile(r"\??[A-Za-z][\w-]*")
_OBJECTS: Final = re.compile(r"\(:objects([^()]*)\)")


def complete_domain(predicted: Mapping[str, PddlAction], wanted: str) -> tuple[str, str]:
    """Return domain and problem with the predicted actions, then the gold ones that were not predicted.

    Actions may name the problem's objects, which are therefore declared in the domain, and nothing is true of a name
    that is neither object nor parameter. The Fast Downward of the published figures accepted both; newer ones refuse
    them.
    """
    objects = _OBJECTS.search(wanted)
    declared = objects[1].strip() if objects else ""
    own = (_without_unknown_objects(predicted[name], frozenset(declared.split())) for name in sorted(predicted))
    others = (action for name, action in gold_actions().items() if name not in predicted)
    actions = "\n".join(action.pddl() for action in (*own, *others))
    head = domain_head().replace("(:predicates", f"(:constants {declared})\n(:predicates {NEVER}", 1)
    return f"{head}\n{actions}\n)", _OBJECTS.sub("(:objects)", wanted, count=1)


def _without_unknown_objects(action: PddlAction, objects: frozenset[str]) -> PddlAction:
    """Return the action with literals of unknown objects disabled; unchanged if it can't be read."""
    known = objects.union(_NAME.findall(action.parameters))
    try:
        precondition = _known_tree(parse_expression(action.precondition), known, otherwise=NEVER.strip("()"))
        effect = _known_tree(parse_expression(action.effect), known, otherwise=NOTHING)
    except ValueError:
        return action
    return PddlAction(action.name, action.parameters, expression_text(precondition), expression_text(effect))


def _known_tree(found: Expression, known: frozenset[str], *, otherwise: Expression) -> Expression:
    """Return an expression with another one in place of literals with a name that is not `known`."""
    if isinstance(found, str):
        names = {word for word in found.split()[1:] if _NAME.fullmatch(word)}
        return found if names <= known else otherwise
    if found[0] in QUANTIFIERS:
        bound = known.union(_NAME.findall(str(found[1])))
        return (found[0], found[1], _known_tree(found[2], bound, otherwise=otherwise))
    if found[0] == "when":
        condition = _known_tree(found[1], known, otherwise=NEVER.strip("()"))
        return ("when", condition, _known_tree(found[2], known, otherwise=otherwise))
    parts = tuple(_known_tree(part, known, otherwise=otherwise) for part in found[1:])
    return NOTHING if found[0] == "not" and parts == (NOTHING,) else (found[0], *parts)


@lru_cache(512)
def has_plan(domain: str, wanted: str, *, timeout_s: float = TIMEOUT_S) -> bool:
    """Check that Fast Downward finds a plan; many outputs define the same domain, so the last answers are kept.

    A domain that it refuses, or that exceeds the limits of time or memory, has no plan. Raises InputError if it is not
    installed.
    """
    return solve(domain, wanted, TimeLimit(timeout_s), search=LAMA, memory=MAX_MEMORY).status == "solved"


CATEGORIES: Final = (
    "object_states",
    "object_orientation",
    "object_affordance",
    "spatial_relations",
    "non-spatial_relations",
)

PARTS: Final = ("precondition", "effect")
SHORT: Final[Mapping[Metric, str]] = {"precision": "p", "recall": "r", "f1": "f1"}


class TransitionScorer:
    """Scorer of 296 outputs; if it `plans`, it checks that there is a plan with each."""

    def __init__(self, *, plans: bool = True) -> None:
        self._plans = plans
        if plans:
            check_engine()

    def task_ids(self) -> Sequence[str]:
        """Return the tasks with a problem, by number."""
        return transition_task_ids()

    def score(self, task_id: str, output: str | None) -> Judgement:
        """Count by category in both ways, and check that there is a plan (None if not planned)."""
        found = None if output is None else parse_actions(output)
        plan = has_plan(*complete_domain(found, problem(task_id))) if found is not None and self._plans else False
        return {**judge_actions(task_id, found), "plan": plan if self._plans else None}

    def figures(self, judged: Sequence[Judgement], *, intervals: Collection[str] = ()) -> Figures:
        """Return precision, recall and F1 in total and by category, and how many readable outputs have a plan."""
        figures: Figures = {}
        for key, prefix in (("counts", ""), ("strict", "strict_")):
            counted = [one[key] for one in judged]
            groups = {"": CATEGORIES} | {f"{it}.": (it,) for it in CATEGORIES if key == "counts"}
            for group, categories in groups.items():
                figures |= f1_figures(counted, categories, partial(_name, prefix + group), intervals=intervals)
        planned = [one["plan"] for one in judged if one["parsed"] and one["plan"] is not None]
        return figures | {"planner": percent_cell(sum(planned), len(planned))}

    def outcome(self, judged: Judgement) -> tuple[str, bool]:
        """Return an output's outcome, and whether there is a plan."""
        ended = "not planned" if judged["plan"] is None else "no plan"
        return (ended if judged["parsed"] else "unread"), bool(judged["plan"])


def _name(group: str, part: Metric) -> str:
    return group + SHORT[part]


def judge_actions(task_id: str, found: Mapping[str, PddlAction] | None) -> Judgement:
    """Return the judgement of one output's actions, without planning; None is an unreadable output."""
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
