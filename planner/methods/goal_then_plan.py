"""Goal, then plan: the model states the goal only, an engine plans for it, the session carries it out; ours.

The model sees the schema, never the graph. Its goal is checked against what occurs in the scene, asked again with what
is wrong at most twice, made a Condition, and planned for as the method symbolic does, anew when an action is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from chat.form import ask_for
from chat.model import Message, Model, Usage
from db.condition import Condition, condition_document, condition_from_document
from db.enumerations import Enumerations
from planner.actions.pddl_planner import Planned
from planner.method import Decision, Memory, Think
from planner.methods.goal_form import Canon, GoalForm
from planner.methods.symbolic import Symbolic
from scenecypher.errors import ReplyRejected, UnknownReference

GOAL: Final = "the goal: "
"""How the thought begins that holds the goal, from which a session can go on."""
ATTEMPTS: Final = 3

SYSTEM: Final = """\
You say what must be so when an instruction is carried out in a home. You know the schema of the home's scene graph, \
not the graph. You do not plan: another program does.

The schema:
{schema}

Reply with one JSON object: "reason" (a sentence), and "goal", a list of facts that must all hold in the end. A fact is
{{"what": a class, or the id of a node if the instruction names one,
 "color": its colour where that matters, else null,
 "count": at least how many of that class, or null for all of them,
 "relation": a relation type such as INSIDE or ON, HELD for in the agent's hand, or null,
 "to": the class or id of what it is related to, or null,
 "state": a state such as open or on, or null,
 "negated": true where it must not be so, else false}}
State no more than the instruction asks for."""


class GoalThenPlan:
    """Asks `model` for the goal, then decides as Symbolic does, by `planning`."""

    def __init__(
        self, model: Model, planning: Callable[[Condition], Planned], occurring: Callable[[], Enumerations]
    ) -> None:
        self._model, self._planning, self._occurring = model, planning, occurring
        self._symbolic: Symbolic | None = None

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """The goal as a thought, then the plan's actions. Raises ReplyRejected after three goals that mean nothing."""
        goal = stated_goal(memory)
        if goal is None:
            goal, usage = self._stated(memory)
            return Think(GOAL + json.dumps(condition_document(goal), ensure_ascii=False)), usage
        self._symbolic = self._symbolic or Symbolic(lambda _: self._planning(goal))
        return self._symbolic.decide(memory)

    def _stated(self, memory: Memory) -> tuple[Condition, Usage]:
        canon, spent = Canon(self._occurring()), Usage()
        messages = [
            Message("system", SYSTEM.format(schema=memory.schema)),
            Message("user", f"Instruction: {memory.instruction}"),
        ]
        for _ in range(ATTEMPTS):
            form, usage = ask_for(self._model, messages, GoalForm, attempts=ATTEMPTS)
            spent += usage
            try:
                return canon.condition(form.goal), spent
            except UnknownReference as unknown:
                mistake = str(unknown)
            messages += [
                Message("assistant", form.model_dump_json()),
                Message("user", f"That goal can't be used: {mistake}. State the whole goal again."),
            ]
        raise ReplyRejected(mistake, prompt_tokens=spent.prompt_tokens, completion_tokens=spent.completion_tokens)


def stated_goal(memory: Memory) -> Condition | None:
    """The goal that was stated before, if it was."""
    for turn in memory.turns:
        if isinstance(turn.decision, Think) and turn.decision.thought.startswith(GOAL):
            document = json.loads(turn.decision.thought.removeprefix(GOAL))
            return condition_from_document(document, file="the goal")
    return None
