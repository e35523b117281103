"""The net effect of successive changes: at most one change about each fact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias, assert_never

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
    inverse_edit,
    node_id_of,
    relation_text,
    value_of,
)
from scenecypher.db.graph.scene import Node, Relation, typed_key

RelationChange: TypeAlias = AddRelation | RemoveRelation


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
        last = _apply(last, change)
    match first, last:
        case None, Node():
            yield AddNode(last)
        case Node(), None:
            yield RemoveNode(first)
        case Node(), Node():
            yield from edits_between(first, last)


def _apply(node: Node | None, change: NodeChange) -> Node | None:
    match change:
        case AddNode():
            if node is not None:
                raise conflict_error(f"node {node.id!r} is added twice")
            return change.node
        case RemoveNode():
            if node != change.node:
                raise conflict_error(f"node {change.node.id!r} is not as it was")
            return None
        case SetKind() | SetProperty() | ChangeList():
            if node is None:
                raise conflict_error(f"node {change.id!r} is changed while it is not there")
            return apply_edit(node, change)
        case _:
            assert_never(change)


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
    facts: dict[str, Edit] = {}
    for change in changes:
        match change:
            case SetKind():
                facts["kind"] = _merge(facts.get("kind"), change)
            case SetProperty():
                facts["=" + change.key] = _merge(facts.get("=" + change.key), change)
            case ChangeList():
                facts[change.field] = _merge(facts.get(change.field), change)
    yield from (fact for fact in facts.values() if not is_noop(fact))


def is_noop(edit: Edit) -> bool:
    """Check if an edit changes nothing."""
    match edit:
        case SetProperty():
            return typed_key(edit.before) == typed_key(edit.after)
        case SetKind():
            return edit.before == edit.after
        case ChangeList():
            return not edit.added and not edit.removed
        case _:
            assert_never(edit)


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
