"""Which nodes a task needs changed, and how many of them are: LookPlanGraph's success and plan precision.

Sections V, VI-C and appendix B. A node is compared by its states and by what it is in, on, under, attached to or held
by. Things of a class stand for one another, as the paper counts "the required number of relations for key objects
rather than exact IDs"; so do they as places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from scenecypher.db.condition import Condition, evaluate
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.schema import HOLDING, VOCABULARIES
from scenecypher.evaluation.episode import Marks

NodeSignature: TypeAlias = tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]
"""How a node is, so that nodes alike are equal: its class, its states, and its places by relation."""

CHANGEABLE_KINDS: Final = frozenset({"Asset", "Object", "Agent"})
"""The kinds that a task can change; of an agent, only where it is."""


@dataclass(frozen=True, slots=True)
class MarkingScheme:
    """What a task is marked by. `differing` are all assets and objects that differ between initial and goal graph.

    What a plan changes on its way, such as a door that it leaves open, is among them (LookPlanGraph, appendix B).
    `needed` are those of the nodes without whose change the goal would not hold, which is ours.
    """

    goal: Condition
    vocabulary: str
    end: SceneGraph | None
    needed: frozenset[str]
    differing: frozenset[str]


def marking_scheme(goal: Condition, initial: SceneGraph, end: SceneGraph | None, *, vocabulary: str) -> MarkingScheme:
    """What is to change from `initial` to the goal graph `end` (None: no goal graph is known)."""
    if end is None:
        return MarkingScheme(goal, vocabulary, None, frozenset(), frozenset())
    changed = [
        it
        for it in _changeable_ids(end)
        if it in initial and node_signature(initial, it, vocabulary) != node_signature(end, it, vocabulary)
    ]
    needed = frozenset(it for it in changed if not _holds(goal, _revert_node(end, initial, it, vocabulary)))
    differing = frozenset(it for it in changed if end.nodes[it].kind != "Agent")
    return MarkingScheme(goal, vocabulary, end, needed or differing, differing)


def mark_graph(by: MarkingScheme, now: SceneGraph) -> Marks:
    """How far the task is done in `now`. What reaches the goal by another grounding has all that is needed."""
    reached = _holds(by.goal, now)
    if by.end is None:
        return Marks(reached=reached)
    full = len(by.needed)
    return Marks(
        reached=reached,
        correct=_correct(by, by.end, by.differing, now),
        differing=len(by.differing),
        correct_needed=full if reached else _correct(by, by.end, by.needed, now),
        needed=full,
        same=reached and _all_signatures(by.end, by.vocabulary) == _all_signatures(now, by.vocabulary),
    )


def node_signature(graph: SceneGraph, node_id: str, vocabulary: str) -> NodeSignature:
    """How a node is. What it is in or on is told by id for a place or furniture, by class for a thing."""
    node = graph.nodes[node_id]
    places = [
        (relation.type, _name(graph, relation.target))
        for relation in graph.outgoing.get(node_id, ())
        if relation.type in VOCABULARIES[vocabulary].containment
    ]
    held = [(relation.type, "") for relation in graph.incoming.get(node_id, ()) if relation.type in HOLDING]
    states = () if node.kind == "Agent" else tuple(node.states)
    return node.class_, states, tuple(sorted([*places, *held]))


def _name(graph: SceneGraph, node_id: str) -> str:
    node = graph.nodes[node_id]
    return node.class_ if node.kind == "Object" else node_id


def _changeable_ids(graph: SceneGraph) -> Iterator[str]:
    return (node.id for node in graph.nodes.values() if node.kind in CHANGEABLE_KINDS)


def _holds(goal: Condition, graph: SceneGraph) -> bool:
    return evaluate(goal, graph, {})


def _revert_node(end: SceneGraph, initial: SceneGraph, node_id: str, vocabulary: str) -> SceneGraph:
    """The goal graph with one node as it was at first."""
    before, after = (set(_placements(graph, node_id, vocabulary)) for graph in (initial, end))
    nodes = {**end.nodes, node_id: initial.nodes[node_id]}
    relations = (set(end.relations) - after) | {it for it in before if it.source in nodes and it.target in nodes}
    return SceneGraph.of(nodes.values(), relations)


def _placements(graph: SceneGraph, node_id: str, vocabulary: str) -> Iterator[Relation]:
    containment = VOCABULARIES[vocabulary].containment
    yield from (it for it in graph.outgoing.get(node_id, ()) if it.type in containment)
    yield from (it for it in graph.incoming.get(node_id, ()) if it.type in HOLDING)


def _correct(by: MarkingScheme, end: SceneGraph, ids: frozenset[str], now: SceneGraph) -> int:
    """How many of the nodes are as they should be, or others of their class in their stead."""
    wanted = Counter(node_signature(end, it, by.vocabulary) for it in ids)
    others = Counter(node_signature(end, it, by.vocabulary) for it in end.nodes if it not in ids)
    have = _count_signatures(now, wanted, by.vocabulary)
    return sum(min(count, max(0, have[one] - others[one])) for one, count in wanted.items())


def _count_signatures(
    graph: SceneGraph, wanted: Mapping[NodeSignature, int], vocabulary: str
) -> Counter[NodeSignature]:
    classes = {class_ for class_, _, _ in wanted}
    nodes = (node.id for node in graph.nodes.values() if node.class_ in classes)
    return Counter(node_signature(graph, it, vocabulary) for it in nodes)


def _all_signatures(graph: SceneGraph, vocabulary: str) -> Counter[NodeSignature]:
    """All nodes but agents, things of a class standing for one another."""
    return Counter(node_signature(graph, node.id, vocabulary) for node in graph.nodes.values() if node.kind != "Agent")
