"""Tasks of the experiments `goals`, `unclear` and `dynamic`: what people ask for in our homes, and what is right then.

Most tasks of `unclear` leave open what is meant; its models and people may be scripted. `python -m
tests.evaluation.dynamic_tasks` generates the tasks of `dynamic` in some minutes: 50 in our homes, in the three
categories of LookPlanGraph's section VI-B, and 50 of BEHAVIOR's activities. In half of each, one thing that the task
needs is moved before it begins; a seed determines which thing and where to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, Literal, TypeAlias

from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.db.condition import ALWAYS
from scenecypher.db.graph.delta import Delta, SetProperty, apply, diff
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.db.store.history import Event
from scenecypher.evaluation.published import data_lines
from scenecypher.evaluation.result import Document
from scenecypher.importers.datasets import task
from scenecypher.importers.homes import BUDGET, goal_from_facts, our_home
from scenecypher.importers.task import Task
from scenecypher.planner.actions.ruled import AskBack
from scenecypher.planner.sessions.goal_words import GoalParser
from scenecypher.planner.worlds.perturbation import Perturbation

BUDGETS: Final = (60, 30)
"""Actions that a task of `goals` grants, and one of `unclear`."""
CLEAR: Final = "clear"
Player: TypeAlias = Literal["", "careful", "careless"]
"""Who plays: a model of one's own, one that says what the instruction says, or one that leaves out and makes up."""


class StatedTask(Document):
    """Line of a file: an instruction in the home `home`, and what it says in the language of goals."""

    id: str
    home: str
    instruction: str
    goal: str

    @property
    def kind(self) -> str:
        """The kind: what is hard in it, or by what it is unclear."""
        return self.id.split("/")[1]


class GoalTask(StatedTask):
    """Task of `goals`, with what is `right` at the end.

    These are checks that all hold, each a name in CHECKS with its arguments. `moved` are things that were moved
    before, with where they are at the start. The goal of an impossible task can't be reached: it is right to say so, or
    to give up, and to change nothing.
    """

    right: tuple[tuple[Any, ...], ...]
    moved: tuple[tuple[str, str], ...] = ()

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
        return Task(self.id, self.instruction, scene.name, goal, (), BUDGETS[0], "ours", self.kind, self.goal)


class UnclearTask(StatedTask):
    """Task of `unclear`, with what is right at the end: one of the `things`, or `every` one, is `so`.

    `so` is a state, a place or its class. `careless` is what a careless model makes of the instruction. `wanted` are
    the ids that the person has in mind, `word` is the person's word for `absent`, a thing that is not there. Things
    that are `painted` differ in their colour alone.
    """

    things: tuple[str, ...]
    so: str
    every: bool = False
    wanted: tuple[str, ...] = ()
    careless: str = ""
    absent: str = ""
    word: str = ""
    painted: tuple[str, ...] = ()

    def is_done(self, _: SceneGraph, end: SceneGraph, outcome: str) -> bool:
        """Check by plain Python if the task is done as the person meant it, and nothing is left in a hand."""
        right = {self.so, *end.by_class.get(self.so, ())}
        found = [bool(right & {*end.nodes[it].states, *end.targets(it, "ON", "INSIDE")}) for it in self.things]
        is_right = all(found) if self.every else any(found)
        return is_right and outcome == "done" and not any(end.sources(it, *HOLDING) for it in end.nodes)

    def painting(self) -> Perturbation:
        """Return the change by which things have their colours."""
        nodes = our_home(self.home)[0].graph.nodes
        colors = zip(self.painted, ("red", "blue"), strict=False)
        painted = (SetProperty(it, "color", nodes[it].properties.get("color"), color) for it, color in colors)
        return Perturbation((), Delta(tuple(painted)))

    def task(self) -> Task:
        """Return the task; what is right in it, only `is_done` says."""
        scene = our_home(self.home)[0].name
        return Task(self.id, self.instruction, scene, ALWAYS, (), BUDGETS[1], "ours", self.kind, self.goal)


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
GOAL_TASKS: Final = data_lines("goals", GoalTask)
UNCLEAR_TASKS: Final = {it.id: it for it in data_lines("unclear", UnclearTask)}
STATED_TASKS: Final[Mapping[str, GoalTask | UnclearTask]] = {**{it.id: it for it in GOAL_TASKS}, **UNCLEAR_TASKS}
"""The tasks by their ids."""


@dataclass(frozen=True, slots=True)
class ScriptedGoals:
    """A scripted model that states a task's goal, and takes a person's word for what is not there."""

    task: UnclearTask
    player: Player

    def reply(self, request: Request) -> Reply:
        """Return the goal as a reply."""
        goal = (self.player == "careless" and self.task.careless) or self.task.goal
        if self.task.word and f"The answer: {self.task.word}." in request.messages[1].text:
            goal = goal.replace(self.task.absent, self.task.word)
        form = {"reason": "as it is asked", "impossible": False, "goal": goal.split("; ")}
        return Reply(json.dumps(form), Usage(), f"{self.player} (scripted)", "scripted")


@dataclass(frozen=True, slots=True)
class ScriptedPerson:
    """A scripted person, who knows what is wanted; a careless one says that any will do."""

    task: UnclearTask
    player: Player

    def __call__(self, question: AskBack) -> str:
        """Return an answer."""
        if self.player == "careless":
            return ""
        known = (it for it in self.task.wanted if any(it in nodes for nodes in question.nodes))
        return next(known, "") if question.choices else self.task.word


ID_PREFIX: Final = "dynamic"
"""Prefix of the ids of tasks in our homes."""

Category: TypeAlias = Literal["fridge", "microwave", "dishwasher", "behavior"]


class DynamicTask(Document):
    """Line of the file; `seed` moves one thing before the task begins, None moves nothing."""

    id: str
    category: Category
    seed: int | None
    home: str = ""
    instruction: str = ""
    goal: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()


@cache
def dynamic_tasks() -> tuple[DynamicTask, ...]:
    """Return all lines of the file."""
    return data_lines("dynamic", DynamicTask)


def to_task(line: DynamicTask) -> Task:
    """Return a line as a task."""
    if line.category == "behavior":
        return task(line.id)[1]
    scene, _ = our_home(line.home)
    return Task(
        id=line.id,
        instruction=line.instruction,
        scene=scene.name,
        goal=goal_from_facts(line.goal, scene.graph),
        action_goals=(),
        budget=BUDGET,
        source=scene.source,
        category=line.category,
        formula=", ".join(line.goal),
    )
