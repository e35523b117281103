"""SayPlan's collapsed view of a scene: its places, and the content of those that were expanded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Self, TypeAlias

from scenecypher.db.gate import JsonValue
from scenecypher.db.graph.scene import SceneGraph, within
from scenecypher.db.schema import HOLDING
from scenecypher.db.store.enumerations import DENSE
from scenecypher.db.store.reference import resolve_reference
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import UnknownReference
from scenecypher.retriever.graph_api import GraphApi, attributes

LinkTriple: TypeAlias = tuple[str, str, str]

LEVELS: Final = 5
"""Levels of containment that are followed in a place."""


@dataclass(frozen=True, slots=True)
class Branch:
    """Nodes that were revealed together, by id, and the links that leave them."""

    nodes: tuple[tuple[str, dict[str, JsonValue]], ...]
    links: tuple[LinkTriple, ...]


@dataclass(frozen=True, slots=True)
class CollapsedGraph:
    """An immutable view: the places, and the branch of each expanded place by its id.

    The papers' root node is a place in vocabularies that have one, such as BabyAI's (SG-RwR, G.2). CLOSE is left out.
    """

    api: GraphApi
    places: Branch
    branches: tuple[tuple[str, Branch], ...] = ()

    @property
    def expanded(self) -> tuple[str, ...]:
        """Return the ids of the expanded places in the order of their expansion."""
        return tuple(place for place, _ in self.branches)

    def expand(self, node_id: str) -> Self:
        """Return the view with the present content of a place. Raises UnknownReference, and as GraphApi does."""
        place = self._place(node_id)
        branch = self._content_of(place)
        others = tuple(pair for pair in self.branches if pair[0] != place)
        return replace(self, branches=(*others, (place, branch)))

    def contract(self, node_id: str) -> Self:
        """Return the view without the content of an expanded place. Raises UnknownReference."""
        place = self._place(node_id)
        if place not in self.expanded:
            instead = ", ".join(self.expanded) or "none yet"
            raise UnknownReference(f"{place} is not expanded; contract one that is: {instead}")
        return replace(self, branches=tuple(pair for pair in self.branches if pair[0] != place))

    def document(self) -> dict[str, JsonValue]:
        """Return the view as plain values: nodes, and the links ``[source, type, target]`` between them."""
        shown = [self.places, *(branch for _, branch in self.branches)]
        nodes = dict(node for branch in shown for node in branch.nodes)
        links = {link for branch in shown for link in branch.links if link[2] in nodes}
        return {"nodes": [nodes[id_] for id_ in sorted(nodes)], "links": [[*link] for link in sorted(links)]}

    def _content_of(self, place: str) -> Branch:
        """Return the content of a place but not of places within it, items that agents hold there, and its doors."""
        graph, types = self.api.graph(), conventions_of(self.api.reader.scene.vocabulary).containment
        places = {id_ for id_, _ in self.places.nodes}
        found = within([place], lambda it: {*graph.sources(it, *types)} - places, levels=LEVELS)
        near = {*graph.targets(place), *graph.sources(place)}
        found |= {it for it in near if graph.nodes[it].kind == "Door"}
        agents = [it for it in graph.sources(place, "INSIDE") if graph.nodes[it].kind == "Agent"]
        return _branch(graph, found.union(*(graph.targets(it, *HOLDING) for it in agents)))

    def _place(self, node_id: str) -> str:
        known = [id_ for id_, _ in self.places.nodes]
        if node_id in known:
            return node_id
        found = resolve_reference(self.api.graph(), node_id)
        if found not in known:
            raise UnknownReference(f"{found} is no place; the places are {', '.join(known)}")
        return found


def collapse(api: GraphApi) -> CollapsedGraph:
    """Return the scene with its places alone (SG-RwR, G.2). Raises as GraphApi does."""
    graph = api.graph()
    return CollapsedGraph(api, _branch(graph, graph.by_kind.get("Place", ())))


def _branch(graph: SceneGraph, ids: Iterable[str]) -> Branch:
    nodes = sorted(ids)
    links = (it for id_ in nodes for it in graph.outgoing.get(id_, ()) if it.type != DENSE)
    return Branch(
        tuple((id_, attributes(graph.nodes[id_])) for id_ in nodes),
        tuple(sorted((it.source, it.type, it.target) for it in links)),
    )
