"""A belief as it comes to be while something is merged into it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from scenecypher.db.graph.delta import Delta, diff
from scenecypher.db.graph.scene import Node, Properties, Relation, SceneGraph
from scenecypher.planner.perception.moving import lost_relations

SEEN: Final = "seen"
"""The property that says whether a node was seen where it is believed to be."""


@dataclass(slots=True)
class BeliefDraft:
    """What `belief` becomes: its nodes and relations, to be changed."""

    belief: SceneGraph
    vocabulary: str
    nodes: dict[str, Node] = field(init=False)
    relations: set[Relation] = field(init=False)

    def __post_init__(self) -> None:
        self.nodes, self.relations = dict(self.belief.nodes), set(self.belief.relations)

    def delta(self) -> Delta:
        """What has changed: only the nodes that did, and the ends of relations that did, are compared."""
        before, now = self.belief.relations, self.relations
        gone, come = before - now, now - before
        ends = {end for it in gone | come for end in (it.source, it.target)}
        touched = ends | {id_ for id_, node in self.nodes.items() if self.belief.nodes.get(id_) is not node}
        old = [self.belief.nodes[it] for it in sorted(touched) if it in self.belief]
        return diff(SceneGraph.of(old, gone), SceneGraph.of([self.nodes[it] for it in sorted(touched)], come))

    def take_away(self, node_id: str) -> None:
        """From where it is believed to be."""
        self.relations -= lost_relations(self.belief, node_id, vocabulary=self.vocabulary)

    def mark(self, node_id: str, *, seen: bool) -> None:
        """Note of a node whether it is where it is believed to be."""
        node = self.nodes[node_id]
        self.nodes[node_id] = replace(node, properties=Properties({**node.properties, SEEN: seen}))


def relation_text(type_: str, target: str) -> str:
    """``on table_1``: where a relation says that something is."""
    return f"{type_.lower().replace('_', ' ')} {target}"
