"""Runs kept in the database: each event of a session, or of questions in words, is a step; one commit a decision."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from scenecypher.chat.model import Usage
from scenecypher.db.store import runs
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.consistent_read import WRITE_REFUSED
from scenecypher.db.store.runs import this_process
from scenecypher.errors import QueryFailed, SceneCypherError
from scenecypher.planner.sessions import events as e
from scenecypher.planner.sessions.events import Asked, Began, Event, Finished, Outcome, Proposed, Refused, Remembered
from scenecypher.planner.sessions.reporting import answer_event
from scenecypher.retriever.retrieval import Retrieval, RetrievalOutcome

TEXT_LENGTH: Final = 4_000
"""Characters of a text that a query can read; the line has all of it."""
ROW_LENGTH: Final = 1_000
ITEMS: Final = 50


_VALUES: Final[Mapping[type[e.Event], Callable[[Any, str], dict[str, Any]]]] = {
    e.Began: lambda *_: {},
    e.Asked: lambda it, _: {
        "question": it.question,
        "reason": it.reason or None,
        "observation": "; ".join(it.choices) or None,
    },
    e.Retrieved: lambda it, _: {
        "question": it.question,
        "cypher": it.cypher,
        "rows": _rows(it.columns, it.rows),
        "observation": it.answer,
        "reasons": [f"{each.reason} ({each.cypher})" for each in it.refused] or None,
        "tokens": it.usage.total_tokens,
    },
    e.Called: lambda it, _: {
        "tool": it.tool,
        "observation": json.dumps(it.arguments),
        "reason": it.reason or None,
    },
    e.Answered: lambda it, _: {"tool": it.tool, "observation": it.answer, "tokens": it.usage.total_tokens},
    e.Thought: lambda it, _: {"observation": it.thought},
    e.Solved: lambda it, _: {"observation": ", ".join(it.actions), "reason": it.reason or None},
    e.Proposed: lambda it, _: {"reason": it.reason or None},
    e.Corrected: lambda it, _: {"reason": it.because},
    e.Acted: lambda _, proposed: {"reason": proposed or None},
    e.Observed: lambda it, _: {"observation": "; ".join(it.findings)},
    e.Refused: lambda it, proposed: {"cause": it.cause, "reasons": [*it.reasons], "reason": proposed or None},
    e.Remembered: lambda it, _: {"tokens": it.usage.total_tokens},
    e.Finished: lambda it, _: {"observation": it.answer or None, "reason": it.reason or None},
}
"""What a query of the past reads of each kind of event, given the reason of the action proposed last."""


def step_values(event: e.Event, *, by_belief: bool, proposed: str) -> dict[str, Any]:
    """Return the properties of the step that an event is (`scenecypher.db.schema.PAST_PROPERTIES`), without None.

    `by_belief` says whether the robot acts by a belief; `proposed` is the reason of the action proposed last.
    """
    document = e.event_document(event)
    values = {
        "kind": document["event"],
        "turn": document.get("step"),
        "action": document.get("action"),
        "line": json.dumps(document),
        **_VALUES[type(event)](event, proposed),
    }
    if isinstance(event, e.Acted | e.Corrected):
        version, believed = (event.world_version, event.version) if by_belief else (event.version, None)
        values |= {"version": version, "belief_version": believed}
    return {name: _readable(value) if name != "line" else value for name, value in values.items() if value is not None}


def _rows(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str] | None:
    return [json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False)[:ROW_LENGTH] for row in rows] or None


def _readable(value: Any) -> Any:
    if isinstance(value, list):
        return [_readable(it) for it in value[:ITEMS]]
    return bounded(value) if isinstance(value, str) else value


def bounded(text: str) -> str:
    """Return the beginning of a text, as valid Unicode: a model may write half a surrogate pair."""
    return text[:TEXT_LENGTH].encode("utf-8", "replace").decode()


_log: Final = logging.getLogger("scenecypher.runs")

NOTHING: Final = Usage()
EPISODE: Final = "episode:"
"""Put before the key of a leased copy: the next episode in it, which may be asked, never reads the runs before it."""


class RunRecorder:
    """Keeps one run in `scene`; without `is_on` nothing is kept. The constructor makes no call.

    Steps are stored at the end of each decision, when a person is asked, and before each action, whose id is kept with
    it: a process that is killed loses what the scene's history knows of that id. A run that can't be stored is carried
    out all the same, and a warning is logged; where writing is not allowed at all, none.
    """

    def __init__(self, database: Database, scene: SceneInfo, command: runs.RunCommand, *, is_on: bool = True) -> None:
        self.number: int | None = None
        """The run's number, once it has begun and is kept."""
        self._database, self._scene, self._is_on = database, scene, is_on
        self._command: runs.RunCommand = command
        self._waiting: list[tuple[int, Mapping[str, object], float]] = []
        """Events that are not stored yet: number, values, and when they happened, in seconds of the monotonic clock."""
        self._steps, self._usage = 0, NOTHING
        self._last_version: int | None = None
        self._by_belief = self._has_ended = False
        self._proposed = ""

    def resume(self, run: runs.RunInfo, *, by_belief: bool) -> None:
        """Go on with a stored run: later events are its next steps. Raises InputError if a process carries it out."""
        runs.resume_run(self._database, run, this_process())
        self.number, self._steps = run.number, run.steps
        self._usage, self._last_version = Usage(run.tokens_in, run.tokens_out), run.last_version
        self._by_belief = by_belief

    def kept(self, events: Iterable[Event]) -> Generator[Event]:
        """Yield the events, and keep each."""
        with self.ended():
            for event in events:
                self.add(event)
                yield event

    def add(self, event: Event) -> None:
        """Keep an event: store it now, or with the next one that ends a decision."""
        if isinstance(event, Began):
            self._begin(event)
        elif self.number is not None:
            self._note(event)
            if isinstance(event, Finished):
                self._usage = event.usage + event.seeing
                outcome = "done" if event.is_done else event.outcome
                self._store(runs.RunEnd(outcome, bounded(event.why), bounded(event.answer)))
                self._has_ended = True
            elif isinstance(event, Remembered | Proposed) or (isinstance(event, Asked) and event.to_person):
                self._store()

    def flush(self, spent: Usage = NOTHING) -> None:
        """Store what was kept so far; `spent` are tokens that no event of a decision counts."""
        self._usage += spent
        if self._waiting:
            self._store()

    def end(self, outcome: str, reason: str = "") -> None:
        """Store the end of a run that has no Finished, such as ``stopped``; a no-op after one."""
        if not self._has_ended:
            self._store(runs.RunEnd(outcome, bounded(reason)))

    @contextmanager
    def ended(self) -> Iterator[None]:
        """End the run where the block is interrupted or fails, by whatever error."""
        try:
            yield
        except (GeneratorExit, KeyboardInterrupt):
            self.end("stopped")
            raise
        except SceneCypherError as error:
            self.end("failed", str(error))
            raise
        except BaseException as error:
            self.end("failed", f"{type(error).__name__}: {error}")
            raise

    def _begin(self, began: Began) -> None:
        if not self._is_on:
            return
        self._by_belief = began.belief_version is not None
        key, name = _belongs_to(self._scene)
        facts = runs.RunFacts(
            EPISODE + key if self._command == "eval" else key,
            name,
            self._command,
            bounded(began.instruction),
            began.method,
            began.model,
            began.actor,
            began.version,
            began.belief_version,
            json.dumps(e.event_document(began)),
        )
        try:
            self.number = runs.begin_run(self._database, facts, this_process())
        except SceneCypherError as error:
            self._warn(error)

    def _note(self, event: Event) -> None:
        self._steps += 1
        match event:
            case Remembered():
                self._usage += event.usage
                self._proposed = ""
            case Proposed():
                self._proposed = event.reason
            case e.Acted() | e.Corrected():
                version = event.world_version if self._by_belief else event.version
                self._last_version = version or self._last_version
            case _:
                pass
        values = step_values(event, by_belief=self._by_belief, proposed=self._proposed)
        self._waiting.append((self._steps, values, time.monotonic()))

    def _store(self, end: runs.RunEnd | None = None) -> None:
        """Store what waits; what can't be stored now waits for the next time."""
        if self.number is None:
            return
        now = time.monotonic()
        rows = [runs.StepRow(number, values, round(1_000 * (now - at))) for number, values, at in self._waiting]
        progress = runs.RunProgress(
            self._steps, self._last_version, self._usage.prompt_tokens, self._usage.completion_tokens
        )
        try:
            runs.add_steps(self._database, self.number, rows, progress, end=end)
        except SceneCypherError as error:
            self._warn(error)
        else:
            self._waiting.clear()

    def _warn(self, error: SceneCypherError) -> None:
        if not (isinstance(error, QueryFailed) and error.code in WRITE_REFUSED):
            _log.warning("what this run does is not kept now: %s", error)


def _belongs_to(scene: SceneInfo) -> tuple[str, str]:
    """Return key and name of the scene that a run belongs to: of an earlier state, those of the scene itself."""
    if scene.is_past_copy and scene.copied_from is not None:
        return scene.copied_from.rpartition("@")[0], scene.name.rpartition("@")[0]
    return scene.key, scene.name


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
