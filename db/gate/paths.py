"""The rows that patterns can give, by the scene's numbers of nodes and relations, and limits on how far paths reach."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import Final

from scenecypher.db.gate.limits import Limits
from scenecypher.db.gate.sizes import ITEM, KEY, Size, either, list_of, text_of
from scenecypher.db.gate.syntax import Hop, Part
from scenecypher.db.store.bounds import Bounds, Measure
from scenecypher.errors import QueryRefused

UNKNOWN: Final[dict[Measure, int]] = {"nodes": 100, "relations": 1_000, "out": 10, "in": 30, "text": 100, "items": 20}
"""What a small scene has at most of anything: taken where no bounds are given, as in tests of the text alone."""
HOPS: Final = 24
PATHS: Final = 16
"""Patterns in one query."""
LONG: Final = 10
"""Relations in a row from which a path counts as long."""
LONG_HOPS: Final = 3
ANY_TYPE_REACH: Final = 6
"""Relations of any type in a row, over the whole query."""
DENSE: Final = {"CLOSE": 3}
"""Types that join almost everything, and how far a query may follow them in a scene of any size."""
WALKED: Final = 100_000
"""Paths from one node up to which a dense type may be followed further."""
COUNTED_REACH: Final = 20
"""How far SHORTEST may search by a bound of its own along relations of any type: the server keeps each length apart, so
that `{0,15}` takes ten seconds where `*` takes half of one."""
SELECTED: Final = 20
"""Paths that a SHORTEST search may find between two nodes."""
WIDE: Final = 4
"""Nodes from which one side of a product counts as many."""


class Paths:
    """The numbers of one scene, and what patterns make of them."""

    def __init__(self, bounds: Bounds, limits: Limits) -> None:
        self._limits = limits
        self._known = bool(bounds.entries)
        self._most = {measure: bounds.of(measure) for measure in UNKNOWN}
        self.nodes = sum(self._most["nodes"].values()) if self._known else UNKNOWN["nodes"]
        self.longest = float(self.nodes)
        self.product = 1.0
        texts, items = self._of_any("text"), self._of_any("items")
        listed = list_of(text_of(texts), items)
        wire = sum(self.property(name).wire + KEY for name in self._most["text"]) if self._known else 4_000
        self.entity = Size(wire=ITEM + wire, is_entity=True)
        self.anything = either(text_of(texts), listed, self.entity)
        count = max(len(self._most["text"]), 16)
        self.properties = list_of(either(text_of(max(KEY, texts)), listed), count)

    def _of_any(self, measure: Measure) -> int:
        return max(self._most[measure].values(), default=0) if self._known else UNKNOWN[measure]

    def _of(self, measure: Measure, name: str) -> int:
        return self._most[measure].get(name, 0) if self._known else UNKNOWN[measure]

    def property(self, name: str) -> Size:
        """Return how large a node's property of this name may be."""
        text = text_of(self._of("text", name))
        items = self._of("items", name)
        return either(text, list_of(text, items)) if items else text

    # --- rows

    def count(self, node: Part, known: Collection[str]) -> float:
        """Return how many nodes a node pattern may find."""
        if node.name in known or any(part.kind == "entry" and part.name == "id" for part in node.parts):
            return 1.0
        named = [self._of("nodes", label) for label in node.words if label in self._most["nodes"] or label != "Entity"]
        return float(min(named, default=self.nodes))

    def length(self, hop: Part) -> float:
        """Return how many relations one path of this pattern may have."""
        longest = hop.longest if isinstance(hop, Hop) else 0
        if longest is not None:
            return longest
        return float(self.nodes if isinstance(hop, Hop) and hop.search else self._relations(()))

    def _relations(self, types: Sequence[str]) -> int:
        if not self._known:
            return UNKNOWN["relations"]
        found = self._most["relations"]
        return sum(found.get(name, 0) for name in types or found)

    def _degree(self, hop: Hop, *, back: bool) -> float:
        direction = -hop.direction if back else hop.direction
        measures: tuple[Measure, ...] = (("out",), ("in",), ("out", "in"))[(direction == 0) * 2 or direction < 0]
        types = hop.words if hop.is_exact else tuple(self._most["out"] or ("any",))
        return float(sum(self._of(measure, name) for measure in measures for name in types))

    def reached(self, hop: Hop, *, back: bool = False) -> float:
        """Return how many paths of this pattern may begin at one node."""
        if hop.search:
            return self.longest
        degree = self._degree(hop, back=back)
        if hop.longest == 1:
            return degree
        if degree <= 1:
            return min(self.length(hop), self.longest) + 1
        return math.inf if hop.longest is None or hop.longest > 100 else degree ** (hop.longest + 1)

    def rows(self, path: Part, known: Collection[str]) -> float:
        """Return how many rows a pattern may give for one row before it: the least over all places to begin at."""
        parts = [part for part in path.parts if part.kind in {"node", "hop"}]
        found = [
            self._begin(part, known)
            * math.prod(self.reached(hop, back=True) for hop in parts[:at] if isinstance(hop, Hop))
            * math.prod(self.reached(hop) for hop in parts[at + 1 :] if isinstance(hop, Hop))
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
        """Refuse patterns that nothing joins, if their product has too many rows."""
        equal = [pair for part in where for pair in _equalities(part.parts[0])]
        groups: list[tuple[set[str], float]] = []
        for path in paths:
            names = {part.name for part in path if part.name and part.kind != "entry"}
            few = {name for pair in equal if len(pair) == 1 for name in pair}
            size = min(self._chosen(part, known, few) for part in path.parts if part.kind == "node")
            groups.append((names, size))
        for names, size in _merged(groups, [pair for pair in equal if len(pair) == 2]):
            if names & set(known):
                continue
            if min(size, self.product) > WIDE and size * self.product > self._limits.cross_rows:
                message, hint = (
                    "patterns that nothing joins are multiplied",
                    "join them by a relation or an equal property",
                )
                raise QueryRefused("cost", message, piece="MATCH", hint=hint)
            self.product *= max(1.0, size)

    def _chosen(self, node: Part, known: Collection[str], few: Collection[str]) -> float:
        """Return how many nodes a pattern is expected to find: a few if a property has to equal something."""
        is_chosen = node.name in few or any(part.kind == "entry" for part in node.parts)
        return min(self.count(node, known), WIDE if is_chosen else math.inf)

    def check_reach(self, query: Part, selected: Iterable[int]) -> None:
        """Refuse paths that reach too far."""
        hops = [part for part in query if isinstance(part, Hop)]
        if len(hops) > HOPS or sum(part.kind == "path" for part in query) > PATHS:
            raise _refused("-[", f"more than {HOPS} relations or {PATHS} patterns in one query", "ask in steps")
        if any(count > SELECTED for count in selected):
            raise _refused("SHORTEST", f"more than {SELECTED} shortest paths", f"ask for at most {SELECTED}")
        walks = [hop for hop in hops if not hop.search]
        if sum(self._far(hop) for hop in walks if not hop.is_exact) > ANY_TYPE_REACH:
            raise _long(f"more than {ANY_TYPE_REACH} relations of any type in a row")
        if sum(self._far(hop) > LONG for hop in walks) > LONG_HOPS:
            raise _long(f"more than {LONG_HOPS} paths of open length")
        for hop in hops:
            self._check_hop(hop)

    def _far(self, hop: Hop) -> float:
        return math.inf if hop.longest is None else hop.longest

    def _check_hop(self, hop: Hop) -> None:
        far = self._far(hop)
        if hop.search:
            if hop.search == "selector" and not hop.is_exact and hop.longest is not None and far > COUNTED_REACH:
                message = f"a SHORTEST search of up to more than {COUNTED_REACH} relations of any type"
                hint = f"leave the bound out, name the types, or search up to {COUNTED_REACH}"
                raise _refused("SHORTEST", message, hint)
            return
        if len(hop.words) > 1 and hop.is_exact and not hop.direction and far > LONG:
            raise _long(f"more than {LONG} relations of several types in either direction")
        for name in DENSE.keys() & set(hop.words) if hop.is_exact else ():
            if far > DENSE[name] and self.reached(hop) > WALKED:
                raise _long(f"more than {DENSE[name]} relations of type {name} in a row, which joins almost everything")


def _merged(groups: Sequence[tuple[set[str], float]], pairs: Sequence[frozenset[str]]) -> list[tuple[set[str], float]]:
    """Return the groups of names, those merged that share a name or that a pair joins, each as large as its largest."""
    found: list[tuple[set[str], float]] = []
    for names, size in groups:
        linked = names.union(*(pair for pair in pairs if pair & names))
        apart = [group for group in found if not group[0] & linked]
        touching = [group for group in found if group[0] & linked]
        merged = (linked.union(*(group[0] for group in touching)), max([size, *(group[1] for group in touching)]))
        found = [*apart, merged]
    return found


def _equalities(condition: Part) -> Iterable[frozenset[str]]:
    """Yield the variables of each equality that a condition asks for in any case: two, or one beside a constant."""
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


def _long(message: str) -> QueryRefused:
    hint = "name the types and a direction, bound the length such as *1..4, or use shortestPath or SHORTEST 1"
    return _refused("*", message, hint)
