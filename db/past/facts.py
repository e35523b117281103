"""The facts that an event begins and ends, and the facts that a scene graph starts with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, assert_never

from scenecypher.db.graph.change import Change
from scenecypher.db.graph.delta import (
    AddNode,
    AddRelation,
    ChangeList,
    Delta,
    RemoveNode,
    RemoveRelation,
    SetKind,
    SetProperty,
)
from scenecypher.db.graph.scene import Node, Relation, SceneGraph, Value
from scenecypher.db.schema import HOLDING
from scenecypher.db.store.load import to_driver

FactSort: TypeAlias = Literal["relation", "state", "property"]

LEFT_OUT: Final = frozenset({"CLOSE", "FACING"})
"""Relation types without facts: nearness follows from places, and a step of an agent changes dozens of them."""
NOT_KEPT: Final = frozenset({"last_seen", "confidence"})
"""Properties without facts: each look of a robot changes them."""
SEPARATOR: Final = "\x1f"


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is so of one node: a relation to a target, a state, or the value of a property."""

    sort: FactSort
    name: str
    subject: str
    target: str | None = None
    value: Value | None = field(default=None, compare=False)

    @property
    def handle(self) -> str:
        """The text that identifies the fact among those that hold."""
        return SEPARATOR.join((self.sort, self.name, self.subject, self.target or ""))

    @property
    def values(self) -> dict[str, Any]:
        """The properties that tell what is so."""
        found: dict[str, Any] = {self.sort: self.name}
        return {**found, "value": to_driver(self.value)} if self.sort == "property" else found


@dataclass(slots=True)
class Effects:
    """The effects of one event, in the order of its changes.

    `known` are facts that it ends and that hold since their node is there, if no earlier event began them; `returned`
    are the properties of new nodes, which are facts of a node that was there before. `described` are new names, classes
    and kinds by id, `touched` the nodes that it changed.
    """

    began: list[Fact] = field(default_factory=list)
    ended: list[Fact] = field(default_factory=list)
    known: list[Fact] = field(default_factory=list)
    returned: list[Fact] = field(default_factory=list)
    added: list[Node] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    described: dict[str, dict[str, str]] = field(default_factory=dict)
    touched: dict[str, None] = field(default_factory=dict)


def effects_of(delta: Delta) -> Effects:
    """Return what a Delta begins and ends."""
    found = Effects()
    for change in delta.changes:
        _add(found, change)
    return found


def facts_of(graph: SceneGraph) -> Iterator[Fact]:
    """Yield the facts of a scene graph in a fixed order: relations, then states."""
    for relation in graph.in_order():
        if relation.type not in LEFT_OUT:
            yield _fact_of(relation)
    for node_id in sorted(graph.nodes):
        yield from _states_of(graph.nodes[node_id])


def _add(found: Effects, change: Change) -> None:
    match change:
        case AddRelation(relation):
            _relate(found, relation, found.began)
        case RemoveRelation(relation):
            _relate(found, relation, found.ended)
        case AddNode(node):
            found.added.append(node)
            found.began += _states_of(node)
            found.returned += _properties_of(node)
            _touch(found, node.id)
        case RemoveNode(node):
            found.known += _properties_of(node)
            found.ended += [*_states_of(node), *_properties_of(node)]
            found.removed.append(node.id)
            _touch(found, node.id)
        case ChangeList():
            _set_states(found, change)
        case SetKind():
            _set(found, change.id, "kind", change.before, change.after)
        case SetProperty():
            _set(found, change.id, change.key, change.before, change.after)
        case _:
            assert_never(change)


def _relate(found: Effects, relation: Relation, facts: list[Fact]) -> None:
    if relation.type not in LEFT_OUT:
        facts.append(_fact_of(relation))
        _touch(found, relation.source, *([relation.target] if relation.type in HOLDING else []))


def _set_states(found: Effects, change: ChangeList) -> None:
    if change.field == "states":
        found.began += [Fact("state", state, change.id) for state in change.added]
        found.ended += [Fact("state", state, change.id) for state in change.removed]
    _touch(found, change.id)


def _set(found: Effects, node_id: str, name: str, before: Value | None, after: Value | None) -> None:
    if name in NOT_KEPT:
        return
    if before is not None:
        fact = Fact("property", name, node_id, value=before)
        found.known.append(fact)
        found.ended.append(fact)
    if after is not None:
        found.began.append(Fact("property", name, node_id, value=after))
    if name in {"name", "class", "kind"}:
        found.described.setdefault(node_id, {})[name] = str(after)
    _touch(found, node_id)


def _touch(found: Effects, *ids: str) -> None:
    found.touched.update(dict.fromkeys(ids))


def _fact_of(relation: Relation) -> Fact:
    return Fact("relation", relation.type, relation.source, relation.target)


def _states_of(node: Node) -> list[Fact]:
    return [Fact("state", state, node.id) for state in node.states]


def _properties_of(node: Node) -> list[Fact]:
    values = {"name": node.name, "class": node.class_, "kind": node.kind, **node.properties}
    return [Fact("property", name, node.id, value=value) for name, value in values.items() if name not in NOT_KEPT]
