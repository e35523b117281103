"""The loop: a method decides, the session asks, acts and tells; a generator of immutable events."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, assert_never

from chat.model import Usage
from db.catalog import SceneInfo
from planner.actions.execution import Infeasible
from planner.actions.simulator import Simulator
from planner.actions.text import parse
from planner.actions.vocabularies import DONE
from planner.environment import Disagreed
from planner.events import (
    Acted,
    Asked,
    Cause,
    Corrected,
    Event,
    Finished,
    Observed,
    Outcome,
    Proposed,
    Refused,
    Retrieved,
)
from planner.method import Act, Ask, Decision, Done, GiveUp, Memory, Method
from retriever.retrieval import Retrieval
from scenecypher.errors import ActionRefused, RejectedError, ReplyRejected, UnknownReference

INFEASIBLE: Final = 3
"""Proposals in a row that could not be carried out, before a session ends (LookPlanGraph, section IV-A)."""


class Asker(Protocol):
    """What answers a method's questions: the retriever."""

    def ask(self, question: str, scene: SceneInfo) -> Retrieval:
        """The answer, or why there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Budget:
    """What a session may spend: decisions, proposals refused in a row, tokens, seconds (None: any)."""

    steps: int = 30
    infeasible: int = INFEASIBLE
    tokens: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """What a session has spent so far."""

    steps: int = 0
    actions: int = 0
    refused: int = 0
    usage: Usage = field(default_factory=Usage)

    def over(self, budget: Budget, seconds: float) -> tuple[Outcome, str] | None:
        """Which budget is spent, in words; None where there is something left of each."""
        if self.refused >= budget.infeasible:
            return "infeasible", f"{self.refused} proposals in a row could not be carried out"
        if self.steps >= budget.steps:
            return "steps", f"the limit of {budget.steps} steps is reached"
        if budget.tokens is not None and self.usage.total_tokens >= budget.tokens:
            return "tokens", f"the limit of {budget.tokens:,} tokens is reached"
        if budget.seconds is not None and seconds >= budget.seconds:
            return "seconds", f"the limit of {budget.seconds:g} s is reached"
        return None


class Session:
    """One task in one scene: `simulator` acts on it, `asker` answers questions about it, `method` decides.

    Without `reprompt` a method is not told that an action was infeasible, and may go on for all that: what names no
    node or action is still told.
    """

    def __init__(
        self,
        method: Method,
        simulator: Simulator,
        asker: Asker,
        *,
        budget: Budget | None = None,
        reprompt: bool = True,
    ) -> None:
        self._method, self._simulator, self._asker = method, simulator, asker
        self._budget, self._reprompt = budget or Budget(), reprompt

    def run(self, memory: Memory) -> Iterator[Event]:
        """Carry out `memory.instruction`: events as they happen, Finished last. Only rejections are told the method.

        Each action is one committed transaction: stopping the generator anywhere leaves nothing half-written.
        Raises ServiceError where the database or the model service fails.
        """
        spent, began = Spent(), time.monotonic()
        while True:
            over = spent.over(self._budget, time.monotonic() - began)
            if over is None:
                decision, memory, spent = yield from self._turn(memory, spent)
                over = ended_by(decision)
            if over is not None:
                outcome, reason = over
                seconds = time.monotonic() - began
                yield Finished(outcome, reason, spent.steps, spent.actions, spent.usage, seconds)
                return

    def _turn(self, memory: Memory, spent: Spent) -> Generator[Event, None, tuple[Decision | None, Memory, Spent]]:
        """One decision and what becomes of it."""
        step = spent.steps + 1
        spent = replace(spent, steps=step)
        try:
            decision, usage = self._method.decide(memory)
        except ReplyRejected as rejected:
            yield Refused(step, "", "reply", (str(rejected),))
            lost = Usage(rejected.prompt_tokens, rejected.completion_tokens)
            spent = replace(spent, refused=spent.refused + 1, usage=spent.usage + lost)
            return None, memory.remember(None, str(rejected)), spent
        spent = replace(spent, usage=spent.usage + usage)
        match decision:
            case Ask():
                feedback, spent = yield from self._ask(decision, spent)
            case Act():
                actions = spent.actions
                feedback, spent = yield from self._act(decision, spent)
                if spent.actions > actions and ends(decision.action):
                    decision = Done(decision.reason)
            case Done() | GiveUp():
                feedback = ""
            case _:
                assert_never(decision)
        return decision, memory.remember(decision, feedback), spent

    def _ask(self, decision: Ask, spent: Spent) -> Generator[Event, None, tuple[str, Spent]]:
        yield Asked(spent.steps, decision.question, decision.reason)
        try:
            found = self._asker.ask(decision.question, self._simulator.scene)
        except RejectedError as rejected:
            yield Refused(spent.steps, "", "question", (str(rejected),))
            return str(rejected), replace(spent, refused=spent.refused + 1)
        yield Retrieved(spent.steps, decision.question, found.answer, found.cypher, found.usage)
        return found.answer, replace(spent, usage=spent.usage + found.usage)

    def _act(self, decision: Act, spent: Spent) -> Generator[Event, None, tuple[str, Spent]]:
        """Carry out an action with its corrections. Any action that was executed sets the count of refusals back."""
        yield Proposed(spent.steps, decision.action, decision.reason)
        told: list[str] = []
        try:
            for done in self._simulator.act(decision.action):
                spent = replace(spent, actions=spent.actions + 1, refused=0)
                if done.because is None:
                    yield Acted(spent.steps, done.action, done.version, len(done.delta))
                    told.append(f"{done.action} was carried out")
                else:
                    yield Corrected(spent.steps, done.action, done.because, done.version)
                    told.append(f"{done.action} was carried out first, since {done.because}")
                if done.seen:
                    yield Observed(spent.steps, done.action, done.seen)
                    told += done.seen
        except RejectedError as rejected:
            reasons = rejected.reasons if isinstance(rejected, ActionRefused) else (str(rejected),)
            yield Refused(spent.steps, decision.action, cause_of(rejected), reasons)
            if self._reprompt or not isinstance(rejected, Infeasible):
                told.append(f"{decision.action} was refused: {'; '.join(reasons)}")
                spent = replace(spent, refused=spent.refused + 1)
        return "; ".join(told), spent


def ended_by(decision: Decision | None) -> tuple[Outcome, str] | None:
    """How a decision ends the session, and why; None where it goes on."""
    match decision:
        case Done(reason):
            return "done", reason
        case GiveUp(reason):
            return "given_up", reason
        case _:
            return None


def ends(action: str) -> bool:
    """Whether an action that was carried out is the one that says that all is done (GraSIF's ``done``)."""
    return parse(action).name == DONE


def cause_of(rejected: RejectedError) -> Cause:
    """What sort of mistake a refused action was: of several unmet requirements the first decides."""
    match rejected:
        case Infeasible():
            return rejected.unmet[0].requirement.fault
        case Disagreed():
            return "world"
        case UnknownReference():
            return "unknown"
        case ActionRefused():
            return "no_action"
        case _:
            return "conflict"
