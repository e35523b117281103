"""Assembly of a scene graph from the nodes and relations of a file, with each problem at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from scenecypher.db.graph.invariants import broken_rules
from scenecypher.db.graph.problems import Problem
from scenecypher.db.graph.scene import InvalidValue, Node, Relation, SceneGraph
from scenecypher.db.graph.value import shown
from scenecypher.db.schema import Declared, vocabulary_of
from scenecypher.db.vocabulary import DEFAULT
from scenecypher.errors import did_you_mean


@dataclass(frozen=True, slots=True)
class NodeDraft:
    """A node to be made: its place in the file, and the function that makes it, which may raise InvalidValue."""

    place: str
    make: Callable[[], Node]


@dataclass(frozen=True, slots=True)
class RelationDraft:
    """A relation to be made, in our vocabulary: its place in the file, and the ids of its two nodes."""

    place: str
    source: str
    type: str
    target: str


def assemble(
    drafts: Iterable[NodeDraft], links: Iterable[RelationDraft], *, vocabulary: str = DEFAULT, declared: Declared
) -> tuple[SceneGraph, list[Problem]]:
    """Return the graph and its problems. If there are any, the graph holds only the nodes that could be made."""
    problems: list[Problem] = []
    nodes, places = _make_nodes(drafts, problems)
    relations = _make_relations(links, nodes, problems)
    if not problems:
        problems += _undeclared(relations, nodes, places, declared)
    if problems:
        return SceneGraph.of(nodes.values()), problems
    graph = SceneGraph.of(nodes.values(), relations)
    return graph, [(places[node_id], f"{node_id}: {cause}") for node_id, cause in broken_rules(graph, vocabulary)]


def _make_nodes(drafts: Iterable[NodeDraft], problems: list[Problem]) -> tuple[dict[str, Node], dict[str, str]]:
    nodes: dict[str, Node] = {}
    places: dict[str, str] = {}
    for draft in drafts:
        try:
            node = draft.make()
        except InvalidValue as error:
            problems.append((draft.place, str(error)))
            continue
        if node.id in nodes:
            there = places[node.id]
            problems.append((draft.place, f"{shown(node.id)} is the id of {there} already; give each node its own"))
        nodes.setdefault(node.id, node)
        places.setdefault(node.id, draft.place)
    return nodes, places


def _make_relations(
    links: Iterable[RelationDraft], nodes: dict[str, Node], problems: list[Problem]
) -> dict[Relation, str]:
    relations: dict[Relation, str] = {}
    for link in links:
        try:
            relation = Relation(link.source, link.type, link.target)
        except InvalidValue as error:
            problems.append((link.place, str(error)))
            continue
        missing = [end for end in (relation.source, relation.target) if end not in nodes]
        problems += [(link.place, f"no node is called {shown(end)}{_near(end, nodes)}") for end in missing]
        if relation in relations:
            problems.append((link.place, f"is the same relation as {relations[relation]}; give it once"))
        relations.setdefault(relation, link.place)
    return relations


def _undeclared(
    relations: dict[Relation, str], nodes: dict[str, Node], places: dict[str, str], declared: Declared
) -> Iterator[Problem]:
    known = vocabulary_of(declared)
    for node_id, node in nodes.items():
        for key in node.properties:
            if key not in known.properties:
                yield places[node_id], f"{key} is no known property; declare it, or leave it out"
    for relation, place in relations.items():
        if relation.type not in known.relation_types:
            near = did_you_mean(relation.type, tuple(known.relation_types))
            yield place, f"{relation.type} is no known relation type{near}; declare it, or leave it out"


def _near(missing: str, nodes: dict[str, Node]) -> str:
    return did_you_mean(missing, tuple(nodes)) or "; add it, or leave the relation out"
