"""Mutable draft of a belief, for merging."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from scenecypher.db.graph.delta import Delta, diff
from scenecypher.db.graph.scene import GraphView, Node, Properties, Relation, SceneGraph
from scenecypher.planner.perception.moving import PLACED, Moves

SEEN: Final = "seen"
"""Property of a node: True if it was seen at its believed place."""
CONFIDENCE: Final = "confidence"
"""Property of a node: how sure it is that the node is at its believed place, from 0 to 1."""


@dataclass(slots=True)
class BeliefDraft:
    """Draft of a new belief: a mutable copy of the nodes and relations of `belief`."""

    belief: GraphView
    vocabulary: str
    nodes: dict[str, Node] = field(init=False)
    relations: set[Relation] = field(init=False)
    placed: dict[str, set[str]] = field(init=False, default_factory=dict)
    moves: Moves = field(init=False)

    def __post_init__(self) -> None:
        self.nodes, self.relations = dict(self.belief.nodes), set(self.belief.in_order())
        self.moves = Moves(self.belief, self.vocabulary)

    def delta(self) -> Delta:
        """Return the changes so far; only changed nodes and the ends of changed relations are compared."""
        before = {*self.belief.in_order()}
        removed, added = before - self.relations, self.relations - before
        ends = {end for it in removed | added for end in (it.source, it.target)}
        touched = ends | {id_ for id_, node in self.nodes.items() if self.belief.nodes.get(id_) is not node}
        old = [self.belief.nodes[it] for it in sorted(touched) if it in self.belief]
        return diff(SceneGraph.of(old, removed), SceneGraph.of([self.nodes[it] for it in sorted(touched)], added))

    def supports_of(self, node_id: str) -> set[str]:
        """Return what a node is on or in by what is merged so far."""
        kinds = self.moves.containment
        believed = (it for it in self.belief.outgoing.get(node_id, ()) if it.type in kinds and it in self.relations)
        return {it.target for it in believed} | self.placed.get(node_id, set())

    def contents_of(self, node_id: str) -> set[str]:
        """Return the objects on or in a node that are not placed elsewhere by what is merged so far."""
        return self.moves.contents(node_id) - self.placed.keys()

    def remove_from_place(self, node_id: str) -> None:
        """Remove a node from its believed place, with what depends on that; its contents stay on or in it."""
        contents = self.contents_of(node_id)
        self.relations -= self.moves.lost(node_id, contents)
        self.placed.pop(node_id, None)
        for it in (node_id, *contents):
            facts = self.nodes[it].properties
            if PLACED & facts.keys():
                kept = Properties({name: value for name, value in facts.items() if name not in PLACED})
                self.nodes[it] = replace(self.nodes[it], properties=kept)

    def mark_seen(self, node_id: str) -> None:
        """Note that a node is certainly where it is believed."""
        self.set_facts(node_id, {SEEN: True, CONFIDENCE: 1.0})

    def mark_absent(self, node_id: str) -> None:
        """Note that a node is not where it was believed, and remove it from there."""
        self.remove_from_place(node_id)
        self.set_facts(node_id, {SEEN: False, CONFIDENCE: 0.0})

    def set_facts(self, node_id: str, facts: Mapping[str, object]) -> None:
        """Set properties of a node."""
        node = self.nodes[node_id]
        self.nodes[node_id] = replace(node, properties=Properties({**node.properties, **facts}))


def relation_text(type_: str, target: str) -> str:
    """Return a relation as words, such as ``on table_1``."""
    return f"{type_.lower().replace('_', ' ')} {target}"
