"""Refusals of unknown names, with the nearest names that do exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from scenecypher.db.gate.patterns import NameUse, Reading
from scenecypher.db.gate.realm import HIDDEN, LABEL_ADVICE, PAST_LABELS, PROPERTIES_OF, with_past
from scenecypher.db.gate.words import COMPONENTS, FUNCTION_ADVICE, FUNCTIONS
from scenecypher.db.schema import ENTITY, PAST_RELATIONS, Vocabulary
from scenecypher.errors import QueryRefused

KnownValues = Mapping[str, Sequence[str]]
"""Values that occur in the scene, by ``class``, ``name``, ``states``, ``affordances``."""

SYNONYMS: Final = {
    **dict.fromkeys(("room", "location", "area"), "Place"),
    **dict.fromkeys(("furniture", "appliance", "container", "surface"), "Asset"),
    **dict.fromkeys(("item", "thing"), "Object"),
    **dict.fromkeys(("robot", "person", "human", "character"), "Agent"),
    "node": "Entity",
    **dict.fromkeys(("event", "action", "history", "change"), "PastEvent"),
    "fact": "PastFact",
}
"""Labels by the everyday words for them."""
LISTED: Final = 12  # half the maximum number of names that a hint lists if none is similar


def check_names(reading: Reading, vocabulary: Vocabulary, known: KnownValues) -> None:
    """Refuse the first name that neither the registry nor the scene nor the query itself defines.

    A property may be unknown in `IS NULL` and `coalesce()`, which handle its absence: the answer is right.
    """
    every = with_past(vocabulary) if reading.past else vocabulary
    own = vocabulary.properties | reading.defined | COMPONENTS
    names = {
        "label": every.labels,
        "relation_type": every.relation_types,
        "either": every.labels | every.relation_types,
        "property": every.properties | own,
    }
    for use in reading.uses:
        if reading.past and use.kind == "property" and use.owner != ENTITY and use.name in HIDDEN:
            raise hidden_property(use.name)
        known_names = PROPERTIES_OF.get(use.owner, own if use.owner == ENTITY else names[use.kind])
        if use.name not in known_names and not use.may_be_absent:
            if use.owner in PROPERTIES_OF:
                hint = _nearest(use.name, PROPERTIES_OF[use.owner], f"properties of {use.owner}")
                raise QueryRefused("property", f"no property `{use.name}`", piece=use.name, hint=hint)
            raise _unknown(use, every, known)


def public_names(reading: Reading, vocabulary: Vocabulary) -> frozenset[str]:
    """Return the names under which a query about the past may read values: of properties, and of its own maps."""
    return (with_past(vocabulary).properties | reading.defined | COMPONENTS) - HIDDEN


def hidden_property(name: str) -> QueryRefused:
    """Return the refusal of a property of the past that no query reads."""
    hint = "leave it out: the schema has the properties of the past"
    return QueryRefused("property", f"no query reads the property `{name}` of the past", piece=name, hint=hint)


def _unknown(use: NameUse, vocabulary: Vocabulary, known: KnownValues) -> QueryRefused:
    code, hint = "label" if use.kind == "either" else use.kind, ""
    if code == "label":
        labels = vocabulary.labels | (PAST_LABELS if use.name.casefold().startswith("past") else set())
        hint = _class_hint(use.name, known) or _nearest(use.name, labels, "labels")
    elif code == "property":
        hint = _value_hint(use.name, known) or _nearest(use.name, vocabulary.properties, "properties")
    else:
        hint = LABEL_ADVICE if use.name in PAST_RELATIONS else ""
        hint = hint or _nearest(use.name, vocabulary.relation_types, "relation types")
    return QueryRefused(code, f"no {code.replace('_', ' ')} `{use.name}`", piece=use.name, hint=hint)


def unknown_function(name: str) -> QueryRefused:
    """Return the refusal of a function that is not in the table."""
    hint = FUNCTION_ADVICE.get(name.lower()) or _nearest(name, FUNCTIONS, "functions")
    return QueryRefused("function", f"no function `{name}`", piece=name, hint=hint)


def _class_hint(name: str, known: KnownValues) -> str:
    if name.casefold() in SYNONYMS:
        return f"did you mean `{SYNONYMS[name.casefold()]}`?"
    near = _close_matches(name, known.get("class", ()), limit=1)
    return f"objects have `class`: did you mean `.class = {near[0]!r}`?" if near else ""


def _value_hint(name: str, known: KnownValues) -> str:
    for property_name in ("states", "affordances"):
        near = _close_matches(name.removeprefix("is_").removeprefix("is"), known.get(property_name, ()), limit=1)
        if near:
            return f"`{property_name}` is a list: did you mean `{near[0]!r} IN n.{property_name}`?"
    return ""


def _nearest(name: str, names: frozenset[str], what: str) -> str:
    near = _close_matches(name, sorted(names), limit=3)
    if near:
        return f"did you mean {' or '.join(f'`{word}`' for word in near)}?"
    if len(names) > 2 * LISTED:
        return f"leave it out, or use other {what}"
    return f"{what} are {', '.join(sorted(names))}"


def _close_matches(name: str, words: Sequence[str], *, limit: int) -> list[str]:
    folded = {word.casefold(): word for word in words}
    return [folded[word] for word in get_close_matches(name.casefold(), list(folded), n=limit, cutoff=0.6)]
