"""Symbolic: no model; a plan by a PDDL engine, carried out action by action, and made anew when one is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from chat.model import Usage
from db.catalog import SceneInfo
from db.condition import Condition
from db.connection import Database
from db.relevant import relevant
from db.scene import SceneGraph
from planner.actions.pddl_planner import LIFTED, SURFACES, Planned, Question, See, named_in, plan
from planner.actions.text import Call
from planner.method import Act, Decision, Done, GiveUp, Memory
from retriever.retrieval import Retrieval
from scenecypher.errors import UnknownReference

NAME: Final = "symbolic"
MOST_PLANS: Final = 5
"""Plans for one task; more mean that the scene does not do what its operators say."""
REFUSED: Final = "was refused"
"""How a session says that an action could not be carried out."""


class Symbolic:
    """Decides by `planning`, which gives a plan from the scene as it is now."""

    def __init__(self, planning: Callable[[], Planned]) -> None:
        self._planning = planning
        self._ahead: list[Call] = []
        self._plans = 0

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """The next action of the plan; a new plan at first, after a refusal, and at the end, to make sure."""
        refused = bool(memory.turns) and REFUSED in memory.turns[-1].feedback
        if refused or not self._ahead:
            ended = self._plan_anew()
            if ended is not None:
                return ended, Usage()
        call = self._ahead.pop(0)
        return Act(str(call), f"plan {self._plans}, {len(self._ahead)} to come"), Usage()

    def _plan_anew(self) -> Done | GiveUp | None:
        if self._plans == MOST_PLANS:
            return GiveUp(f"{MOST_PLANS} plans did not lead to the goal")
        self._plans += 1
        planned = self._planning()
        if planned.plan is None:
            return GiveUp(planned.why)
        self._ahead = [*planned.plan]
        return None if planned.plan else Done("the goal holds")


class NoAsker:
    """Stands where a session's questions are answered, for a method that has none."""

    def ask(self, question: str, scene: SceneInfo) -> Retrieval:
        """Refused."""
        msg = f"{scene.name}: no model is there to answer {question[:60]!r}; use a method that takes one"
        raise UnknownReference(msg)


def symbolic(database: Database, scene: SceneInfo, question: Question) -> Symbolic:
    """The method for a goal in a scene of the database."""
    see = seeing(database, scene, question.goal)
    return Symbolic(lambda: plan(question, see))


def seeing(database: Database, scene: SceneInfo, goal: Condition) -> See:
    """How to look at the part of a scene that a goal is about: one query."""
    ids, classes = named_in(goal)

    def see(wide: bool) -> SceneGraph:  # noqa: FBT001 - what a See takes
        return relevant(database, scene, ids=ids, classes=classes, surfaces=SURFACES, lifted=LIFTED, wide=wide)

    return see
