"""Planning with a predicted domain: Fast Downward in a subprocess with limits of time and memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from scenecypher.db.graph.value import digest
from scenecypher.evaluation.eai.transition_gold import domain_head, gold_actions, problem
from scenecypher.evaluation.eai.transition_text import Expression, PddlAction, expression_text, parse_expression
from scenecypher.planner.symbolic.engine import LAMA, solve
from scenecypher.planner.symbolic.limits import TimeLimit

TIMEOUT_S: Final = 20.0
"""Time limit of one plan, in seconds; the original allows 100 s, and no recorded output took over 2 s."""
MAX_MEMORY: Final = "1G"
NEVER: Final = "(never)"
"""Predicate that nothing makes true."""
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
    return _precondition_tree(parse_expression(action.precondition), bound, scope), _effect_tree(
        parse_expression(action.effect), bound, scope
    )


def _precondition_tree(found: Expression, bound: frozenset[str], scope: _Scope) -> Expression:
    if isinstance(found, str):
        return NEVER.strip("()") if scope.lacks(found, bound) else found
    if found[0] in QUANTIFIERS:
        return (found[0], found[1], _precondition_tree(found[2], bound | set(_NAME.findall(str(found[1]))), scope))
    return (found[0], *(_precondition_tree(part, bound, scope) for part in found[1:]))


def _effect_tree(found: Expression, bound: frozenset[str], scope: _Scope) -> Expression:
    """Return the effect without literals of unknown objects."""
    if isinstance(found, str):
        return ("and",) if scope.lacks(found, bound) else found
    if found[0] in QUANTIFIERS:
        return (found[0], found[1], _effect_tree(found[2], bound | set(_NAME.findall(str(found[1]))), scope))
    if found[0] == "when":
        return ("when", _precondition_tree(found[1], bound, scope), _effect_tree(found[2], bound, scope))
    inner = tuple(_effect_tree(part, bound, scope) for part in found[1:])
    return ("and",) if found[0] == "not" and inner == (("and",),) else (found[0], *inner)


def has_plan(domain: str, wanted: str, *, timeout_s: float) -> bool:
    """Check that Fast Downward finds a plan; it is run directly, since unified-planning's parser accepts less.

    A domain that it refuses, or that exceeds the limits of time or memory, has no plan.
    """
    limit = TimeLimit(timeout_s)
    found = solve(domain, wanted, limit, search=LAMA, memory=MAX_MEMORY)
    return found.status == "solved"
