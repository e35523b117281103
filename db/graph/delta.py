"""Delta: a list of reversible changes between two scene graphs; an action, an observation and an undo are one each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from scenecypher.db.graph.change import (
    LIST_FIELDS,
    TEXT_FIELDS,
    AddNode,
    AddRelation,
    Change,
    ChangeList,
    Edit,
    ListField,
    NodeChange,
    RemoveNode,
    RemoveRelation,
    SetKind,
    SetProperty,
    apply_edit,
    conflict_error,
    inverse,
    node_id_of,
    relation_text,
    sort_key,
    value_of,
)
from scenecypher.db.graph.scene import IN_ORDER, GraphView, Node, Relation, SceneGraph
from scenecypher.db.graph.squash import edits_between, net_changes

__all__ = [
    "LIST_FIELDS",
    "TEXT_FIELDS",
    "AddNode",
    "AddRelation",
    "Change",
    "ChangeList",
    "Delta",
    "Edit",
    "ListField",
    "NodeChange",
    "RemoveNode",
    "RemoveRelation",
    "SetKind",
    "SetProperty",
    "apply",
    "apply_edit",
    "compose",
    "diff",
    "edited_nodes",
    "invert",
    "value_of",
]


@dataclass(frozen=True, slots=True)
class Delta:
    """Changes in canonical order, at most one about each fact; constructed by `Delta.of`."""

    changes: tuple[Change, ...] = ()

    @classmethod
    def of(cls, changes: Iterable[Change]) -> Delta:
        """Return the net effect of successive `changes`. Raises ConflictError if they contradict each other."""
        return cls.from_net(net_changes(changes))

    @classmethod
    def from_net(cls, changes: Iterable[Change]) -> Delta:
        """Return the Delta of net changes, at most one about each fact: they are only sorted."""
        return cls(tuple(sorted(changes, key=sort_key)))

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __len__(self) -> int:
        return len(self.changes)


def diff(before: SceneGraph, after: SceneGraph) -> Delta:
    """Return the Delta that leads from `before` to `after`."""
    changes: list[Change] = [RemoveRelation(relation) for relation in before.relations - after.relations]
    changes += [AddRelation(relation) for relation in after.relations - before.relations]
    for node_id, old in before.nodes.items():
        new = after.nodes.get(node_id)
        if new is None:
            changes.append(RemoveNode(old))
        elif new is not old and new != old:
            changes += edits_between(old, new)
    changes += [AddNode(node) for node_id, node in after.nodes.items() if node_id not in before.nodes]
    return Delta.from_net(changes)


def apply(graph: SceneGraph, delta: Delta) -> SceneGraph:
    """Return `graph` after `delta`. Raises ConflictError naming the first fact that differs from the Delta."""
    edits = edited_nodes(graph, delta)
    nodes = graph.nodes
    if edits:
        kept = {node_id: node for node_id, node in nodes.items() if node_id not in edits}
        nodes = MappingProxyType({**kept, **{node_id: node for node_id, node in edits.items() if node is not None}})
    groups: dict[str, set[Relation]] = {}
    for change in delta.changes:
        if isinstance(change, AddRelation | RemoveRelation):
            source = change.relation.source
            group = groups.setdefault(source, {*graph.outgoing.get(source, ())})
            (group.add if isinstance(change, AddRelation) else group.remove)(change.relation)
    changed = {source: tuple(sorted(group, key=IN_ORDER)) for source, group in groups.items()}
    return SceneGraph(nodes, {source: group for source, group in {**graph.outgoing, **changed}.items() if group})


def edited_nodes(graph: GraphView, delta: Delta) -> dict[str, Node | None]:
    """Return the nodes that `delta` changes as they are after it, None for those that it removes.

    Takes time in the size of the Delta. Raises ConflictError naming the first fact that differs from the Delta.
    """
    edits: dict[str, Node | None] = {}
    for change in delta.changes:
        if isinstance(change, AddRelation | RemoveRelation):
            continue
        node_id = node_id_of(change)
        before = edits[node_id] if node_id in edits else graph.nodes.get(node_id)
        edits[node_id] = _edit(before, change)
    _check_relations(graph, delta, edits)
    return edits


def invert(delta: Delta) -> Delta:
    """Return the Delta that reverts `delta`."""
    return Delta.from_net(map(inverse, delta.changes))


def compose(deltas: Iterable[Delta]) -> Delta:
    """Return the net effect of successive `deltas`."""
    return Delta.of(change for delta in deltas for change in delta.changes)


def _edit(before: Node | None, change: NodeChange) -> Node | None:
    match change:
        case AddNode(node):
            if before is not None:
                raise conflict_error(f"node {node.id!r} is there already")
            return node
        case RemoveNode(node):
            if before != node:
                raise conflict_error(f"node {node.id!r} is not as it was")
            return None
        case _:
            if before is None:
                raise conflict_error(f"node {change.id!r} is not there")
            return apply_edit(before, change)


def _changed_relations(delta: Delta) -> tuple[set[Relation], set[Relation]]:
    """Return the relations that a Delta removes and those that it adds."""
    gone = {change.relation for change in delta.changes if isinstance(change, RemoveRelation)}
    return gone, {change.relation for change in delta.changes if isinstance(change, AddRelation)}


def _check_relations(graph: GraphView, delta: Delta, edits: Mapping[str, Node | None]) -> None:
    gone, new = _changed_relations(delta)
    missing = [it for it in gone if not graph.has(it.source, it.type, it.target)]
    present = [it for it in new if it not in gone and graph.has(it.source, it.type, it.target)]
    if missing:
        raise conflict_error(f"relation {relation_text(min(missing))} is not there")
    if present:
        raise conflict_error(f"relation {relation_text(min(present))} is there already")
    for relation in sorted(new):
        for end in (relation.source, relation.target):
            if (edits[end] if end in edits else graph.nodes.get(end)) is None:
                raise conflict_error(f"node {end!r} of relation {relation_text(relation)} is not there")
    removed = [node_id for node_id, node in edits.items() if node is None]
    around = (it for id_ in removed for it in (*graph.outgoing.get(id_, ()), *graph.incoming.get(id_, ())))
    left = [relation for relation in around if relation not in gone]
    if left:
        raise conflict_error(f"relation {relation_text(min(left))} still holds a node that is to go")
