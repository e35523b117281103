"""What came of a decision: its events, its result, and its words for the method."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from scenecypher.chat.model import Usage
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.errors import InputError, RejectedError, ReplyRejected
from scenecypher.planner.actions.ruled import AskBack
from scenecypher.planner.actions.simulator import CommittedAction
from scenecypher.planner.sessions import events as e
from scenecypher.planner.sessions.budget import Spent
from scenecypher.planner.sessions.method import ANY_OF_THEM
from scenecypher.retriever.retrieval import Rejected, Retrieval

ASK: Final = "ask"
"""The method of a run that answers questions."""
PERSON: Final = "person"


def action_events(step: int, done: CommittedAction) -> Iterator[e.Event]:
    """Yield the events of an action that was committed in decision `step`: what was done, and what it showed."""
    versions = done.world_version, done.action_id
    if done.because is None:
        yield e.Acted(step, done.action, done.version, len(done.delta), *versions)
    else:
        yield e.Corrected(step, done.action, done.because, done.version, *versions)
    if done.seen:
        yield e.Observed(step, done.action, done.seen)


def question_began(question: str, scene: SceneInfo, model: str) -> e.Began:
    """Return the start of a run that answers one question in words; `model` is the model's name."""
    return e.Began(scene.name, ASK, (), question, model, PERSON, scene.version)


def session_began(scene: SceneInfo, belief: SceneInfo | None) -> e.Began:
    """Return the start of a run of what a person does in a session, by a belief if there is one."""
    seen = None if belief is None else belief.version
    return e.Began(scene.name, PERSON, (), "", "", PERSON, scene.version, seen)


def answer_event(step: int, found: Retrieval) -> e.Retrieved:
    """Return the event of a question's answer, with its first rows and the queries that were refused before it."""
    refused = (
        e.RefusedQuery(attempt.cypher, attempt.ending.message)
        for attempt in found.attempts
        if isinstance(attempt.ending, Rejected)
    )
    rows = found.rows[: e.ROWS_KEPT]
    return e.Retrieved(
        step,
        found.question,
        found.answer,
        found.cypher,
        found.usage,
        found.columns,
        rows,
        len(found.rows),
        found.version,
        tuple(refused),
        found.outcome,
    )


SessionEnd: TypeAlias = tuple[e.Outcome, str]
"""Outcome of a session, and its reason in words."""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """Result of a decision: the budget used after it, the feedback for the method, and the end of the session, if any.

    `done` are the executed actions; `refused` is True if something was refused.
    """

    spent: Spent
    feedback: str = ""
    done: tuple[str, ...] = ()
    refused: bool = False
    ending: SessionEnd | None = None


TurnRun: TypeAlias = Generator[e.Event, None, TurnResult]


def choice_meant(asked: AskBack, answer: str) -> str:
    """Return the choice that an answer means, by its words or by an id. Raises InputError."""
    if not asked.choices or answer in asked.choices or not answer:
        return answer or ANY_OF_THEM
    for words, nodes in zip(asked.choices, asked.nodes, strict=True):
        if answer in nodes:
            return words
    raise InputError(
        f"{answer[:100]!r} is no choice of {asked.question!r}: answer {' | '.join(asked.choices)}, or nothing"
    )


def merge_results(first: TurnResult, second: TurnResult) -> TurnResult:
    """Combine the results of two consecutive actions."""
    feedback = "; ".join(filter(None, (first.feedback, second.feedback)))
    return TurnResult(second.spent, feedback, first.done + second.done, refused=first.refused or second.refused)


def step_text(step: CommittedAction) -> list[str]:
    """Return an executed step in words, and its findings."""
    first = "" if step.because is None else f" first, since {step.because}"
    return [f"{step.action} was carried out{first}", *step.seen]


def refusal_result(rejected: RejectedError, spent: Spent) -> TurnResult:
    """Return the result of a refusal, with the tokens of the replies behind it."""
    usage = spent.usage
    if isinstance(rejected, ReplyRejected):
        usage += Usage(rejected.prompt_tokens, rejected.completion_tokens)
    return TurnResult(replace(spent, refused=spent.refused + 1, usage=usage), str(rejected), refused=True)
