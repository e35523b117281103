"""Names that a query may use, of the scene as it is and of its past, which no relation joins; refusals of others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cache
from typing import Final

from scenecypher.db.gate import tree
from scenecypher.db.gate.lexer import NO_PARAMETERS, Token, tokens_of
from scenecypher.db.gate.words import COMPONENTS, FUNCTION_ADVICE, FUNCTIONS
from scenecypher.db.schema import (
    ENTITY,
    PAST,
    PAST_HIDDEN,
    PAST_KINDS,
    PAST_PROPERTIES,
    PAST_RELATIONS,
    SCENE_KEY,
    Schema,
)
from scenecypher.db.store.bounds import Bounds
from scenecypher.errors import QueryRefused
from scenecypher.words import nearest_names

PAST_LABELS: Final = frozenset({PAST, *PAST_KINDS})
NAMES_PAST: Final = re.compile(rf"\b(?:{'|'.join(sorted(PAST_LABELS))})\b")
HIDDEN: Final = frozenset({SCENE_KEY, *PAST_HIDDEN})
"""Keys that no query about the past reads from a node."""

PROPERTIES_OF: Final[Mapping[str, frozenset[str]]] = {
    **{kind: frozenset(names) for kind, names in PAST_PROPERTIES.items()},
    PAST: frozenset().union(*PAST_PROPERTIES.values()),
}
"""The properties that a query may read, by kind of the past; of any kind for `Past`."""

JOIN_ADVICE: Final = (
    "no relation leads from the past to the present: write two patterns and join them by id, "
    "such as MATCH (p:PastNode), (n:Object) WHERE n.id = p.id"
)
FACT_ADVICE: Final = (
    "what was so is a fact: (n:PastNode)<-[:ABOUT]-(f:PastFact {relation: 'INSIDE'})-[:TARGET]->(t:PastNode)"
)
LABEL_ADVICE: Final = "give its nodes labels of the past, such as (e:PastEvent)-[:BEGAN]->(f:PastFact)"


def reads_past(cypher: str, parameters: Mapping[str, object] = NO_PARAMETERS) -> bool:
    """Check whether a query names a label of the past. Raises QueryRefused for a text that the lexer refuses."""
    return NAMES_PAST.search(cypher) is not None and names_past(tokens_of(cypher, parameters))


def names_past(tokens: Iterable[Token]) -> bool:
    """Check for a label of the past among the names of a text; a variable of that name counts too."""
    return any(token.kind in {"name", "quoted"} and token.value in PAST_LABELS for token in tokens)


@cache
def with_past(schema: Schema) -> Schema:
    """Return the names that a query about the past and the present may use."""
    return replace(
        schema,
        labels=schema.labels | PAST_LABELS,
        relation_types=schema.relation_types | PAST_RELATIONS.keys(),
        properties=schema.properties | PROPERTIES_OF[PAST],
    )


def joined_bounds(present: Bounds, past: Bounds) -> Bounds:
    """Return the bounds of a scene and its past together: of properties of one name, the larger."""
    found: dict[tuple[str, str], int] = {}
    for measure, name, number in (*present.entries, *past.entries):
        found[measure, name] = max(number, found.get((measure, name), 0))
    return Bounds(frozenset((*key, number) for key, number in found.items()))


# --- unknown names, with the nearest that do exist

KnownValues = Mapping[str, Sequence[str]]
"""Values that occur in the scene, by ``class``, ``name``, ``states``, ``affordances``."""

SYNONYMS: Final = {
    **dict.fromkeys(("room", "location", "area"), "Place"),
    **dict.fromkeys(("furniture", "appliance", "container", "surface"), "Asset"),
    "item": "Object",
    **dict.fromkeys(("robot", "person", "human", "character"), "Agent"),
    **dict.fromkeys(("node", "thing"), "Entity"),
    **dict.fromkeys(("event", "action", "history", "change"), "PastEvent"),
    "fact": "PastFact",
}
"""Labels by the everyday words for them."""
RELATION_SYNONYMS: Final = {
    **dict.fromkeys(("in", "is_in", "within", "located_in", "contained_in", "inside_of"), "`INSIDE`"),
    **dict.fromkeys(("contains", "has", "includes"), "`INSIDE`, from what is inside to what it is in"),
    **dict.fromkeys(("on_top_of", "ontop", "is_on", "upon", "onto", "placed_on"), "`ON`"),
    **dict.fromkeys(("below", "beneath", "underneath"), "`UNDER`"),
    **dict.fromkeys(("near", "next_to", "nextto", "beside", "close_to", "by"), "`CLOSE`"),
}
"""Relation types by the everyday words for them."""
PLURALS: Final = {"property": "properties"}
LISTS: Final = frozenset({"states", "affordances"})
LISTED: Final = 12  # half the maximum number of names that a hint lists if none is similar


def keys_in(parts: Iterable[tree.Part]) -> frozenset[str]:
    """Return the keys of the query's own maps, and components of points and times: its values have them."""
    maps = (part for part in parts if isinstance(part, tree.Map))
    return COMPONENTS.union(one.name for map_ in maps for one in map_.entries if isinstance(one, tree.Item))


def check_names(
    parts: Sequence[tree.Part], owners: Mapping[int, str], schema: Schema, known: KnownValues, *, past: bool
) -> None:
    """Refuse the first name that neither the registry nor the scene nor the query itself defines.

    What is surely a node has no components of points and times. A property may be unknown in `IS NULL` and
    `coalesce()`, which handle its absence: the answer is right.
    """
    every = with_past(schema) if past else schema
    names = {
        "label": every.labels,
        "relation_type": every.relation_types,
        "either": every.labels | every.relation_types,
        "property": every.properties | keys_in(parts),
    }
    until = -1  # the end of the coalesce() around a part
    for part in parts:
        match part:
            case tree.Call(name="coalesce", end=end):
                until = max(until, end)
            case tree.Labels(kind=kind) if part.at > until:
                for name in part.names:
                    _check(kind, name, names[kind], every, known)
            case tree.Property(name=name):
                owner = owners.get(part.at, "")
                if past and owner != ENTITY and name in HIDDEN:
                    raise hidden_property(name)
                if not part.may_be_absent and part.at > until:
                    there = schema.properties if owner == ENTITY else names["property"]
                    _check("property", name, there, every, known, owner=owner)


def _check(
    kind: tree.NameKind, name: str, names: AbstractSet[str], schema: Schema, known: KnownValues, *, owner: str = ""
) -> None:
    """Refuse a name that is none of `names`, or none of its `owner`, a kind of the past."""
    if owner in PROPERTIES_OF and name not in PROPERTIES_OF[owner]:
        hint = _nearest(name, PROPERTIES_OF[owner], f"properties of {owner}")
        raise QueryRefused("property", f"no property `{name}`", piece=name, hint=hint)
    if owner == ENTITY and name in schema.properties - names:
        hint = f"{' and '.join(f'(:{it})' for it in PAST_KINDS if name in PROPERTIES_OF[it])} have it"
        raise QueryRefused("property", f"no property `{name}` of a node as it is now", piece=name, hint=hint)
    if owner not in PROPERTIES_OF and name not in names:
        raise _unknown(kind, name, schema, known)


def public_names(parts: Sequence[tree.Part], schema: Schema) -> frozenset[str]:
    """Return the names under which a query about the past may read values: of properties, and of its own maps."""
    return frozenset((with_past(schema).properties | keys_in(parts)) - HIDDEN)


def scoping_property(name: str) -> QueryRefused:
    """Return the refusal of a text that names the property by which it is scoped."""
    hint = f"leave it out: a query sees one {name} only"
    return QueryRefused("scene_key", f"a query can't name the property `{name}`", piece=name, hint=hint)


def hidden_property(name: str) -> QueryRefused:
    """Return the refusal of a property of the past that no query reads."""
    hint = "leave it out: the schema has the properties of the past"
    return QueryRefused("property", f"no query reads the property `{name}` of the past", piece=name, hint=hint)


def _unknown(kind: tree.NameKind, name: str, schema: Schema, known: KnownValues) -> QueryRefused:
    code, names = "label" if kind == "either" else kind, schema.properties
    if code == "label":
        names = schema.labels
        if schema.is_scene and name.casefold().startswith("past"):
            names = names | PAST_LABELS
    elif code == "relation_type":
        names = schema.relation_types
    what = code.replace("_", " ")
    hint = _scene_hint(code, name, names, known) if schema.is_scene else ""
    hint = hint or _nearest(name, names, PLURALS.get(code, f"{what}s"))
    return QueryRefused(code, f"no {what} `{name}`", piece=name, hint=hint)


def _scene_hint(code: str, name: str, names: AbstractSet[str], known: KnownValues) -> str:
    """Return the hint that a scene has something else for a name; empty if one of `names` is nearer."""
    if code == "label":
        return _class_hint(name, names, known)
    if code == "property":
        return _property_hint(name, names, known)
    if name in PAST_RELATIONS:
        return LABEL_ADVICE
    word = name.casefold()
    if word.upper() in names:
        return f"did you mean `{word.upper()}`?"
    if list_ := next((it for it in sorted(LISTS) if word in known.get(it, ())), ""):
        return f"{word!r} is in the list `{list_}` of a node: write `{word!r} IN n.{list_}`"
    return f"did you mean {RELATION_SYNONYMS[word]}?" if word in RELATION_SYNONYMS else ""


def unknown_function(name: str) -> QueryRefused:
    """Return the refusal of a function that is not in the table."""
    *space, last = name.lower().split(".")
    plain = "there is no APOC and no other library: write plain Cypher" if len(space) > 1 else ""
    hint = FUNCTION_ADVICE.get(last) or plain or _nearest(name, FUNCTIONS, "functions")
    return QueryRefused("function", f"no function `{name}`", piece=name, hint=hint)


def _class_hint(name: str, labels: AbstractSet[str], known: KnownValues) -> str:
    """Return the hint that a label is meant by another word, or is a class of the scene; empty if a label is nearer."""
    if name.casefold() in SYNONYMS:
        return f"did you mean `{SYNONYMS[name.casefold()]}`?"
    near = _nearer(name, known.get("class", ()), labels)
    return f"objects have `class`: did you mean `.class = {near!r}`?" if near else ""


def _property_hint(name: str, names: AbstractSet[str], known: KnownValues) -> str:
    """Return the hint that a property is one of the lists, or a value in one; empty if another property is nearer."""
    if name in {"x", "y", "z"} and "center" in names:
        return f"a position is a point: write n.center.{name}"
    bare = name.removeprefix("is_").removeprefix("is")
    for list_ in sorted(LISTS, reverse=True):
        near = _nearer(bare, known.get(list_, ()), names)
        if near:
            return f"`{list_}` is a list: did you mean `{near!r} IN n.{list_}`?"
    meant = nearest_names(name, sorted(names), limit=1)
    return f"did you mean `{meant[0]}`? It is a list: write `'…' IN n.{meant[0]}`" if {*meant} & LISTS else ""


def _nearer(name: str, values: Sequence[str], names: AbstractSet[str]) -> str:
    """Return the value nearest to `name`, empty if none is near or one of `names` is at least as near."""
    near, other = (nearest_names(name, words, limit=1) for words in (values, sorted(names)))
    return near[0] if near and (not other or _ratio(name, near[0]) > _ratio(name, other[0])) else ""


def _ratio(name: str, word: str) -> float:
    return SequenceMatcher(None, word.casefold(), name.casefold()).ratio()


def _nearest(name: str, names: AbstractSet[str], what: str) -> str:
    near = nearest_names(name, sorted(names), limit=3)
    if near:
        return f"did you mean {' or '.join(f'`{word}`' for word in near)}?"
    if len(names) > 2 * LISTED:
        return f"leave it out, or use other {what}"
    return f"{what} are {', '.join(sorted(names))}"
