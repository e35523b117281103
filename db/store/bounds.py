"""Upper bounds of a scene's size, kept on its Scene node: what a query about it can cost at most follows from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, LiteralString, TypeAlias

from neo4j import ManagedTransaction

from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.store.connection import Database
from scenecypher.db.store.load import LOAD_TIMEOUT_S, members

Measure: TypeAlias = Literal["nodes", "relations", "out", "in", "text", "items"]
"""Nodes by kind, relations by type, the most that leave or reach one node by type, and by property the longest text
(UTF-8 bytes) and the longest list."""

PREFIX: Final = "most_"
SCENE: Final[LiteralString] = "MATCH (s:Scene {key: $key}) RETURN properties(s) AS scene"


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


def bounds_of(graph: SceneGraph) -> Bounds:
    """Return the bounds of a scene graph, each as small as can be."""
    found: dict[tuple[str, str], int] = {}
    for measure, names in (
        ("nodes", Counter(node.kind for node in graph.nodes.values())),
        ("relations", Counter(relation.type for relation in graph.relations)),
        ("out", _largest((relation.type, relation.source) for relation in graph.relations)),
        ("in", _largest((relation.type, relation.target) for relation in graph.relations)),
    ):
        found.update(((measure, name), number) for name, number in names.items())
    for node in graph.nodes.values():
        for key, number in lengths(values_of(node)).items():
            found[key] = max(number, found.get(key, 0))
    return Bounds(frozenset((*key, number) for key, number in found.items()))


def read_bounds(scene: Mapping[str, Any]) -> Bounds | None:
    """Return the bounds that a Scene node's properties hold, None if it has none."""
    found = set()
    for key, number in scene.items():
        measure, _, name = key.removeprefix(PREFIX).partition("_")
        if key.startswith(PREFIX) and name:
            found.add((measure, name, int(number)))
    return Bounds(frozenset(found)) if found else None


def current_bounds(database: Database, key: str) -> tuple[int, Bounds] | None:
    """Return a scene's version and its bounds then or later; None if it is gone.

    A scene that was imported before bounds were kept is read whole and measured. Raises ServiceError.
    """

    def work(tx: ManagedTransaction) -> tuple[int, Bounds] | None:
        record = tx.run(SCENE, key=key).single()
        if record is None:
            return None
        scene = record["scene"]
        return scene["version"], read_bounds(scene) or bounds_of(SceneGraph.of(*members(tx, key)))

    return database.read(work, timeout_s=LOAD_TIMEOUT_S)


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
