"""LiveGraph: a scene graph with its indexes that Deltas change in place."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Mapping
from typing import TypeVar

from scenecypher.db.graph.delta import AddRelation, Delta, RemoveRelation, edited_nodes
from scenecypher.db.graph.scene import GraphView, Node, Relation, SceneGraph

T = TypeVar("T", str, Relation)


class LiveGraph:
    """The nodes and relations of one scene, for readers of a SceneGraph that follow it from version to version.

    `apply` takes time in the size of the Delta, not of the scene. Not safe to share between threads.
    """

    def __init__(self, graph: SceneGraph) -> None:
        self.nodes: dict[str, Node] = dict(graph.nodes)
        self.relations: set[Relation] = set(graph.relations)
        self.outgoing = {node_id: [*relations] for node_id, relations in graph.outgoing.items()}
        self.incoming = {node_id: [*relations] for node_id, relations in graph.incoming.items()}
        self.by_class = {class_: [*ids] for class_, ids in graph.by_class.items()}
        self.by_kind = {kind: [*ids] for kind, ids in graph.by_kind.items()}
        self.by_name = {name: [*ids] for name, ids in graph.by_name.items()}

    def __contains__(self, node_id: object) -> bool:
        return node_id in self.nodes

    targets, sources = GraphView.targets, GraphView.sources
    reached, reaching = GraphView.reached, GraphView.reaching

    def apply(self, delta: Delta, edits: Mapping[str, Node | None] | None = None) -> None:
        """Change the graph in place. Raises ConflictError, with nothing changed, if it is not as the Delta says.

        `edits` is what `edited_nodes` returns, if it was called for this graph and Delta.
        """
        for node_id, node in (edited_nodes(self, delta) if edits is None else edits).items():
            self._put(node_id, node)
        for change in delta.changes:
            match change:
                case RemoveRelation(relation):
                    self.relations.remove(relation)
                    _drop(self.outgoing, relation.source, relation)
                    _drop(self.incoming, relation.target, relation)
                case AddRelation(relation):
                    self.relations.add(relation)
                    insort(self.outgoing.setdefault(relation.source, []), relation)
                    insort(self.incoming.setdefault(relation.target, []), relation)
                case _:
                    continue

    def _put(self, node_id: str, node: Node | None) -> None:
        before = self.nodes.pop(node_id, None)
        if before is not None:
            _drop(self.by_class, before.class_, node_id)
            _drop(self.by_kind, before.kind, node_id)
            _drop(self.by_name, before.name, node_id)
        if node is not None:
            self.nodes[node_id] = node
            insort(self.by_class.setdefault(node.class_, []), node_id)
            insort(self.by_kind.setdefault(node.kind, []), node_id)
            insort(self.by_name.setdefault(node.name, []), node_id)


def _drop(groups: dict[str, list[T]], key: str, item: T) -> None:
    """Take an item out of its sorted group, and the group away once it is empty."""
    group = groups[key]
    if len(group) == 1:
        del groups[key]
    else:
        del group[bisect_left(group, item)]
