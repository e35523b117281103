"""Tasks of the experiment `goals`: what people ask for in our homes, and what must be so then, as plain Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, Final

from scenecypher.db.graph.delta import Delta, apply, diff
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.db.store.history import Event
from scenecypher.evaluation.result import Document
from scenecypher.importers.task import Task
from scenecypher.planner.sessions.goal_words import GoalParser

FILE: Final = files("scenecypher.evaluation") / "data" / "goals.jsonl"
BUDGET: Final = 60


class GoalTask(Document):
    """Line of the file: a task in the home `home`, its goal in the language of goals, and what is `right` at the end.

    What is right are checks that all hold, each a name in CHECKS with its arguments. `moved` are things that were moved
    before, with where they are at the start. The goal of an impossible task can't be reached: it is right to say so, or
    to give up, and to change nothing.
    """

    id: str
    home: str
    instruction: str
    goal: str
    right: tuple[tuple[Any, ...], ...]
    moved: tuple[tuple[str, str], ...] = ()

    @property
    def kind(self) -> str:
        """The kind: what is hard in it."""
        return self.id.split("/")[1]

    def is_done(self, start: SceneGraph, end: SceneGraph, outcome: str) -> bool:
        """Check if the task is done, or if an impossible one was left alone."""
        if self.kind == "impossible" and outcome not in {"impossible", "given_up"}:
            return False
        is_right = all(CHECKS[name](start, end, *words) for name, *words in self.right)
        return is_right and not any(end.sources(it, *HOLDING) for it in end.nodes)

    def moves(self, graph: SceneGraph) -> Delta:
        """Return the change by which things are not where they were."""
        things = {thing for thing, _ in self.moved}
        kept = {it for it in graph.relations if it.source not in things or it.type not in {"ON", "INSIDE", "CLOSE"}}
        placed = {Relation(thing, "ON", to) for thing, to in self.moved}
        placed |= {Relation(thing, "INSIDE", room) for thing, to in self.moved for room in graph.targets(to, "INSIDE")}
        kept -= {it for it in kept if it.target in things and it.type == "CLOSE"}
        return diff(graph, SceneGraph.of(graph.nodes.values(), kept | placed))

    def task(self, scene: ImportedScene) -> Task:
        """Return the task, with its goal as a Condition on the graph at its start."""
        moves = self.moves(scene.graph)
        event = Event(1, datetime(2026, 1, 1, tzinfo=UTC), "person", "move", "", "act", (), moves)
        parser = GoalParser(apply(scene.graph, moves), scene.vocabulary, events=lambda: (event,))
        goal = parser.read(self.goal)
        return Task(self.id, self.instruction, scene.name, goal, (), BUDGET, "ours", self.kind, self.goal)


def _on(graph: SceneGraph, *places: str) -> set[str]:
    """Return the movable things directly on or in places."""
    found = {it for place in places for it in graph.sources(place, "ON", "INSIDE")}
    return {it for it in found if graph.nodes[it].kind == "Object"}


def _all(graph: SceneGraph, *names: str) -> set[str]:
    """Return the nodes that are named by their ids, or by their classes; a thing is any."""
    return {it for name in names for it in (graph.nodes if name == "thing" else graph.by_class.get(name, (name,)))}


def _are(graph: SceneGraph, state: str) -> set[str]:
    return {it.id for it in graph.nodes.values() if state in it.states}


def _arrived(start: SceneGraph, end: SceneGraph, to: str, *what: str) -> bool:
    """Check that all that was in places, or in a state, is in another place, and nothing else came there."""
    wanted = (_on(start, it) if it in start else _are(start, it) for it in what)
    return _on(end, to) == _on(start, to).union(*wanted)


def _same(start: SceneGraph, end: SceneGraph) -> bool:
    """Check that no thing has another place or state, wherever the agent is."""
    places = [{it: graph.targets(it, "ON", "INSIDE") for it in start.nodes} for graph in (start, end)]
    kept = [it for it in start.nodes.values() if it.kind != "Agent"]
    return all(it == end.nodes[it.id] and places[0][it.id] == places[1][it.id] for it in kept)


def _own(_: SceneGraph, end: SceneGraph, class_: str, places: str) -> bool:
    """Check that all things of a class are on things of another, no two on one."""
    alone = all(len(_on(end, place) & _all(end, class_)) <= 1 for place in _all(end, places))
    return alone and _all(end, class_) <= _on(end, *_all(end, places))


CHECKS: Final[Mapping[str, Callable[..., bool]]] = {
    "arrived": _arrived,
    "same": _same,
    "own": _own,
    "at": lambda _, end, thing, *places: thing in _on(end, *places),
    "all": lambda _, end, class_, *places: _all(end, class_) <= _on(end, *places),
    "only": lambda _, end, class_, place, *things: _on(end, place) & _all(end, class_) == {*things},
    "number": lambda _, end, class_, place, *counts: len(_on(end, place) & _all(end, class_)) in counts,
    "some": lambda _, end, state, *names: bool(_are(end, state) & _all(end, *names)),
    "none": lambda _, end, state, *names: not _are(end, state) & _all(end, *names),
}
"""Checks of a scene's graph at a play's end, by that at its start: what is where, how many, and in what state."""
GOAL_TASKS: Final = tuple(map(GoalTask.model_validate_json, FILE.read_text(encoding="utf-8").splitlines()))
BY_ID: Final = {it.id: it for it in GOAL_TASKS}
