"""Delta: a list of reversible changes between two scene graphs; an action, an observation and an undo are each one Delta."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Literal, TypeAlias, assert_never

from db.scene import InvalidValue, Node, Relation, SceneGraph, Value, typed
from scenecypher.errors import ConflictError

ListField: TypeAlias = Literal["states", "affordances"]
LIST_FIELDS: Final[tuple[ListField, ...]] = ("states", "affordances")
TEXT_FIELDS: Final = ("name", "class")


@dataclass(frozen=True, slots=True)
class AddNode:
    """A node that was not there."""

    node: Node


@dataclass(frozen=True, slots=True)
class RemoveNode:
    """A node that goes; its relations go by changes of their own."""

    node: Node


@dataclass(frozen=True, slots=True)
class SetKind:
    """A node's kind."""

    id: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class SetProperty:
    """A property, `name` or `class` of a node; None is absence. Type-strict: 1, 1.0 and True differ."""

    id: str
    key: str
    before: Value | None
    after: Value | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SetProperty) and self._typed() == other._typed()

    def __hash__(self) -> int:
        return hash(self._typed())

    def _typed(self) -> tuple[object, ...]:
        return (self.id, self.key, typed(self.before), typed(self.after))


@dataclass(frozen=True, slots=True)
class ChangeList:
    """Elements that join and leave a node's states or affordances; the others may differ without conflict."""

    id: str
    field: ListField
    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AddRelation:
    """A relation that was not there."""

    relation: Relation


@dataclass(frozen=True, slots=True)
class RemoveRelation:
    """A relation that goes."""

    relation: Relation


NodeChange: TypeAlias = AddNode | RemoveNode | SetKind | SetProperty | ChangeList
Change: TypeAlias = NodeChange | AddRelation | RemoveRelation

_ORDER: Final = (RemoveRelation, RemoveNode, AddNode, SetKind, SetProperty, ChangeList, AddRelation)


@dataclass(frozen=True, slots=True)
class Delta:
    """Changes in canonical order, at most one about each fact. Make one with `Delta.of`."""

    changes: tuple[Change, ...] = ()

    @classmethod
    def of(cls, changes: Iterable[Change]) -> Delta:
        """The net effect of `changes` made one after the other. Raises ConflictError where they contradict each other."""
        nodes: dict[str, list[NodeChange]] = {}
        relations: dict[Relation, list[AddRelation | RemoveRelation]] = {}
        for change in changes:
            match change:
                case AddRelation() | RemoveRelation():
                    relations.setdefault(change.relation, []).append(change)
                case _:
                    nodes.setdefault(_node_id(change), []).append(change)
        net = [*_net_nodes(nodes), *_net_relations(relations)]
        return cls(tuple(sorted(net, key=_sort_key)))

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __len__(self) -> int:
        return len(self.changes)


def diff(before: SceneGraph, after: SceneGraph) -> Delta:
    """The Delta that leads from `before` to `after`."""
    changes: list[Change] = [RemoveRelation(relation) for relation in before.relations - after.relations]
    changes += [AddRelation(relation) for relation in after.relations - before.relations]
    for node_id, old in before.nodes.items():
        new = after.nodes.get(node_id)
        if new is None:
            changes.append(RemoveNode(old))
        elif new is not old:
            changes += _node_diff(old, new)
    changes += [AddNode(node) for node_id, node in after.nodes.items() if node_id not in before.nodes]
    return Delta(tuple(sorted(changes, key=_sort_key)))


def apply(graph: SceneGraph, delta: Delta) -> SceneGraph:
    """`graph` after `delta`. Raises ConflictError, naming the first thing that is not as the Delta says."""
    nodes = dict(graph.nodes)
    relations = set(graph.relations)
    for change in delta.changes:
        match change:
            case RemoveRelation(relation):
                _expect(relation in relations, f"relation {_words(relation)} is not there")
                relations.remove(relation)
            case AddRelation(relation):
                _expect(relation not in relations, f"relation {_words(relation)} is there already")
                relations.add(relation)
            case AddNode(node):
                _expect(node.id not in nodes, f"node {node.id!r} is there already")
                nodes[node.id] = node
            case RemoveNode(node):
                _expect(nodes.get(node.id) == node, f"node {node.id!r} is not as it was")
                del nodes[node.id]
            case SetKind() | SetProperty() | ChangeList():
                _expect(change.id in nodes, f"node {change.id!r} is not there")
                nodes[change.id] = changed(nodes[change.id], change)
            case _:
                assert_never(change)
    _expect_ends(delta, nodes, relations)
    return SceneGraph.of(nodes.values(), relations)


def invert(delta: Delta) -> Delta:
    """The Delta that takes `delta` back."""
    return Delta(tuple(sorted((_inverted(change) for change in delta.changes), key=_sort_key)))


def compose(deltas: Iterable[Delta]) -> Delta:
    """The net effect of `deltas`, one after the other."""
    return Delta.of(change for delta in deltas for change in delta.changes)


def changed(node: Node, change: SetKind | SetProperty | ChangeList) -> Node:
    """`node` after one change. Raises ConflictError where its *before* does not hold."""
    match change:
        case SetKind():
            _expect(node.kind == change.before, f"kind of {node.id!r} is {node.kind}, not {change.before}")
            return replace(node, kind=change.after)
        case SetProperty():
            now = value_of(node, change.key)
            _expect(
                typed(now) == typed(change.before), f"{change.key} of {node.id!r} is {now!r}, not {change.before!r}"
            )
            return _with_value(node, change.key, change.after)
        case ChangeList():
            now_list = set(node.states if change.field == "states" else node.affordances)
            for item in change.removed:
                _expect(item in now_list, f"{change.field} of {node.id!r} lack {item!r}")
            for item in change.added:
                _expect(item not in now_list, f"{change.field} of {node.id!r} have {item!r} already")
            items = tuple(now_list - {*change.removed} | {*change.added})
            return replace(node, states=items) if change.field == "states" else replace(node, affordances=items)


def value_of(node: Node, key: str) -> Value | None:
    """A node's `name`, `class` or property, None where it is absent."""
    match key:
        case "name":
            return node.name
        case "class":
            return node.class_
        case _:
            return node.properties.get(key)


def _with_value(node: Node, key: str, value: Value | None) -> Node:
    if key not in TEXT_FIELDS:
        return replace(node, properties=node.properties.having(key, value))
    if not isinstance(value, str):
        msg = f"{key} of {node.id!r} must be text, not {value!r}"
        raise InvalidValue(msg)
    return replace(node, name=value) if key == "name" else replace(node, class_=value)


def _node_diff(old: Node, new: Node) -> Iterator[NodeChange]:
    if old.kind != new.kind:
        yield SetKind(old.id, old.kind, new.kind)
    for key in (*TEXT_FIELDS, *sorted({*old.properties, *new.properties})):
        before, after = value_of(old, key), value_of(new, key)
        if typed(before) != typed(after):
            yield SetProperty(old.id, key, before, after)
    for name, was, now in (("states", old.states, new.states), ("affordances", old.affordances, new.affordances)):
        if was != now:
            added, removed = tuple(sorted({*now} - {*was})), tuple(sorted({*was} - {*now}))
            yield ChangeList(old.id, "states" if name == "states" else "affordances", added, removed)


def _net_relations(
    groups: Mapping[Relation, Sequence[AddRelation | RemoveRelation]],
) -> Iterator[AddRelation | RemoveRelation]:
    for relation, changes in groups.items():
        for first, second in pairwise(changes):
            _expect(type(first) is not type(second), f"relation {_words(relation)} is changed twice the same way")
        if len(changes) % 2:
            yield changes[0]


def _net_nodes(groups: Mapping[str, Sequence[NodeChange]]) -> Iterator[NodeChange]:
    for changes in groups.values():
        if len(changes) == 1 and not _idle(changes[0]):
            yield changes[0]
        elif any(isinstance(change, AddNode | RemoveNode) for change in changes):
            yield from _net_life(changes)
        else:
            yield from _net_edits(changes)


def _idle(change: NodeChange) -> bool:
    match change:
        case SetProperty():
            return typed(change.before) == typed(change.after)
        case SetKind():
            return change.before == change.after
        case ChangeList():
            return not change.added and not change.removed
        case _:
            return False


def _net_life(changes: Sequence[NodeChange]) -> Iterator[NodeChange]:
    """The net effect where the node is created or removed on the way, so that it is known whole."""
    first = _before_all(changes)
    last = first
    for change in changes:
        match change:
            case AddNode(node):
                _expect(last is None, f"node {node.id!r} is added twice")
                last = node
            case RemoveNode(node):
                _expect(last == node, f"node {node.id!r} is not as it was")
                last = None
            case SetKind() | SetProperty() | ChangeList():
                last = changed(_known(last, change.id), change)
            case _:
                assert_never(change)
    if first is None or last is None:
        if first != last:
            yield AddNode(last) if last else RemoveNode(_known(first, ""))
        return
    yield from _node_diff(first, last)


def _before_all(changes: Sequence[NodeChange]) -> Node | None:
    """The node before `changes`: None, or what is removed first with the edits before it taken back."""
    edits: list[SetKind | SetProperty | ChangeList] = []
    for change in changes:
        match change:
            case AddNode():
                _expect(not edits, f"node {change.node.id!r} is changed before it is added")
                return None
            case RemoveNode(node):
                for edit in reversed(edits):
                    back = _inverted(edit)
                    assert isinstance(back, SetKind | SetProperty | ChangeList)  # noqa: S101  an edit's inverse is an edit
                    node = changed(node, back)
                return node
            case _:
                edits.append(change)
    return None


def _net_edits(changes: Sequence[NodeChange]) -> Iterator[NodeChange]:
    facts: dict[str, SetKind | SetProperty | ChangeList] = {}
    for change in changes:
        match change:
            case SetKind():
                facts["kind"] = _joined(facts.get("kind"), change)
            case SetProperty():
                facts["=" + change.key] = _joined(facts.get("=" + change.key), change)
            case ChangeList():
                facts[change.field] = _joined(facts.get(change.field), change)
    yield from (fact for fact in facts.values() if not _idle(fact))


def _joined(
    first: SetKind | SetProperty | ChangeList | None, second: SetKind | SetProperty | ChangeList
) -> SetKind | SetProperty | ChangeList:
    match first, second:
        case SetKind(), SetKind():
            _expect(first.after == second.before, f"kind of {first.id!r} is changed twice, not in a chain")
            return replace(second, before=first.before)
        case SetProperty(), SetProperty():
            _expect(
                typed(first.after) == typed(second.before),
                f"{first.key} of {first.id!r} is changed twice, not in a chain",
            )
            return replace(second, before=first.before)
        case ChangeList(), ChangeList():
            _expect(
                not {*first.added} & {*second.added} and not {*first.removed} & {*second.removed},
                f"{first.field} of {first.id!r} are changed twice the same way",
            )
            added = ({*first.added} - {*second.removed}) | ({*second.added} - {*first.removed})
            removed = ({*first.removed} - {*second.added}) | ({*second.removed} - {*first.added})
            return replace(second, added=tuple(sorted(added)), removed=tuple(sorted(removed)))
        case _:
            return second


def _inverted(change: Change) -> Change:
    match change:
        case AddNode(node):
            return RemoveNode(node)
        case RemoveNode(node):
            return AddNode(node)
        case SetKind():
            return SetKind(change.id, change.after, change.before)
        case SetProperty():
            return SetProperty(change.id, change.key, change.after, change.before)
        case ChangeList():
            return replace(change, added=change.removed, removed=change.added)
        case AddRelation(relation):
            return RemoveRelation(relation)
        case RemoveRelation(relation):
            return AddRelation(relation)
        case _:
            assert_never(change)


def _expect_ends(delta: Delta, nodes: Mapping[str, Node], relations: set[Relation]) -> None:
    for change in delta.changes:
        if isinstance(change, AddRelation):
            for end in (change.relation.source, change.relation.target):
                _expect(end in nodes, f"node {end!r} of relation {_words(change.relation)} is not there")
    gone = {change.node.id for change in delta.changes if isinstance(change, RemoveNode)} - nodes.keys()
    if gone:
        for relation in relations:
            _expect(
                relation.source not in gone and relation.target not in gone,
                f"relation {_words(relation)} still holds a node that is to go",
            )


def _expect(holds: bool, otherwise: str) -> None:  # noqa: FBT001  the condition is what it is about
    if not holds:
        msg = f"{otherwise}; load the scene again and decide anew"
        raise ConflictError(msg)


def _known(node: Node | None, node_id: str) -> Node:
    if node is None:
        msg = f"node {node_id!r} is changed while it is not there; load the scene again and decide anew"
        raise ConflictError(msg)
    return node


def _node_id(change: NodeChange) -> str:
    return change.node.id if isinstance(change, AddNode | RemoveNode) else change.id


def _sort_key(change: Change) -> tuple[int, str, str, str]:
    rank = _ORDER.index(type(change))
    match change:
        case AddRelation(relation) | RemoveRelation(relation):
            return (rank, relation.source, relation.type, relation.target)
        case SetProperty():
            return (rank, change.id, change.key, "")
        case ChangeList():
            return (rank, change.id, change.field, "")
        case _:
            return (rank, _node_id(change), "", "")


def _words(relation: Relation) -> str:
    return f"{relation.source!r} {relation.type} {relation.target!r}"
