"""Assembly of a scene graph from the nodes and relations of a file, with each problem at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.invariants import broken_rules
from scenecypher.db.graph.problems import NodeFacts, Problem, RelationDraft, document_error, find_faults
from scenecypher.db.graph.scene import InvalidValue, Node, Properties, SceneGraph, relation_between
from scenecypher.db.graph.value import checked, label, labels, property_name
from scenecypher.db.schema import Declared, vocabulary_of
from scenecypher.db.vocabulary import DEFAULT

T = TypeVar("T")
OWN = ("name", "states", "affordances")


@dataclass(frozen=True, slots=True)
class NodeDraft:
    """A node to be made: its place in the file, and the function that makes it, which may raise InvalidValue.

    `id`, if given, is the node's even where it can't be made, so that its relations are no further problem.
    """

    place: str
    make: Callable[[], Node]
    id: str | None = None


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
    drafts = [*drafts]
    problems: list[Problem] = []
    nodes = [*_made(((draft.place, draft.make) for draft in drafts), problems)]
    relations = [*_made(((place, partial(relation_between, *link)) for place, *link in links), problems)]
    problems += find_faults(
        [NodeFacts(place, node.id, node.properties) for place, node in nodes],
        [RelationDraft(place, it.source, it.type, it.target) for place, it in relations],
        None if declared is None else vocabulary_of(declared),
        broken=[draft.id for draft in drafts if draft.id is not None],
    )
    if problems:
        return SceneGraph.of({node.id: node for _, node in nodes}.values()), problems
    graph = SceneGraph.of((node for _, node in nodes), (relation for _, relation in relations))
    places = {node.id: place for place, node in nodes}
    return graph, [(places[node_id], f"{node_id}: {cause}") for node_id, cause in broken_rules(graph, vocabulary)]


def own_words(
    drafts: Iterable[NodeDraft], links: Iterable[RelationDraft], *, file: str, name: str, notes: Iterable[str] = ()
) -> ImportedScene:
    """Return the scene of a format whose words are its own: it declares those that we don't know.

    A relation that is given twice is stored once; one to a node that is not in the file is left out, with a note.
    Raises DocumentError.
    """
    drafts = [*drafts]
    known = {draft.id for draft in drafts}
    once = {(link.source, link.type, link.target): link for link in links}
    inner = [link for link in once.values() if link.source in known and link.target in known]
    graph, problems = assemble(drafts, inner, declared=None)
    if problems:
        raise document_error(file, problems)
    types = {relation.type for relation in graph.relations}
    properties = {key for node in graph.nodes.values() for key in node.properties}
    missing = len(once) - len(inner)
    more = (f"{missing:,} relations to things that are not in the file left out",) if missing else ()
    declared = Declared(tuple(types), tuple(properties))
    return ImportedScene(name, graph, declared=declared, source=file, notes=(*notes, *more))


def node_draft(place: str, id_: str, kind: str, class_: str, **facts: object) -> NodeDraft:
    """Return the draft of a node; of the `facts`, name, states and affordances are its own, others properties."""

    def make() -> Node:
        states, affordances = (labels(facts.get(key) or (), key) for key in ("states", "affordances"))
        others = {key: value for key, value in facts.items() if value is not None and key not in OWN}
        given = {property_name(key): checked(value, key) for key, value in others.items()}
        name = label(facts.get("name") or id_, "name")
        return Node(label(id_, "id"), kind, name, label(class_, "class"), states, affordances, Properties(given))

    return NodeDraft(place, make, id_)


def _made(drafts: Iterable[tuple[str, Callable[[], T]]], problems: list[Problem]) -> Iterator[tuple[str, T]]:
    """Yield what can be made, with its place; add the problems of all else."""
    for place, make in drafts:
        try:
            yield place, make()
        except InvalidValue as error:
            problems.append((place, str(error)))
