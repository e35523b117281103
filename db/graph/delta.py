"""Delta: a list of reversible changes between two scene graphs; an action, an observation and an undo are one each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import TypeAlias

from scenecypher.db.graph.change import (
    LIST_FIELDS,
    TEXT_FIELDS,
    AddNode,
    AddRelation,
    Change,
    ChangeList,
    Edit,
    NodeChange,
    RemoveNode,
    RemoveRelation,
    SetKind,
    SetProperty,
    apply_edit,
    conflict_error,
    inverse,
    inverse_edit,
    node_id_of,
    sort_key,
    value_of,
)
from scenecypher.db.graph.scene import IN_ORDER, GraphView, Node, Relation, SceneGraph, relation_text, typed_key

__all__ = [
    "TEXT_FIELDS",
    "AddNode",
    "AddRelation",
    "Change",
    "ChangeList",
    "Delta",
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

RelationChange: TypeAlias = AddRelation | RemoveRelation


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


def _edit(
    before: Node | None, change: NodeChange, present: str = "there already", absent: str = "not there"
) -> Node | None:
    """Return a node after a change of it. Raises ConflictError in the words `present` or `absent`."""
    match change:
        case AddNode(node):
            if before is not None:
                raise conflict_error(f"node {node.id!r} is {present}")
            return node
        case RemoveNode(node):
            if before != node:
                raise conflict_error(f"node {node.id!r} is not as it was")
            return None
        case _:
            if before is None:
                raise conflict_error(f"node {change.id!r} is {absent}")
            return apply_edit(before, change)


def _check_relations(graph: GraphView, delta: Delta, edits: Mapping[str, Node | None]) -> None:
    gone = {change.relation for change in delta.changes if isinstance(change, RemoveRelation)}
    new = {change.relation for change in delta.changes if isinstance(change, AddRelation)}
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


# --- the net effect of successive changes: at most one change about each fact


def net_changes(changes: Iterable[Change]) -> Iterator[Change]:
    """Yield the net effect, unsorted. Raises ConflictError if `changes` contradict each other."""
    nodes: dict[str, list[NodeChange]] = {}
    relations: dict[Relation, list[RelationChange]] = {}
    for change in changes:
        match change:
            case AddRelation() | RemoveRelation():
                relations.setdefault(change.relation, []).append(change)
            case _:
                nodes.setdefault(node_id_of(change), []).append(change)
    yield from _net_relations(relations)
    for group in nodes.values():
        whole = any(isinstance(change, AddNode | RemoveNode) for change in group)
        yield from _net_of_lifecycle(group) if whole else _net_edits(group)


def edits_between(old: Node, new: Node) -> Iterator[Edit]:
    """Yield the edits that lead from `old` to `new`, two values of one node."""
    if old.kind != new.kind:
        yield SetKind(old.id, old.kind, new.kind)
    for key in (*TEXT_FIELDS, *sorted({*old.properties, *new.properties})):
        before, after = value_of(old, key), value_of(new, key)
        if typed_key(before) != typed_key(after):
            yield SetProperty(old.id, key, before, after)
    for field in LIST_FIELDS:
        had, has = {*getattr(old, field)}, {*getattr(new, field)}
        if had != has:
            yield ChangeList(old.id, field, tuple(has - had), tuple(had - has))


def _net_relations(groups: Mapping[Relation, Sequence[RelationChange]]) -> Iterator[RelationChange]:
    for relation, changes in groups.items():
        for first, second in pairwise(changes):
            if type(first) is type(second):
                raise conflict_error(f"relation {relation_text(relation)} is changed twice the same way")
        if len(changes) % 2:
            yield changes[0]


def _net_of_lifecycle(changes: Sequence[NodeChange]) -> Iterator[NodeChange]:
    """Yield the net effect if the node is added or removed on the way, so that its value is known."""
    first = last = _node_before(changes)
    for change in changes:
        last = _edit(last, change, "added twice", "changed while it is not there")
    match first, last:
        case None, Node():
            yield AddNode(last)
        case Node(), None:
            yield RemoveNode(first)
        case Node(), Node():
            yield from edits_between(first, last)


def _node_before(changes: Sequence[NodeChange]) -> Node | None:
    """Return the node before `changes`: None if it is added first, else the removed one with earlier edits reverted."""
    edits: list[Edit] = []
    for change in changes:
        match change:
            case AddNode(node):
                if edits:
                    raise conflict_error(f"node {node.id!r} is changed before it is added")
                return None
            case RemoveNode(node):
                for edit in reversed(edits):
                    node = apply_edit(node, inverse_edit(edit))
                return node
            case _:
                edits.append(change)
    return None


def _net_edits(changes: Sequence[NodeChange]) -> Iterator[Edit]:
    facts: dict[object, Edit] = {}
    for change in changes:
        if not isinstance(change, AddNode | RemoveNode):
            facts[sort_key(change)] = _merge(facts.get(sort_key(change)), change)
    yield from (fact for fact in facts.values() if fact != inverse_edit(fact))


def _merge(first: Edit | None, second: Edit) -> Edit:
    match first, second:
        case SetKind(), SetKind():
            if first.after != second.before:
                raise conflict_error(f"kind of {second.id!r} is changed twice, not in a chain")
            return replace(second, before=first.before)
        case SetProperty(), SetProperty():
            if typed_key(first.after) != typed_key(second.before):
                raise conflict_error(f"{second.key} of {second.id!r} is changed twice, not in a chain")
            return replace(second, before=first.before)
        case ChangeList(), ChangeList():
            return _merge_lists(first, second)
        case _:
            return second


def _merge_lists(first: ChangeList, second: ChangeList) -> ChangeList:
    if {*first.added} & {*second.added} or {*first.removed} & {*second.removed}:
        raise conflict_error(f"{second.field} of {second.id!r} are changed twice the same way")
    added = ({*first.added} - {*second.removed}) | ({*second.added} - {*first.removed})
    removed = ({*first.removed} - {*second.added}) | ({*second.removed} - {*first.added})
    return ChangeList(second.id, second.field, tuple(added), tuple(removed))
