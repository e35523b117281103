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
    relation_text,
    sort_key,
    value_of,
)
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
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
    nodes = _apply_to_nodes(graph.nodes, delta)
    relations = _apply_to_relations(graph.relations, delta)
    _check_ends(delta, nodes, relations)
    return SceneGraph(nodes, relations)


def invert(delta: Delta) -> Delta:
    """Return the Delta that reverts `delta`."""
    return Delta.from_net(map(inverse, delta.changes))


def compose(deltas: Iterable[Delta]) -> Delta:
    """Return the net effect of successive `deltas`."""
    return Delta.of(change for delta in deltas for change in delta.changes)


def _apply_to_nodes(before: Mapping[str, Node], delta: Delta) -> Mapping[str, Node]:
    changes = [change for change in delta.changes if not isinstance(change, AddRelation | RemoveRelation)]
    if not changes:
        return before
    nodes = dict(before)
    for change in changes:
        match change:
            case AddNode(node):
                if node.id in nodes:
                    raise conflict_error(f"node {node.id!r} is there already")
                nodes[node.id] = node
            case RemoveNode(node):
                if nodes.get(node.id) != node:
                    raise conflict_error(f"node {node.id!r} is not as it was")
                del nodes[node.id]
            case _:
                if change.id not in nodes:
                    raise conflict_error(f"node {change.id!r} is not there")
                nodes[change.id] = apply_edit(nodes[change.id], change)
    return MappingProxyType(nodes)


def _apply_to_relations(before: frozenset[Relation], delta: Delta) -> frozenset[Relation]:
    gone = {change.relation for change in delta.changes if isinstance(change, RemoveRelation)}
    new = {change.relation for change in delta.changes if isinstance(change, AddRelation)}
    missing, present = gone - before, (new & before) - gone
    if missing:
        raise conflict_error(f"relation {relation_text(min(missing))} is not there")
    if present:
        raise conflict_error(f"relation {relation_text(min(present))} is there already")
    return before - gone | new if gone or new else before


def _check_ends(delta: Delta, nodes: Mapping[str, Node], relations: frozenset[Relation]) -> None:
    for change in delta.changes:
        if isinstance(change, AddRelation):
            for end in (change.relation.source, change.relation.target):
                if end not in nodes:
                    raise conflict_error(f"node {end!r} of relation {relation_text(change.relation)} is not there")
    gone = {change.node.id for change in delta.changes if isinstance(change, RemoveNode)}
    left = [it for it in relations if it.source in gone or it.target in gone] if gone else []
    if left:
        raise conflict_error(f"relation {relation_text(min(left))} still holds a node that is to go")
