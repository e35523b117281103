"""Check of a scene as a whole, for every format: repeated ids and relations, dangling relations, unknown names."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from scenecypher.db.graph.problems import NearestNames, Problem, json_path
from scenecypher.db.graph.value import shown
from scenecypher.db.schema import (
    PROPERTY_NAME,
    RELATION_NAME,
    RESERVED_PROPERTIES,
    Declared,
    Schema,
    vocabulary_of,
)


class NodeFacts(NamedTuple):
    """What is checked of a node: its place in the file, its id unless it has no valid one, and its properties."""

    place: Any
    id: str | None
    properties: Collection[str]


class RelationDraft(NamedTuple):
    """A relation to be made, in our vocabulary: its place in the file, and the ids of its two nodes."""

    place: Any
    source: str
    type: str
    target: str


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a format; `node` and `relation` return the place of one, or of a part of it, as text."""

    node: Callable[..., str] = lambda place, *_: str(place)
    relation: Callable[..., str] = lambda place, *_: str(place)
    repeated: str = "is the id of {} already; give each node its own"
    missing: str = "no node is called"
    add: str = "; add it, or leave the relation out"
    declare: str = "declare it ({flags})"


IN_FILES: Final = Wording()
IN_DOCUMENTS: Final = Wording(
    lambda *keys: json_path(("nodes", *keys)),
    lambda *keys: json_path(("relations", *keys)),
    "is the id at {} already; give it once",
    "no node has the id",
    "; add the node, or leave the relation out",
    "add it to declared.{}",
)


def find_faults(
    nodes: Sequence[NodeFacts],
    relations: Sequence[RelationDraft],
    known: Schema | None,
    *,
    broken: Collection[str],
    words: Wording = IN_FILES,
) -> Iterator[Problem]:
    """Yield every fault between the parts of a scene.

    `broken` are ids of nodes that can't be made, whose relations are no further problem. Without `known`, as where a
    file's declarations can't be read, any names are accepted.
    """
    first: dict[str, Any] = {}
    for place, node_id, _ in nodes:
        if node_id in first:
            there = words.node(first[node_id], "id")
            yield words.node(place, "id"), f"{shown(node_id)} {words.repeated.format(there)}"
        elif node_id is not None:
            first[node_id] = place
    if known is not None:
        yield from _undeclared(nodes, relations, known, words)
    yield from _bad_relations({*first, *broken}, relations, words)


def _undeclared(
    nodes: Sequence[NodeFacts], relations: Sequence[RelationDraft], known: Schema, words: Wording
) -> Iterator[Problem]:
    """Yield a problem for each unknown name, at its first place, and what declares them all."""
    properties: dict[str, list[tuple[str, str]]] = {}
    for index, node_id, keys in nodes:
        for key in keys:
            if key not in known.properties and _may_be_property(key):
                place = words.node(index, "properties", key)
                properties.setdefault(key, []).append((place, node_id or place))
    types: dict[str, list[tuple[str, str]]] = {}
    for index, source, type_, _ in relations:
        if type_ not in known.relation_types and RELATION_NAME.fullmatch(type_):
            types.setdefault(type_, []).append((words.relation(index, 1), source))
    flags = " ".join(f"--declare {name}" for name in (*types, *properties))
    for what, field, found, names in (
        ("property", "properties", properties, known.properties),
        ("relation type", "relation_types", types, known.relation_types),
    ):
        near, declare = NearestNames.of(names), words.declare.format(field, flags=flags)
        for name, uses in found.items():
            count = f" ({len(uses):,} times: of {_shown_ids(uses)})" if len(uses) > 1 else ""
            yield uses[0][0], f"{name} is no known {what}{near.hint(name)}{count}; {declare}, or leave it out"


def _shown_ids(uses: Sequence[tuple[str, str]]) -> str:
    ids = [*dict.fromkeys(node_id for _, node_id in uses)]
    return ", ".join(map(shown, ids[:3])) + (", …" if len(ids) > 3 else "")


def _bad_relations(ids: set[str], relations: Sequence[RelationDraft], words: Wording) -> Iterator[Problem]:
    near = NearestNames.of(ids)
    first: dict[tuple[str, str, str], Any] = {}
    for index, source, type_, target in relations:
        for part, end in ((0, source), (2, target)):
            if end not in ids:
                yield words.relation(index, part), f"{words.missing} {shown(end)}{near.hint(end) or words.add}"
        if (source, type_, target) in first:
            there = words.relation(first[source, type_, target])
            yield words.relation(index), f"is the same relation as {there}; give it once"
        first.setdefault((source, type_, target), index)


def document_faults(document: object) -> Iterator[Problem]:
    """Yield every fault between the parts of a scene document; malformed parts are skipped."""
    if not isinstance(document, dict):
        return
    nodes = _list(document.get("nodes"))
    yield from find_faults(
        [_facts(index, node) for index, node in enumerate(nodes) if isinstance(node, dict)],
        [draft for index, it in enumerate(_list(document.get("relations"))) if (draft := _relation(index, it))],
        vocabulary_of(_declared(document.get("declared"))),
        broken=[name for node in nodes if (name := _broken_name(node))],
        words=IN_DOCUMENTS,
    )


def _facts(index: int, node: dict[str, Any]) -> NodeFacts:
    node_id, properties = node.get("id"), node.get("properties")
    given = properties if isinstance(properties, dict) else ()
    return NodeFacts(index, _nfc(node_id) if isinstance(node_id, str) else None, given)


def _relation(index: int, value: object) -> RelationDraft | None:
    match value:
        case [str(source), str(type_), str(target)]:
            return RelationDraft(index, _nfc(source), type_, _nfc(target))
        case _:
            return None


def _broken_name(node: object) -> str | None:
    """Return what a node without a valid id is probably called in relations."""
    name = node
    if isinstance(node, dict):
        name = None if isinstance(node.get("id"), str) else node.get("name")
    return _nfc(name) if isinstance(name, str) else None


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _declared(value: object) -> Declared:
    """Return the valid declared names; invalid ones are reported with the fields."""
    given = value if isinstance(value, dict) else {}
    types = [name for name in _list(given.get("relation_types")) if isinstance(name, str)]
    keys = [name for name in _list(given.get("properties")) if isinstance(name, str)]
    return Declared(
        tuple(name for name in types if RELATION_NAME.fullmatch(name)),
        tuple(name for name in keys if _may_be_property(name)),
    )


def _may_be_property(name: str) -> bool:
    return bool(PROPERTY_NAME.fullmatch(name)) and name not in RESERVED_PROPERTIES
