"""Bounds of the rows that patterns give, from the scene's counts of nodes and relations, and limits of path lengths."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Final

from scenecypher.db.gate.limits import Limits
from scenecypher.db.gate.sizes import ITEM_BYTES, MAX_KEY_LENGTH, Size, either, list_of, text_of
from scenecypher.db.gate.syntax import Hop, Part
from scenecypher.db.store.bounds import Bounds, Measure
from scenecypher.errors import QueryRefused

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
MAX_SELECTED_PATHS: Final = 20
"""Maximum paths that a SHORTEST search may find between two nodes."""
MANY_NODES: Final = 4
"""Number of nodes above which one side of a product counts as many."""


class Paths:
    """Bounds of patterns in one scene; `product` is the number of rows of the unconnected patterns so far."""

    def __init__(self, bounds: Bounds, limits: Limits) -> None:
        self._limits = limits
        self._known = bool(bounds.entries)
        self._most = {measure: bounds.of(measure) for measure in DEFAULT_BOUNDS}
        self.nodes = sum(self._most["nodes"].values()) if self._known else DEFAULT_BOUNDS["nodes"]
        self.longest = float(self.nodes)
        self.product = 1.0
        texts, items = self._of_any("text"), self._of_any("items")
        listed = list_of(text_of(texts), items)
        wire = sum(self.property(name).wire + MAX_KEY_LENGTH for name in self._most["text"]) if self._known else 4_000
        self.entity = Size(wire=ITEM_BYTES + wire, is_entity=True)
        self.anything = either(text_of(texts), listed, self.entity)
        count = max(len(self._most["text"]), 16)
        self.properties = list_of(either(text_of(max(MAX_KEY_LENGTH, texts)), listed), count)

    def _of_any(self, measure: Measure) -> int:
        return max(self._most[measure].values(), default=0) if self._known else DEFAULT_BOUNDS[measure]

    def _of(self, measure: Measure, name: str) -> int:
        return self._most[measure].get(name, 0) if self._known else DEFAULT_BOUNDS[measure]

    def property(self, name: str) -> Size:
        """Return the maximum size of a node's property of this name."""
        text = text_of(self._of("text", name))
        items = self._of("items", name)
        return either(text, list_of(text, items)) if items else text

    # --- rows

    def count(self, node: Part, known: Collection[str]) -> float:
        """Return the maximum nodes that a node pattern finds."""
        if node.name in known or any(part.kind == "entry" and part.name == "id" for part in node.parts):
            return 1.0
        named = [self._of("nodes", label) for label in node.words if label in self._most["nodes"] or label != "Entity"]
        return float(min(named, default=self.nodes))

    def length(self, hop: Part) -> float:
        """Return the maximum relations in one path of this pattern."""
        longest = hop.longest if isinstance(hop, Hop) else 0
        if longest is not None:
            return longest
        return float(self.nodes if isinstance(hop, Hop) and hop.search else self._relations(()))

    def _relations(self, types: Sequence[str]) -> int:
        if not self._known:
            return DEFAULT_BOUNDS["relations"]
        found = self._most["relations"]
        return sum(found.get(name, 0) for name in types or found)

    def _degree(self, hop: Hop, *, back: bool) -> float:
        direction = -hop.direction if back else hop.direction
        measures: tuple[Measure, ...] = (("out",), ("in",), ("out", "in"))[(direction == 0) * 2 or direction < 0]
        types = hop.words if hop.is_exact else tuple(self._most["out"] or ("any",))
        return float(sum(self._of(measure, name) for measure in measures for name in types))

    def paths_from_node(self, hop: Hop, *, back: bool = False) -> float:
        """Return the maximum paths of this pattern that begin at one node."""
        if hop.search:
            return self.longest
        degree = self._degree(hop, back=back)
        if hop.longest == 1:
            return degree
        if degree <= 1:
            return min(self.length(hop), self.longest) + 1
        return math.inf if hop.longest is None or hop.longest > 100 else degree ** (hop.longest + 1)

    def rows(self, path: Part, known: Collection[str]) -> float:
        """Return the maximum rows of a pattern per row before it: the minimum over all starting points."""
        parts = [part for part in path.parts if part.kind in {"node", "hop"}]
        found = [
            self._begin(part, known)
            * math.prod(self.paths_from_node(hop, back=True) for hop in parts[:at] if isinstance(hop, Hop))
            * math.prod(self.paths_from_node(hop) for hop in parts[at + 1 :] if isinstance(hop, Hop))
            for at, part in enumerate(parts)
        ]
        return min((number for number in found if not math.isnan(number)), default=math.inf)

    def _begin(self, part: Part, known: Collection[str]) -> float:
        if not isinstance(part, Hop):
            return self.count(part, known)
        if part.longest != 1:
            return math.inf
        return self._relations(part.words if part.is_exact else ()) * (1.0 if part.direction else 2.0)

    # --- limits

    def check_products(self, paths: Sequence[Part], where: Sequence[Part], known: Collection[str]) -> None:
        """Refuse unconnected patterns if their product has too many rows."""
        equal = [pair for part in where for pair in _equalities(part.parts[0])]
        groups: list[tuple[set[str], float]] = []
        for path in paths:
            names = {part.name for part in path if part.name and part.kind != "entry"}
            few = {name for pair in equal if len(pair) == 1 for name in pair}
            size = min(self._expected_count(part, known, few) for part in path.parts if part.kind == "node")
            groups.append((names, size))
        for names, size in _merge_groups(groups, [pair for pair in equal if len(pair) == 2]):
            if names & set(known):
                continue
            if min(size, self.product) > MANY_NODES and size * self.product > self._limits.cross_rows:
                message, hint = (
                    "patterns that nothing joins are multiplied",
                    "join them by a relation or an equal property",
                )
                raise QueryRefused("cost", message, piece="MATCH", hint=hint)
            self.product *= max(1.0, size)

    def _expected_count(self, node: Part, known: Collection[str], few: Collection[str]) -> float:
        """Return the expected nodes of a pattern: a few if a property must equal a value."""
        is_chosen = node.name in few or any(part.kind == "entry" for part in node.parts)
        return min(self.count(node, known), MANY_NODES if is_chosen else math.inf)

    def check_reach(self, query: Part, selected: Iterable[int]) -> None:
        """Refuse paths that reach too far."""
        hops = [part for part in query if isinstance(part, Hop)]
        if len(hops) > MAX_HOPS or sum(part.kind == "path" for part in query) > MAX_PATHS:
            raise _refused("-[", f"more than {MAX_HOPS} relations or {MAX_PATHS} patterns in one query", "ask in steps")
        if any(count > MAX_SELECTED_PATHS for count in selected):
            raise _refused(
                "SHORTEST", f"more than {MAX_SELECTED_PATHS} shortest paths", f"ask for at most {MAX_SELECTED_PATHS}"
            )
        walks = [hop for hop in hops if not hop.search]
        if sum(self._longest(hop) for hop in walks if not hop.is_exact) > MAX_ANY_TYPE_HOPS:
            raise _too_long_path(f"more than {MAX_ANY_TYPE_HOPS} relations of any type in a row")
        if sum(self._longest(hop) > LONG_PATH for hop in walks) > MAX_LONG_PATHS:
            raise _too_long_path(f"more than {MAX_LONG_PATHS} paths of open length")
        for hop in hops:
            self._check_hop(hop)

    def _longest(self, hop: Hop) -> float:
        return math.inf if hop.longest is None else hop.longest

    def _check_hop(self, hop: Hop) -> None:
        far = self._longest(hop)
        if hop.search:
            if hop.search == "selector" and not hop.is_exact and hop.longest is not None and far > MAX_BOUNDED_SEARCH:
                message = f"a SHORTEST search of up to more than {MAX_BOUNDED_SEARCH} relations of any type"
                hint = f"leave the bound out, name the types, or search up to {MAX_BOUNDED_SEARCH}"
                raise _refused("SHORTEST", message, hint)
            return
        if len(hop.words) > 1 and hop.is_exact and not hop.direction and far > LONG_PATH:
            raise _too_long_path(f"more than {LONG_PATH} relations of several types in either direction")
        for name in DENSE_TYPES.keys() & set(hop.words) if hop.is_exact else ():
            if far > DENSE_TYPES[name] and self.paths_from_node(hop) > MAX_DENSE_PATHS:
                raise _too_long_path(
                    f"more than {DENSE_TYPES[name]} relations of type {name} in a row, which joins almost everything"
                )


def _merge_groups(
    groups: Sequence[tuple[set[str], float]], pairs: Sequence[frozenset[str]]
) -> list[tuple[set[str], float]]:
    """Merge groups that share a name or that a pair joins; a merged group has the size of its largest."""
    found: list[tuple[set[str], float]] = []
    for names, size in groups:
        linked = names.union(*(pair for pair in pairs if pair & names))
        apart = [group for group in found if not group[0] & linked]
        touching = [group for group in found if group[0] & linked]
        merged = (linked.union(*(group[0] for group in touching)), max([size, *(group[1] for group in touching)]))
        found = [*apart, merged]
    return found


def _equalities(condition: Part) -> Iterable[frozenset[str]]:
    """Yield the variables of each equality that must hold for the condition: two, or one beside a constant."""
    parts = condition.parts
    if any(part.kind == "operator" and part.name in {"OR", "XOR", "NOT"} for part in parts):
        return
    at = [-1, *(index for index, part in enumerate(parts) if part.name == "AND"), len(parts)]
    for first, last in pairwise(at):
        run = parts[first + 1 : last]
        if len(run) == 1 and run[0].kind == "expression":
            yield from _equalities(run[0])
        elif len(run) == 3 and run[1].name in {"=", "IN"}:
            yield frozenset(part.name for side in (run[0], run[2]) for part in side if part.kind == "variable")


def _refused(piece: str, message: str, hint: str) -> QueryRefused:
    return QueryRefused("cost", message, piece=piece, hint=hint)


def _too_long_path(message: str) -> QueryRefused:
    hint = "name the types and a direction, bound the length such as *1..4, or use shortestPath or SHORTEST 1"
    return _refused("*", message, hint)
