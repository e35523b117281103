"""Bounds of one scene: how large its values are, and how many rows its patterns give."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from scenecypher.db.gate.cost import too_much
from scenecypher.db.gate.sizes import ITEM_BYTES, MAX_KEY_LENGTH, Size, either, list_of, power, text_of
from scenecypher.db.gate.tree import Hop, Node
from scenecypher.db.schema import ENTITY, PAST
from scenecypher.db.store.bounds import Bounds, Measure

# Bounds of a small scene, used if no bounds are given, as in tests of the text alone.
DEFAULT_BOUNDS: Final[dict[Measure, int]] = {
    "nodes": 100,
    "relations": 1_000,
    "out": 10,
    "in": 30,
    "text": 100,
    "items": 20,
}
MAX_HOPS: Final = 12
"""Maximum relations in one query: the server plans a chain of 12 in 5 s on a busy machine of two cores, of 24 in 11 s.
Of 2,430 queries of the test sets none that is accepted has more than nine."""
MAX_PATHS: Final = 16  # maximum patterns in one query
MAX_ANY_TYPE_HOPS: Final = 6  # maximum relations of any type in one path; longer ones reach almost all paths of a scene
MAX_BOUNDED_SEARCH: Final = 20
"""Maximum explicit bound of a SHORTEST search along relations of any type: the server keeps each length apart, so that
`{0,15}` takes ten seconds and `*` half a second."""
MAX_POWER: Final = 100  # length above which the paths along a type that branches are not counted


Path: TypeAlias = Sequence[Node | Hop]


class Paths:
    """Bounds of the values and patterns in one graph, and limits on the patterns of one query.

    A `unique` property tells its nodes apart.
    """

    def __init__(self, bounds: Bounds, *, unique: str = "") -> None:
        self._unique = unique
        self._most = {measure: bounds.of(measure) for measure in DEFAULT_BOUNDS}
        self._others = dict.fromkeys(DEFAULT_BOUNDS, 0) if bounds.entries else DEFAULT_BOUNDS
        self.nodes = self._sum("nodes")
        text, items = (max(self._most[one].values(), default=self._others[one]) for one in ("text", "items"))
        names = tuple(self._most["text"]) or ("one", "another")
        wire = 2 * ITEM_BYTES + sum(self.property(name).wire + MAX_KEY_LENGTH for name in names)
        self.entity = Size(wire=wire, kind=ENTITY)
        listed = list_of(text_of(text), items)
        self.anything = replace(either(text_of(text), listed, self.entity), kind="")
        self.properties = list_of(either(text_of(max(MAX_KEY_LENGTH, text)), listed), max(len(names), 16))
        self._patterns, self.hops = 0, list[Hop]()

    def _of(self, measure: Measure, name: str) -> int:
        return self._most[measure].get(name, self._others[measure])

    def _sum(self, measure: Measure, names: Collection[str] = ()) -> int:
        found = self._most[measure]
        return sum(found.get(name, 0) for name in names or found) if found else self._others[measure]

    def property(self, name: str) -> Size:
        """Return the maximum size of a node's property of this name."""
        text, items = text_of(self._of("text", name)), self._of("items", name)
        return either(text, list_of(text, items)) if items else text

    def length(self, path: Path) -> float:
        """Return the maximum relations in one path of this pattern."""
        return sum(self._length(part) for part in path if isinstance(part, Hop))

    def _length(self, hop: Hop) -> float:
        return hop.longest if hop.longest < math.inf else float(self.nodes if hop.found else self._sum("relations"))

    def rows(self, path: Path, known: Collection[str]) -> float:
        """Return the maximum rows of a pattern per row before it: the minimum over all starting points."""
        found = [
            self._begin(part, known)
            * math.prod(self._paths_from_node(hop, -1) for hop in path[:at] if isinstance(hop, Hop))
            * math.prod(self._paths_from_node(hop, 1) for hop in path[at + 1 :] if isinstance(hop, Hop))
            for at, part in enumerate(path)
        ]
        return max(1.0, min((number for number in found if not math.isnan(number)), default=math.inf))

    def _begin(self, part: Node | Hop, known: Collection[str]) -> float:
        """Return how many nodes or relations of the scene fit this part."""
        if isinstance(part, Hop):
            return self.distinct(part) * (2.0 - abs(part.direction)) if part.longest == 1 else math.inf
        if part.name in known or (self._unique and part.fixes(self._unique)):
            return 1.0
        return self.distinct(part)

    def distinct(self, part: Node | Hop) -> float:
        """Return how many nodes or relations of the graph this part may stand for."""
        if isinstance(part, Hop):
            return float(self._sum("relations", part.types))
        counts = (self._of("nodes", label) for label in part.labels if label not in {ENTITY, PAST})
        return float(min(counts, default=self.nodes))

    def _paths_from_node(self, hop: Hop, way: int) -> float:
        """Return the maximum paths of this pattern that begin at one node, read forwards (1) or backwards (-1)."""
        if hop.found:
            return self.nodes * hop.found
        measures: tuple[Measure, ...] = (("out", "in"), ("out",), ("in",))[hop.direction * way]
        types = hop.types or tuple(self._most["out"]) or ("any",)
        degree = float(sum(self._of(measure, name) for measure in measures for name in types))
        if hop.longest == 1:
            return degree
        if degree <= 1:
            return self._length(hop) + 1
        return power(degree, hop.longest + 1) if hop.longest <= MAX_POWER else math.inf

    def add(self, path: Path, *, most: float = MAX_ANY_TYPE_HOPS) -> None:
        """Count a path of the query, with at most so many relations of any type in a row. Raises QueryRefused."""
        hops = [part for part in path if isinstance(part, Hop)]
        self._patterns += 1
        self.hops += hops
        if len(self.hops) > MAX_HOPS or self._patterns > MAX_PATHS:
            raise too_much("-[", f"more than {MAX_HOPS} relations or {MAX_PATHS} patterns in one query")
        if any(hop.found and hop.shortest > 1 and hop.longest > MAX_ANY_TYPE_HOPS for hop in hops):
            message = "a search for the shortest path has a least length above 1, which the server can't end"
            raise too_much("{", message, "leave the least length out: shortestPath((a)-[:CONNECTS*..100]->(b))")
        if any(hop.longest > most and not hop.types and not (hop.found and hop.longest == math.inf) for hop in hops):
            hint = "name the types and a direction, bound the length such as *1..4, or use shortestPath or SHORTEST 1"
            raise too_much("*", f"more than {most} relations of any type in a row", hint)
