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
from scenecypher.planner.actions.execution import bind_choices
from scenecypher.planner.actions.operator import AGENT, Choose, Operator
from scenecypher.planner.actions.pddl_variables import required_choices, variables_of
from scenecypher.planner.actions.text import ActionCall

Arguments: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Question:
    """A requirement and the choices that it needs; `names` are the parameters that its value depends on."""

    condition: Condition
    choices: tuple[Choose, ...]
    names: tuple[str, ...]

    def holds(self, graph: GraphView, agent: str, arguments: Arguments) -> bool:
        bindings = {AGENT: agent, **dict(zip(self.names, arguments, strict=True))}
        return evaluate(self.condition, graph, bind_choices(self.choices, graph, bindings))


@dataclass(frozen=True, slots=True)
class _Check:
    """A question for the calls of one operator: the distinct arguments that it is asked of, and each call's one."""

    question: _Question
    table: int
    asked: tuple[Arguments, ...]
    place: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class _Group:
    """The calls of one operator, by their places in the list, and its checks: those of fewest arguments first."""

    places: NDArray[np.intp]
    checks: tuple[_Check, ...]


class ActionMask:
    """The requirements of `calls`, arranged so that each is evaluated once for all calls that share its arguments."""

    def __init__(self, calls: Sequence[ActionCall], operators: Mapping[str, Operator]) -> None:
        self._size = len(calls)
        self._tables: dict[_Question, int] = {}
        names = dict.fromkeys(call.name for call in calls)
        self._groups = [self._group(operators[name], calls) for name in names]

    def of(self, graph: GraphView, agent: str) -> NDArray[np.int8]:
        """Return 1 for each call whose requirements hold, else 0: what the simulator carries out uncorrected."""
        mask = np.zeros(self._size, np.int8)
        known: list[dict[Arguments, bool]] = [{} for _ in self._tables]
        for group in self._groups:
            left = np.arange(len(group.places))
            for check in group.checks:
                left = left[self._answers(check, left, graph, agent, known[check.table])[check.place[left]]]
                if not left.size:
                    break
            mask[group.places[left]] = 1
        return mask

    def _answers(
        self, check: _Check, left: NDArray[np.intp], graph: GraphView, agent: str, known: dict[Arguments, bool]
    ) -> NDArray[np.bool_]:
        """Return the answer for each of the arguments asked of, as far as calls that are `left` need it."""
        found = np.zeros(len(check.asked), np.bool_)
        for place in np.unique(check.place[left]).tolist():
            arguments = check.asked[place]
            answer = known.get(arguments)
            if answer is None:
                answer = known[arguments] = check.question.holds(graph, agent, arguments)
            found[place] = answer
        return found

    def _group(self, operator: Operator, calls: Sequence[ActionCall]) -> _Group:
        own = [(place, call.arguments) for place, call in enumerate(calls) if call.name == operator.name]
        names = [parameter.name for parameter in operator.parameters]
        checks = [self._check(_question(it.condition, operator), names, own) for it in operator.requires]
        places = np.array([place for place, _ in own], np.intp)
        return _Group(places, tuple(sorted(checks, key=lambda check: len(check.asked))))

    def _check(self, question: _Question, names: list[str], own: Sequence[tuple[int, Arguments]]) -> _Check:
        columns = [names.index(name) for name in question.names]
        asked: dict[Arguments, int] = {}
        place = [asked.setdefault(tuple(them[it] for it in columns), len(asked)) for _, them in own]
        table = self._tables.setdefault(question, len(self._tables))
        return _Check(question, table, tuple(asked), np.array(place, np.intp))


def _question(condition: Condition, operator: Operator) -> _Question:
    needed = required_choices(variables_of(condition), operator.choose)
    choices = tuple(choice for choice in operator.choose if choice.var in needed)
    mentioned = variables_of(condition).union(*(variables_of(part) for it in choices for part in it.among))
    return _Question(condition, choices, tuple(it.name for it in operator.parameters if it.name in mentioned))
