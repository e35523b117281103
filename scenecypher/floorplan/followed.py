"""A home's drawing that follows its scene from version to version, in time of what changed, not of the home."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final

from scenecypher.db.graph.change import (
    AddNode,
    AddRelation,
    Change,
    ChangeList,
    RemoveNode,
    RemoveRelation,
    SetProperty,
    nodes_of,
)
from scenecypher.db.graph.delta import Delta
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.enumerations import DENSE
from scenecypher.floorplan.home_view import DEPTH, JOINING, Mark, Viewer, counted_states, frequent_states
from scenecypher.floorplan.layout import Drawer, Shape, drawing_of
from scenecypher.tree import SceneTree

MOVABLE: Final = frozenset({"Object", "Agent"})
"""The kinds of nodes that come, go and move without moving anything beside them."""
AGENTS: Final = frozenset({"Agent"})
"""Those of them that have a place of their own in a room."""
LAID_OUT: Final = frozenset({"name", "class", "center"})
"""The fields by which things are laid out."""


@dataclass(frozen=True, slots=True)
class Patch:
    """What a version changes in a drawing: ids of shapes that go, and shapes that are new or replace one of their id.

    New shapes are drawn after all others.
    """

    without: tuple[str, ...]
    shapes: tuple[Shape, ...]

    def document(self, marks: Mapping[str, Mark]) -> dict[str, Any]:
        """Return what the page's script draws, with what stands out."""
        return {"without": [*self.without], "shapes": [it.document() for it in self.shapes], "marks": {**marks}}


class FollowedDrawing:
    """The drawing of one home; as `drawing_of` draws it but for the order of shapes. Not safe to share."""

    def __init__(self, graph: SceneGraph) -> None:
        self._draw(graph)

    def document(self, marks: Mapping[str, Mark]) -> dict[str, Any]:
        """Return what the page's script draws of the whole home, with what stands out."""
        return replace(self._drawing, shapes=(*self._shapes.values(),)).document() | {"marks": {**marks}}

    def follow(self, graph: SceneGraph, delta: Delta) -> Patch | None:
        """Go to the graph to which a Delta leads; return None if all of it was drawn anew.

        That is so for maps with positions, and where rooms, doors or furniture come, go or move.
        """
        touched = {it for change in delta.changes for it in nodes_of(change)}
        if not self._is_kept(graph, delta, touched):
            self._draw(graph)
            return None
        by_holder = self._tree.follow(graph, touched)
        viewer = self._viewer()
        if by_holder is None or not all(_can_refill(viewer, it) for it in by_holder):
            self._draw(graph)
            return None
        parts = defaultdict[str, frozenset[str]](frozenset)
        for it, moved in by_holder.items():
            if it is not None:
                parts[viewer.shown(it)] |= AGENTS if all(map(self._is_agent, moved)) else MOVABLE
        return self._patched(viewer, touched, parts)

    @property
    def tree(self) -> SceneTree:
        """The home's tree, which follows, too."""
        return self._tree

    def _draw(self, graph: SceneGraph) -> None:
        self._tree = SceneTree(graph)
        self._states = counted_states(graph)
        self._usual = frozenset(frequent_states(self._states, len(graph.nodes)))
        self._drawing = drawing_of(graph, self._viewer().view())
        holders = {self._tree.parent(it) for it in graph.by_kind.get("Place", ())} - {None}
        self._is_plain = not self._drawing.is_metric and holders <= {*graph.by_kind.get("Place", ())}
        self._shapes: dict[str, Shape] = {}
        self._inside: defaultdict[str, set[str]] = defaultdict(set)
        self._agents: set[str] = set()
        self._keep(self._drawing.shapes)
        # What moves furniture has all drawn anew.
        self._furniture = Counter(it.parent for it in self._shapes.values() if it.kind == "Asset")

    def _viewer(self) -> Viewer:
        return Viewer(self._tree, self._usual)

    def _keep(self, shapes: Iterable[Shape]) -> None:
        for it in shapes:
            self._shapes[it.id] = it
            self._inside[it.parent].add(it.id)
            if it.kind in AGENTS:
                self._agents.add(it.id)

    def _is_kept(self, graph: SceneGraph, delta: Delta, touched: AbstractSet[str]) -> bool:
        """Check that nothing but movable things and states of things changed."""
        for nodes, number in ((self._tree.graph.nodes, -1), (graph.nodes, 1)):
            for state in (state for it in touched & nodes.keys() for state in nodes[it].states):
                self._states[state] += number
        are_small = self._is_plain and all(_is_small(graph, it) for it in delta.changes)
        return are_small and {*frequent_states(self._states, len(graph.nodes))} == self._usual

    def _is_agent(self, node_id: str) -> bool:
        """Check that a node is an agent and was none but an agent, if it is and was drawn."""
        kinds = {it.kind for it in (self._shapes.get(node_id), self._tree.graph.nodes.get(node_id)) if it}
        return kinds == AGENTS

    def _patched(self, viewer: Viewer, touched: AbstractSet[str], parts: Mapping[str, AbstractSet[str]]) -> Patch:
        """Draw anew what is in these nodes, of a room the kinds, and the states of those that were touched."""
        drawn = {it: kinds for it, kinds in parts.items() if it in self._shapes and viewer.depth(it) < DEPTH}
        without = dict.fromkeys(it for holder, kinds in drawn.items() for it in self._below(holder, kinds))
        for it in without:
            self._inside[self._shapes.pop(it).parent].discard(it)
        self._agents.difference_update(without)
        # A holder that went with what holds it is drawn anew with that.
        new = [
            shape for it, kinds in drawn.items() if it in self._shapes for shape in self._refilled(viewer, it, kinds)
        ]
        self._keep(new)
        told = (
            (self._shapes.get(it), self._tree.graph.nodes.get(it)) for it in sorted(touched - {it.id for it in new})
        )
        states = [(shape, viewer.states(node)) for shape, node in told if shape and node]
        edited = [replace(shape, states=now) for shape, now in states if shape.states != now]
        self._keep(edited)
        return Patch(tuple(without), (*edited, *new))

    def _below(self, holder: str, kinds: AbstractSet[str] = MOVABLE) -> Iterator[str]:
        """Yield the drawn nodes that are drawn anew with what holds them: of a room these kinds."""
        is_room = self._shapes[holder].kind == "Place"
        inside = self._agents & self._inside[holder] if is_room and kinds == AGENTS else self._inside[holder]
        for it in sorted(it for it in inside if not is_room or self._shapes[it].kind in kinds):
            yield it
            yield from self._below(it)

    def _refilled(self, viewer: Viewer, holder: str, kinds: AbstractSet[str]) -> Iterable[Shape]:
        graph, drawer, shape = self._tree.graph, Drawer(self._tree.graph), self._shapes[holder]
        is_room = shape.kind == "Place"
        if is_room and kinds == AGENTS:
            inside = [it for it in graph.by_kind.get("Agent", ()) if viewer.holder(it) == holder]
        else:
            inside = [it for it in viewer.inside(holder) if not is_room or graph.nodes[it].kind in kinds]
        things = viewer.things(inside, viewer.depth(holder) + 1)
        if is_room:
            drawer.floor(holder, shape.box, things, furniture=self._furniture[holder])
        else:
            drawer.contents(holder, shape.box, things)
        return drawer.shapes


def _is_small(graph: SceneGraph, change: Change) -> bool:
    """Check that a change moves no room, door or furniture, and joins no rooms."""
    match change:
        case AddRelation(relation) | RemoveRelation(relation):
            source = graph.nodes.get(relation.source)
            return relation.type == DENSE or (
                relation.type not in JOINING and (source is None or source.kind in MOVABLE)
            )
        case AddNode(node) | RemoveNode(node):
            return node.kind in MOVABLE
        case SetProperty():
            return change.key not in LAID_OUT
        case _:
            return isinstance(change, ChangeList)


def _can_refill(viewer: Viewer, holder: str | None) -> bool:
    """Check that what is in a node can be drawn by itself: it is no root, and no room with rooms in it."""
    graph = viewer.tree.graph
    if holder is None or holder not in graph.nodes:
        return False
    return graph.nodes[holder].kind != "Place" or all(viewer.holder(it) != holder for it in graph.by_kind["Place"])
