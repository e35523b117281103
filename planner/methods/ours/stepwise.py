"""Stepwise: one decision a reply, from the scene's words and the turns so far; ours, not from a paper.

It sees the words, never the graph: it asks questions in words, which the retriever answers. What is the same in all
steps comes first, so that services that keep prefixes of prompts need not read it again.
"""

from __future__ import annotations

from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from scenecypher.chat.model import Message, Model, Usage
from scenecypher.chat.structured_reply import ask_for
from scenecypher.planner.prompts.past import TurnForm, exchanges
from scenecypher.planner.sessions.method import Act, Ask, Decision, Done, GiveUp, Memory
from scenecypher.retriever.retrieval import ROWS_SHOWN

SYSTEM: Final = """\
You control a robot in a home, one decision at a time, until the instruction is carried out. You know the words of the \
home's scene graph, not the graph: ask for what you need to know.

Each decision is one of:
- ask: a question in plain words about where things are and their states. You get at most {rows} rows.
- act: an action below, with ids of nodes such as grab(soap_1001). {checked}
- done: the instruction is carried out.
- give_up: it can't be carried out; say why.
Never guess an id, ask for it. Do not repeat a refused action without mending its cause.

Reply with one JSON object: "reason" (a sentence), "decision", "question" (text or null), "action" (text or null).

The actions:
{actions}

The words of this home:
{schema}"""


CORRECTED: Final = """\
What must be done first is done by itself if a rule knows how, and told you; else nothing more changes, and you are \
told why and what to do first."""
CHECKED: Final = "Where its precondition does not hold nothing changes, and you are told why and what to do first."


TURNS: Final = (
    TurnForm(Ask, lambda it: f"{it.reason}\nasked: {it.question}", lambda _, turn: f"found: {turn.feedback}"),
    TurnForm(Act, lambda it: f"{it.reason}\nact: {it.action}", lambda _, turn: f"result: {turn.feedback}"),
)


class StepwiseReply(BaseModel):
    """What the model answers."""

    model_config = ConfigDict(extra="forbid", title="Reply")

    reason: str
    decision: Literal["ask", "act", "done", "give_up"]
    question: str | None
    action: str | None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        for decision, field in (("ask", self.question), ("act", self.action)):
            if self.decision == decision and not (field or "").strip():
                msg = f"the decision is {decision!r}: give the {'question' if decision == 'ask' else 'action'} too"
                raise ValueError(msg)
        return self


class Stepwise:
    """Method that asks `model` for one decision a step; with `fix`, the session corrects actions."""

    def __init__(self, model: Model, *, fix: bool = False) -> None:
        self._model, self._fix = model, fix

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the next decision and its tokens. Raises ReplyRejected after three unusable replies."""
        reply, usage = ask_for(self._model, prompt(memory, fix=self._fix), StepwiseReply)
        return _decision(reply), usage


def prompt(memory: Memory, *, fix: bool = False) -> tuple[Message, Message]:
    """Return the two messages of a step; equal memories give equal bytes."""
    lines = [f"Instruction: {memory.instruction}"]
    told = exchanges(memory.turns, TURNS, unreadable="the reply could not be used: {}")
    lines += [f"Step {number}: " + "\n".join(filter(None, pair)) for number, pair in enumerate(told, 1)]
    lines += [f"Now:\n{memory.view}"] if memory.view else []
    lines.append(f"Step {len(memory.turns) + 1}: decide.")
    checked = CORRECTED if fix else CHECKED
    system = SYSTEM.format(actions=memory.actions, schema=memory.schema, rows=ROWS_SHOWN, checked=checked)
    return Message("system", system), Message("user", "\n\n".join(lines))


def _decision(reply: StepwiseReply) -> Decision:
    match reply.decision:
        case "ask":
            return Ask((reply.question or "").strip(), reply.reason)
        case "act":
            return Act((reply.action or "").strip(), reply.reason)
        case "done":
            return Done(reply.reason)
        case "give_up":
            return GiveUp(reply.reason)
