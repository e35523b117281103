"""English phrases for states, affordances and relation types: a table each (`phrases.json`), with a fallback."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from scenecypher.db.graph.scene import Point, Value

Verb: TypeAlias = Literal["be", "can", "have"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A predicate such as (be, "open") or (can, "be grabbed")."""

    verb: Verb
    rest: str

    def said(self, *, negated: bool = False, plural: bool = False) -> str:
        """Return the words, such as "are not open", "cannot be grabbed" or "does not have a plug"."""
        return f"{_VERBS[self.verb][2 * plural + negated]} {self.rest}"


_VERBS: Final[Mapping[Verb, Sequence[str]]] = {
    "be": ("is", "is not", "are", "are not"),
    "can": ("can", "cannot", "can", "cannot"),
    "have": ("has", "does not have", "have", "do not have"),
}
"""Forms of each verb: singular, negated, plural, negated plural."""

_TABLES: Final = json.loads(Path(__file__).with_suffix(".json").read_bytes())
STATES: Final[Mapping[str, str]] = _TABLES["states"]
"""Phrases of states; one that is not listed is its name with spaces for underscores."""
RELATIONS: Final = {type_: Phrase(*words) for type_, words in _TABLES["relations"].items()}
AFFORDANCES: Final = {affordance: Phrase(*words) for affordance, words in _TABLES["affordances"].items()}

_PLAIN: Final = re.compile(r"[a-z]+(?:[ '-][a-z]+)*")
_SIBILANT: Final = ("s", "x", "z", "ch", "sh")


def state_phrase(state: str) -> Phrase:
    """Return the phrase of a state: "plugged in" for plugged_in."""
    return Phrase("be", STATES.get(state, state.replace("_", " ")))


def affordance_phrase(affordance: str) -> Phrase:
    """Return the phrase of an affordance: "can be opened" for can_open; one not in the table is quoted."""
    return AFFORDANCES.get(affordance) or Phrase("have", f"the affordance '{affordance}'")


def relation_phrase(type_: str, target: str) -> Phrase:
    """Return the phrase of a relation: "inside the fridge"; a type declared by the scene keeps its name."""
    known = RELATIONS.get(type_, Phrase("have", f"the relation {type_} to {{}}"))
    return Phrase(known.verb, known.rest.replace("{}", target))


def within_phrase(types: Sequence[str], target: str) -> Phrase:
    """Return the phrase of a containment: "inside or on the fridge, directly or not"."""
    ways = " or ".join(RELATIONS[type_].rest.replace(" {}", "") if type_ in RELATIONS else type_ for type_ in types)
    return Phrase("be", f"{ways} {target}, directly or not")


def value_words(value: Value) -> str:
    """Format a value: 'red', true, 3, (1.0, 2.0), ['a', 'b']."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f"'{value}'"
        case Point():
            return f"({', '.join(map(str, value.axes))})"
        case tuple():
            return f"[{', '.join(map(value_words, value))}]"
        case _:
            return str(value)


def with_the(name: str) -> str:
    """Return a name with its article: "the apple"; "soap_1001" and "Kitchen" are proper names and take none."""
    return f"the {name}" if _PLAIN.fullmatch(name) else name


def with_a(noun: str) -> str:
    """Return a noun with its article: "an apple", "a fridge"."""
    return f"an {noun}" if noun[:1].lower() in {*"aeiou"} else f"a {noun}"


def plural_of(noun: str) -> str:
    """Return the plural: "apples", "boxes", "candies"; "things of class DiningTable" for other names."""
    if not _PLAIN.fullmatch(noun):
        return f"things of class {noun}"
    if noun.endswith("y") and noun[-2:-1] not in {*"aeiou"}:
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(_SIBILANT) else f"{noun}s"
