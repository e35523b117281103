"""Masks: which of a fixed list of ground actions a simulator would carry out now, fast enough for a learning loop.

Import it where it is used: it needs `numpy`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scenecypher.db.condition import Condition, evaluate
from scenecypher.db.graph.scene import GraphView
from scenecypher.db.rules import NO_RULES, Rules
from scenecypher.planner.actions.execution import bind_choices
from scenecypher.planner.actions.operator import AGENT, Choose, Operator, required_choices, variables_of
from scenecypher.planner.actions.ruled import asking_rule, refusal_by_rules, under_rules
from scenecypher.planner.actions.text import ActionCall

Arguments: TypeAlias = tuple[str, ...]
Chosen: TypeAlias = dict[tuple[int, tuple[str | None, ...]], str | None]
"""The nodes chosen so far, by the choice's number and the nodes that it depends on."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """A choice with its number and the variables that it depends on."""

    choice: Choose
    number: int
    mentioned: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Question:
    """A requirement and the choices that it needs; `names` are the parameters that its value depends on."""

    condition: Condition
    choices: tuple[_Choice, ...]
    names: tuple[str, ...]

    def holds(self, graph: GraphView, agent: str, arguments: Arguments, chosen: Chosen) -> bool:
        bindings = {AGENT: agent, **dict(zip(self.names, arguments, strict=True))}
        for each in self.choices:
            key = (each.number, tuple(map(bindings.get, each.mentioned)))
            if key not in chosen:
                chosen[key] = bind_choices((each.choice,), graph, bindings).get(each.choice.var)
            node = chosen[key]
            if node is not None:
                bindings[each.choice.var] = node
        return evaluate(self.condition, graph, bindings)


@dataclass(frozen=True, slots=True)
class _Check:
    """A question for the calls of one operator, by its number, with the arguments that it is asked of for each."""

    question: _Question
    number: int
    arguments: tuple[Arguments, ...]


@dataclass(frozen=True, slots=True)
class _Group:
    """The calls of one operator, by their places in the list, and its checks: those of fewest arguments first."""

    places: tuple[int, ...]
    checks: tuple[_Check, ...]


class ActionMask:
    """The requirements of `calls`, arranged so that each is evaluated once for all calls that share its arguments."""

    def __init__(self, calls: Sequence[ActionCall], operators: Mapping[str, Operator], rules: Rules = NO_RULES) -> None:
        self._calls, self._rules = calls, rules
        self._operators = {name: under_rules(it, rules) for name, it in operators.items()}
        self._numbers: dict[_Question, int] = {}
        self._choices: dict[Choose, _Choice] = {}
        names = dict.fromkeys(call.name for call in calls)
        self._groups = [self._group(self._operators[name], calls) for name in names]

    def of(self, graph: GraphView, agent: str) -> NDArray[np.int8]:
        """Return 1 for each call whose requirements hold, else 0: what the simulator carries out uncorrected.

        What rules of the house forbid now, or have a person asked for, is 0, too.
        """
        mask = np.zeros(len(self._calls), np.int8)
        known: list[dict[Arguments, bool]] = [{} for _ in self._numbers]
        chosen: Chosen = {}
        for group in self._groups:
            left = [*range(len(group.places))]
            for check in group.checks:
                answers = known[check.number]
                for arguments in {check.arguments[it] for it in left} - answers.keys():
                    answers[arguments] = check.question.holds(graph, agent, arguments, chosen)
                left = [it for it in left if answers[check.arguments[it]]]
            mask[[group.places[it] for it in left]] = 1
        for place in np.flatnonzero(mask).tolist() if self._rules.in_force else ():
            mask[place] = self._is_allowed(self._calls[place], graph, agent)
        return mask

    def _is_allowed(self, call: ActionCall, graph: GraphView, agent: str) -> bool:
        operator = self._operators[call.name]
        names = (parameter.name for parameter in operator.parameters)
        given = {AGENT: agent, **dict(zip(names, call.arguments, strict=True))}
        is_asked = asking_rule(operator, self._rules, graph, given) is not None
        return not is_asked and not refusal_by_rules(operator, self._rules, graph, given, str(call))

    def _group(self, operator: Operator, calls: Sequence[ActionCall]) -> _Group:
        own = [(place, call.arguments) for place, call in enumerate(calls) if call.name == operator.name]
        names = [parameter.name for parameter in operator.parameters]
        checks = [self._check(self._question(it.condition, operator), names, own) for it in operator.requires]
        return _Group(tuple(place for place, _ in own), tuple(sorted(checks, key=lambda it: len({*it.arguments}))))

    def _question(self, condition: Condition, operator: Operator) -> _Question:
        needed = required_choices(variables_of(condition), operator.choose)
        choices = [choice for choice in operator.choose if choice.var in needed]
        mentioned = variables_of(condition).union(*(variables_of(part) for it in choices for part in it.among))
        names = tuple(it.name for it in operator.parameters if it.name in mentioned)
        return _Question(condition, tuple(map(self._choice, choices)), names)

    def _choice(self, choice: Choose) -> _Choice:
        mentioned = {name for part in choice.among for name in variables_of(part)} - {choice.var}
        return self._choices.setdefault(choice, _Choice(choice, len(self._choices), tuple(sorted(mentioned))))

    def _check(self, question: _Question, names: list[str], own: Sequence[tuple[int, Arguments]]) -> _Check:
        columns = [names.index(name) for name in question.names]
        arguments = tuple(tuple(them[it] for it in columns) for _, them in own)
        return _Check(question, self._numbers.setdefault(question, len(self._numbers)), arguments)
