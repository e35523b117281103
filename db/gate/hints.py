"""Refusals of unknown names, with the nearest names that do exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from scenecypher.db.gate.syntax import Reading, Use
from scenecypher.db.gate.words import COMPONENTS, FUNCTIONS, NO_FUNCTION
from scenecypher.db.schema import Vocabulary
from scenecypher.errors import QueryRefused

Known = Mapping[str, Sequence[str]]
"""Values that occur in the scene: by ``class``, ``name``, ``states``, ``affordances``."""

SYNONYMS: Final = {
    "room": "Place",
    "location": "Place",
    "area": "Place",
    "furniture": "Asset",
    "appliance": "Asset",
    "container": "Asset",
    "surface": "Asset",
    "item": "Object",
    "thing": "Object",
    "robot": "Agent",
    "person": "Agent",
    "human": "Agent",
    "character": "Agent",
    "node": "Entity",
}
"""What people call the kinds."""
LISTED: Final = 12
"""Names listed when no near one is found."""


def check_names(reading: Reading, vocabulary: Vocabulary, known: Known) -> None:
    """Refuse the first name that neither the registry nor the scene nor the query itself defines.

    A property may be unknown where its absence is provided for, in `IS NULL` and `coalesce()`: the answer is right.
    """
    for use in reading.uses:
        if not _is_known(use, reading, vocabulary):
            raise _unknown(use, vocabulary, known)


def _is_known(use: Use, reading: Reading, vocabulary: Vocabulary) -> bool:
    match use.kind:
        case "label":
            return use.name in vocabulary.labels
        case "relation_type":
            return use.name in vocabulary.relation_types
        case "either":
            return use.name in vocabulary.labels or use.name in vocabulary.relation_types
        case "property":
            return (
                use.tested or use.name in vocabulary.properties or use.name in reading.defined or use.name in COMPONENTS
            )


def _unknown(use: Use, vocabulary: Vocabulary, known: Known) -> QueryRefused:
    match use.kind:
        case "label" | "either":
            hint = _class_hint(use.name, known) or _nearest(use.name, vocabulary.labels, "labels")
            return QueryRefused("label", f"no label `{use.name}`", piece=use.name, hint=hint)
        case "relation_type":
            hint = _nearest(use.name, vocabulary.relation_types, "relation types")
            return QueryRefused("relation_type", f"no relation type `{use.name}`", piece=use.name, hint=hint)
        case "property":
            hint = _value_hint(use.name, known) or _nearest(use.name, vocabulary.properties, "properties")
            return QueryRefused("property", f"no property `{use.name}`", piece=use.name, hint=hint)


def no_function(name: str) -> QueryRefused:
    """The refusal of a function that is not in the table."""
    hint = NO_FUNCTION.get(name.lower()) or _nearest(name, FUNCTIONS, "functions")
    return QueryRefused("function", f"no function `{name}`", piece=name, hint=hint)


def _class_hint(name: str, known: Known) -> str:
    if name.casefold() in SYNONYMS:
        return f"did you mean `{SYNONYMS[name.casefold()]}`?"
    near = _close(name, known.get("class", ()), limit=1)
    return f"objects have `class`: did you mean `.class = {near[0]!r}`?" if near else ""


def _value_hint(name: str, known: Known) -> str:
    for property_name in ("states", "affordances"):
        near = _close(name.removeprefix("is_").removeprefix("is"), known.get(property_name, ()), limit=1)
        if near:
            return f"`{property_name}` is a list: did you mean `{near[0]!r} IN n.{property_name}`?"
    return ""


def _nearest(name: str, names: frozenset[str], what: str) -> str:
    near = _close(name, sorted(names), limit=3)
    if near:
        return f"did you mean {' or '.join(f'`{word}`' for word in near)}?"
    if len(names) > 2 * LISTED:
        return f"leave it out, or use other {what}"
    return f"{what} are {', '.join(sorted(names))}"


def _close(name: str, words: Sequence[str], *, limit: int) -> list[str]:
    folded = {word.casefold(): word for word in words}
    return [folded[word] for word in get_close_matches(name.casefold(), list(folded), n=limit, cutoff=0.6)]
