"""Marking by the nodes that a task changes: LookPlanGraph's success and average plan precision.

Sections V, VI-C and appendix B. A node is compared by its states and by what it is in, on, under, attached to or held
by. Things of a class are interchangeable, also as places, since the paper counts "the required number of relations for
key objects rather than exact IDs".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from scenecypher.db.condition import Condition, evaluate
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.db.vocabulary import conventions_of
from scenecypher.evaluation.episode import Marks

NodeSignature: TypeAlias = tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]
"""Class, states, and places by relation of a node; equal for interchangeable nodes."""

_WORD: Final = re.compile(r"[^\W_]+")

CHANGEABLE_KINDS: Final = frozenset({"Asset", "Object", "Agent"})
"""Kinds of nodes that a task can change; of an agent, only its place."""


@dataclass(frozen=True, slots=True)
class MarkingScheme:
    """Marking scheme of a task; `differing` are all assets and objects that differ between initial and goal graph.

    This includes side effects of the plan, such as a door left open (LookPlanGraph, appendix B). `needed` are the nodes
    without whose change the goal would not hold, which is ours.
    """

    goal: Condition
    vocabulary: str
    end: SceneGraph | None
    needed: frozenset[str]
    differing: frozenset[str]


def marking_scheme(goal: Condition, initial: SceneGraph, end: SceneGraph | None, *, vocabulary: str) -> MarkingScheme:
    """Return the scheme for the changes from `initial` to the goal graph `end` (None if it is unknown)."""
    if end is None:
        return MarkingScheme(goal, vocabulary, None, frozenset(), frozenset())
    changed = [
        it
        for it, node in end.nodes.items()
        if node.kind in CHANGEABLE_KINDS
        and it in initial
        and node_signature(initial, it, vocabulary) != node_signature(end, it, vocabulary)
    ]
    needed = frozenset(it for it in changed if not _holds(goal, _revert_node(end, initial, it, vocabulary)))
    differing = frozenset(it for it in changed if end.nodes[it].kind != "Agent")
    return MarkingScheme(goal, vocabulary, end, needed or differing, differing)


def is_same_answer(given: str, wanted: str, *, among: Sequence[str]) -> bool:
    """Check if an answer is the wanted one: in any case, markup or sentence, if it names no other of `among`."""
    return _words(given) == _words(wanted) or named_in(given, among) == {wanted}


def named_in(given: str, among: Sequence[str]) -> frozenset[str]:
    """Return which of `among` an answer names."""
    return frozenset(word for word in _words(given) if word in among)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold().replace("gray", "grey"))


def mark_graph(scheme: MarkingScheme, now: SceneGraph) -> Marks:
    """Mark the graph `now`; if the goal is reached by another grounding, all needed nodes count as correct."""
    reached = _holds(scheme.goal, now)
    if scheme.end is None:
        return Marks(reached=reached)
    full = len(scheme.needed)
    return Marks(
        reached=reached,
        correct=_correct(scheme, scheme.end, scheme.differing, now),
        differing=len(scheme.differing),
        correct_needed=full if reached else _correct(scheme, scheme.end, scheme.needed, now),
        needed=full,
        same=reached and _all_signatures(scheme.end, scheme.vocabulary) == _all_signatures(now, scheme.vocabulary),
    )


def node_signature(graph: SceneGraph, node_id: str, vocabulary: str) -> NodeSignature:
    """Return a node's signature: its places by id for places and furniture, by class for objects."""
    node = graph.nodes[node_id]
    places = [
        (relation.type, _name(graph, relation.target))
        for relation in graph.outgoing.get(node_id, ())
        if relation.type in conventions_of(vocabulary).containment
    ]
    held = [(relation.type, "") for relation in graph.incoming.get(node_id, ()) if relation.type in HOLDING]
    states = () if node.kind == "Agent" else tuple(node.states)
    return node.class_, states, tuple(sorted([*places, *held]))


def _name(graph: SceneGraph, node_id: str) -> str:
    node = graph.nodes[node_id]
    return node.class_ if node.kind == "Object" else node_id


def _holds(goal: Condition, graph: SceneGraph) -> bool:
    return evaluate(goal, graph, {})


def _revert_node(end: SceneGraph, initial: SceneGraph, node_id: str, vocabulary: str) -> SceneGraph:
    """Return the goal graph with one node as it was in the initial graph."""
    before, after = (set(_placements(graph, node_id, vocabulary)) for graph in (initial, end))
    nodes = {**end.nodes, node_id: initial.nodes[node_id]}
    relations = (set(end.relations) - after) | {it for it in before if it.source in nodes and it.target in nodes}
    return SceneGraph.of(nodes.values(), relations)


def _placements(graph: SceneGraph, node_id: str, vocabulary: str) -> Iterator[Relation]:
    containment = conventions_of(vocabulary).containment
    yield from (it for it in graph.outgoing.get(node_id, ()) if it.type in containment)
    yield from (it for it in graph.incoming.get(node_id, ()) if it.type in HOLDING)


def _correct(scheme: MarkingScheme, end: SceneGraph, ids: frozenset[str], now: SceneGraph) -> int:
    """Count the nodes that match the goal graph, by themselves or by others of their class."""
    wanted = _signatures(end, ids, scheme.vocabulary)
    others = _signatures(end, end.nodes.keys() - ids, scheme.vocabulary)
    have = _signatures(now, now.nodes, scheme.vocabulary)
    return sum(min(count, max(0, have[one] - others[one])) for one, count in wanted.items())


def _signatures(graph: SceneGraph, ids: Iterable[str], vocabulary: str) -> Counter[NodeSignature]:
    return Counter(node_signature(graph, it, vocabulary) for it in ids)


def _all_signatures(graph: SceneGraph, vocabulary: str) -> Counter[NodeSignature]:
    """Return the signatures of all nodes but agents, with their counts."""
    return _signatures(graph, (it.id for it in graph.nodes.values() if it.kind != "Agent"), vocabulary)
