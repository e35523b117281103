"""Operators under the rules of a house: what an action needs besides, and before which one a person is asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TypeAlias

from scenecypher.db.condition import (
    And,
    Condition,
    Exists,
    HasState,
    HeldBy,
    Id,
    Not,
    Or,
    Related,
    Same,
    Term,
    Within,
    bind,
    conjuncts,
    evaluate,
)
from scenecypher.db.graph.scene import GraphView
from scenecypher.db.rule_memory import decide, memory_of, required_now
from scenecypher.db.rules import Rule, Rules, forbidden_by
from scenecypher.db.schema import HOLDING
from scenecypher.errors import RuleBroken
from scenecypher.planner.actions.execution import bind_operator, effects_delta
from scenecypher.planner.actions.operator import (
    AGENT,
    Become,
    Cease,
    Choose,
    Effect,
    Operator,
    Relate,
    Repair,
    Requirement,
    When,
    nested_effects,
)
from scenecypher.planner.actions.variables import is_static, variables_of

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


def under_rules(operator: Operator, rules: Rules, repairing: Collection[Operator] = ()) -> Operator:
    """Return the operator with what rules of the house require before it; `repairing` are operators that may help."""
    asked = (it for it in rules.by_action.get(operator.name, ()) if it.kind == "only")
    required = tuple(_requirement(it, operator, repairing) for it in asked)
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


def refusal_by_rules(operator: Operator, rules: Rules, graph: GraphView, given: Mapping[str, str], action: str) -> str:
    """Return with what rules of the house refuse an action whose requirements hold; empty if they allow it."""
    delta = effects_delta(operator, graph, bind_operator(operator, graph, given))
    try:
        decide(rules, graph, delta, action=action)
    except RuleBroken as broken:
        return "; ".join(broken.reasons)
    return ""


def _requirement(rule: Rule, operator: Operator, repairing: Collection[Operator]) -> Requirement:
    condition = Or((Not(_of(operator, rule, rule.fits)), _of(operator, rule, required_now(rule))))
    words = forbidden_by(rule).replace("{", "{{").replace("}", "}}")
    can_follow = repairing and rule.tense in {"", "once"}
    repair = _repair(_of(operator, rule, rule.condition), repairing) if can_follow else None
    return Requirement(condition, words, repair=repair)


def _repair(condition: Condition, repairing: Collection[Operator]) -> Repair | None:
    """Return the action that brings about the one fact that a rule asks for; None if that is not the case."""
    parts, facts, choices = [condition], list[Condition](), list[Choose]()
    for part in parts:
        match part:
            case And(inner):
                parts += inner
            case Exists(var, where):
                fixed = [it for it in conjuncts(where) if is_static(it) and variables_of(it) == {var}]
                choices.append(Choose(var, (And(tuple(fixed)),)))
                parts += [it for it in conjuncts(where) if it not in fixed]
            case _:
                facts.append(part)
    for operator in repairing if len(facts) == 1 else ():
        names = [it.name for it in operator.parameters]
        for effect in nested_effects(operator.effects):
            given = _given(effect, facts[0])
            if {*names} == given.keys() - {AGENT}:
                named = {name: f"the_{it.id}" if isinstance(it, Id) else it for name, it in given.items()}
                known = (
                    Choose(named[name], (Same(named[name], it),)) for name, it in given.items() if isinstance(it, Id)
                )
                return Repair(operator.name, tuple(named[it] for it in names), (*choices, *known))
    return None


def _given(effect: Effect, fact: Condition) -> dict[str, Term]:
    """Return the ends of a fact by the variables of an effect that brings it about; empty if it does not."""
    match effect, fact:
        case (Become(y, state), HasState(x, wanted)) if state == wanted:
            return {y: x}
        case (Become(y, _, state) | Cease(y, state), Not(HasState(x, unwanted))) if state == unwanted:
            return {y: x}
        case Relate(source, type_, target), Related(x, wanted, y) if type_ == wanted and source != AGENT:
            return {source: x, target: y}
        case Relate(source, type_, target), Within(x, y, types) if type_ == types[0] and source != AGENT:
            return {source: x, target: y}
        case Relate(source, type_, target), HeldBy(x, agent) if type_ in HOLDING:
            return {source: agent, target: x}
    return {}


def _of(operator: Operator, rule: Rule, condition: Condition) -> Condition:
    """Return a condition of a rule about the operator's parameters."""
    names = (parameter.name for parameter in operator.parameters)
    return bind(condition, dict(zip(rule.arguments, names, strict=False)))
