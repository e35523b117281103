"""SayPlan's collapsed view of a scene: its places, and the content of those that were expanded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Final, LiteralString, Self, TypeAlias

from scenecypher.db.gate import JsonValue
from scenecypher.db.schema import HOLDING
from scenecypher.db.store.enumerations import DENSE
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import UnknownReference
from scenecypher.retriever.graph_api import GraphApi, attributes, with_string
from scenecypher.retriever.paging import all_rows

LinkTriple: TypeAlias = tuple[str, str, str]

_RETURN: Final[LiteralString] = (
    " RETURN n, labels(n) AS labels, [(n)-[r:!" + DENSE + "]->(m:Entity) | [type(r), m.id]] AS links ORDER BY n.id"
)
PLACES: Final[LiteralString] = "MATCH (n:Place)" + _RETURN


DOORS: Final[LiteralString] = "MATCH (n:Door)--(:Place {id: $id}) WITH DISTINCT n" + _RETURN
HELD: Final[LiteralString] = (
    "MATCH (n:Entity)<-[:" + "|".join(HOLDING) + "]-(:Agent)-[:INSIDE]->(:Place {id: $id}) WITH DISTINCT n" + _RETURN
)


def contained(containment: tuple[LiteralString, ...]) -> LiteralString:
    """Return the query for everything in a place, directly or within something else."""
    chain: LiteralString = "|".join(containment)
    return "MATCH (n:Entity)-[:" + chain + "*1..5]->(:Place {id: $id}) WITH DISTINCT n" + _RETURN


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
        reader = self.api.reader
        types = conventions_of(reader.scene.vocabulary).containment
        within = _branch(all_rows(reader, with_string(contained(types), place)))
        own = _reached(within, place, types=frozenset(types), but=frozenset(id_ for id_, _ in self.places.nodes))
        beside = [_branch(all_rows(reader, with_string(query, place))) for query in (DOORS, HELD)]
        nodes = {id_: node for id_, node in within.nodes if id_ in own}
        nodes |= dict(pair for branch in beside for pair in branch.nodes)
        links = {link for branch in (within, *beside) for link in branch.links if link[0] in nodes}
        return Branch(tuple(sorted(nodes.items(), key=itemgetter(0))), tuple(sorted(links)))

    def _place(self, node_id: str) -> str:
        known = [id_ for id_, _ in self.places.nodes]
        if node_id in known:
            return node_id
        found = self.api.id_of(node_id)
        if found not in known:
            raise UnknownReference(f"{found} is no place; the places are {', '.join(known)}")
        return found


def collapse(api: GraphApi) -> CollapsedGraph:
    """Return the scene with its places alone (SG-RwR, G.2). Raises as GraphApi does."""
    return CollapsedGraph(api, _branch(all_rows(api.reader, PLACES)))


def _reached(branch: Branch, place: str, *, types: frozenset[str], but: frozenset[str]) -> frozenset[str]:
    """Return the nodes of a branch whose containment leads to the place without passing another place."""
    found, edge = {place}, {place}
    while edge:
        edge = {source for source, type_, target in branch.links if type_ in types and target in edge} - found - but
        found |= edge
    return frozenset(found - {place})


def _branch(rows: Iterable[list[Any]]) -> Branch:
    found = [*rows]
    return Branch(
        tuple((node["id"], attributes(node, labels)) for node, labels, _ in found),
        tuple(link for node, _, links in found for link in _links(node["id"], links)),
    )


def _links(source: str, links: Iterable[list[str]]) -> Iterator[LinkTriple]:
    return ((source, type_, target) for type_, target in links)
