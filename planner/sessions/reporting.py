"""Events of what was done: of a committed action, of a question's answer, and of the start of a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenecypher.db.store.catalog import SceneInfo
from scenecypher.planner.actions.simulator import CommittedAction
from scenecypher.planner.sessions.events import (
    ROWS_KEPT,
    Acted,
    Began,
    Corrected,
    Event,
    Observed,
    RefusedQuery,
    Retrieved,
)
from scenecypher.retriever.retrieval import Rejected, Retrieval

ASK: Final = "ask"
"""The method of a run that answers questions."""
PERSON: Final = "person"


def action_events(step: int, done: CommittedAction) -> Iterator[Event]:
    """Yield the events of an action that was committed in decision `step`: what was done, and what it showed."""
    versions = done.world_version, done.action_id
    if done.because is None:
        yield Acted(step, done.action, done.version, len(done.delta), *versions)
    else:
        yield Corrected(step, done.action, done.because, done.version, *versions)
    if done.seen:
        yield Observed(step, done.action, done.seen)


def question_began(question: str, scene: SceneInfo, model: str) -> Began:
    """Return the start of a run that answers one question in words; `model` is the model's name."""
    return Began(scene.name, ASK, (), question, model, PERSON, scene.version)


def session_began(scene: SceneInfo, belief: SceneInfo | None) -> Began:
    """Return the start of a run of what a person does in a session, by a belief if there is one."""
    seen = None if belief is None else belief.version
    return Began(scene.name, PERSON, (), "", "", PERSON, scene.version, seen)


def answer_event(step: int, found: Retrieval) -> Retrieved:
    """Return the event of a question's answer, with its first rows and the queries that were refused before it."""
    refused = (
        RefusedQuery(attempt.cypher, attempt.ending.message)
        for attempt in found.attempts
        if isinstance(attempt.ending, Rejected)
    )
    rows = found.rows[:ROWS_KEPT]
    return Retrieved(
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
