"""A home as people see it: rooms with their doors, furniture in rooms, things on and in furniture, and who acts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from scenecypher.db.graph.change import node_id_of
from scenecypher.db.graph.delta import AddRelation, Delta, RemoveRelation
from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.schema import SHELL
from scenecypher.db.store.enumerations import DENSE
from scenecypher.tree import SceneTree

Mark: TypeAlias = Literal["", "found", "changed"]
"""Why a node stands out: it is in an answer, or the version shown changed it."""

JOINING: Final = frozenset({"CONNECTS", "BETWEEN"})
"""The relations of rooms and doors."""
DEPTH: Final = 6
"""Levels of things in things that are shown below a room; what is deeper is counted."""


@dataclass(frozen=True, slots=True)
class Thing:
    """A node with what is directly in, on or held by it.

    `below` counts all that is, `deeper` what is not shown; `marked` counts what stands out in it, itself included.
    """

    id: str
    name: str
    class_: str
    kind: str
    relation: str
    states: tuple[str, ...]
    mark: Mark
    things: tuple[Thing, ...]
    below: int
    deeper: int = 0
    marked: int = 0


@dataclass(frozen=True, slots=True)
class HomeView:
    """A home at one version: its rooms and what is in none, and doors between rooms by room.

    `left_off` names walls and floors that are not shown, `usual` the states that most nodes have, which are not either.
    """

    rooms: tuple[Thing, ...]
    elsewhere: tuple[Thing, ...]
    doors: Mapping[str, tuple[str, ...]]
    left_off: str
    usual: tuple[str, ...]
    nodes: int
    relations: int


def view_of(
    graph: SceneGraph, *, everything: bool = False, found: Collection[str] = (), changed: Collection[str] = ()
) -> HomeView:
    """Return the view of a graph, as `viewer_of` makes it."""
    return viewer_of(SceneTree(graph), everything=everything, found=found, changed=changed).view()


def viewer_of(
    tree: SceneTree,
    *,
    everything: bool = False,
    found: Collection[str] = (),
    changed: Collection[str] = (),
    is_brief: bool = False,
) -> Viewer:
    """Return what makes the view of a tree; `found` and `changed` are ids of nodes to mark.

    Unless `everything` is asked for, walls and floors are left off, what is on them is in the room, and states that
    more than half of the nodes have are not shown. If `is_brief`, rooms with nothing marked in them are only counted.
    """
    usual = () if everything else frequent_states(counted_states(tree.graph), len(tree.graph.nodes))
    marks: dict[str, Mark] = {**dict.fromkeys(changed, "changed"), **dict.fromkeys(found, "found")}
    viewer = Viewer(tree, frozenset(usual), marks, everything=everything)
    return replace(viewer, opened=frozenset(above for it in marks for above in tree.above(it))) if is_brief else viewer


def nodes_with(graph: SceneGraph, text: str) -> list[str]:
    """Return the ids of all nodes that have a text in their id, name or class, in any case."""
    wanted = text.casefold()
    return [
        node.id
        for node in graph.nodes.values()
        if wanted in node.id.casefold() or wanted in node.name.casefold() or wanted in node.class_.casefold()
    ]


def counted_states(graph: SceneGraph) -> Counter[str]:
    """Return how many nodes have each state."""
    return Counter(state for node in graph.nodes.values() for state in node.states)


def frequent_states(counts: Mapping[str, int], nodes: int) -> tuple[str, ...]:
    """Return the states that more than half of so many nodes have, sorted."""
    return tuple(sorted(state for state, count in counts.items() if 2 * count > nodes))


def adjacent_rooms(graph: SceneGraph, room: str) -> set[str]:
    """Return the rooms that doors or openings join with a room."""
    found: set[str] = set()
    for one in _joined(graph, room):
        found |= {one} if graph.nodes[one].kind == "Place" else {*_joined(graph, one)}
    return {it for it in found - {room} if graph.nodes[it].kind == "Place"}


def changed_nodes(delta: Delta) -> frozenset[str]:
    """Return the ids of the nodes that a Delta changes; of a relation its source, which is what was moved."""
    found: set[str] = set()
    for change in delta.changes:
        if not isinstance(change, AddRelation | RemoveRelation):
            found.add(node_id_of(change))
        elif change.relation.type != DENSE:
            found.add(change.relation.source)
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Viewer:
    """Makes the things of one tree; `usual` are the states that are not shown.

    Of the rooms that are not `opened` only the rooms in them are made, and the rest is counted; None opens all.
    """

    tree: SceneTree
    usual: frozenset[str]
    marks: Mapping[str, Mark] = field(default_factory=dict)
    everything: bool = False
    opened: frozenset[str] | None = None

    def view(self) -> HomeView:
        """Return the whole home."""
        graph, roots = self.tree.graph, self.things(self.tree.roots(), 0)
        rooms = tuple(room for root in roots for room in _rooms(root))
        elsewhere = tuple(root for root in roots if root.kind not in {"Place", "Door"})
        doors = {it.id: tuple(sorted(graph.nodes[one].name for one in adjacent_rooms(graph, it.id))) for it in rooms}
        usual, nodes = tuple(sorted(self.usual)), len(graph.nodes)
        return HomeView(rooms, elsewhere, doors, self.left_off(), usual, nodes, graph.size - nodes)

    def holder(self, node_id: str) -> str | None:
        """Return what a node is shown in: what holds it, but no wall or floor; None for what is in nothing."""
        parent = self.tree.parent(node_id)
        return None if parent is None else self.shown(parent)

    def shown(self, node_id: str) -> str:
        """Return a node, of a wall or floor what it is shown as: what holds it."""
        parent = self.tree.parent(node_id)
        return self.shown(parent) if parent is not None and self._is_shell(self.tree.graph.nodes[node_id]) else node_id

    def room(self, room: str) -> Thing | None:
        """Return a room with what is in it; None if there is no such room."""
        node = self.tree.graph.nodes.get(room)
        return self._thing(room, self.depth(room)) if node and node.kind == "Place" else None

    def depth(self, node_id: str) -> int:
        """Return the number of nodes that a node is shown in."""
        holder = self.holder(node_id)
        return 0 if holder is None else 1 + self.depth(holder)

    def inside(self, node_id: str) -> Iterator[str]:
        """Yield what is directly in, on or held by a node; of a wall or floor in it, what that has."""
        return self._without_shell(self.tree.inside(node_id))

    def states(self, node: Node) -> tuple[str, ...]:
        """Return the states of a node that are shown."""
        return tuple(it for it in node.states if it not in self.usual)

    def things(self, nodes: Iterable[str], depth: int) -> tuple[Thing, ...]:
        """Return these nodes as things, a wall or floor as what is on it: agents first, then what holds most."""
        things = [self._thing(it, depth) for it in self._without_shell(nodes)]
        return tuple(sorted(things, key=lambda it: (it.kind != "Agent", not it.below, it.name)))

    def left_off(self) -> str:
        """Return what is left off by class, with counts."""
        counts = Counter(it.class_ for it in self.tree.graph.nodes.values() if self._is_shell(it))
        return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))

    def _without_shell(self, nodes: Iterable[str]) -> Iterator[str]:
        waiting = [*nodes][::-1]
        while waiting:
            node_id = waiting.pop()
            if self._is_shell(self.tree.graph.nodes[node_id]):
                waiting += self.tree.inside(node_id)
            else:
                yield node_id

    def _count(self, node_id: str, depth: int) -> int:
        """Count all that is shown in, on or held by a node."""
        inside = [*self.inside(node_id)] if depth < DEPTH else []
        return len(inside) + sum(self._count(it, depth + 1) for it in inside if self.tree.inside(it))

    def _is_shell(self, node: Node) -> bool:
        return not self.everything and node.class_.casefold() in SHELL

    def _thing(self, node_id: str, depth: int) -> Thing:
        node, children = self.tree.graph.nodes[node_id], self.tree.inside(node_id)
        counted = 0
        if self.opened is not None and node.kind == "Place" and node_id not in self.opened:
            counted = self._count(node_id, depth)
            children = [it for it in children if self.tree.graph.nodes[it].kind == "Place"]
        things = self.things(children, depth + 1) if depth < DEPTH else ()
        parent = self.tree.parent(node_id)
        mark = self.marks.get(node_id, "")
        is_on_shell = parent is not None and self._is_shell(self.tree.graph.nodes[parent])
        return Thing(
            node_id,
            node.name,
            node.class_,
            node.kind,
            "" if is_on_shell else self.tree.relation(node_id),
            self.states(node),
            mark,
            things,
            counted or len(things) + sum(it.below for it in things),
            0 if things else len(children),
            bool(mark) + sum(it.marked for it in things),
        )


def _rooms(thing: Thing) -> Iterator[Thing]:
    """Yield a place, and the places within it as rooms of their own."""
    if thing.kind != "Place":
        return
    yield thing
    for part in thing.things:
        yield from _rooms(part)


def _joined(graph: SceneGraph, node: str) -> set[str]:
    """Return the rooms and doors next to a room or door."""
    near = {*graph.targets(node, "CONNECTS"), *graph.sources(node, "CONNECTS")}
    around = {*graph.targets(node, "INSIDE", "BETWEEN"), *graph.sources(node, "INSIDE", "BETWEEN")}
    return near | {it for it in around if "Door" in {graph.nodes[it].kind, graph.nodes[node].kind}}
