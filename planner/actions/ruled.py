"""Operators under the rules of a house: what an action needs besides, and before which one a person is asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import GraphView
from scenecypher.db.rule_memory import decide, memory_of, required_now
from scenecypher.db.rules import Rule, Rules, forbidden_by, rules_of
from scenecypher.db.schema import HOLDING
from scenecypher.errors import RuleBroken
from scenecypher.planner.actions import operator as op
from scenecypher.planner.actions.execution import bind_operator, effects_delta
from scenecypher.planner.vocabularies.vocabulary import action_list
from scenecypher.words import stems

if TYPE_CHECKING:
    from scenecypher.planner.actions.simulator import ActionSimulator


@dataclass(frozen=True, slots=True)
class AskBack:
    """A question to a person: what is meant, in a session in which somebody can be asked, or whether to do an action.

    `choices` are in words, `nodes` the ids that each stands for; without any the answer is a word. `about` is the
    variable of the goal that is meant, `count` the number of its things; or the action, whose choices have no nodes.
    """

    question: str
    choices: tuple[str, ...] = ()
    nodes: tuple[tuple[str, ...], ...] = ()
    about: str = ""
    count: int = 1


Answer: TypeAlias = Callable[[AskBack], str | None]
"""Asks a person: returns one of the choices or an id among them, "" for any of them, None to stop the session.

An action is approved by APPROVED, or with a name as `approval_by` gives it; any other answer is a no.
"""
APPROVED: Final = "do it"
LEFT: Final = "leave it"


def approval_by(name: str) -> str:
    """Return the answer by which a person of this name approves an action: ``do it: ann``."""
    return f"{APPROVED}: {name}"


class ApprovalNeeded(RuleBroken):
    """An action before which a rule has a person asked the `question`; nothing was committed."""

    def __init__(self, action: str, rule: Rule) -> None:
        self.asks, self.rule = f"the rule {rule.name} has a person asked: {rule.words}", rule
        self.question = AskBack(f"{action}: {self.asks}", (APPROVED, LEFT), about=action)
        super().__init__(action, [f"{self.asks}, and nobody is here to ask: leave it, or let a person do it"])


def under_rules(operator: op.Operator, rules: Rules, repairing: Collection[op.Operator] = ()) -> op.Operator:
    """Return the operator with what rules of the house require before it; `repairing` are operators that may help."""
    asked = (it for it in rules.by_action.get(operator.name, ()) if it.kind == "only")
    required = tuple(_requirement(it, operator, repairing) for it in asked)
    return replace(operator, requires=(*operator.requires, *required)) if required else operator


def operators_under(operators: Mapping[str, op.Operator], rules: Rules) -> Mapping[str, op.Operator]:
    """Return operators by name, each with what rules of the house require before it, and remember after it."""
    if not any(it.kind in {"only", "within"} for it in rules.in_force):
        return operators
    memory = [
        op.When(condition, (op.Become(op.AGENT, state),), (op.Cease(op.AGENT, state),))
        for rule in rules.past
        for state, condition in memory_of(rule)
    ]
    found = {name: under_rules(it, rules) for name, it in operators.items()}
    return {name: replace(it, effects=(*it.effects, *memory)) for name, it in found.items()}


def asking_rule(
    operator: op.Operator, rules: Rules, graph: GraphView, bindings: Mapping[str, str], but: Collection[str] = ()
) -> Rule | None:
    """Return the first rule that has a person asked before an action, but those named in `but`; None if none has."""
    asking = (it for it in rules.by_action.get(operator.name, ()) if it.kind == "ask" and it.name not in but)
    fitting = ((it, _of(operator, it, c.And((it.fits, it.condition)))) for it in asking)
    return next((rule for rule, condition in fitting if c.evaluate(condition, graph, bindings)), None)


def refusal_by_rules(
    operator: op.Operator, rules: Rules, graph: GraphView, given: Mapping[str, str], action: str
) -> str:
    """Return with what rules of the house refuse an action whose requirements hold; empty if they allow it."""
    delta = effects_delta(operator, graph, bind_operator(operator, graph, given))
    try:
        decide(rules, graph, delta, action=action)
    except RuleBroken as broken:
        return "; ".join(broken.reasons)
    return ""


def _requirement(rule: Rule, operator: op.Operator, repairing: Collection[op.Operator]) -> op.Requirement:
    condition = c.Or((c.Not(_of(operator, rule, rule.fits)), _of(operator, rule, required_now(rule))))
    words = forbidden_by(rule).replace("{", "{{").replace("}", "}}")
    can_follow = repairing and rule.tense in {"", "once"}
    repair = _repair(_of(operator, rule, rule.condition), repairing) if can_follow else None
    return op.Requirement(condition, words, repair=repair)


def _repair(condition: c.Condition, repairing: Collection[op.Operator]) -> op.Repair | None:
    """Return the action that brings about the one fact that a rule asks for; None if that is not the case."""
    parts, facts, choices = [condition], list[c.Condition](), list[op.Choose]()
    for part in parts:
        match part:
            case c.And(inner):
                parts += inner
            case c.Exists(var, where):
                fixed = [it for it in c.conjuncts(where) if op.is_static(it) and op.variables_of(it) == {var}]
                choices.append(op.Choose(var, (c.And(tuple(fixed)),)))
                parts += [it for it in c.conjuncts(where) if it not in fixed]
            case _:
                facts.append(part)
    for operator in repairing if len(facts) == 1 else ():
        names = [it.name for it in operator.parameters]
        for effect in op.simple_effects(operator.effects):
            given = _given(effect, facts[0])
            if {*names} == given.keys() - {op.AGENT}:
                named = {name: f"the_{it.id}" if isinstance(it, c.Id) else it for name, it in given.items()}
                ids = ((named[name], it) for name, it in given.items() if isinstance(it, c.Id))
                known = (op.Choose(var, (c.Same(var, it),)) for var, it in ids)
                return op.Repair(operator.name, tuple(named[it] for it in names), (*choices, *known))
    return None


def _given(effect: op.Effect, fact: c.Condition) -> dict[str, c.Term]:
    """Return the ends of a fact by the variables of an effect that brings it about; empty if it does not."""
    match effect, fact:
        case (op.Become(y, state), c.HasState(x, wanted)) if state == wanted:
            return {y: x}
        case (op.Become(y, _, state) | op.Cease(y, state), c.Not(c.HasState(x, unwanted))) if state == unwanted:
            return {y: x}
        case op.Relate(source, type_, target), c.Related(x, wanted, y) if type_ == wanted and source != op.AGENT:
            return {source: x, target: y}
        case op.Relate(source, type_, target), c.Within(x, y, types) if type_ == types[0] and source != op.AGENT:
            return {source: x, target: y}
        case op.Relate(source, type_, target), c.HeldBy(x, agent) if type_ in HOLDING:
            return {source: agent, target: x}
    return {}


def _of(operator: op.Operator, rule: Rule, condition: c.Condition) -> c.Condition:
    """Return a condition of a rule about the operator's parameters."""
    names = (parameter.name for parameter in operator.parameters)
    return c.bind(condition, dict(zip(rule.arguments, names, strict=False)))


# --- rules as models and people are told of them

HOUSE_RULES: Final = "Rules of this house; an action that would break one is refused:"
MOST_TOLD: Final = 12
"""The most rules that are told; of more, those that share a word with the task come first."""


def listed(heading: str, lines: Sequence[str]) -> str:
    """Return lines under a heading."""
    return "\n".join((heading, *(f"- {line}" for line in lines)))


def rule_lines(rules: Rules, task: str) -> tuple[str, ...]:
    """Return the words of the rules that a model is told of for a task."""
    words = {*stems(task)}
    first = sorted(rules.in_force, key=lambda it: words.isdisjoint(stems(it.words)))
    return tuple(it.words for it in first[:MOST_TOLD])


def actions_and_rules(simulator: ActionSimulator) -> str:
    """Return the actions of a scene, one a line, and the rules that forbid some of them."""
    actions, rules = action_list(simulator.operators, simulator.macros), rules_of(simulator.scene.declared)
    lines, more = rule_lines(rules, ""), len(rules.in_force) - MOST_TOLD
    told = (*lines, f"and {more} more: `scenecypher rules list`") if more > 0 else lines
    return f"{actions}\n\n{listed(HOUSE_RULES, told)}" if told else actions
