"""VirtualHome's own `evolving_graph` engine, stepped beside ours: its verdict, its error class and its graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from db.scene import Relation, SceneGraph
from importers.virtualhome_format import STATES
from importers.virtualhome_graph import document_of, node_id, source_id

FAULTS = {1: "missing", 2: "affordance", 4: "already"}
NAMES = {
    "WALK": "walk",
    "GRAB": "grab",
    "PUTBACK": "put_on",
    "PUTIN": "put_in",
    "OPEN": "open",
    "CLOSE": "close",
    "SWITCHON": "switch_on",
    "SWITCHOFF": "switch_off",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the engine carried the step out, else which of our faults its error is."""

    feasible: bool
    fault: str | None


class Engine:
    """One episode of the reference."""

    def __init__(self, graph: SceneGraph) -> None:
        from virtualhome_eval.simulation.evolving_graph.environment import EnvironmentGraph, EnvironmentState

        document = document_of(graph)
        for node in document["nodes"]:
            node.pop("bounding_box")
        self.state: Any = EnvironmentState(EnvironmentGraph(document), {}, instance_selection=True)

    def graph(self, before: SceneGraph) -> SceneGraph:
        """The engine's graph as ours, `before` being one with the same nodes."""
        relations, states = self.facts()
        nodes = (replace(node, states=tuple(states[node.id])) for node in before.nodes.values())
        return SceneGraph.of(nodes, (Relation(*relation) for relation in relations))

    def facts(self) -> tuple[set[tuple[str, str, str]], dict[str, set[str]]]:
        """Its relations and its nodes' states, in our words; quicker to compare than the graph."""
        document = self.state.to_dict()
        ids = {node["id"]: node_id(node["class_name"], node["id"]) for node in document["nodes"]}
        edges = {(ids[e["from_id"]], e["relation_type"], ids[e["to_id"]]) for e in document["edges"]}
        return edges, {ids[n["id"]]: {STATES[state] for state in n["states"]} for n in document["nodes"]}

    def step(self, line: str) -> Verdict:
        """Carry out one line of a program such as ``[GRAB] <soap> (1001)``."""
        from virtualhome_eval.simulation.evolving_graph.execution import ExecutionInfo, ScriptExecutor
        from virtualhome_eval.simulation.evolving_graph.scripts import Script, parse_script_line

        info = ExecutionInfo(eval_mode=True)
        with first_by_id():
            script = Script([parse_script_line(line, 0)])
            after = next(ScriptExecutor.call_action_method(script, self.state, info, 0), None)
        if after is None:
            return Verdict(feasible=False, fault=FAULTS.get(info.error_type))
        self.state = after
        return Verdict(feasible=True, fault=None)


def line_of(action: str, arguments: tuple[str, ...]) -> str:
    """An action of ours as a line of a program."""
    verb = next(theirs for theirs, ours in NAMES.items() if ours == action)
    return program_line(verb, arguments)


def program_line(verb: str, arguments: tuple[str, ...]) -> str:
    """A line of a program, such as ``[GRAB] <soap> (1001)``."""
    return " ".join([f"[{verb}]", *(f"<{a.rpartition('_')[0]}> ({source_id(a)})" for a in arguments)])


@contextmanager
def first_by_id() -> Iterator[None]:
    """Where the engine takes the first of a set in Python's order, let it take the first by our id."""
    from virtualhome_eval.simulation.evolving_graph import execution

    original = execution._find_first_node_from

    def pinned(state: Any, node: Any, relations: Any) -> Any:
        for relation in relations:
            others = [other for other in state.get_nodes_from(node, relation) if other.category != "Rooms"]
            if others:
                return min(others, key=lambda other: node_id(other.class_name, other.id)), relation
        return None, None

    execution._find_first_node_from = pinned
    try:
        yield
    finally:
        execution._find_first_node_from = original
