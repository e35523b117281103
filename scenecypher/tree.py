"""The containment tree of a scene: rooms, furniture, things and what is held, for the terminal and for notebooks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.schema import HOLDING, SHELL
from scenecypher.db.store.enumerations import DENSE

PLACED: Final = ("ON", "INSIDE", "UNDER", "ATTACHED_TO")


class SceneTree:
    """The containment tree of a graph; each node appears once, below what directly holds it.

    Without `shell`, walls and floors with nothing in or on them are left off and counted in `left_off`, by class.
    """

    def __init__(self, graph: SceneGraph, *, shell: bool = True) -> None:
        self.graph = graph
        self.left_off: Counter[str] = Counter()
        self._parents: dict[str, str] = {}
        self._children: dict[str, list[str]] = {}
        bearing = {it.target for it in graph.relations if it.type in PLACED}
        self._in_cycles: set[str] = set()
        self._nodes: dict[str, None] = {}
        for node_id, node in graph.nodes.items():
            if not shell and node.class_.casefold() in SHELL and node_id not in bearing:
                self.left_off[node.class_] += 1
            else:
                self._nodes[node_id] = None
        for node_id in self._nodes:
            self._attach(node_id)

    def follow(self, graph: SceneGraph, touched: Collection[str]) -> Mapping[str | None, set[str]] | None:
        """Go to a graph that differs in these nodes and their relations, of a tree with walls and floors.

        Return the nodes that came, went or moved, by what held or holds them, None for nothing; None instead if things
        are in each other, so that the tree is to be made anew.
        """
        if self._in_cycles & {*touched}:
            return None
        before = {it: self._parents.pop(it, None) for it in touched if it in self._nodes}
        for node_id, parent in before.items():
            self._nodes.pop(node_id)
            if parent is not None:
                self._children[parent].remove(node_id)
        known, self.graph = len(self._in_cycles), graph
        now = [it for it in touched if it in graph]
        self._nodes.update(dict.fromkeys(now))
        for node_id in now:
            self._attach(node_id)
        after = {it: self._parents.get(it) for it in now}
        moved = {it for it in touched if (it in before, before.get(it)) != (it in after, after.get(it))}
        by_holder = defaultdict[str | None, set[str]](set)
        for found in (before, after):
            for it in moved & found.keys():
                by_holder[found[it]].add(it)
        return by_holder if len(self._in_cycles) == known else None

    def roots(self) -> list[str]:
        """Return what is in and on nothing: places first, then by name."""
        roots = (node_id for node_id in self._nodes if node_id not in self._parents)
        return sorted(roots, key=lambda node_id: (self.graph.nodes[node_id].kind != "Place", self._name(node_id)))

    def children(self, node_id: str) -> list[str]:
        """Return what is directly in, on or held by a node, by name."""
        return sorted(self.inside(node_id), key=self._name)

    def inside(self, node_id: str) -> Sequence[str]:
        """Return what is directly in, on or held by a node, in no order."""
        return self._children.get(node_id, ())

    def parent(self, node_id: str) -> str | None:
        """Return what directly holds a node, None for a root."""
        return self._parents.get(node_id)

    def above(self, node_id: str) -> Iterator[str]:
        """Yield a node and all that it is in or on; VirtualHome's files have things inside each other."""
        above: str | None = node_id
        while above is not None:
            yield above
            above = self._parents.get(above)

    def relation(self, node_id: str) -> str:
        """Return how a node is related to its parent in the tree: ``on``, ``held``; empty for what is in a room."""
        parent = self.parent(node_id)
        if parent is None or self.graph.nodes[parent].kind == "Place":
            return ""
        if parent in self.graph.sources(node_id, *HOLDING):
            return "held"
        types = (type_ for type_ in PLACED if parent in self.graph.targets(node_id, type_))
        return next(types, "").lower().replace("_", " ")

    def lines(self, of: str | None = None) -> Iterator[str]:
        """Yield the tree as text, a node a line, indented; of one node, that and all below it."""
        yield from (line for line, _ in self.entries(of))

    def entries(self, of: str | None = None) -> Iterator[tuple[str, Node]]:
        """Yield the lines of the tree, each with its node."""
        waiting = [(root, 0) for root in ([of] if of is not None else self.roots())][::-1]
        while waiting:
            node_id, depth = waiting.pop()
            yield f"{'  ' * depth}{self._line(node_id, depth)}", self.graph.nodes[node_id]
            waiting += [(child, depth + 1) for child in self.children(node_id)][::-1]

    def left_off_text(self) -> str:
        """Return the classes that are left off with their numbers; empty if none is."""
        return ", ".join(f"{name} {count:,}" for name, count in sorted(self.left_off.items()))

    def _line(self, node_id: str, depth: int) -> str:
        node = self.graph.nodes[node_id]
        relation = f"{self.relation(node_id)}: " if depth and self.relation(node_id) else ""
        identity = "" if node.name == node.id else f" ({node.id})"
        states = f" [{', '.join(node.states)}]" if node.states else ""
        return f"{relation}{node.name}{identity}{states}"

    def _attach(self, node_id: str) -> None:
        """Put a node below what directly holds it; of things that are in each other, one is a root."""
        parent = self._parent(node_id)
        above = [] if parent is None else [*self.above(parent)]
        if node_id in above:
            self._in_cycles.update(above[: above.index(node_id) + 1])
        elif parent is not None:
            self._parents[node_id] = parent
            self._children.setdefault(parent, []).append(node_id)

    def _parent(self, node_id: str) -> str | None:
        """Return who holds a node, else what it is on or in, else its room."""
        held = [source for word in HOLDING for source in self.graph.sources(node_id, word)]
        found = [*held, *(target for type_ in PLACED for target in self.graph.targets(node_id, type_))]
        nodes = self.graph.nodes
        return next((it for it in found if nodes[it].kind != "Place"), next(iter(found), None))

    def _name(self, node_id: str) -> str:
        return self.graph.nodes[node_id].name


def node_lines(graph: SceneGraph, node_id: str) -> Iterator[str]:
    """Yield what is known of a node as text: its fields, then its relations, without those that relate almost all."""
    node = graph.nodes[node_id]
    yield f"id: {node.id}; name: {node.name}; kind: {node.kind}; class: {node.class_}"
    yield f"states: {', '.join(node.states) or 'none'}; affordances: {', '.join(node.affordances) or 'none'}"
    yield from (f"{name}: {value}" for name, value in sorted(node.properties.items()))
    around = (*graph.outgoing.get(node_id, ()), *graph.incoming.get(node_id, ()))
    related = (f"{it.source} {it.type} {it.target}" for it in around if it.type != DENSE)
    yield from sorted({*related})
