"""Upper bounds of a scene's size, kept on its Scene node: what a query about it can cost at most follows from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, Literal, TypeAlias

from scenecypher.db.graph.delta import (
    AddNode,
    AddRelation,
    Delta,
    RemoveNode,
    RemoveRelation,
    SetKind,
)
from scenecypher.db.graph.scene import GraphView, Node, SceneGraph

Measure: TypeAlias = Literal["nodes", "relations", "out", "in", "text", "items"]
"""Nodes by kind, relations by type, the most that leave or reach one node by type, and by property the longest text
(UTF-8 bytes) and the longest list."""

PREFIX: Final = "most_"
SPARE: Final = 10
"""How far above twice the number a bound stays: what goes to and fro, such as what is held, moves no bound."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Upper bounds as (measure, name, number). Hashable: a verdict on a query holds for the bounds it was made with."""

    entries: frozenset[tuple[str, str, int]] = frozenset()

    def of(self, measure: Measure) -> dict[str, int]:
        """Return the bounds of one measure by name."""
        return {name: number for kind, name, number in self.entries if kind == measure}

    def properties(self) -> dict[str, int]:
        """Return the bounds as properties of the Scene node."""
        return {f"{PREFIX}{measure}_{name}": number for measure, name, number in self.entries}


UNKNOWN: Final = Bounds()
"""No bounds are known."""


class TrackedBounds:
    """The bounds stored with a scene that is kept in memory, for finding which of them a Delta raises.

    An estimate of a bound is never above what is stored, so that no raise is overlooked, and never below what the
    scene has, so that no stored bound is lowered too far.
    """

    def __init__(self, graph: GraphView, stored: Bounds) -> None:
        self._estimates = stored.properties()
        kinds = {f"{PREFIX}nodes_{kind}": len(ids) for kind, ids in graph.by_kind.items()}
        self._members = Counter({**kinds, **Counter(f"{PREFIX}relations_{it.type}" for it in graph.in_order())})

    def raised_by(self, graph: GraphView, delta: Delta, edits: Mapping[str, Node | None]) -> dict[str, int]:
        """Return the bounds that `delta` raises, as properties of the Scene node; `graph` is before it.

        Those of a number are lowered where it falls below the half: a query may cost as much only as it can.
        """
        counts = {name: self._members[name] + number for name, number in counts_after(delta)}
        lengths_now = bounds_from(filter(None, edits.values()), ()).properties()
        found = {**lengths_now, **counts, **degrees_after(graph, delta, self._estimates)}
        lower = {name: number for name, number in counts.items() if 2 * number + SPARE < self._estimates.get(name, 0)}
        return lower | {name: number for name, number in found.items() if number > self._estimates.get(name, 0)}

    def follow(self, delta: Delta, raised: Mapping[str, int]) -> None:
        """Follow a commit that `raised` bounds."""
        for name, number in counts_after(delta):
            self._members[name] += number
        self._estimates.update(raised)


def bounds_of(graph: SceneGraph) -> Bounds:
    """Return the bounds of a scene graph, each as small as can be."""
    relations: list[tuple[Measure, str, int]] = [
        *(("relations", name, number) for name, number in Counter(map(attrgetter("type"), graph.relations)).items()),
        *(("out", *it) for it in _largest(map(attrgetter("type", "source"), graph.relations)).items()),
        *(("in", *it) for it in _largest(map(attrgetter("type", "target"), graph.relations)).items()),
    ]
    return bounds_from(graph.nodes.values(), relations)


def bounds_from(nodes: Iterable[Node], relations: Iterable[tuple[Measure, str, int]]) -> Bounds:
    """Return the bounds of a scene, of which one node at a time is in memory; its `relations` are measured already."""
    found: dict[tuple[str, str], int] = {(measure, name): number for measure, name, number in relations}
    for node in nodes:
        found["nodes", node.kind] = found.get(("nodes", node.kind), 0) + 1
        for key, number in lengths(values_of(node)).items():
            found[key] = max(number, found.get(key, 0))
    return Bounds(frozenset((*key, number) for key, number in found.items()))


def read_bounds(scene: Mapping[str, Any]) -> Bounds:
    """Return the bounds that a Scene node's properties hold."""
    found = set()
    for key, number in scene.items():
        measure, _, name = key.removeprefix(PREFIX).partition("_")
        if key.startswith(PREFIX) and name:
            found.add((measure, name, int(number)))
    return Bounds(frozenset(found))


def values_of(node: Node) -> dict[str, Any]:
    """Return a node's properties by name."""
    core = {"id": node.id, "name": node.name, "class": node.class_}
    return {**core, "states": node.states, "affordances": node.affordances, **dict(node.properties)}


def lengths(values: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    """Return how long these properties' texts and lists are, by measure and name."""
    found: dict[tuple[str, str], int] = {}
    for name, value in values.items():
        items = value if isinstance(value, tuple | list) else (value,)
        texts = [len(item.encode()) for item in items if isinstance(item, str)]
        found["text", name] = max(texts, default=0)
        if items is value:
            found["items", name] = len(items)
    return found


def _largest(pairs: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Return by type the largest number of equal pairs of type and node."""
    most: dict[str, int] = {}
    for (name, _), number in Counter(pairs).items():
        most[name] = max(number, most.get(name, 0))
    return most


def counts_after(delta: Delta) -> list[tuple[str, int]]:
    """Return by how much a Delta changes the numbers of nodes and relations, as properties of the Scene node."""
    found: Counter[str] = Counter()
    for change in delta.changes:
        match change:
            case AddNode(node) | RemoveNode(node):
                found[f"{PREFIX}nodes_{node.kind}"] += 1 if isinstance(change, AddNode) else -1
            case AddRelation(relation) | RemoveRelation(relation):
                found[f"{PREFIX}relations_{relation.type}"] += 1 if isinstance(change, AddRelation) else -1
            case SetKind():
                found[f"{PREFIX}nodes_{change.before}"] -= 1
                found[f"{PREFIX}nodes_{change.after}"] += 1
            case _:
                continue
    return [(name, number) for name, number in sorted(found.items()) if number]


def degrees_after(graph: GraphView, delta: Delta, known: Mapping[str, int]) -> dict[str, int]:
    """Return the largest degrees of nodes that a Delta relates to more nodes, as properties of the Scene node.

    Relations of a node that can't come above what is `known` are not counted.
    """
    more: Counter[tuple[str, str, str]] = Counter()
    for change in delta.changes:
        if isinstance(change, AddRelation | RemoveRelation):
            relation, number = change.relation, 1 if isinstance(change, AddRelation) else -1
            more["out", relation.type, relation.source] += number
            more["in", relation.type, relation.target] += number
    found: dict[str, int] = {}
    for (measure, type_, node_id), number in more.items():
        if number > 0:
            around = (graph.outgoing if measure == "out" else graph.incoming).get(node_id, ())
            name = f"{PREFIX}{measure}_{type_}"
            if number + len(around) > known.get(name, 0):
                degree = number + sum(it.type == type_ for it in around)
                found[name] = max(degree, found.get(name, 0))
    return found
