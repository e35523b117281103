"""LiveGraph: a scene graph with its indexes that Deltas change in place."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from scenecypher.db.graph.delta import AddRelation, Delta, RemoveRelation, edited_nodes
from scenecypher.db.graph.scene import GraphView, Node, Relation, SceneGraph

T = TypeVar("T")


class LiveGraph(GraphView):
    """The nodes and relations of one scene, for readers of a SceneGraph that follow it from version to version.

    `apply` takes time in the size of the Delta, not of the scene. Not safe to share between threads.
    """

    size: int
    incoming: dict[str, tuple[Relation, ...]]
    by_class: dict[str, tuple[str, ...]]
    by_kind: dict[str, tuple[str, ...]]
    by_name: dict[str, tuple[str, ...]]

    def __init__(self, graph: GraphView) -> None:
        self.nodes: dict[str, Node] = _copied(graph.nodes)
        self.size = graph.size
        self.outgoing: dict[str, tuple[Relation, ...]] = _copied(graph.outgoing)
        self.incoming = _copied(graph.incoming)
        self.by_class, self.by_kind, self.by_name = map(_copied, (graph.by_class, graph.by_kind, graph.by_name))

    def apply(self, delta: Delta, edits: Mapping[str, Node | None] | None = None) -> None:
        """Change the graph in place. Raises ConflictError, with nothing changed, if it is not as the Delta says.

        `edits` is what `edited_nodes` returns, if it was called for this graph and Delta.
        """
        for node_id, node in (edited_nodes(self, delta) if edits is None else edits).items():
            self._put(node_id, node)
        for change in delta.changes:
            match change:
                case RemoveRelation(relation):
                    self.size -= 1
                    _drop(self.outgoing, relation.source, relation)
                    _drop(self.incoming, relation.target, relation)
                case AddRelation(relation):
                    self.size += 1
                    _insert(self.outgoing, relation.source, relation)
                    _insert(self.incoming, relation.target, relation)
                case _:
                    continue

    def frozen(self) -> SceneGraph:
        """Return the graph as it is now, with the indexes that are there; change it no more."""
        return SceneGraph.indexed(self)

    def _put(self, node_id: str, node: Node | None) -> None:
        before = self.nodes.pop(node_id, None)
        self.size += (node is not None) - (before is not None)
        if before is not None:
            _drop(self.by_class, before.class_, node_id)
            _drop(self.by_kind, before.kind, node_id)
            _drop(self.by_name, before.name, node_id)
        if node is not None:
            self.nodes[node_id] = node
            _insert(self.by_class, node.class_, node_id)
            _insert(self.by_kind, node.kind, node_id)
            _insert(self.by_name, node.name, node_id)


def _copied(given: Mapping[str, T]) -> dict[str, T]:
    """Copy a map; `dict` takes twenty times as long for a read-only view, which it asks for each key."""
    return given | {} if isinstance(given, MappingProxyType) else dict(given)


def _insert(groups: dict[str, Any], key: str, item: Any) -> None:
    """Put an item into its sorted group: a new one, since other graphs may share the old."""
    group = groups.get(key, ())
    place = bisect_left(group, item)
    groups[key] = (*group[:place], item, *group[place:])


def _drop(groups: dict[str, Any], key: str, item: Any) -> None:
    """Take an item out of its sorted group, and the group away once it is empty."""
    group = groups[key]
    if len(group) == 1:
        del groups[key]
    else:
        place = bisect_left(group, item)
        groups[key] = (*group[:place], *group[place + 1 :])
