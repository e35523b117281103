"""BEHAVIOR's goals as Conditions: forall, exists, forn, forpairs, imply and the rest of the planning language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from scenecypher.db.condition import (
    And,
    AtLeast,
    Condition,
    Exactly,
    Exists,
    ForAll,
    HasClass,
    HasState,
    Id,
    Not,
    Or,
    Related,
    Same,
    Term,
    Within,
)
from scenecypher.importers.behavior_definitions import Activity, Expression
from scenecypher.importers.behavior_words import STATES, class_of, name_of

STACKED: Final = frozenset({"sorting_books_on_shelf"})
"""The activities whose goal wants the same things inside one and on another: there, what lies on a thing inside is
inside too. Here a thing is on or inside one other at most, so such a goal would be impossible otherwise; in all other
goals `inside` is that one relation, and what is in a bag in the car is not inside the car.
"""

_NO_LETTER: Final = re.compile(r"\W")
_CARRIER: Final = "_carrier"


def goal_of(activity: Activity) -> Condition:
    """What an activity asks for. Raises ValueError for an expression that is none of the language."""
    numbers = {synset: len(found) for synset, found in activity.objects.items()}
    reader = _Reader(numbers, stacked=activity.name in STACKED)
    return And(tuple(reader.read(part) for part in activity.goal))


def stacked_inside(x: Term, y: Term) -> Condition:
    """`x` is in `y`, or lies, over any number of things, on one that is."""
    carried = And((Related(_CARRIER, "INSIDE", y), Within(x, _CARRIER, ("ON",))))
    return Or((Related(x, "INSIDE", y), Exists(_CARRIER, carried)))


def written(expression: Expression) -> str:
    """An expression in the source's own form, on one line."""
    return expression if isinstance(expression, str) else f"({' '.join(map(written, expression))})"


@dataclass(frozen=True, slots=True)
class _Variable:
    """A quantified variable: our name for it, and the synset that it ranges over."""

    name: str
    synset: str

    @property
    def sort(self) -> Condition:
        return HasClass(self.name, class_of(self.synset))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads expressions under the quantifiers around them."""

    numbers: Mapping[str, int]
    stacked: bool = False
    variables: Mapping[str, _Variable] = field(default_factory=dict)

    def read(self, expression: Expression) -> Condition:
        match expression:
            case ["and", *parts]:
                return And(tuple(map(self.read, parts)))
            case ["or", *parts]:
                return Or(tuple(map(self.read, parts)))
            case ["not", part]:
                return Not(self.read(part))
            case ["imply", condition, consequence]:
                return Or((Not(self.read(condition)), self.read(consequence)))
            case ["forall" | "exists" | "forn" | "forpairs", *_]:
                return self._quantified(expression)
            case _:
                return self._fact(expression)

    def _quantified(self, expression: Expression) -> Condition:
        match expression:
            case ["forall", declared, body]:
                x, inner = self.under(declared)
                return ForAll(x.name, x.sort, inner.read(body))
            case ["exists", declared, body]:
                x, inner = self.under(declared)
                return Exists(x.name, And((x.sort, inner.read(body))))
            case ["forn", [number], declared, body]:
                x, inner = self.under(declared)
                return Exactly(int(number), x.name, And((x.sort, inner.read(body))))
            case ["forpairs", one, other, body]:
                return self._pairs(one, other, body=body)
        raise _no_goal(expression)

    def _pairs(self, one: Expression, other: Expression, *, body: Expression) -> Condition:
        """As many on either side as the smaller side has, each with a partner: what `bddl` counts.

        That is a matching wherever a thing is on or inside one other at most, which this vocabulary promises.
        """
        x, inner = self.under(one)
        y, inner = inner.under(other)
        least = min(self.numbers[x.synset], self.numbers[y.synset])
        fact = inner.read(body)
        if x.synset == y.synset:
            fact = And((Not(Same(x.name, y.name)), fact))
        return And(
            (
                AtLeast(least, x.name, And((x.sort, Exists(y.name, And((y.sort, fact)))))),
                AtLeast(least, y.name, And((y.sort, Exists(x.name, And((x.sort, fact)))))),
            )
        )

    def under(self, declared: Expression) -> tuple[_Variable, _Reader]:
        """The variable of ``?book.n.02 - book.n.02``, and a reader that knows it."""
        word, _, synset = declared
        if synset not in self.numbers:
            raise _no_goal(declared)
        variable = _Variable(_NO_LETTER.sub("_", word.lstrip("?")), synset)
        return variable, replace(self, variables={**self.variables, word: variable})

    def _fact(self, fact: Expression) -> Condition:
        match fact:
            case ["ontop", x, y]:
                return Related(self._term(x), "ON", self._term(y))
            case ["inside", x, y]:
                within = stacked_inside(self._term(x), self._term(y))
                return within if self.stacked else Related(self._term(x), "INSIDE", self._term(y))
            case ["real", x]:
                return Same(self._term(x), self._term(x))
            case [predicate, x] if predicate in STATES:
                return HasState(self._term(x), STATES[predicate][1])
        raise _no_goal(fact)

    def _term(self, word: str) -> Term:
        variable = self.variables.get(word)
        return variable.name if variable else Id(name_of(word))


def _no_goal(expression: Expression) -> ValueError:
    return ValueError(f"{written(expression)} is no expression of BEHAVIOR's goals")
