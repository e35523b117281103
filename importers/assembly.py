"""Assembly of a scene graph from the nodes and relations of a file, with each problem at its place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from scenecypher.db.graph.invariants import broken_rules
from scenecypher.db.graph.problems import Problem
from scenecypher.db.graph.scene import InvalidValue, Node, SceneGraph, relation_between
from scenecypher.db.graph.scene_check import NodeFacts, RelationDraft, find_faults
from scenecypher.db.schema import Declared, vocabulary_of
from scenecypher.db.vocabulary import DEFAULT

T = TypeVar("T")


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


def _made(drafts: Iterable[tuple[str, Callable[[], T]]], problems: list[Problem]) -> Iterator[tuple[str, T]]:
    """Yield what can be made, with its place; add the problems of all else."""
    for place, make in drafts:
        try:
            yield place, make()
        except InvalidValue as error:
            problems.append((place, str(error)))
