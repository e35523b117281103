"""The earlier place and states of a thing, by its scene's history, as conditions: "put it back", "as it was before"."""

from __future__ import annotations

from collections.abc import Iterable

from scenecypher.db.condition import Condition, HasState, Id, Not, Related
from scenecypher.db.graph.change import AddRelation, ChangeList, RemoveRelation, inverse
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.db.store.history import Event, in_effect
from scenecypher.errors import UnknownReference
from scenecypher.planner.symbolic.parts import CONTAINMENT


def earlier_facts(graph: SceneGraph, events: Iterable[Event], node: str, *, by_place: bool) -> tuple[Condition, ...]:
    """Return where a thing was before it was last moved, or its states before one last changed.

    `events` are newest first. A thing in a hand is between two places. Raises UnknownReference if it never was so.
    """
    relations = {*graph.outgoing.get(node, ()), *graph.incoming.get(node, ())}
    states = {*graph.nodes[node].states}
    place, now = _place(graph, node, relations), {*states}
    for event in in_effect(events):
        for change in reversed(event.delta.changes) if event.kind == "act" else ():
            match inverse(change):
                case AddRelation(relation) if node in (relation.source, relation.target):
                    relations.add(relation)
                case RemoveRelation(relation):
                    relations.discard(relation)
                case ChangeList(id=id_, field="states", added=added, removed=removed) if id_ == node:
                    states = states - {*removed} | {*added}
        before = _place(graph, node, relations)
        if by_place and before and before != place:
            return tuple(Related(Id(it.source), it.type, Id(it.target)) for it in before)
        if not by_place and states != now:
            gone = (Not(HasState(Id(node), it)) for it in sorted(now - states))
            return (*(HasState(Id(node), it) for it in sorted(states)), *gone)
    raise UnknownReference(f"{node} never {'was elsewhere' if by_place else 'changed'}: say where it shall be")


def _place(graph: SceneGraph, node: str, relations: Iterable[Relation]) -> tuple[Relation, ...]:
    """Return what a thing is in or on, a room only if there is nothing else; nothing if it is in a hand."""
    known = sorted(it for it in relations if it.source in graph.nodes and it.target in graph.nodes)
    if any(it.type in HOLDING and it.target == node for it in known):
        return ()
    above = [it for it in known if it.source == node and it.type in CONTAINMENT]
    return tuple(it for it in above if graph.nodes[it.target].kind != "Place") or tuple(above)
