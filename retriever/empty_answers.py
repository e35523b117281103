"""Causes of an empty result, and hints beside others: what in the query the scene lacks, and the nearest it has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from scenecypher.db.gate.names import FACT_ADVICE
from scenecypher.db.schema import (
    ENTITY,
    KINDS,
    PAST,
    PAST_KINDS,
    PAST_PROPERTIES,
    PAST_RELATIONS,
    RELATION_TYPES,
    SCENES,
    Schema,
)
from scenecypher.db.store.enumerations import ByIdentity, Enumerations, Pattern, literal
from scenecypher.errors import did_you_mean
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.retriever.library import chain_to_room
from scenecypher.retriever.linked_words import LABELS, classes_named, kind_of
from scenecypher.retriever.outline import pattern_text
from scenecypher.retriever.query_claims import TYPE, PropertyClaim, QueryClaims, RelationClaim, claims_of
from scenecypher.words import is_slip, spelt_as, stems

CAUSES: Final = 4
KEPT: Final = 32
"""Queries of which the claims and what follows from them are remembered."""
PATTERNS_SHOWN: Final = 5
MAY_MISS: Final = re.compile(
    r"\b(?:NOT|NONE|OPTIONAL|EXISTS|COLLECT|CALL|CASE|UNION)\b|<>|\bCOUNT\s*\{|\[\s*\(", re.IGNORECASE
)
"""What lets a query have rows though the scene lacks a value of it: any other value has none."""
LISTS: Final = ("states", "affordances")
MOVABLE: Final = ("Object", "".join(stems("movable")))
"""A label and the word that says the same of a thing, whatever affordance has that name."""
PAST_PATTERNS: Final = tuple(
    Pattern(source, type_, target, 1)
    for source, types, target in (
        ("Run", ("HAS_STEP",), "Step"),
        ("Step", ("LED_TO",), "PastEvent"),
        ("PastEvent", ("CHANGED",), "PastNode"),
        ("PastEvent", ("BEGAN", "ENDED"), "PastFact"),
        ("PastFact", ("ABOUT", "TARGET"), "PastNode"),
    )
    for type_ in types
)
"""The relations of any past."""
RELATION_OF_FACT: Final = "PastFact", "relation"
NOT_DEFINED: Final = re.compile(r"Variable `(\w+)` not defined")
ONE_MOMENT: Final = re.compile(
    r"\((\w+)\b[^()]*\b((?:since_|until_)?at)\s*:\s*(datetime\([^()]*\)).*\.\2\s*[<>]", re.DOTALL
)
ELSEWHERE: Final = {"class": "a class", "name": "a name", "states": "a state", "affordances": "an affordance"}
"""Properties searched for a value that stands in the wrong property, and their names in a hint."""


def causes(
    cypher: str,
    occurring: Enumerations,
    meaning: Meaning = NO_MEANING,
    schema: Schema = SCENES,
    *,
    corrections_only: bool = False,
) -> tuple[str, ...]:
    """Return the reasons why the query matches nothing, a sentence each, at most `CAUSES`; none if all of it occurs.

    Values that the scene lacks are told with the nearest in spelling, else in `meaning`; with `corrections_only` those
    are left out for which the scene has nothing else.
    """
    every = _claims(cypher, ByIdentity(occurring), schema)
    claims = _of_the_present(every)
    found = list(filter(None, (_of_another_case(claim, occurring) for claim in every.properties)))
    found += [
        cause
        for claim in claims.properties
        if (cause := _no_such_value(claim, occurring, meaning, corrections_only=corrections_only))
    ]
    for claim in claims.relations:
        cause = _no_such_relation(claim, occurring)
        found += filter(None, [cause or (None if corrections_only else _reversed_classes(claim, occurring))])
    return tuple(dict.fromkeys(found))[:CAUSES]


def hints(cypher: str, occurring: Enumerations, meaning: Meaning, schema: Schema, *, is_empty: bool) -> tuple[str, ...]:
    """Return what a person is told beside an answer: the causes of an empty one, else what the rows don't show.

    That are values and directions under NOT, OPTIONAL MATCH and the like that are surely slips: the scene has the same
    value in another case, plural or spelling, or under another label, the same relation the other way round.
    """
    claims = _of_the_present(_claims(cypher, ByIdentity(occurring), schema))
    if is_empty:
        return causes(cypher, occurring, meaning, schema) or tuple(_unused_types(claims, occurring))
    slips = [claim for claim in (*claims.properties, *claims.denied) if _is_slip(claim, occurring)]
    found = [_no_such_value(claim, occurring, NO_MEANING, corrections_only=True) for claim in slips]
    arrows = [claim for claim in claims.relations if claim.is_single and _is_reversed(claim, occurring)]
    found += [_no_such_relation(claim, occurring) for claim in arrows]
    return tuple(dict.fromkeys(filter(None, found)))[:CAUSES]


def _is_slip(claim: PropertyClaim, occurring: Enumerations) -> bool:
    known = _known(claim.property, occurring)
    return any(is_slip(value, known, is_exact=claim.property in {"id", "name"}) for value in claim.values)


def _unused_types(claims: QueryClaims, occurring: Enumerations) -> Iterator[str]:
    types = sorted({pattern.type for pattern in occurring.patterns})
    for asked in dict.fromkeys(claim.types for claim in claims.relations):
        if types and not {*types, *PAST_RELATIONS}.intersection(asked):
            yield f"no relation {' or '.join(asked)} occurs in this scene; what occurs is {', '.join(types)}"


def turned_arrows(cypher: str, occurring: Enumerations, schema: Schema = SCENES) -> tuple[str, tuple[str, ...]]:
    """Turn each arrow that no relation of the scene has, where some have it the other way round; tell which.

    Ends are known by label, or by a class all of whose nodes have one.
    """
    return _turned(cypher, ByIdentity(occurring), schema)


@lru_cache(maxsize=KEPT)
def _turned(cypher: str, same: ByIdentity, schema: Schema) -> tuple[str, tuple[str, ...]]:
    text, told, occurring = cypher, list[str](), same.of
    for claim in sorted(_claims(cypher, same, schema).relations, key=lambda claim: -claim.start):
        if not claim.is_single or not _is_reversed(claim, occurring):
            continue
        other = replace(claim, source=claim.target, target=claim.source)
        arrow = text[claim.start : claim.end]
        turned = f"{arrow[1:]}>" if arrow.startswith("<") else f"<{arrow[:-1]}"
        text = text[: claim.start] + turned + text[claim.end :]
        told.append(f"{_asked(claim)} does not occur, so its arrow was turned: {_asked(other)}")
    return text, tuple(dict.fromkeys(reversed(told)))


def _is_reversed(claim: RelationClaim, occurring: Enumerations) -> bool:
    """Check that no relation of the scene has this arrow, and some have it the other way round."""
    here = _patterns_of(claim, occurring)
    other = replace(claim, source=claim.target, target=claim.source)
    return not _occurs(claim, here) and _occurs(other, here)


def _patterns_of(claim: RelationClaim, occurring: Enumerations) -> list[Pattern]:
    return [pattern for pattern in (*occurring.patterns, *PAST_PATTERNS) if pattern.type in claim.types]


def mistake_in(cypher: str, occurring: Enumerations, schema: Schema = SCENES) -> str:
    """Return what can't be meant in a query, and what can: a list tested as a text, a label or a state taken for a
    class, a name or class under another label, one property in two columns, a time that is one moment and before or
    after another, a relation taken for a state of the past; nothing if it has none of these.
    """
    return _mistake(cypher, ByIdentity(occurring), schema)


@lru_cache(maxsize=KEPT)
def _mistake(cypher: str, same: ByIdentity, schema: Schema) -> str:
    occurring, every = same.of, _claims(cypher, same, schema)
    classes, claims = {use.name for use in occurring.classes}, _of_the_present(every)
    if claims.repeated:
        one, other, what = claims.repeated
        return f"the columns {one} and {other} are both {what}; give each a node of its own, or leave one out"
    if found := ONE_MOMENT.search(cypher):
        name, at, since = found.groups()
        return (
            f"{at} in braces is one moment alone: leave it out there, and write "
            f"WHERE {since} <= {name}.{at} AND {name}.{at} < …"
        )
    for claim in every.properties:
        relation = claim.values[0].upper()
        if (claim.label, claim.property) == ("PastFact", "state") and relation in schema.relation_types - {"ON"}:
            return f"{literal(claim.values[0])} is no state, but a relation; {FACT_ADVICE}"
    for claim in claims.properties:
        mistake = _list_mistake(claim, occurring) or _kind_mistake(claim, occurring)
        if not mistake and not classes.intersection(claim.values):
            mistake = _label_mistake(claim, is_past="PastNode" in cypher) or _value_mistake(claim, occurring)
        if mistake:
            return mistake
    return ""


def _kind_mistake(claim: PropertyClaim, occurring: Enumerations) -> str:
    """Return that what has this name or class is of another kind, and how something is told to be in a place."""
    if claim.property not in {"name", "class"} or claim.test != "=" or len(claim.values) > 1 or not claim.label:
        return ""
    value, is_name = literal(claim.values[0]), claim.property == "name"
    kinds = {use.kind for use in occurring.classes if use.name == claim.values[0]}
    kind = kind_of(claim.values[0], occurring) if is_name else kinds.pop() if len(kinds) == 1 else ""
    if kind in {"", claim.label}:
        return ""
    node = f"(:{kind} {{{claim.property}: {value}}})"
    place = f"; what is there is (n:{claim.label})-[:{chain_to_room(occurring)}]->{node}" if kind == "Place" else ""
    return f"{value} is no {'' if is_name else 'class of '}(:{claim.label}); it is {node}{place}"


def unnamed_advice(cypher: str, message: str, occurring: Enumerations) -> str:
    """Return what to write where a query reads a variable that no pattern has, as the server's `message` says."""
    if not (found := NOT_DEFINED.search(message)):
        return ""
    name = found[1]
    if re.search(rf"\[\s*{name}\s+IN\b", cypher, re.IGNORECASE):
        return f"{name} is known within its list alone: leave out what reads it elsewhere, such as ORDER BY {name}.name"
    asked = re.search(rf"\b{name}(?:\.\w+)?\)?\s+AS\s+(\w+)", cypher, re.IGNORECASE)
    before = re.findall(r"\((\w+):\w", re.split(r"\bRETURN\b", cypher, maxsplit=1, flags=re.IGNORECASE)[0])
    if "PastFact" in cypher:
        return f"{name} is in no pattern; {FACT_ADVICE}"
    match LABELS.get("".join(stems(asked[1]))) if asked and before else None:
        case "Place":
            pattern = f"({before[-1]})-[:{chain_to_room(occurring)}]->({name}:Place)"
        case "Object":
            pattern = f"({name}:Object)-[:ON|INSIDE]->({before[-1]})"
        case _:
            return ""
    return f"{name} is in no pattern: add one before, MATCH {pattern}"


def _label_mistake(claim: PropertyClaim, *, is_past: bool = False) -> str:
    word = "".join(stems(claim.values[0]))
    label = claim.label if (claim.label, word) == MOVABLE else LABELS.get(word)
    if label is None or claim.property != "class" or claim.test != "=":
        return ""
    node = f"(n:PastNode {{kind: {literal(label)}}})" if is_past and label != ENTITY else f"(n:{label})"
    return f"{literal(claim.values[0])} is no class; all of them are {node}, without a class"


def _value_mistake(claim: PropertyClaim, occurring: Enumerations) -> str:
    if claim.property != "class" or claim.test != "=":
        return ""
    for name, uses in (("states", occurring.states), ("affordances", occurring.affordances)):
        if claim.values[0] in {use.value for use in uses}:
            return f"{literal(claim.values[0])} is no class; test it with {literal(claim.values[0])} IN n.{name}"
    return ""


def _list_mistake(claim: PropertyClaim, occurring: Enumerations) -> str:
    lists = {*LISTS, *(use.name for use in occurring.properties if use.is_list)}
    if claim.property not in lists or claim.test == "IN":
        return ""
    return f"{claim.property} is a list; test it with {literal(claim.values[0])} IN n.{claim.property}"


@lru_cache(maxsize=KEPT)
def _claims(cypher: str, same: ByIdentity, schema: Schema) -> QueryClaims:
    """Return the claims of a query, in which a class stands for its kind if all of its nodes are of one."""
    kinds: dict[str, set[str]] = {}
    for use in same.of.classes:
        kinds.setdefault(use.name, set()).add(use.kind)
    return claims_of(cypher, {name: found.pop() for name, found in kinds.items() if len(found) == 1}, schema)


def _of_the_present(claims: QueryClaims) -> QueryClaims:
    """Return the claims about values that the scene has now; a node of the past has the names of the present one."""

    def of_now(past: Sequence[PropertyClaim]) -> tuple[PropertyClaim, ...]:
        types = [
            replace(claim, property=TYPE, label="") if (claim.label, claim.property) == RELATION_OF_FACT else claim
            for claim in past
        ]
        there = [replace(claim, label="") if claim.label == "PastNode" else claim for claim in types]
        return tuple(claim for claim in there if claim.label not in PAST_KINDS)

    return replace(claims, properties=of_now(claims.properties), denied=of_now(claims.denied))


def _of_another_case(claim: PropertyClaim, occurring: Enumerations) -> str | None:
    """Return that a word of the past is written in another case: those that its properties have, kinds and states."""
    if claim.label not in PAST_KINDS or claim.property not in {"kind", "state", "command", "outcome"}:
        return None
    words = re.findall(r"'(\w+)'", PAST_PROPERTIES[claim.label].get(claim.property, ""))
    near = spelt_as(claim.values[0], [*words, *KINDS, *_known("states", occurring)])
    if near in {None, claim.values[0]}:
        return None
    return f"no (:{claim.label}) has {_words(claim)} (did you mean {near!r}?)"


def _no_such_value(
    claim: PropertyClaim, occurring: Enumerations, meaning: Meaning, *, corrections_only: bool
) -> str | None:
    if mistake := _list_mistake(claim, occurring):
        return mistake
    known = _known(claim.property, occurring, label=claim.label)
    anywhere = _known(claim.property, occurring)
    if not anywhere or any(_holds(claim, value, one) for value in claim.values for one in known):
        return None
    node = f"(:{claim.label})" if claim.label else "relation" if claim.property == TYPE else "node"
    if mistake := _label_mistake(claim):
        return mistake
    named = classes_named(claim.values[0], occurring) if claim.property == "class" else ()
    if len(named) > 1:
        listed = ", ".join(map(literal, named))
        return (
            f"no {node} has {_words(claim)}, but this scene has {_and(named)}; test for all with n.class IN [{listed}]"
        )
    spelt = did_you_mean(claim.values[0], anywhere)
    is_of_another_case = claim.values[0].casefold() in map(str.casefold, known)
    near = spelt if is_of_another_case else spelt + _meant(claim.values[0], anywhere, meaning, told=spelt)
    elsewhere = "" if is_of_another_case else _other_label(claim, occurring) or _other_property(claim, occurring)
    other = elsewhere or near
    return None if corrections_only and not other else f"no {node} has {_words(claim)}{other}"


def _and(words: Sequence[str]) -> str:
    *most, last = map(literal, words)
    return f"{', '.join(most)} and {last}"


def _meant(value: str, known: Sequence[str], meaning: Meaning, *, told: str) -> str:
    near = [it for it in meaning.nearest(value, known) if repr(it.word) not in told]
    return f" (in this scene it may be {' or '.join(literal(it.word) for it in near)})" if near else ""


def _known(property_: str, occurring: Enumerations, *, label: str = "") -> tuple[str, ...]:
    """Return the values of a property that occur; none if they are too many to be known."""
    match property_:
        case "class":
            return tuple(dict.fromkeys(use.name for use in occurring.classes if label in {"", use.kind}))
        case "name" | "id":
            return occurring.names if property_ == "name" else occurring.ids
        case "type()" | "labels()":
            types = sorted({*RELATION_TYPES, *(pattern.type for pattern in occurring.patterns)})
            return tuple(types) if property_ == TYPE else (ENTITY, *KINDS, PAST, *PAST_KINDS)
        case "states":
            return tuple(use.value for use in occurring.states if not label or label in use.kinds)
        case "affordances":
            return tuple(use.value for use in occurring.affordances if not label or label in use.kinds)
        case _:
            uses = (use for use in occurring.properties if use.name == property_)
            return tuple(value for use in uses for value in use.values if isinstance(value, str))


def _holds(claim: PropertyClaim, value: str, one: str) -> bool:
    asked, has = (value.casefold(), one.casefold()) if claim.ignores_case else (value, one)
    match claim.test:
        case "=" | "IN":
            return asked == has
        case "CONTAINS":
            return asked in has
        case "STARTS":
            return has.startswith(asked)
        case "ENDS":
            return has.endswith(asked)


def _words(claim: PropertyClaim) -> str:
    """Return the claim in words: ``class 'cup'``, ``'open' in its states``."""
    values = " or ".join(map(literal, claim.values))
    match claim.test:
        case "=":
            return f"{claim.property.removesuffix('()')} {values}"
        case "IN":
            return f"{values} in its {claim.property.removesuffix('()')}"
        case "CONTAINS":
            return f"a {claim.property} that contains {values}"
        case "STARTS" | "ENDS":
            return f"a {claim.property} that {claim.test.casefold()} with {values}"


def _other_label(claim: PropertyClaim, occurring: Enumerations) -> str:
    """Return ` (but (:Asset) does)` if the value occurs under other labels."""
    others = [
        kind
        for kind in KINDS
        if claim.label
        and any(
            _holds(claim, value, one) for value in claim.values for one in _known(claim.property, occurring, label=kind)
        )
    ]
    is_by_kind = claim.property in {"class", "states", "affordances"}
    return f" (but {' and '.join(f'(:{kind})' for kind in others)} does)" if others and is_by_kind else ""


def _other_property(claim: PropertyClaim, occurring: Enumerations) -> str:
    """Return ` (but 'kitchen' occurs as a class)` if the value occurs in another property."""
    value = claim.values[0].casefold()
    for other, word in ELSEWHERE.items():
        same = [one for one in _known(other, occurring) if one.casefold() == value and other != claim.property]
        if same:
            return f" (but {literal(same[0])} occurs as {word})"
    return ""


def _no_such_relation(claim: RelationClaim, occurring: Enumerations) -> str | None:
    here = _patterns_of(claim, occurring)
    if not here or _occurs(claim, here):
        return None
    most = sorted(here, key=lambda pattern: (-_shared_labels(claim, pattern), -pattern.count, pattern_text(pattern)))
    return f"{_asked(claim)} does not occur; what occurs is {', '.join(map(pattern_text, most[:PATTERNS_SHOWN]))}"


def _reversed_classes(claim: RelationClaim, occurring: Enumerations) -> str | None:
    """Return that two classes are related the other way round alone, though their labels are both ways."""
    source, target = claim.classes
    forth, back = (
        any((one, type_, other) in occurring.class_links for type_ in claim.types)
        for one, other in ((source, target), (target, source))
    )
    if forth or not back or not claim.directed or not claim.is_single:
        return None
    types = "|".join(claim.types)
    asked, there = (
        f"({{class: {literal(one)}}})-[:{types}]->({{class: {literal(other)}}})"
        for one, other in ((source, target), (target, source))
    )
    return f"{asked} does not occur; what occurs is {there}"


def _asked(claim: RelationClaim) -> str:
    """Return a claim as Cypher: ``(:Object)-[:INSIDE]->(:Asset)``."""
    types = "|".join(claim.types) + "*" * (not claim.is_single)
    return f"({_labelled(claim.source)})-[:{types}]-{'>' * claim.directed}({_labelled(claim.target)})"


def _shared_labels(claim: RelationClaim, pattern: Pattern) -> int:
    return len({claim.source, claim.target} & {pattern.source, pattern.target})


def _occurs(claim: RelationClaim, here: Sequence[Pattern]) -> bool:
    """Check for a relation as it is claimed; of several in a row for one that begins so, and one that ends so."""
    ends = [(claim.source, claim.target), (claim.target, claim.source)][: 2 - claim.directed]
    if claim.is_single:
        return any(_fits(one, it.source) and _fits(other, it.target) for it in here for one, other in ends)
    begins, stops = ({it.source for it in here}, {it.target for it in here})
    if not claim.directed:
        begins = stops = begins | stops
    return any(_fits(claim.source, kind) for kind in begins) and any(_fits(claim.target, kind) for kind in stops)


def _fits(label: str, kind: str) -> bool:
    return label in {"", kind} or kind == ENTITY or (label == PAST and kind in PAST_KINDS)


def _labelled(label: str) -> str:
    return f":{label}" if label else ""
