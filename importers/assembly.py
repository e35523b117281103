"""Assembly of a scene graph from the nodes and relations of a file, with each problem at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from scenecypher.db.graph.invariants import broken_rules
from scenecypher.db.graph.problems import NearestNames, Problem
from scenecypher.db.graph.scene import InvalidValue, Node, Relation, SceneGraph, relation_between
from scenecypher.db.graph.value import shown
from scenecypher.db.schema import Declared, vocabulary_of
from scenecypher.db.vocabulary import DEFAULT


@dataclass(frozen=True, slots=True)
class NodeDraft:
    """A node to be made: its place in the file, and the function that makes it, which may raise InvalidValue.

    `id`, if given, is the node's even where it can't be made, so that its relations are no further problem.
    """

    place: str
    make: Callable[[], Node]
    id: str | None = None


class RelationDraft(NamedTuple):
    """A relation to be made, in our vocabulary: its place in the file, and the ids of its two nodes."""

    place: str
    source: str
    type: str
    target: str


def assemble(
    drafts: Iterable[NodeDraft],
    links: Iterable[RelationDraft],
    *,
    vocabulary: str = DEFAULT,
    declared: Declared | None,
) -> tuple[SceneGraph, list[Problem]]:
    """Return the graph and its problems. If there are any, the graph holds only the nodes that could be made.

    Without `declared`, as where a file's declarations can't be read, any names are accepted.
    """
    problems: list[Problem] = []
    nodes, places, broken = _make_nodes(drafts, problems)
    relations = _make_relations(links, nodes, problems, broken=broken)
    if declared is not None:
        problems += _undeclared(relations, nodes, places, declared)
    if problems:
        return SceneGraph.of(nodes.values()), problems
    graph = SceneGraph.of(nodes.values(), relations)
    return graph, [(places[node_id], f"{node_id}: {cause}") for node_id, cause in broken_rules(graph, vocabulary)]


def _make_nodes(
    drafts: Iterable[NodeDraft], problems: list[Problem]
) -> tuple[dict[str, Node], dict[str, str], set[str]]:
    """Return the nodes and their places, and the ids of nodes that could not be made."""
    nodes: dict[str, Node] = {}
    places: dict[str, str] = {}
    broken: set[str] = set()
    for draft in drafts:
        try:
            node = draft.make()
        except InvalidValue as error:
            problems.append((draft.place, str(error)))
            broken |= {draft.id} if draft.id is not None else set()
            continue
        if node.id in nodes:
            there = places[node.id]
            problems.append((draft.place, f"{shown(node.id)} is the id of {there} already; give each node its own"))
        nodes.setdefault(node.id, node)
        places.setdefault(node.id, draft.place)
    return nodes, places, broken


def _make_relations(
    links: Iterable[RelationDraft], nodes: dict[str, Node], problems: list[Problem], *, broken: set[str]
) -> dict[Relation, str]:
    near = NearestNames.of(nodes)
    relations: dict[Relation, str] = {}
    for link in links:
        try:
            relation = relation_between(link.source, link.type, link.target)
        except InvalidValue as error:
            problems.append((link.place, str(error)))
            continue
        for end in (relation.source, relation.target):
            if end not in nodes and end not in broken:
                hint = near.hint(end) or "; add it, or leave the relation out"
                problems.append((link.place, f"no node is called {shown(end)}{hint}"))
        if relation in relations:
            problems.append((link.place, f"is the same relation as {relations[relation]}; give it once"))
        relations.setdefault(relation, link.place)
    return relations


def _undeclared(
    relations: dict[Relation, str], nodes: dict[str, Node], places: dict[str, str], declared: Declared
) -> Iterator[Problem]:
    known = vocabulary_of(declared)
    near = NearestNames.of(known.properties)
    foreign = {key for node in nodes.values() for key in node.properties} - known.properties
    for node_id, node in nodes.items() if foreign else ():
        for key in node.properties:
            if key in foreign:
                yield places[node_id], f"{key} is no known property{near.hint(key)}; declare it, or leave it out"
    near = NearestNames.of(known.relation_types)
    foreign = {relation.type for relation in relations} - known.relation_types
    for relation, place in relations.items() if foreign else ():
        if relation.type in foreign:
            hint = near.hint(relation.type)
            yield place, f"{relation.type} is no known relation type{hint}; declare it, or leave it out"
