"""Change: one reversible edit of a scene graph, and its effect on a node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, assert_never

from scenecypher.db.graph.scene import Node, Relation, kind_name
from scenecypher.db.graph.value import InvalidValue, Value, checked, label, labels, property_name, shown, typed_key
from scenecypher.errors import ConflictError

ListField: TypeAlias = Literal["states", "affordances"]
LIST_FIELDS: Final[tuple[ListField, ...]] = ("states", "affordances")
TEXT_FIELDS: Final = ("name", "class")


@dataclass(frozen=True, slots=True)
class AddNode:
    """Addition of a node."""

    node: Node


@dataclass(frozen=True, slots=True)
class RemoveNode:
    """Removal of a node; its relations are removed by changes of their own."""

    node: Node


@dataclass(frozen=True, slots=True)
class SetKind:
    """Change of a node's kind."""

    id: str
    before: str
    after: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", label(self.id, "id"))
        kind_name(self.before)
        kind_name(self.after)


@dataclass(frozen=True, slots=True)
class SetProperty:
    """Change of a property, `name` or `class` of a node; None is absence. Type-strict: 1, 1.0 and True differ."""

    id: str
    key: str
    before: Value | None
    after: Value | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", label(self.id, "id"))
        if self.key not in TEXT_FIELDS:
            property_name(self.key)
        object.__setattr__(self, "before", _value(self.before, self.key))
        object.__setattr__(self, "after", _value(self.after, self.key))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SetProperty) and self._typed() == other._typed()

    def __hash__(self) -> int:
        return hash(self._typed())

    def _typed(self) -> tuple[object, ...]:
        return (self.id, self.key, typed_key(self.before), typed_key(self.after))


@dataclass(frozen=True, slots=True)
class ChangeList:
    """Elements added to and removed from a node's states or affordances; the others do not matter."""

    id: str
    field: ListField
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.field not in LIST_FIELDS:
            raise InvalidValue(f"{shown(self.field)} is no list of a node; use {' or '.join(LIST_FIELDS)}")
        object.__setattr__(self, "id", label(self.id, "id"))
        object.__setattr__(self, "added", labels(self.added, self.field))
        object.__setattr__(self, "removed", labels(self.removed, self.field))
        both = {*self.added} & {*self.removed}
        if both:
            msg = f"{self.field} of {self.id!r}: {min(both)!r} can't be both added and removed; choose one"
            raise InvalidValue(msg)


@dataclass(frozen=True, slots=True)
class AddRelation:
    """Addition of a relation."""

    relation: Relation


@dataclass(frozen=True, slots=True)
class RemoveRelation:
    """Removal of a relation."""

    relation: Relation


Edit: TypeAlias = SetKind | SetProperty | ChangeList
NodeChange: TypeAlias = AddNode | RemoveNode | Edit
Change: TypeAlias = NodeChange | AddRelation | RemoveRelation

_RANK: Final = {
    kind: rank
    for rank, kind in enumerate(
        (RemoveRelation, RemoveNode, AddNode, SetKind, SetProperty, ChangeList, AddRelation),
    )
}


def apply_edit(node: Node, change: Edit) -> Node:
    """Return `node` after `change`. Raises ConflictError if the *before* value of `change` does not hold."""
    match change:
        case SetKind():
            if node.kind != change.before:
                raise conflict_error(f"kind of {node.id!r} is {node.kind}, not {change.before}")
            return replace(node, kind=change.after)
        case SetProperty():
            now = value_of(node, change.key)
            if typed_key(now) != typed_key(change.before):
                raise conflict_error(f"{change.key} of {node.id!r} is {shown(now)}, not {shown(change.before)}")
            return _with_value(node, change.key, change.after)
        case ChangeList():
            return _with_list(node, change)
        case _:
            assert_never(change)


def inverse_edit(change: Edit) -> Edit:
    """Return the edit that reverts `change`."""
    match change:
        case SetKind():
            return SetKind(change.id, change.after, change.before)
        case SetProperty():
            return SetProperty(change.id, change.key, change.after, change.before)
        case ChangeList():
            return ChangeList(change.id, change.field, added=change.removed, removed=change.added)
        case _:
            assert_never(change)


def inverse(change: Change) -> Change:
    """Return the change that reverts `change`."""
    match change:
        case AddNode(node):
            return RemoveNode(node)
        case RemoveNode(node):
            return AddNode(node)
        case AddRelation(relation):
            return RemoveRelation(relation)
        case RemoveRelation(relation):
            return AddRelation(relation)
        case _:
            return inverse_edit(change)


def value_of(node: Node, key: str) -> Value | None:
    """Return a node's `name`, `class` or property; None if it is absent."""
    match key:
        case "name":
            return node.name
        case "class":
            return node.class_
        case _:
            return node.properties.get(key)


def node_id_of(change: NodeChange) -> str:
    """Return the id of the changed node."""
    return change.node.id if isinstance(change, AddNode | RemoveNode) else change.id


def nodes_of(change: Change) -> tuple[str, ...]:
    """Return the ids of the nodes that a change is about: one, or the two ends of a relation."""
    if isinstance(change, AddRelation | RemoveRelation):
        return change.relation.source, change.relation.target
    return (node_id_of(change),)


def sort_key(change: Change) -> tuple[int, str, str, str]:
    """Return the sort key of canonical order: removals before additions, relations around nodes."""
    rank = _RANK[type(change)]
    match change:
        case AddRelation(relation) | RemoveRelation(relation):
            return (rank, relation.source, relation.type, relation.target)
        case SetProperty():
            return (rank, change.id, change.key, "")
        case ChangeList():
            return (rank, change.id, change.field, "")
        case _:
            return (rank, node_id_of(change), "", "")


def conflict_error(fact: str) -> ConflictError:
    """Return the error that names the `fact` that differs from the Delta."""
    return ConflictError(f"{fact}; load the scene again and decide anew")


def _with_value(node: Node, key: str, value: Value | None) -> Node:
    if key not in TEXT_FIELDS:
        return replace(node, properties=node.properties.having(key, value))
    text = label(value, key)
    return replace(node, name=text) if key == "name" else replace(node, class_=text)


def _value(value: Value | None, key: str) -> Value | None:
    if key in TEXT_FIELDS:
        return label(value, key)
    return None if value is None else checked(value, key)


def _with_list(node: Node, change: ChangeList) -> Node:
    now = {*(node.states if change.field == "states" else node.affordances)}
    lacking, present = {*change.removed} - now, {*change.added} & now
    if lacking:
        raise conflict_error(f"{change.field} of {node.id!r} lack {min(lacking)!r}")
    if present:
        raise conflict_error(f"{change.field} of {node.id!r} have {min(present)!r} already")
    items = tuple(now - {*change.removed} | {*change.added})
    return replace(node, states=items) if change.field == "states" else replace(node, affordances=items)
