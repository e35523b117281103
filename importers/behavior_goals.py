"""BEHAVIOR's goals (forall, exists, forn, forpairs, imply and the rest of its language) as Conditions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import scenecypher.db.condition as c
from scenecypher.importers.behavior_definitions import Activity, BddlExpression
from scenecypher.importers.behavior_words import STATES, instance_name, synset_class
from scenecypher.importers.pddl.syntax import expression_text

STACKED: Final = frozenset({"sorting_books_on_shelf"})
"""The activities whose goal wants the same objects both inside one object and on another.

There, an object that lies on one inside counts as inside too: an object has one parent here, so such a goal would be
impossible otherwise. In all other goals `inside` is the one relation, and an object in a bag in the car is not inside
the car.
"""

_NO_LETTER: Final = re.compile(r"\W")
_CARRIER: Final = "_carrier"


def activity_goal(activity: Activity) -> c.Condition:
    """Return the goal of an activity. Raises ValueError for an expression outside the language."""
    numbers = {synset: len(found) for synset, found in activity.objects.items()}
    reader = _Reader(numbers, stacked=activity.name in STACKED)
    return c.And(tuple(reader.read(part) for part in activity.goal))


def stacked_inside(x: c.Term, y: c.Term) -> c.Condition:
    """Return the condition that `x` is in `y`, or lies on one that is, over any number of objects."""
    carried = c.And((c.Related(_CARRIER, "INSIDE", y), c.Within(x, _CARRIER, ("ON",))))
    return c.Or((c.Related(x, "INSIDE", y), c.Exists(_CARRIER, carried)))


@dataclass(frozen=True, slots=True)
class _Variable:
    """A quantified variable: its name here, and the synset that it ranges over."""

    name: str
    synset: str

    @property
    def sort(self) -> c.Condition:
        return c.HasClass(self.name, synset_class(self.synset))


@dataclass(frozen=True, slots=True)
class _Reader:
    """A reader of expressions within the quantifiers around them."""

    numbers: Mapping[str, int]
    stacked: bool = False
    variables: Mapping[str, _Variable] = field(default_factory=dict)

    def read(self, expression: BddlExpression) -> c.Condition:
        match expression:
            case ["and", *parts]:
                return c.And(tuple(map(self.read, parts)))
            case ["or", *parts]:
                return c.Or(tuple(map(self.read, parts)))
            case ["not", part]:
                return c.Not(self.read(part))
            case ["imply", condition, consequence]:
                return c.Or((c.Not(self.read(condition)), self.read(consequence)))
            case ["forall" | "exists" | "forn" | "forpairs", *_]:
                return self._quantified(expression)
            case _:
                return self._fact(expression)

    def _quantified(self, expression: BddlExpression) -> c.Condition:
        match expression:
            case ["forall", declared, body]:
                x, inner = self.bind(declared)
                return c.ForAll(x.name, x.sort, inner.read(body))
            case ["exists", declared, body]:
                x, inner = self.bind(declared)
                return c.Exists(x.name, c.And((x.sort, inner.read(body))))
            case ["forn", [number], declared, body]:
                x, inner = self.bind(declared)
                return c.Exactly(int(number), x.name, c.And((x.sort, inner.read(body))))
            case ["forpairs", one, other, body]:
                return self._pairs(one, other, body=body)
        raise _no_goal(expression)

    def _pairs(self, one: BddlExpression, other: BddlExpression, *, body: BddlExpression) -> c.Condition:
        """Return the condition that as many on either side as the smaller side has each have a partner: `bddl`'s count.

        That is a matching wherever an object is on or inside one other at most, as this vocabulary guarantees.
        """
        x, inner = self.bind(one)
        y, inner = inner.bind(other)
        least = min(self.numbers[x.synset], self.numbers[y.synset])
        fact = inner.read(body)
        if x.synset == y.synset:
            fact = c.And((c.Not(c.Same(x.name, y.name)), fact))
        return c.And(
            (
                c.AtLeast(least, x.name, c.And((x.sort, c.Exists(y.name, c.And((y.sort, fact)))))),
                c.AtLeast(least, y.name, c.And((y.sort, c.Exists(x.name, c.And((x.sort, fact)))))),
            )
        )

    def bind(self, declared: BddlExpression) -> tuple[_Variable, _Reader]:
        """Return the variable of ``?book.n.02 - book.n.02``, and a reader that knows it."""
        word, _, synset = declared
        if synset not in self.numbers:
            raise _no_goal(declared)
        variable = _Variable(_NO_LETTER.sub("_", word.lstrip("?")), synset)
        return variable, replace(self, variables={**self.variables, word: variable})

    def _fact(self, fact: BddlExpression) -> c.Condition:
        match fact:
            case ["ontop", x, y]:
                return c.Related(self._term(x), "ON", self._term(y))
            case ["inside", x, y]:
                within = stacked_inside(self._term(x), self._term(y))
                return within if self.stacked else c.Related(self._term(x), "INSIDE", self._term(y))
            case ["real", x]:
                return c.Same(self._term(x), self._term(x))
            case [predicate, x] if predicate in STATES:
                return c.HasState(self._term(x), STATES[predicate][1])
        raise _no_goal(fact)

    def _term(self, word: str) -> c.Term:
        variable = self.variables.get(word)
        return variable.name if variable else c.Id(instance_name(word))


def _no_goal(expression: BddlExpression) -> ValueError:
    return ValueError(f"{expression_text(expression)} is no expression of BEHAVIOR's goals")
