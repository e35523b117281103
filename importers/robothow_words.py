"""Instructions for RobotHow's tasks that name the whole goal, since the programs' titles do not."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final, assert_never

from scenecypher.db.condition import HasState, Id, Related, Term
from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.importers.robothow_graph import NodeFact

_FILE: Final = files("scenecypher.importers") / "data" / "robothow.toml"
WORDS: Final[Mapping[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
"""Actions and titles that programs are chosen by, and the `leads` of instructions."""
MOVING: Final[Mapping[str, str]] = {"ON": "put {} on {}", "INSIDE": "put {} into {}"}
STATES: Final[Mapping[str, str]] = {
    "open": "leave {} open",
    "closed": "close {}",
    "off": "turn off {}",
    "on": "turn on {}",
}
"""The phrases of facts, in the order in which they are said."""


def instruction(title: str, wanted: Sequence[NodeFact], graph: SceneGraph) -> str:
    """Return one sentence that names each node, place and state of `wanted`."""
    parts = [*_moves(wanted, graph), *_states(wanted, graph)]
    said = _listed(parts, ", and " if len(parts) > 1 else "")
    lead = WORDS["leads"].get(title)
    return f"{lead}: {said}." if lead else f"{said[0].upper()}{said[1:]}."


def node_phrase(node: Term, graph: SceneGraph) -> str:
    """Return ``the home office``, or ``light_411 in the home office`` if the home has several of its class."""
    found = _node(node, graph)
    if len(graph.by_class[found.class_]) == 1:
        return f"the {found.class_.removeprefix('food_').removeprefix('clothes_').replace('_', ' ')}"
    rooms = graph.targets(found.id, "INSIDE") if found.kind == "Asset" else ()
    return " in ".join([found.id, *(node_phrase(Id(room), graph) for room in rooms)])


def _node(term: Term, graph: SceneGraph) -> Node:
    return graph.nodes[term.id if isinstance(term, Id) else term]


def _moves(wanted: Sequence[NodeFact], graph: SceneGraph) -> Iterator[str]:
    groups: dict[tuple[str, Term], list[Term]] = {}
    for fact in wanted:
        match fact:
            case Related():
                groups.setdefault((fact.type, fact.target), []).append(fact.source)
            case HasState():
                continue
            case _:
                assert_never(fact)
    for (type_, target), moved in groups.items():
        yield MOVING[type_].format(_all(moved, graph), node_phrase(target, graph))


def _states(wanted: Sequence[NodeFact], graph: SceneGraph) -> Iterator[str]:
    for state, words in STATES.items():
        nodes = [fact.x for fact in wanted if isinstance(fact, HasState) and fact.state == state]
        if nodes:
            yield words.format(_all(nodes, graph))


def _all(nodes: Sequence[Term], graph: SceneGraph) -> str:
    return _listed([node_phrase(node, graph) for node in nodes], " and ")


def _listed(parts: Sequence[str], last: str) -> str:
    *before, end = parts
    return f"{', '.join(before)}{last}{end}" if before else end
