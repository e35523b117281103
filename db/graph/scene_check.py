"""Checks of a scene document as a whole: repeated ids, dangling relations, undeclared names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from scenecypher.db.graph.problems import NearestNames, Problem, json_path
from scenecypher.db.graph.value import shown
from scenecypher.db.schema import (
    PROPERTY_NAME,
    RELATION_NAME,
    RESERVED_PROPERTIES,
    Declared,
    Vocabulary,
    vocabulary_of,
)

Triple: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Outline:
    """The readable parts of a document, however malformed: each with its index.

    `broken` are names of nodes without an id, whose relations are no further problem.
    """

    nodes: Sequence[tuple[int, dict[str, Any]]]
    relations: Sequence[tuple[int, Triple]]
    vocabulary: Vocabulary
    broken: Sequence[str]

    @classmethod
    def of(cls, document: dict[str, Any]) -> _Outline:
        return cls(
            nodes=[(i, node) for i, node in enumerate(_list(document.get("nodes"))) if isinstance(node, dict)],
            relations=[(i, triple) for i, it in enumerate(_list(document.get("relations"))) if (triple := _triple(it))],
            vocabulary=vocabulary_of(_declared(document.get("declared"))),
            broken=[name for node in _list(document.get("nodes")) if (name := _broken_name(node))],
        )


def find_faults(document: object) -> Iterator[Problem]:
    """Yield every fault between the parts of a scene document; malformed parts are skipped."""
    if not isinstance(document, dict):
        return
    outline = _Outline.of(document)
    yield from _repeated_ids(outline)
    yield from _undeclared(outline)
    yield from _bad_relations(outline)


def _repeated_ids(outline: _Outline) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for index, node_id in _ids(outline):
        if node_id in first:
            there = json_path(("nodes", first[node_id], "id"))
            yield json_path(("nodes", index, "id")), f"{shown(node_id)} is the id at {there} already; give it once"
        first.setdefault(node_id, index)


def _undeclared(outline: _Outline) -> Iterator[Problem]:
    near = NearestNames.of(outline.vocabulary.properties)
    for index, node in outline.nodes:
        properties = node.get("properties")
        for key in properties if isinstance(properties, dict) else ():
            if _may_be_property(key) and key not in outline.vocabulary.properties:
                place, hint = json_path(("nodes", index, "properties", key)), near.hint(key)
                yield place, f"{key} is no known property{hint}; add it to declared.properties, or leave it out"
    near = NearestNames.of(outline.vocabulary.relation_types)
    for index, (_, type_, _) in outline.relations:
        if RELATION_NAME.fullmatch(type_) and type_ not in outline.vocabulary.relation_types:
            place, hint = json_path(("relations", index, 1)), near.hint(type_)
            yield place, f"{type_} is no known relation type{hint}; add it to declared.relation_types, or leave it out"


def _bad_relations(outline: _Outline) -> Iterator[Problem]:
    ids = {node_id for _, node_id in _ids(outline)} | {*outline.broken}
    near = NearestNames.of(ids)
    first: dict[Triple, int] = {}
    for index, triple in outline.relations:
        for end in (0, 2):
            if triple[end] not in ids:
                place = json_path(("relations", index, end))
                hint = near.hint(triple[end]) or "; add the node, or leave the relation out"
                yield place, f"no node has the id {shown(triple[end])}{hint}"
        if triple in first:
            there = json_path(("relations", first[triple]))
            yield json_path(("relations", index)), f"is the same relation as {there}; give it once"
        first.setdefault(triple, index)


def _ids(outline: _Outline) -> Iterator[tuple[int, str]]:
    for index, node in outline.nodes:
        if isinstance(node.get("id"), str):
            yield index, unicodedata.normalize("NFC", node["id"])


def _broken_name(node: object) -> str | None:
    """Return what a node without a valid id is probably called in relations."""
    name = node
    if isinstance(node, dict):
        name = None if isinstance(node.get("id"), str) else node.get("name")
    return unicodedata.normalize("NFC", name) if isinstance(name, str) else None


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _triple(value: object) -> Triple | None:
    match value:
        case [str(source), str(type_), str(target)]:
            return unicodedata.normalize("NFC", source), type_, unicodedata.normalize("NFC", target)
        case _:
            return None


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
