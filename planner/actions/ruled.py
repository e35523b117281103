"""Operators under the rules of a house: what an action needs besides, and before which one a person is asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TypeAlias

from scenecypher.db.condition import And, Condition, Not, Or, bind, evaluate
from scenecypher.db.graph.scene import GraphView
from scenecypher.db.rule_memory import memory_of, required_now
from scenecypher.db.rules import Rule, Rules, forbidden_by
from scenecypher.errors import RuleBroken
from scenecypher.planner.actions.operator import AGENT, Become, Cease, Operator, Requirement, When

Approve: TypeAlias = Callable[[Rule, str], str | None]
"""Asks a person whether an action that a rule reserves may be done; returns who approved it, None if nobody did."""


class ApprovalNeeded(RuleBroken):
    """An action before which a rule has a person asked; nothing was committed."""

    def __init__(self, action: str, rule: Rule) -> None:
        super().__init__(action, [f"{asks_for(rule)}, and nobody is here to ask: leave it, or let a person do it"])
        self.rule = rule


def asks_for(rule: Rule) -> str:
    """Return the words with which a rule asks for approval."""
    return f"the rule {rule.name} has a person asked: {rule.words}"


def under_rules(operator: Operator, rules: Rules) -> Operator:
    """Return the operator with what rules of the house require before it."""
    required = tuple(_requirement(it, operator) for it in rules.by_action.get(operator.name, ()) if it.kind == "only")
    return replace(operator, requires=(*operator.requires, *required)) if required else operator


def operators_under(operators: Mapping[str, Operator], rules: Rules) -> Mapping[str, Operator]:
    """Return operators by name, each with what rules of the house require before it, and remember after it."""
    if not any(it.kind in {"only", "within"} for it in rules.in_force):
        return operators
    memory = [
        When(condition, (Become(AGENT, state),), (Cease(AGENT, state),))
        for rule in rules.past
        for state, condition in memory_of(rule)
    ]
    found = {name: under_rules(it, rules) for name, it in operators.items()}
    return {name: replace(it, effects=(*it.effects, *memory)) for name, it in found.items()}


def check_approval(
    operator: Operator,
    rules: Rules,
    graph: GraphView,
    bindings: Mapping[str, str],
    *,
    action: str,
    but: Collection[str],
) -> None:
    """Raise ApprovalNeeded for the first rule that asks before an action, but those of the names `but`."""
    for rule in rules.by_action.get(operator.name, ()):
        asks = rule.kind == "ask" and rule.name not in but
        if asks and evaluate(
            And((_of(operator, rule, rule.fits), _of(operator, rule, rule.condition))), graph, bindings
        ):
            raise ApprovalNeeded(action, rule)


def _requirement(rule: Rule, operator: Operator) -> Requirement:
    condition = Or((Not(_of(operator, rule, rule.fits)), _of(operator, rule, required_now(rule))))
    return Requirement(condition, forbidden_by(rule).replace("{", "{{").replace("}", "}}"))


def _of(operator: Operator, rule: Rule, condition: Condition) -> Condition:
    """Return a condition of a rule about the operator's parameters."""
    names = (parameter.name for parameter in operator.parameters)
    return bind(condition, dict(zip(rule.arguments, names, strict=False)))
