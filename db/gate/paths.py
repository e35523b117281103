"""Bounds of the rows that patterns give, from the scene's counts of nodes and relations, and limits of path lengths."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

from scenecypher.db.gate.cost import MANY_NODES, too_much
from scenecypher.db.gate.lexer import Token
from scenecypher.db.gate.sizes import ITEM_BYTES, MAX_KEY_LENGTH, Size, either, list_of, text_of
from scenecypher.db.gate.words import COMPARISONS
from scenecypher.db.store.bounds import Bounds, Measure

DEFAULT_BOUNDS: Final[dict[Measure, int]] = {
    "nodes": 100,
    "relations": 1_000,
    "out": 10,
    "in": 30,
    "text": 100,
    "items": 20,
}
"""Bounds of a small scene, used if no bounds are given, as in tests of the text alone."""
MAX_HOPS: Final = 24
MAX_PATHS: Final = 16
"""Maximum patterns in one query."""
LONG_PATH: Final = 10
"""Length above which a path counts as long."""
MAX_LONG_PATHS: Final = 3
MAX_ANY_TYPE_HOPS: Final = 6
"""Maximum relations of any type in the paths of one query."""
DENSE_TYPES: Final = {"CLOSE": 3}
"""Types that join almost everything, with the path length that is allowed in scenes of any size."""
MAX_DENSE_PATHS: Final = 100_000
"""Maximum paths from one node for longer paths of a dense type."""
MAX_BOUNDED_SEARCH: Final = 20
"""Maximum explicit bound of a SHORTEST search along relations of any type: the server keeps each length apart, so that
`{0,15}` takes ten seconds and `*` half a second."""
MAX_POWER: Final = 100
"""Length above which the paths along a type that branches are not counted."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node pattern: the labels that a node must have, and the properties that its map fixes."""

    name: str
    labels: tuple[str, ...]
    fixed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Search:
    """A shortest-path search, which finds at most `most` paths from one node to another."""

    most: float
    is_function: bool = False


@dataclass(frozen=True, slots=True)
class Hop:
    """A relation pattern along some types, or along any if it names none or excludes some.

    `direction` is 1, -1 or 0 (either); `longest` may be infinite. `search` is the shortest-path search around it.
    """

    name: str
    types: tuple[str, ...]
    direction: int
    longest: float
    search: Search | None = None


Path: TypeAlias = Sequence[Node | Hop]


class Paths:
    """Bounds of the nodes and patterns in one scene, and limits on the patterns of one query."""

    def __init__(self, bounds: Bounds) -> None:
        self._most = {measure: bounds.of(measure) for measure in DEFAULT_BOUNDS}
        self._others = dict.fromkeys(DEFAULT_BOUNDS, 0) if bounds.entries else DEFAULT_BOUNDS
        self.nodes = self._sum("nodes")
        text, items = self._largest("text"), self._largest("items")
        listed = list_of(text_of(text), items)
        names = tuple(self._most["text"]) or ("one", "another")
        self.entity = Size(wire=2 * ITEM_BYTES + sum(self.property(name).wire + MAX_KEY_LENGTH for name in names))
        self.anything = either(text_of(text), listed, self.entity)
        self.properties = list_of(either(text_of(max(MAX_KEY_LENGTH, text)), listed), max(len(names), 16))
        self.hops: list[Hop] = []
        self._number = 0

    def _of(self, measure: Measure, name: str) -> int:
        return self._most[measure].get(name, self._others[measure])

    def _largest(self, measure: Measure) -> int:
        return max(self._most[measure].values(), default=self._others[measure])

    def _sum(self, measure: Measure, names: Collection[str] = ()) -> int:
        found = self._most[measure]
        return sum(found.get(name, 0) for name in names or found) if found else self._others[measure]

    def property(self, name: str) -> Size:
        """Return the maximum size of a node's property of this name."""
        text, items = text_of(self._of("text", name)), self._of("items", name)
        return either(text, list_of(text, items)) if items else text

    # --- rows

    def _count(self, node: Node, known: Collection[str]) -> float:
        """Return the maximum nodes that a node pattern finds."""
        if node.name in known or "id" in node.fixed:
            return 1.0
        return float(min((self._of("nodes", label) for label in node.labels if label != "Entity"), default=self.nodes))

    def length(self, hop: Hop) -> float:
        """Return the maximum relations in one path of this pattern."""
        if hop.longest < math.inf:
            return hop.longest
        return float(self.nodes if hop.search else self._sum("relations"))

    def paths_from_node(self, hop: Hop, *, back: bool = False) -> float:
        """Return the maximum paths of this pattern that begin at one node."""
        if hop.search:
            return self.nodes * hop.search.most
        direction = -hop.direction if back else hop.direction
        measures: tuple[Measure, ...] = (("out", "in"), ("out",), ("in",))[direction]
        types = hop.types or tuple(self._most["out"]) or ("any",)
        degree = float(sum(self._of(measure, name) for measure in measures for name in types))
        if hop.longest == 1:
            return degree
        if degree <= 1:
            return min(hop.longest, float(self.nodes)) + 1
        return degree ** (hop.longest + 1) if hop.longest <= MAX_POWER else math.inf

    def rows(self, path: Path, known: Collection[str]) -> float:
        """Return the maximum rows of a pattern per row before it: the minimum over all starting points."""
        found = [
            self._begin(part, known)
            * math.prod(self.paths_from_node(hop, back=True) for hop in path[:at] if isinstance(hop, Hop))
            * math.prod(self.paths_from_node(hop) for hop in path[at + 1 :] if isinstance(hop, Hop))
            for at, part in enumerate(path)
        ]
        return max(1.0, min((number for number in found if not math.isnan(number)), default=math.inf))

    def _begin(self, part: Node | Hop, known: Collection[str]) -> float:
        if isinstance(part, Node):
            return self._count(part, known)
        if part.longest != 1:
            return math.inf
        return self._sum("relations", part.types) * (1.0 if part.direction else 2.0)

    # --- products

    def unconnected(self, paths: Sequence[Path], where: Sequence[Token], known: Collection[str]) -> list[float]:
        """Return the expected nodes of each group of paths that neither a name nor an equality joins to the rest."""
        named = [{part.name for part in path if part.name} for path in paths]
        pairs = list(_equalities(where, set(known).union(*named)))
        few = {name for pair in pairs if len(pair) == 1 for name in pair}
        groups = [(set(known), 0.0), *((pair, 0.0) for pair in pairs if len(pair) == 2)]
        for names, path in zip(named, paths, strict=True):
            groups.append((names, min(self._expected(part, known, few) for part in path if isinstance(part, Node))))
        merged: list[tuple[set[str], float]] = []
        for names, nodes in groups:
            near = [group for group in merged if group[0] & names]
            merged = [group for group in merged if group not in near]
            merged.append((names.union(*(one for one, _ in near)), max([nodes, *(most for _, most in near)])))
        return [nodes for names, nodes in merged if nodes and not names & set(known)]

    def _expected(self, node: Node, known: Collection[str], few: Collection[str]) -> float:
        """Return the expected nodes of a pattern: a few if a property must equal a value."""
        return min(self._count(node, known), MANY_NODES if node.name in few or node.fixed else math.inf)

    # --- limits

    def add(self, path: Path) -> None:
        """Count a path of the query. Raises QueryRefused if the paths reach too far together."""
        self._number += 1
        self.hops += [part for part in path if isinstance(part, Hop)]
        if len(self.hops) > MAX_HOPS or self._number > MAX_PATHS:
            message = f"more than {MAX_HOPS} relations or {MAX_PATHS} patterns in one query"
            raise too_much("-[", message, "ask in steps")
        walks = [hop for hop in self.hops if not hop.search]
        if sum(hop.longest for hop in walks if not hop.types) > MAX_ANY_TYPE_HOPS:
            raise _too_far(f"more than {MAX_ANY_TYPE_HOPS} relations of any type in a row")
        if sum(hop.longest > LONG_PATH for hop in walks) > MAX_LONG_PATHS:
            raise _too_far(f"more than {MAX_LONG_PATHS} paths of open length")
        for hop in self.hops:
            self._check(hop)

    def _check(self, hop: Hop) -> None:
        if hop.search:
            if not hop.search.is_function and not hop.types and MAX_BOUNDED_SEARCH < hop.longest < math.inf:
                message = f"a SHORTEST search of up to more than {MAX_BOUNDED_SEARCH} relations of any type"
                hint = f"leave the bound out, name the types, or search up to {MAX_BOUNDED_SEARCH}"
                raise too_much("SHORTEST", message, hint)
            return
        if len(hop.types) > 1 and not hop.direction and hop.longest > LONG_PATH:
            raise _too_far(f"more than {LONG_PATH} relations of several types in either direction")
        for name in DENSE_TYPES.keys() & set(hop.types):
            if hop.longest > DENSE_TYPES[name] and self.paths_from_node(hop) > MAX_DENSE_PATHS:
                message = (
                    f"more than {DENSE_TYPES[name]} relations of type {name} in a row, which joins almost everything"
                )
                raise _too_far(message)


def _too_far(message: str) -> Exception:
    hint = "name the types and a direction, bound the length such as *1..4, or use shortestPath or SHORTEST 1"
    return too_much("*", message, hint)


def _equalities(condition: Sequence[Token], names: Collection[str]) -> Iterator[set[str]]:
    """Yield which of these names stand in each equality that must hold for the condition: two, or one and constants.

    Conditions after a NOT are left out, and all of them if there is an OR.
    """
    if {"OR", "XOR", "CASE"} & {token.word for token in condition}:
        return
    runs: list[list[Token]] = [[]]
    for token in condition:
        if token.word == "NOT":
            break
        if token.word == "AND":
            runs.append([])
        else:
            runs[-1].append(token)
    for run in runs:
        if [token.word for token in run if token.word in COMPARISONS] in (["="], ["IN"]):
            yield {token.value for before, token in pairwise([run[0], *run]) if before.word != "."} & set(names)
