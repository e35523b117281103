"""What pages tell beside the graph: a run as a film, the line of versions, belief beside world, what is doable."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from scenecypher.db.graph.scene import GraphView, Node, SceneGraph
from scenecypher.db.rules import NO_RULES, Rules
from scenecypher.db.schema import HOLDING
from scenecypher.db.store.history import read_heads
from scenecypher.db.store.runs import latest_runs, read_lines
from scenecypher.errors import InputError
from scenecypher.planner.actions.execution import bind_operator, unmet_requirements
from scenecypher.planner.actions.operator import AGENT, Operator
from scenecypher.planner.actions.ruled import refusal_by_rules, under_rules
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.sessions import events as e
from scenecypher.planner.vocabularies.vocabulary import operators_of
from scenecypher.retriever.retrieval import cell_text
from scenecypher.tree import PLACED

if TYPE_CHECKING:
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.scene_store import SceneStore

ARGUMENTS: Final = re.compile(r"\((.*)\)\s*$", re.DOTALL)
VERSIONS: Final = 5_000
RUNS: Final = 20
"""The latest versions and runs that the line shows."""
STATES: Final = ("confirmed", "changed", "moved", "gone", "never was", "unseen", "unknown")


@dataclass(frozen=True, slots=True)
class Frame:
    """One event of a run. `kind` is its name in logs, `turn` the decision that it belongs to.

    `text` is what it says, `lines` further lines; `cypher` with `columns` and `rows` is what a question read. `version`
    is the scene's after it, None if it changed nothing; `nodes` are the words of an action that may name nodes.
    """

    kind: str
    turn: int
    text: str
    lines: tuple[str, ...] = ()
    cypher: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    version: int | None = None
    nodes: tuple[str, ...] = ()


def frames_of(lines: Iterable[str]) -> Iterator[Frame]:
    """Yield the frames of a run's log lines; ends of turns have none."""
    since = 0
    for line in lines:
        event = e.event_from_document(json.loads(line))
        if isinstance(event, e.Proposed):
            since = event.since
        if (frame := _frame(event, since)) is not None:
            yield frame
        if isinstance(event, e.Acted | e.Corrected):
            since = event.version


def words_of(action: str) -> tuple[str, ...]:
    """Return the arguments of an action such as ``put_in(cup_1, fridge_2)``."""
    found = ARGUMENTS.search(action)
    return tuple(it.strip() for it in found[1].split(",")) if found else ()


def _frame(event: e.Event, since: int) -> Frame | None:
    match event:
        case e.Began() | e.Remembered():
            frame = None
        case e.Proposed():
            frame = _of(event, event.action, event.reason)
        case e.Corrected():
            frame = _acted(event, f"{event.action}, since {event.because}", event.version, event.action)
        case e.Acted():
            frame = _acted(event, event.action, event.version, event.action)
        case e.Observed():
            frame = _of(event, f"saw after {event.action}", *event.findings)
        case e.Refused():
            frame = _acted(event, event.action or event.cause, since, event.action, *event.reasons)
        case _:
            frame = _decided(event)
    return frame


def _decided(event: e.Asked | e.Retrieved | e.Called | e.Answered | e.Thought | e.Solved | e.Finished) -> Frame:
    match event:
        case e.Finished():
            frame = Frame("finished", 0, event.words, (f"answer: {event.answer}",) if event.answer else ())
        case e.Asked():
            frame = _of(event, event.question, event.reason, *event.choices)
        case e.Retrieved():
            rows = tuple(tuple(cell_text(cell) for cell in row) for row in event.rows)
            refused = tuple(f"refused: {it.reason}" for it in event.refused)
            frame = Frame("retrieved", event.step, event.answer, refused, event.cypher or "", event.columns, rows)
        case e.Called():
            frame = _of(event, f"{event.tool} {json.dumps(event.arguments, ensure_ascii=False)}", event.reason)
        case e.Answered():
            frame = _of(event, event.answer)
        case e.Thought():
            frame = _of(event, event.thought)
        case e.Solved():
            frame = _of(event, "; ".join(event.actions), event.reason)
    return frame


def _of(event: e.Asked | e.Called | e.Answered | e.Thought | e.Solved | e.Proposed | e.Observed, *text: str) -> Frame:
    first, *more = text
    return Frame(type(event).__name__.lower(), event.step, first, tuple(filter(None, more)))


def _acted(event: e.Acted | e.Corrected | e.Refused, text: str, version: int, action: str, *lines: str) -> Frame:
    return Frame(type(event).__name__.lower(), event.step, text, lines, version=version, nodes=words_of(action))


def timeline_of(store: SceneStore, scene: SceneInfo) -> dict[str, Any]:
    """Return the latest versions, runs and refusals of a scene as a document for the page's script.

    A version is its number, who made it, what it did and when; a run its number, instruction, state, and the versions
    before its first action and after its last; a refusal the version that it was at, its words, run and frame.
    """
    events = read_heads(store.database, scene.key, after=max(0, scene.version - VERSIONS))
    runs = [it for it in islice(latest_runs(store.database, scene.name), RUNS) if it.scene == scene.key]
    refused = [
        [frame.version, f"{frame.text}: {'; '.join(frame.lines)}", run.number, place]
        for run in runs
        for place, frame in enumerate(frames_of(read_lines(store.database, run.number)))
        if frame.kind == "refused"
    ]
    return {
        "newest": scene.version,
        "events": [[number, it.actor, it.action, it.at.isoformat()] for number, it in events],
        "runs": [
            # a run goes on to the scene's version while it runs, and stays at its first if it changed nothing
            [
                *(it.number, it.instruction or it.command, it.state, it.version),
                it.last_version or (scene.version if it.state == "running" else it.version),
            ]
            for it in runs
        ],
        "refused": refused,
    }


@dataclass(frozen=True, slots=True)
class Compared:
    """A thing with the reason why it stands in its group, empty if the group says it.

    `believed` is what the robot thinks that it is in or on, `confidence` from 0 to 1 how sure it is.
    """

    id: str
    name: str
    why: str = ""
    believed: tuple[str, ...] = ()
    confidence: float = 1.0

    def document(self, state: str) -> list[object]:
        """Return what the map draws of a thing in a state of belief."""
        return [self.id, self.name, state, self.why, [*self.believed], self.confidence]


@dataclass(frozen=True, slots=True)
class Group:
    """The things that are in one state of belief."""

    state: str
    things: tuple[Compared, ...]


def compare(belief: SceneGraph, world: SceneGraph, once: Collection[str] = ()) -> tuple[Group, ...]:
    """Return all objects of both in groups, in the order of STATES.

    What is elsewhere than believed has moved, also if the robot has never looked at it. What the world lacks is gone
    if it was there `once`, given by the ids, and never was if not: then only a look has made it.
    """
    groups: dict[str, list[Compared]] = {state: [] for state in STATES}
    for node in sorted(belief.nodes.values(), key=lambda it: (it.name, it.id)):
        if node.kind == "Object":
            state, why = _state_of(node, belief, world, once)
            sure = node.properties.get("confidence")
            confidence = float(sure) if isinstance(sure, int | float) else 1.0
            places = tuple(sorted(_places(belief, node.id)))
            groups[state].append(Compared(node.id, node.name, why, places, confidence))
    unknown = (it for it in world.nodes.values() if it.kind == "Object" and it.id not in belief)
    groups["unknown"] += [Compared(it.id, it.name) for it in sorted(unknown, key=lambda it: (it.name, it.id))]
    return tuple(Group(state, tuple(things)) for state, things in groups.items())


def _state_of(node: Node, belief: SceneGraph, world: SceneGraph, once: Collection[str]) -> tuple[str, str]:
    now = world.nodes.get(node.id)
    is_seen = node.properties.get("seen") is not False
    if now is None:
        return ("gone", "the world has it no more") if node.id in once else ("never was", "the world never had it")
    there, believed = _places(world, node.id), _places(belief, node.id)
    if there != believed:
        names = [world.nodes[it].name for it in sorted(there) if it in world]
        where = f"now at {', '.join(names)}" if names else "held or nowhere"
        return "moved", where if is_seen else f"{where}; not seen yet"
    if not is_seen:
        return "unseen", ""
    if now.states != node.states:
        return "changed", f"now {', '.join(now.states) or 'without states'}"
    return "confirmed", ""


def _places(graph: GraphView, node: str) -> frozenset[str]:
    """Return what a thing is in or on, without the room where it is on furniture too."""
    found = {target for type_ in PLACED for target in graph.targets(node, type_)}
    furniture = {it for it in found if graph.nodes[it].kind != "Place"}
    return frozenset(furniture or found)


@dataclass(frozen=True, slots=True)
class Doable:
    """An action about a node; `why_not` is empty if it can be done now."""

    action: str
    why_not: str = ""


def doable(graph: SceneGraph, vocabulary: str, node: str, rules: Rules = NO_RULES) -> tuple[Doable, ...]:
    """Return the actions on a node, and of what the agent holds with the node, those that can be done now first.

    Actions that the node will never allow, and those whose effect holds already, are left off. What breaks one of the
    `rules` of the house can't be done.
    """
    try:
        operators = operators_of(vocabulary)
    except InputError:  # a scene whose vocabulary is not installed here can be looked at
        return ()
    agent = min(graph.by_kind.get("Agent", ()), default=None)
    if agent is None or node == agent:
        return ()
    ruled = (under_rules(it, rules) for it in operators.values())
    found = (it for operator in ruled for it in _doable_with(operator, graph, agent, node, rules))
    return tuple(sorted(found, key=lambda it: bool(it.why_not)))


def _doable_with(operator: Operator, graph: SceneGraph, agent: str, node: str, rules: Rules) -> Iterator[Doable]:
    for arguments in _arguments(operator, graph, agent, node):
        given = {AGENT: agent, **dict(zip((it.name for it in operator.parameters), arguments, strict=True))}
        bindings = bind_operator(operator, graph, given)
        unmet = unmet_requirements(operator, graph, bindings)
        action = str(ActionCall(operator.name, arguments))
        if not unmet:
            yield Doable(action, refusal_by_rules(operator, rules, graph, given, action))
        elif all(it.requirement.fault == "missing" for it in unmet):
            yield Doable(action, "; ".join(it.words for it in unmet))


def _arguments(operator: Operator, graph: SceneGraph, agent: str, node: str) -> Iterator[tuple[str, ...]]:
    """Yield the node alone, or what the agent holds and the node."""
    if len(operator.parameters) == 1:
        yield (node,)
    elif len(operator.parameters) == 2:  # what is held, and where to
        yield from ((held, node) for held in sorted(graph.targets(agent, *HOLDING)) if held != node)
