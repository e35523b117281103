"""Parser of goals stated by a model: checked against the names that occur in the scene and turned into a Condition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from pydantic import BaseModel, ConfigDict

import scenecypher.db.condition as c
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.errors import UnknownReference, did_you_mean

HELD: Final = "HELD"
"""The form's word for being in an agent's hand."""
SYNONYMS: Final = {
    "ONTOP": "ON",
    "ONTOP_OF": "ON",
    "IN": "INSIDE",
    "INSIDE_OF": "INSIDE",
    "HOLDS": HELD,
    "HELD_BY": HELD,
}


class FactForm(BaseModel):
    """One thing that shall be so."""

    model_config = ConfigDict(extra="forbid")

    what: str
    color: str | None
    count: int | None
    relation: str | None
    to: str | None
    state: str | None
    negated: bool


class GoalForm(BaseModel):
    """What the model answers."""

    model_config = ConfigDict(extra="forbid")

    reason: str
    goal: list[FactForm]


@dataclass(frozen=True)
class GoalParser:
    """Parser from forms to Conditions on one scene. Raises UnknownReference for names that do not occur there."""

    occurring: Enumerations

    def condition(self, goal: Iterable[FactForm]) -> c.Condition:
        """Return the conjunction of all facts. Raises UnknownReference if there is none."""
        facts = tuple(self._fact(fact) for fact in goal)
        if not facts:
            raise UnknownReference("the goal says nothing: state at least one fact that shall be so")
        return c.And(facts)

    def _fact(self, fact: FactForm) -> c.Condition:
        if fact.what in self.occurring.ids:
            return self._claim(fact, c.Id(fact.what))
        class_ = self._known("class", fact.what, self._classes)
        among: c.Condition = c.HasClass("x", class_)
        if fact.color is not None:
            among = c.And((among, c.PropertyEquals("x", "color", fact.color.casefold())))
        claim = self._claim(fact, "x")
        if fact.count is None:
            return c.ForAll("x", among, claim)
        if fact.count > self._number(class_):
            raise UnknownReference(f"of the class {class_} there are {self._number(class_)} here: count no more")
        return c.AtLeast(max(1, fact.count), "x", c.And((among, claim)))

    def _claim(self, fact: FactForm, x: c.Term) -> c.Condition:
        parts: list[c.Condition] = []
        if fact.relation is not None:
            parts.append(self._related(fact.relation, fact.to, x))
        if fact.state is not None:
            parts.append(c.HasState(x, self._known("state", fact.state, self._states)))
        if not parts:
            raise UnknownReference(f"of {fact.what[:60]!r} nothing is said: give a relation with a target, or a state")
        claim = parts[0] if len(parts) == 1 else c.And(tuple(parts))
        return c.Not(claim) if fact.negated else claim

    def _related(self, relation: str, to: str | None, x: c.Term) -> c.Condition:
        type_ = relation.strip().upper().replace(" ", "_")
        type_ = SYNONYMS.get(type_, type_)
        if type_ == HELD:
            return c.Exists("agent", c.And((c.HasKind("agent", "Agent"), c.HeldBy(x, "agent"))))
        type_ = self._known("relation", type_, self._types)
        if to is None:
            raise UnknownReference(f'the relation {type_} leads to something: give it in "to"')
        if to in self.occurring.ids:
            return c.Related(x, type_, c.Id(to))
        class_ = self._known("class", to, (*self._classes, *self.occurring.places))
        return c.Exists("y", c.And((c.HasClass("y", class_), c.Related(x, type_, "y"))))

    def _known(self, what: str, word: str, known: tuple[str, ...]) -> str:
        folded = {each.casefold().replace(" ", "_"): each for each in known}
        found = folded.get(word.strip().casefold().replace(" ", "_"))
        if found is None:
            hint = did_you_mean(word[:60], known)
            raise UnknownReference(f"no {what} {word[:60]!r} occurs in this scene{hint}; use one that does")
        return found

    def _number(self, class_: str) -> int:
        return sum(use.count for use in self.occurring.classes if use.name == class_)

    @cached_property
    def _classes(self) -> tuple[str, ...]:
        return self.occurring.known()["class"]

    @cached_property
    def _states(self) -> tuple[str, ...]:
        return (*self.occurring.known()["states"], *OPPOSITES)

    @cached_property
    def _types(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*(pattern.type for pattern in self.occurring.patterns), *CONTAINMENTS)))


OPPOSITES: Final = ("open", "closed", "on", "off")
"""States that are allowed even if no node has them yet."""
CONTAINMENTS: Final = ("INSIDE", "ON")
"""Relations that are allowed even if none occurs yet."""
