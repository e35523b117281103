"""Tasks of the experiment `unclear`, most of which leave open what is meant, and its scripted models and people."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Final, Literal, TypeAlias

from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.db.condition import ALWAYS
from scenecypher.db.graph.delta import Delta, SetProperty
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.evaluation.result import Document
from scenecypher.importers.homes import our_home
from scenecypher.importers.task import Task
from scenecypher.planner.actions.ruled import AskBack
from scenecypher.planner.worlds.perturbation import Perturbation

FILE: Final = files("scenecypher.evaluation") / "data" / "unclear.jsonl"
BUDGET: Final = 30
CLEAR: Final = "clear"
Player: TypeAlias = Literal["", "careful", "careless"]
"""Who plays: a model of one's own, one that says what the instruction says, or one that leaves out and makes up."""


class UnclearTask(Document):
    """Line of the file: an instruction, and what is right at the end: one of the `things`, or `every` one, is `so`.

    `so` is a state, a place or its class. `goal` is what the instruction says in the language of goals, `careless` what
    a careless model makes of it. `wanted` are the ids that the person has in mind, `word` is the person's word for
    `absent`, a thing that is not there. Things that are `painted` differ in their colour alone.
    """

    id: str
    home: str
    instruction: str
    goal: str
    things: tuple[str, ...]
    so: str
    every: bool = False
    wanted: tuple[str, ...] = ()
    careless: str = ""
    absent: str = ""
    word: str = ""
    painted: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind: clear, or by what it is unclear."""
        return self.id.split("/")[1]

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
        return Task(self.id, self.instruction, scene, ALWAYS, (), BUDGET, "ours", self.kind, self.goal)


UNCLEAR_TASKS: Final = {
    it.id: it for it in map(UnclearTask.model_validate_json, FILE.read_text(encoding="utf-8").splitlines())
}
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
