"""Goal, then plan: the model states only the goal, an engine plans, the session executes; an addition of ours.

The model sees the schema, never the graph. Its goal is checked against the names that occur in the scene; a faulty one
is asked again with the fault, at most twice. Then the method plans as `symbolic` does, again after each refused action.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from scenecypher.chat.form import ask_for
from scenecypher.chat.model import Message, Model, Reply, Request, Usage
from scenecypher.db.condition import Condition, condition_document, condition_from_document
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.errors import ReplyRejected, UnknownReference
from scenecypher.planner.actions.pddl_planner import PlanResult
from scenecypher.planner.method import Decision, Memory, Think
from scenecypher.planner.methods.goal_form import GoalForm, GoalParser
from scenecypher.planner.methods.symbolic import Symbolic

GOAL_PREFIX: Final = "the goal: "
"""Prefix of the thought that holds the goal, from which a session can be resumed."""
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
    """Method that asks `model` for the goal, then decides like Symbolic, by `plan_goal`."""

    def __init__(
        self, model: Model, plan_goal: Callable[[Condition], PlanResult], occurring: Callable[[], Enumerations]
    ) -> None:
        self._model, self._plan_goal, self._occurring = model, plan_goal, occurring
        self._symbolic: Symbolic | None = None

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the goal as a thought, then the plan's actions. Raises ReplyRejected after three unusable goals."""
        goal = stated_goal(memory)
        if goal is None:
            goal, usage = self._ask_goal(memory)
            return Think(GOAL_PREFIX + json.dumps(condition_document(goal), ensure_ascii=False)), usage
        self._symbolic = self._symbolic or Symbolic(lambda _: self._plan_goal(goal))
        return self._symbolic.decide(memory)

    def _ask_goal(self, memory: Memory) -> tuple[Condition, Usage]:
        parser, counting = GoalParser(self._occurring()), _CountingModel(self._model)
        messages = [
            Message("system", SYSTEM.format(schema=memory.schema)),
            Message("user", f"Instruction: {memory.instruction}"),
        ]
        mistake = ""
        while counting.replies < ATTEMPTS:
            form = counting.form(messages)
            try:
                return parser.condition(form.goal), counting.usage
            except UnknownReference as unknown:
                mistake = str(unknown)
            messages += [
                Message("assistant", form.model_dump_json()),
                Message("user", f"That goal can't be used: {mistake}. State the whole goal again."),
            ]
        raise counting.rejection(mistake)


@dataclass(slots=True)
class _CountingModel:
    """Model with a count of its replies, whether malformed or with unknown names."""

    model: Model
    replies: int = 0
    usage: Usage = field(default_factory=Usage)

    def reply(self, request: Request) -> Reply:
        """Return one reply. Raises as the model does."""
        reply = self.model.reply(request)
        self.replies, self.usage = self.replies + 1, self.usage + reply.usage
        return reply

    def form(self, messages: Sequence[Message]) -> GoalForm:
        """Return the next well-formed reply. Raises ReplyRejected after `ATTEMPTS` replies in all."""
        try:
            return ask_for(self, messages, GoalForm, attempts=ATTEMPTS - self.replies)[0]
        except ReplyRejected as rejected:
            raise self.rejection(str(rejected)) from rejected

    def rejection(self, why: str) -> ReplyRejected:
        """Return the exception to raise, with the tokens of all replies."""
        tokens = self.usage
        return ReplyRejected(why, prompt_tokens=tokens.prompt_tokens, completion_tokens=tokens.completion_tokens)


def stated_goal(memory: Memory) -> Condition | None:
    """Return the goal that was stated in an earlier turn, if any."""
    for turn in memory.turns:
        if isinstance(turn.decision, Think) and turn.decision.thought.startswith(GOAL_PREFIX):
            document = json.loads(turn.decision.thought.removeprefix(GOAL_PREFIX))
            return condition_from_document(document, file="the goal")
    return None
