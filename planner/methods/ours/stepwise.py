"""Stepwise: one decision a reply, from the scene's words and the turns so far; ours, not from a paper.

It sees the words, never the graph: it asks questions in words, which the retriever answers. What is the same in all
steps comes first, so that services that keep prefixes of prompts need not read it again.
"""

from __future__ import annotations

from typing import Final, Literal, Self

from pydantic import BaseModel, model_validator

from scenecypher.chat.model import Message, Model, Usage
from scenecypher.chat.structured_reply import ask_for
from scenecypher.planner.prompts.texts import TurnForm, exchanges, prompts_beside
from scenecypher.planner.sessions.method import Act, Ask, Decision, Done, GiveUp, Memory
from scenecypher.retriever.retrieval import ROWS_SHOWN

PROMPTS: Final = prompts_beside(__name__)
TURNS: Final = (
    TurnForm(Ask, lambda it: f"{it.reason}\nasked: {it.question}", lambda _, turn: f"found: {turn.feedback}"),
    TurnForm(Act, lambda it: it.reason, lambda act, turn: _result(act.action, turn.feedback)),
)


class StepwiseReply(BaseModel, extra="forbid", title="Reply"):
    """What the model answers."""

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
    lines += [f"{number}. " + "\n".join(filter(None, pair)) for number, pair in enumerate(told, 1)]
    lines += [f"Now:\n{memory.view}"] if memory.view else []
    lines.append(f"Step {len(memory.turns) + 1}: decide.")
    checked = PROMPTS["stepwise_corrected"] if fix else PROMPTS["stepwise_checked"]
    system = PROMPTS["stepwise"].format(actions=memory.actions, schema=memory.schema, rows=ROWS_SHOWN, checked=checked)
    return Message("system", system), Message("user", "\n\n".join(lines))


def _result(action: str, feedback: str) -> str:
    """Return what came of an action, which is told once."""
    told = feedback.replace(" was carried out", ": done")
    return told if told.startswith(action) else f"act: {action}\nresult: {told}"


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
