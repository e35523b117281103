"""Transition modelling: predicted preconditions and effects against the gold domain, and planning with them.

`eai` counts as the Embodied Agent Interface's evaluator: actions that were not asked for, unreadable clauses, unknown
predicates and unreadable outputs are left out; in planning, the gold action replaces a missing one, and an action may
name objects. `strict`, ours, counts all of these and replaces nothing. Fast Downward plans in a subprocess with limits
of time and memory.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from scenecypher.db.graph.value import digest
from scenecypher.errors import InputError
from scenecypher.evaluation.eai.pddl import (
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
    grouped_f1_figures,
    percent_cell,
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
QUANTIFIERS: Final = ("exists", "forall")

_NAME: Final = re.compile(r"\??[A-Za-z][\w-]*")
_OBJECTS: Final = re.compile(r"\(:objects([^()]*)\)")


@dataclass(slots=True)
class CachedPlanner:
    """Planner with a cache, since many outputs define the same domain."""

    timeout_s: float = TIMEOUT_S
    cache: dict[str, bool] = field(default_factory=dict)

    def succeeds(self, task_id: str, predicted: Mapping[str, PddlAction]) -> bool:
        """Check that the task has a plan with predicted actions in place of gold ones, as in the original.

        Raises InputError if Fast Downward is not installed.
        """
        domain, wanted = complete_domain(predicted, problem(task_id))
        key = digest(f"{domain}\0{wanted}")
        if key not in self.cache:
            self.cache[key] = has_plan(domain, wanted, timeout_s=self.timeout_s)
        return self.cache[key]


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


def unbound_names(action: PddlAction) -> frozenset[str]:
    """Return the object names that are neither parameters nor quantified; empty if the text can't be read."""
    scope = _Scope(frozenset())
    try:
        _trees(action, scope)
    except ValueError:
        return frozenset()
    return frozenset(scope.foreign)


@dataclass(slots=True)
class _Scope:
    """Known objects, and the names found that are no variables of the action."""

    objects: frozenset[str]
    foreign: set[str] = field(default_factory=set)

    def lacks(self, literal: str, bound: frozenset[str]) -> bool:
        """Check that a literal names an unknown object."""
        found = {word for word in literal.split()[1:] if _NAME.fullmatch(word)} - bound
        self.foreign |= found
        return bool(found - self.objects)


def _without_unknown_objects(action: PddlAction, objects: frozenset[str]) -> PddlAction:
    """Return the action with literals of unknown objects disabled; unchanged if it can't be read."""
    try:
        return PddlAction(action.name, action.parameters, *map(expression_text, _trees(action, _Scope(objects))))
    except ValueError:
        return action


def _trees(action: PddlAction, scope: _Scope) -> tuple[Expression, Expression]:
    bound = frozenset(_NAME.findall(action.parameters))
    return (
        _known_tree(parse_expression(action.precondition), bound, scope, otherwise=NEVER.strip("()")),
        _known_tree(parse_expression(action.effect), bound, scope, otherwise=NOTHING),
    )


def _known_tree(found: Expression, bound: frozenset[str], scope: _Scope, *, otherwise: Expression) -> Expression:
    """Return an expression with another one in place of literals of unknown objects."""
    if isinstance(found, str):
        return otherwise if scope.lacks(found, bound) else found
    if found[0] in QUANTIFIERS:
        inner = _known_tree(found[2], bound | set(_NAME.findall(str(found[1]))), scope, otherwise=otherwise)
        return (found[0], found[1], inner)
    if found[0] == "when":
        condition = _known_tree(found[1], bound, scope, otherwise=NEVER.strip("()"))
        return ("when", condition, _known_tree(found[2], bound, scope, otherwise=otherwise))
    parts = tuple(_known_tree(part, bound, scope, otherwise=otherwise) for part in found[1:])
    return NOTHING if found[0] == "not" and parts == (NOTHING,) else (found[0], *parts)


def has_plan(domain: str, wanted: str, *, timeout_s: float) -> bool:
    """Check that Fast Downward finds a plan; it is run directly, since unified-planning's parser accepts less.

    A domain that it refuses, or that exceeds the limits of time or memory, has no plan.
    """
    limit = TimeLimit(timeout_s)
    found = solve(domain, wanted, limit, search=LAMA, memory=MAX_MEMORY)
    return found.status == "solved"


CATEGORIES: Final = (
    "object_states",
    "object_orientation",
    "object_affordance",
    "spatial_relations",
    "non-spatial_relations",
)

SHORT: Final[Mapping[Metric, str]] = {"precision": "p", "recall": "r", "f1": "f1"}


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
        "categories": _read("id2category_2.json")[task_id],
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
    groups = {prefix: CATEGORIES, **{f"{prefix}{category}.": (category,) for category in CATEGORIES}}
    counted = [one[key] for one in judged]
    return grouped_f1_figures(counted, groups, lambda group, part: group + SHORT[part], intervals=intervals)


def _plans(judged: Sequence[Judgement]) -> Figures:
    """Return planning success: `planner` over readable outputs, as the original; `strict_planner` over all planned."""
    tried = [one for one in judged if one["plan"] is not None]
    read = [one for one in tried if one["parsed"]]
    groups = {"planner": read} | {
        f"planner.{it}": [one for one in read if it in one["categories"]] for it in CATEGORIES
    }
    found = {name: percent_cell(sum(one["plan"] for one in group), len(group)) for name, group in groups.items()}
    return found | {"strict_planner": percent_cell(sum(one["strict_plan"] for one in tried), len(tried))}


def _add_counts(counts: dict[str, ConfusionCounts], found: PredicateMatch) -> None:
    """Add to the counts of categories those of the predicates of a clause."""
    for predicate in found.hits | found.alarms | found.misses:
        if category := _read("predicates_category.json").get(predicate):
            groups = (found.hits, found.alarms, found.misses)
            counts[category] += ConfusionCounts(*(int(predicate in group) for group in groups))


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
