"""Counts of a scene in memory: nodes, properties, relations and agents become Enumerations."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from scenecypher.db.graph.scene import GraphView, Node
from scenecypher.db.graph.value import Point, Value
from scenecypher.db.schema import ENTITY, HOLDING, KINDS
from scenecypher.db.store.enumerations import (
    DENSE,
    AgentUse,
    ClassUse,
    Enumerations,
    Pattern,
    PropertyUse,
    ValueUse,
    literal,
)

VALUES_SHOWN: Final = 16
"""Cap on the distinct values of a property; above it none is listed."""
VALUE_LENGTH: Final = 60
AGENTS_SHOWN: Final = 20
LISTED_NODES_LIMIT: Final = 5_000
"""Largest number of nodes of which every name, id and value is listed."""
CYPHER_TYPES: Final[Mapping[type, str]] = {
    str: "STRING",
    bool: "BOOLEAN",
    int: "INTEGER",
    float: "FLOAT",
    Point: "POINT",
}
TYPE_WORDS: Final[Mapping[str, str]] = {
    "STRING": "text",
    "BOOLEAN": "boolean",
    "INTEGER": "whole number",
    "FLOAT": "number",
    "POINT": "point",
}


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """A group of `count` equal nodes; `example` is the smallest name, `names` and `ids` those that were read."""

    kind: str
    class_: str
    states: Sequence[str]
    affordances: Sequence[str]
    count: int
    example: str
    names: Sequence[str]
    ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class PropertyRow:
    """A property of `count` nodes: its Cypher type, and its value if that is short and was read."""

    name: str
    type: str
    count: int
    value: str | bool | None


def build_enumerations(
    *,
    nodes: Sequence[NodeGroup],
    properties: Iterable[PropertyRow],
    patterns: Iterable[Sequence[Any]],
    agents: Iterable[Sequence[Any]],
    close: int,
) -> Enumerations:
    """Return the sorted Enumerations.

    `patterns` are source kind, type, target kind, count; `agents` name, class, places, held; `close` is the number of
    relations of the type between almost all nodes.
    """
    kinds: Counter[str] = Counter()
    for group in nodes:
        kinds[group.kind] += group.count
    ids = _all(group.ids for group in nodes)
    return Enumerations(
        kinds=tuple((kind, kinds[kind]) for kind in KINDS if kinds[kind]),
        classes=_classes(nodes),
        states=_values((group.states, group) for group in nodes),
        affordances=_values((group.affordances, group) for group in nodes),
        patterns=_patterns(patterns, close=close),
        properties=_properties(properties),
        agents=tuple(_agent(*row) for row in agents),
        places=_all(group.names for group in nodes if group.kind == "Place"),
        names=_all(group.names for group in nodes) if ids else (),
        ids=ids,
    )


def count_graph(graph: GraphView, *, listed_nodes_limit: int = LISTED_NODES_LIMIT) -> Enumerations:
    """Return the Enumerations of a scene; above the limit names, ids and values are not listed, but those of places."""
    is_listed, kinds = (
        len(graph.nodes) <= listed_nodes_limit,
        {node_id: node.kind for node_id, node in graph.nodes.items()},
    )
    plain = [relation for relation in graph.relations if relation.type != DENSE]
    patterns = Counter((kinds[it.source], it.type, kinds[it.target]) for it in plain)
    agents = sorted((graph.nodes[node_id] for node_id in graph.by_kind.get("Agent", ())), key=attrgetter("name", "id"))
    return build_enumerations(
        nodes=[
            NodeGroup(
                *(node.kind, node.class_, node.states, node.affordances, 1, node.name),
                names=(node.name,) if is_listed or node.kind == "Place" else (),
                ids=(node.id,) if is_listed else (),
            )
            for node in graph.nodes.values()
        ],
        properties=[
            _property_row(*item, is_listed=is_listed)
            for node in graph.nodes.values()
            for item in node.properties.items()
        ],
        patterns=[(*pattern, count) for pattern, count in patterns.items()],
        agents=[_agent_row(graph, agent) for agent in agents[:AGENTS_SHOWN]],
        close=len(graph.relations) - len(plain),
    )


def _property_row(name: str, value: Value, *, is_listed: bool) -> PropertyRow:
    if isinstance(value, tuple):
        return PropertyRow(name, f"LIST<{CYPHER_TYPES[type(value[0])] if value else 'NOTHING'}>", 1, None)
    if is_listed and (isinstance(value, bool) or (isinstance(value, str) and len(value) <= VALUE_LENGTH)):
        return PropertyRow(name, CYPHER_TYPES[type(value)], 1, value)
    return PropertyRow(name, CYPHER_TYPES[type(value)], 1, None)


def _agent_row(graph: GraphView, agent: Node) -> tuple[str, str, list[str], list[tuple[str, str]]]:
    near = [(relation.type, graph.nodes[relation.target]) for relation in graph.outgoing.get(agent.id, ())]
    places = [node.name for type_, node in near if type_ == "INSIDE" and node.kind == "Place"]
    return agent.name, agent.class_, places, [(type_, node.name) for type_, node in near if type_ in HOLDING]


def _classes(groups: Iterable[NodeGroup]) -> tuple[ClassUse, ...]:
    found: dict[tuple[str, str], ClassUse] = {}
    for group in groups:
        key = group.kind, group.class_
        known = found.get(key, ClassUse(*key, 0, group.example))
        found[key] = ClassUse(*key, known.count + group.count, min(known.example, group.example))
    return tuple(found[key] for key in sorted(found))


def _values(lists: Iterable[tuple[Sequence[str], NodeGroup]]) -> tuple[ValueUse, ...]:
    counts: Counter[str] = Counter()
    kinds: defaultdict[str, set[str]] = defaultdict(set)
    for values, group in lists:
        for value in values:
            counts[value] += group.count
            kinds[value].add(group.kind)
    return tuple(ValueUse(value, tuple(sorted(kinds[value])), counts[value]) for value in sorted(counts))


def _patterns(rows: Iterable[Sequence[Any]], *, close: int) -> tuple[Pattern, ...]:
    found = [Pattern(*row) for row in rows]
    found += [Pattern(ENTITY, DENSE, ENTITY, close)] if close else []
    return tuple(sorted(found, key=lambda pattern: (pattern.type, pattern.source, pattern.target)))


def _properties(rows: Iterable[PropertyRow]) -> tuple[PropertyUse, ...]:
    by_name: defaultdict[str, list[PropertyRow]] = defaultdict(list)
    for row in rows:
        by_name[row.name].append(row)
    return tuple(_property(name, by_name[name]) for name in sorted(by_name))


def _property(name: str, rows: Sequence[PropertyRow]) -> PropertyUse:
    values = {row.value for row in rows}
    shown: list[str | bool] = [value for value in values if value is not None]
    is_whole = len(shown) == len(values) <= VALUES_SHOWN
    types = tuple(sorted({_type_words(row.type) for row in rows}))
    return PropertyUse(
        name, types, sum(row.count for row in rows), tuple(sorted(shown, key=literal)) if is_whole else ()
    )


def _type_words(type_: str) -> str:
    plain = type_.replace(" NOT NULL", "")
    inner = plain.removeprefix("LIST<").removesuffix(">")
    word = TYPE_WORDS.get(inner, inner.casefold())
    return word if inner == plain else f"list of {word}"


def _agent(name: str, class_: str, places: Sequence[str], holds: Sequence[Sequence[str]]) -> AgentUse:
    return AgentUse(name, class_, tuple(sorted(places)), tuple(sorted((kind, held) for kind, held in holds)))


def _all(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(sorted({item for items in lists for item in items}))
