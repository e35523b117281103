"""Runs of questions in words: what was asked, found and refused, kept by a RunRecorder."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from scenecypher.chat.model import Usage
from scenecypher.errors import SceneCypherError
from scenecypher.planner.sessions.events import Asked, Began, Finished, Outcome, Refused
from scenecypher.planner.sessions.recording import RunRecorder
from scenecypher.planner.sessions.reporting import answer_event
from scenecypher.retriever.retrieval import Retrieval, RetrievalOutcome

OUTCOMES: Final[Mapping[RetrievalOutcome, Outcome]] = {
    "answered": "done",
    "unanswerable": "given_up",
    "refused": "infeasible",
}


def keep_answer(recorder: RunRecorder, began: Began, ask: Callable[[], Retrieval]) -> Retrieval:
    """Return what `ask` answers to the question `began.instruction`, kept as a run. Raises as `ask` does."""
    if not began.instruction.strip():
        return ask()
    start = time.monotonic()
    recorder.add(began)
    recorder.add(Asked(1, began.instruction, ""))
    with recorder.ended():
        found = ask()
    recorder.add(answer_event(1, found))
    reason = "" if found.outcome == "answered" else found.answer
    seconds = time.monotonic() - start
    recorder.add(Finished(OUTCOMES[found.outcome], reason, 1, 0, found.usage, seconds, found.answer))
    return found


def keep_answers(
    recorder: RunRecorder,
    began: Began,
    questions: Sequence[str],
    ask: Callable[[], Sequence[Retrieval | SceneCypherError]],
) -> Sequence[Retrieval | SceneCypherError]:
    """Return what `ask` answers to several questions, kept as one run. Raises as `ask` does."""
    start, usage = time.monotonic(), Usage()
    recorder.add(began)
    with recorder.ended():
        answers = ask()
    for step, (question, found) in enumerate(zip(questions, answers, strict=True), 1):
        recorder.add(Asked(step, question, ""))
        if isinstance(found, Retrieval):
            usage += found.usage
            recorder.add(answer_event(step, found))
        else:
            recorder.add(Refused(step, "", "question", (str(found),)))
    recorder.add(Finished("done", "", len(questions), 0, usage, time.monotonic() - start))
    return answers
