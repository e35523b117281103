"""VirtualHome's graphs in GraSIF's terms: rooms, assets, objects, and one parent a node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from scenecypher.db.condition import HasState, Id, Related
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.schema import HOLDING

NodeFact: TypeAlias = Related | HasState
"""A node's place, or a state of it."""

DROPPED: Final = frozenset({"ceiling", "door", "floor", "wall"})
"""Classes that make up a room: an object on its floor is in the room."""

AFFORDANCES: Final[Mapping[str, tuple[str, ...]]] = {
    "can_open": ("open", "close"),
    "has_switch": ("turn_on", "turn_off"),
    "grabbable": ("pick_up",),
    "surfaces": ("put_on",),
    "containers": ("put_inside",),
}
"""VirtualHome's affordances and the actions in GraSIF's words that they admit; the others admit none."""

ADMITTING: Final[Mapping[str, str]] = {"ON": "put_on", "INSIDE": "put_inside"}
"""Actions that a node admits besides, since something is on or in it before or after the program."""

_THINGS: Final = frozenset({"Asset", "Object"})
READ: Final = frozenset({*ADMITTING, *HOLDING})
"""The relation types that one parent is chosen from."""


def reduce_to_grasif(graph: SceneGraph) -> SceneGraph:
    """Return the graph as GraSIF holds it: without DROPPED nodes, each node on, in or held by one other."""
    kept = [_node(node) for node in graph.nodes.values() if node.class_ not in DROPPED]
    kinds = {node.id: node.kind for node in kept}
    return SceneGraph.of(kept, (parent for node in kept for parent in _parent(graph, node, kinds)))


def with_admitted_actions(graph: SceneGraph, relations: Iterable[Relation]) -> SceneGraph:
    """Return the graph with the targets of `relations` admitting objects on or in them."""
    more: dict[str, set[str]] = {}
    for relation in relations:
        if relation.type in ADMITTING and graph.nodes[relation.target].kind in _THINGS:
            more.setdefault(relation.target, set()).add(ADMITTING[relation.type])
    changed = {
        id_: replace(graph.nodes[id_], affordances=(*graph.nodes[id_].affordances, *words))
        for id_, words in more.items()
    }
    return SceneGraph.of({**graph.nodes, **changed}.values(), graph.relations)


def facts_of(graph: SceneGraph, node_id: str) -> Iterator[NodeFact]:
    """Yield a node's place and its states."""
    for relation in graph.outgoing.get(node_id, ()):
        if relation.type in ADMITTING:
            yield Related(Id(node_id), relation.type, Id(relation.target))
    for state in graph.nodes[node_id].states:
        yield HasState(Id(node_id), state)


def _node(node: Node) -> Node:
    """Return the node in GraSIF's terms: what can be grabbed is an object, all else, door frames too, an asset.

    GraSIF has only the name of a room or an agent.
    """
    if node.kind in {"Place", "Agent"}:
        return Node(node.id, node.kind, node.name, node.class_)
    kind = "Object" if "grabbable" in node.affordances else "Asset"
    actions = tuple(action for word in node.affordances for action in AFFORDANCES.get(word, ()))
    return Node(node.id, kind, node.name, node.class_, node.states, actions)


def _parent(graph: SceneGraph, node: Node, kinds: Mapping[str, str]) -> Iterator[Relation]:
    """Yield the one relation that is kept: an object's holder, else its container or support, else the room.

    Assets and the agent are in their room, whatever they stand on. For an object both in one item and on another, the
    container counts; of several supports, the one that lies on another.
    """
    room = [r for r in graph.outgoing.get(node.id, ()) if r.type == "INSIDE" and kinds.get(r.target) == "Place"]
    holders = sorted(graph.sources(node.id, *HOLDING))
    if node.kind == "Place":
        return
    if node.kind == "Object" and holders:
        yield Relation(holders[0], "HOLDS", node.id)
    elif node.kind == "Object" and (under := _supports(graph, node.id, kinds)):
        yield under[0]
    else:
        yield from room[:1]


def _supports(graph: SceneGraph, node_id: str, kinds: Mapping[str, str]) -> list[Relation]:
    """Return an object's containers and supports except rooms and itself, the best first."""
    found = [
        relation
        for relation in graph.outgoing.get(node_id, ())
        if relation.type in ADMITTING and relation.target != node_id and kinds.get(relation.target) in _THINGS
    ]
    targets = {relation.target for relation in found}

    def order(relation: Relation) -> tuple[bool, bool, str]:
        lies_on_another = targets & {*graph.targets(relation.target, *ADMITTING)} - {relation.target}
        return relation.type != "INSIDE", not lies_on_another, relation.target

    return sorted(found, key=order)
