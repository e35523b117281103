"""VirtualHome's own `evolving_graph` engine as a reference: its verdict, its kind of mistake and its graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Final

from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.importers.virtualhome_format import STATES, document_of, node_id, source_id
from scenecypher.planner.actions.execution import Mistake

MISTAKES: Final[dict[int | None, Mistake | None]] = {
    0: "wrong_order",
    1: "missing_step",
    2: "affordance",
    3: "unseen_object",
    4: "additional_step",
    None: None,
}
"""Mistakes by the evaluator's numbers; None if the engine fails without one, on which the evaluator stops."""
NAMES: Final = {
    "WALK": "walk",
    "RUN": "run",
    "FIND": "find",
    "SIT": "sit",
    "LIE": "lie",
    "STANDUP": "stand_up",
    "SLEEP": "sleep",
    "WAKEUP": "wake_up",
    "TURNTO": "turn_to",
    "LOOKAT": "look_at",
    "POINTAT": "point_at",
    "WATCH": "watch",
    "GREET": "greet",
    "GRAB": "grab",
    "PUTBACK": "put_on",
    "PUTIN": "put_in",
    "PUTOBJBACK": "put_back",
    "DROP": "drop",
    "RELEASE": "release",
    "POUR": "pour",
    "PUTON": "wear",
    "PUTOFF": "put_off",
    "READ": "read",
    "DRINK": "drink",
    "EAT": "eat",
    "OPEN": "open",
    "CLOSE": "close",
    "SWITCHON": "switch_on",
    "SWITCHOFF": "switch_off",
    "PLUGIN": "plug_in",
    "PLUGOUT": "plug_out",
    "WASH": "wash",
    "RINSE": "rinse",
    "SCRUB": "scrub",
    "WIPE": "wipe",
    "SQUEEZE": "squeeze",
    "TOUCH": "touch",
    "TYPE": "type",
    "CUT": "cut",
    "PUSH": "push",
    "PULL": "pull",
    "MOVE": "move",
}
VERBS: Final = {ours: theirs for theirs, ours in NAMES.items()}
UNSUPPORTED: Final = ("LOOKAT_SHORT", "LOOKAT_LONG")
"""Actions that the engine lists but can't carry out: it always raises a TypeError."""
TAKEN: Final = {"ON": "TAKEN_OFF", "INSIDE": "TAKEN_OUT_OF", "CLOSE": "TAKEN_FROM"}

Facts = tuple[set[tuple[str, str, str]], dict[str, set[str]]]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The engine's verdict on a step: feasible, or the kind of mistake."""

    feasible: bool
    mistake: Mistake | None = None


class Engine:
    """One episode of the reference, judged by its own evaluator; `pinned` selects the first by our id."""

    def __init__(self, graph: SceneGraph, *, pinned: bool = True) -> None:
        from virtualhome_eval.simulation.evolving_graph.environment import EnvironmentGraph, EnvironmentState

        document = document_of(graph)
        for node in document["nodes"]:
            node.pop("bounding_box")
        self.state: Any = EnvironmentState(EnvironmentGraph(document), {}, instance_selection=True)
        self.history: list[Any] = [self.state.to_dict()]
        self.pinned = pinned

    def graph(self, before: SceneGraph) -> SceneGraph:
        """Return the engine's graph as ours; `before` has the same nodes."""
        relations, states = self.facts()
        nodes = (replace(node, states=tuple(states[node.id])) for node in before.nodes.values())
        return SceneGraph.of(nodes, (Relation(*relation) for relation in relations))

    def facts(self) -> Facts:
        """Return its relations, including those it remembers, and its nodes' states, in our words."""
        document = self.history[-1]
        ids = {node["id"]: node_id(node["class_name"], node["id"]) for node in document["nodes"]}
        edges = {(ids[e["from_id"]], e["relation_type"], ids[e["to_id"]]) for e in document["edges"]}
        for (_, taken), (origin, relation) in self.state.executor_data.items():
            edges.add((ids[taken], TAKEN[relation.name], ids[origin.id]))
        return edges, {ids[n["id"]]: {STATES[state] for state in n["states"]} for n in document["nodes"]}

    def step(self, line: str) -> Verdict:
        """Carry out one line of a program such as ``[GRAB] <soap> (1001)``."""
        from virtualhome_eval.simulation.evolving_graph.checker import TemporalOrderChecker
        from virtualhome_eval.simulation.evolving_graph.execution import ExecutionInfo, ScriptExecutor
        from virtualhome_eval.simulation.evolving_graph.scripts import Script, parse_script_line

        info = ExecutionInfo(eval_mode=True)
        with first_by_id() if self.pinned else nullcontext():
            script = Script([parse_script_line(line, 0)])
            after = next(ScriptExecutor.call_action_method(script, self.state, info, 0), None)
        if after is None:
            checker = TemporalOrderChecker(info, self._about(info)).run_checker()
            return Verdict(feasible=False, mistake=MISTAKES[checker.get_error_type()])
        if after is not self.state:
            self.state = after
            self.history.append(after.to_dict())
        return Verdict(feasible=True)

    def _about(self, info: Any) -> list[Any]:
        """Return the history with only the relations that start at nodes which the checker looks for."""
        sources = {wanted["from_id"] for _, wanted in info.missing_preconds if "relation" in wanted}
        return [
            {**document, "edges": [edge for edge in document["edges"] if edge["from_id"] in sources] if sources else []}
            for document in self.history
        ]


def line_of(action: str, arguments: tuple[str, ...]) -> str:
    """Return one of our actions as a line of a program, such as ``[GRAB] <soap> (1001)``."""
    return " ".join([f"[{VERBS[action]}]", *(f"<{a.rpartition('_')[0]}> ({source_id(a)})" for a in arguments)])


@contextmanager
def first_by_id() -> Iterator[None]:
    """Make the engine take the first by our id instead of the first in Python's set order.

    From a thing it climbs to its room, choosing one container per level: of all rooms that some order would reach, it
    takes the first.
    """
    from virtualhome_eval.simulation.evolving_graph import execution

    originals = execution._find_first_node_from, execution._get_room_node
    execution._find_first_node_from, execution._get_room_node = _pinned_first, _pinned_room
    try:
        yield
    finally:
        execution._find_first_node_from, execution._get_room_node = originals


def _first(nodes: Any) -> Any:
    return min(nodes, key=lambda node: node_id(node.class_name, node.id), default=None)


def _pinned_first(state: Any, node: Any, relations: Any) -> Any:
    for relation in relations:
        found = _first(n for n in state.get_nodes_from(node, relation) if n.category != "Rooms")
        if found is not None:
            return found, relation
    return None, None


def _pinned_room(state: Any, node: Any) -> Any:
    from virtualhome_eval.simulation.evolving_graph.environment import Relation as Edge

    if node.category == "Rooms":
        return node
    inside = state.get_nodes_from(node, Edge.INSIDE)
    rooms = [outer for outer in inside if outer.category == "Rooms"]
    if not rooms and len(inside) == 1:
        rooms = _rooms_above(state, inside, Edge.INSIDE)
    return _first(rooms)


def _rooms_above(state: Any, nodes: list[Any], inside: Any) -> list[Any]:
    """Return the rooms that climbing from `nodes` ends in; climbing stops at a room."""
    rooms, seen, waiting = [], set(), [*nodes]
    while waiting:
        node = waiting.pop()
        if node.id in seen:
            continue
        seen.add(node.id)
        if node.category == "Rooms":
            rooms.append(node)
        else:
            waiting += state.get_nodes_from(node, inside)
    return rooms
