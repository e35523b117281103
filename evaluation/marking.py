"""Marking by the nodes that a task changes, as LookPlanGraph does (success, average plan precision), and by answers.

Sections V, VI-C and appendix B. A node is compared by its states and by what it is in, on, under, attached to or held
by. Things of a class are interchangeable, also as places, since the paper counts "the required number of relations for
key objects rather than exact IDs". The rows of a query are compared with the gold answer: execution match.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import isclose
from typing import Any, Final, TypeAlias

from scenecypher.db.condition import Condition, evaluate
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.db.vocabulary import conventions_of
from scenecypher.evaluation.result import Document

NodeSignature: TypeAlias = tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]]
"""Class, states, and places by relation of a node; equal for interchangeable nodes."""

PLAIN_WORD: Final = re.compile(r"[^\W_]+")

CHANGEABLE_KINDS: Final = frozenset({"Asset", "Object", "Agent"})
"""Kinds of nodes that a task can change; of an agent, only its place."""


class Marks(Document):
    """Marks for the final state; without a goal graph, all counts are 0.

    `reached` says that the task is done. `correct` of `differing` nodes match the goal graph, among all that differ
    between initial and goal graph. `correct_needed` of `needed` counts only the nodes whose change the goal depends on.
    `same` says that the task is done and that all nodes but the agent match the goal graph.
    """

    reached: bool
    correct: int = 0
    differing: int = 0
    correct_needed: int = 0
    needed: int = 0
    same: bool = False


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
    return PLAIN_WORD.findall(text.casefold().replace("gray", "grey"))


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


WORD: Final = re.compile(r"\d+\.\d+|[^\W_]+(?:[_-]+[^\W_]+)*")
NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
TRUTHS: Final = {"yes": True, "true": True, "no": False, "false": False}

Rows = Sequence[Sequence[Any]]

MAX_COLUMNS: Final = 8
"""Rows with more columns are dumps of nodes and match nothing."""


def rows_contain(gold: Rows, rows: Rows) -> bool:
    """Check that some columns of `rows`, in any order, hold exactly the gold rows, as sets.

    So columns of evidence and repeated rows are allowed; a row too many or too few is not. A list in a single row may
    stand for a column of its items. If gold is empty, only nulls are right. Where gold is one number or truth value,
    different values in several columns are wrong.
    """
    if not gold:
        return all(cell is None for row in rows for cell in row)
    if not rows or len(rows[0]) > MAX_COLUMNS or _is_ambiguous(gold, rows):
        return False
    wanted = _set(gold)
    return any(_set(one) == wanted for one in _readings(rows, width=len(gold[0])))


def _is_ambiguous(gold: Rows, rows: Rows) -> bool:
    """Check that gold is one number or truth value, and that `rows` give several that differ."""
    if len(gold) != 1 or len(gold[0]) != 1 or not isinstance(gold[0][0], bool | int | float):
        return False
    is_truth = isinstance(gold[0][0], bool)
    columns = [column for column in zip(*rows, strict=True) if all(_is_same_type(cell, is_truth) for cell in column)]
    return len({_key(column) for column in columns}) > 1


def _is_same_type(cell: Any, is_truth: bool) -> bool:  # noqa: FBT001 - selects one of two kinds
    return isinstance(cell, bool) if is_truth else isinstance(cell, int | float) and not isinstance(cell, bool)


def text_names(gold: Rows, text: str) -> bool:
    """Check that an answer in words names all values of the gold rows.

    A truth value is the first yes or no, a single number is the last number, and names match whole words. Further names
    are allowed, since words alone can't separate an answer from its reasons.
    """
    words = [word.casefold() for word in WORD.findall(text)]
    if len(gold) == 1 and len(gold[0]) == 1 and isinstance(gold[0][0], bool | int | float):
        return _text_gives(gold[0][0], words)
    return bool(gold) and all(_is_named(cell, words) for row in gold for cell in _cells(row))


def _text_gives(value: bool | float, words: Sequence[str]) -> bool:  # noqa: FBT001 - selects one of two kinds
    if isinstance(value, bool):
        return next((TRUTHS[word] for word in words if word in TRUTHS), None) is value
    numbers = [float(word) for word in words if NUMBER.fullmatch(word)]
    return bool(numbers) and isclose(numbers[-1], value, abs_tol=1e-6)


def _cells(row: Sequence[Any]) -> Iterator[Any]:
    for cell in row:
        yield from (cell if isinstance(cell, list) else [cell])


def _is_named(cell: Any, words: Sequence[str]) -> bool:
    """Check that a value occurs among the words, the words of a name in order."""
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return any(isclose(float(word), cell, abs_tol=1e-6) for word in words if NUMBER.fullmatch(word))
    name = [word.casefold() for word in WORD.findall(str(cell))]
    return any([*words[at : at + len(name)]] == name for at in range(len(words) - len(name) + 1))


def rows_equal(gold: Rows, rows: Rows) -> bool:
    """Check that the rows equal the gold rows in any order: as many columns, as many rows."""
    return sorted(map(_key, gold)) == sorted(map(_key, rows))


def _readings(rows: Rows, *, width: int) -> Iterator[Rows]:
    for chosen in permutations(range(len(rows[0])), width):
        yield [[row[column] for column in chosen] for row in rows]
    if width == 1 and len(rows) == 1:
        yield from ([[item] for item in cell] for cell in rows[0] if isinstance(cell, list))


def _set(rows: Rows) -> set[str]:
    return {_key(row) for row in rows}


def _key(row: Sequence[Any]) -> str:
    return json.dumps([_plain(cell) for cell in row], sort_keys=True)


def _plain(cell: Any) -> Any:
    """Return equal values for what Cypher considers equal: 2 and 2.0, and sums that differ in their last digits."""
    match cell:
        case bool():
            return cell
        case float() if isclose(cell, round(cell), abs_tol=1e-9):
            return round(cell)
        case float():
            return round(cell, 6)
        case list():
            return [_plain(item) for item in cell]
    return cell
