"""Merge: what changed from one state of a source to the next, applied to a scene that others have changed too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from scenecypher.db.graph.change import (
    AddNode,
    AddRelation,
    Change,
    ChangeList,
    Edit,
    RemoveNode,
    RemoveRelation,
    SetKind,
    SetProperty,
    apply_edit,
    value_of,
)
from scenecypher.db.graph.delta import Delta, diff, invert
from scenecypher.db.graph.scene import Node, Relation, SceneGraph, typed_key
from scenecypher.db.graph.value import plain_text, shown

PLACING: Final = frozenset({"INSIDE", "ON", "UNDER", "ATTACHED_TO"})
"""Relations that say where a node is: all those of one node are one fact."""


@dataclass(frozen=True, slots=True)
class Merge:
    """The changes to apply to the scene, and in words the facts on which source and scene contradict each other."""

    delta: Delta
    conflicts: tuple[str, ...]


def merge(before: SceneGraph, after: SceneGraph, now: SceneGraph) -> Merge:
    """Apply the changes from `before` to `after`, two states of a source, to a scene that is `now`.

    A fact that others changed keeps their value: it is a conflict if the source changed it to another one. The Delta
    always fits `now`. Where others changed nothing, it leads to `after`.
    """
    return _Merging(before, after, now).merge()


def apply_fitting(graph: SceneGraph, deltas: Iterable[Delta]) -> SceneGraph:
    """Return `graph` after the changes of successive `deltas` that fit it; the others are left out."""
    nodes, relations = dict(graph.nodes), set(graph.relations)
    for delta in deltas:
        for change in delta.changes:
            _apply_if_fitting(change, nodes, relations)
    joined = (relation for relation in relations if relation.source in nodes and relation.target in nodes)
    return SceneGraph.of(nodes.values(), joined)


def without(graph: SceneGraph, deltas: Sequence[Delta]) -> SceneGraph:
    """Return `graph` with successive `deltas`, oldest first, taken back as far as they still hold.

    A change that another has replaced since is left alone: `deltas` need not be all that has happened.
    """
    return apply_fitting(graph, map(invert, reversed(deltas)))


def _apply_if_fitting(change: Change, nodes: dict[str, Node], relations: set[Relation]) -> None:
    match change:
        case AddNode(node):
            nodes.setdefault(node.id, node)
        case RemoveNode(node):
            nodes.pop(node.id, None)
        case AddRelation(relation):
            relations.add(relation)
        case RemoveRelation(relation):
            relations.discard(relation)
        case SetKind() | SetProperty() | ChangeList():
            edited = nodes.get(change.id)
            fitting = None if edited is None else _fitting(edited, change)
            if edited is not None and fitting is not None:
                nodes[change.id] = apply_edit(edited, fitting)
        case _:
            assert_never(change)


def _fitting(node: Node, edit: Edit) -> Edit | None:
    """Return the part of an edit whose *before* holds, None if there is none."""
    match edit:
        case SetKind():
            return edit if node.kind == edit.before else None
        case SetProperty():
            return edit if typed_key(value_of(node, edit.key)) == typed_key(edit.before) else None
        case ChangeList():
            items = {*getattr(node, edit.field)}
            added, removed = {*edit.added} - items, {*edit.removed} & items
            return ChangeList(edit.id, edit.field, tuple(added), tuple(removed)) if added or removed else None
        case _:
            assert_never(edit)


class _Merging:
    """One merge: relations that go are decided first, then nodes, then relations that come."""

    def __init__(self, before: SceneGraph, after: SceneGraph, now: SceneGraph) -> None:
        self._before, self._after, self._now = before, after, now
        self._changes = diff(before, after).changes
        self._present = set(now.nodes)
        self._kept: list[Change] = []
        self._conflicts: set[str] = set()

    def merge(self) -> Merge:
        self._kept += [
            it
            for it in self._changes
            if isinstance(it, RemoveRelation)
            and it.relation in self._now.relations
            and not self._is_moved_by_others(it.relation)
        ]
        self._drop_nodes()
        for change in self._changes:
            match change:
                case RemoveRelation() | RemoveNode():
                    continue
                case AddNode(node):
                    self._add_node(node)
                case AddRelation(relation):
                    self._add_relation(relation)
                case SetKind() | SetProperty() | ChangeList():
                    self._edit(change)
                case _:
                    assert_never(change)
        return Merge(Delta.from_net(self._kept), tuple(sorted(self._conflicts)))

    def _drop_nodes(self) -> None:
        """Remove nodes that nobody else changed or relates to."""
        going = {change.relation for change in self._kept if isinstance(change, RemoveRelation)}
        for change in self._changes:
            if not isinstance(change, RemoveNode) or change.node.id not in self._now:
                continue
            node_id = change.node.id
            around = {*self._now.outgoing.get(node_id, ()), *self._now.incoming.get(node_id, ())}
            if self._now.nodes[node_id] == change.node and around <= going:
                self._kept.append(change)
                self._present.remove(node_id)
            else:
                self._conflicts.add(f"{node_id!r} is no longer in the source; it is kept, since others changed it")

    def _add_node(self, node: Node) -> None:
        there = self._now.nodes.get(node.id)
        if there is None:
            self._kept.append(AddNode(node))
            self._present.add(node.id)
        elif there != node:
            self._conflicts.add(f"{node.id!r} is new in the source; the scene has it already, and keeps its own")

    def _add_relation(self, relation: Relation) -> None:
        if relation in self._now.relations:
            return
        missing = {relation.source, relation.target} - self._present
        if missing:
            self._conflicts.add(_gone(min(missing)))
        elif not self._is_moved_by_others(relation):
            self._kept.append(AddRelation(relation))

    def _is_moved_by_others(self, relation: Relation) -> bool:
        """Check if others changed where a node is that the source moved; a conflict unless to the same place."""
        node_id = relation.source
        if relation.type not in PLACING or node_id not in self._now:
            return False
        before, after, now = (_place(graph, node_id) for graph in (self._before, self._after, self._now))
        if now not in (before, after):
            self._conflicts.add(f"{node_id!r} is somewhere else in the source; others moved it")
        return now != before

    def _edit(self, edit: Edit) -> None:
        node = self._now.nodes.get(edit.id)
        if node is None:
            self._conflicts.add(_gone(edit.id))
            return
        fitting = _fitting(node, edit)
        if fitting is not None:
            self._kept.append(fitting)
        elif not isinstance(edit, ChangeList):
            self._tell_difference(node, edit)

    def _tell_difference(self, node: Node, edit: SetKind | SetProperty) -> None:
        key = "kind" if isinstance(edit, SetKind) else edit.key
        mine = node.kind if isinstance(edit, SetKind) else value_of(node, edit.key)
        if typed_key(mine) != typed_key(edit.after):
            source, others = (shown(it) if isinstance(it, str | tuple) else plain_text(it) for it in (edit.after, mine))
            done = "removed it" if mine is None else f"made it {others}"
            self._conflicts.add(f"{key} of {edit.id!r} is {source} in the source; others {done}")


def _gone(node_id: str) -> str:
    return f"{node_id!r} changed in the source; others removed it from the scene"


def _place(graph: SceneGraph, node_id: str) -> set[Relation]:
    """Return the relations that say where a node is."""
    return {it for it in graph.outgoing.get(node_id, ()) if it.type in PLACING}
