"""The listener that keeps a run: each event of a session becomes a step in the database, with one commit a decision."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from scenecypher.chat.model import Usage
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.consistent_read import WRITE_REFUSED
from scenecypher.db.store.runs import (
    RunCommand,
    RunEnd,
    RunFacts,
    RunInfo,
    RunProgress,
    StepRow,
    add_steps,
    begin_run,
    resume_run,
    this_process,
)
from scenecypher.errors import QueryFailed, SceneCypherError
from scenecypher.planner.sessions.events import (
    Acted,
    Asked,
    Began,
    Corrected,
    Event,
    Finished,
    Proposed,
    Remembered,
    event_document,
)
from scenecypher.planner.sessions.step_values import bounded, step_values

_log: Final = logging.getLogger("scenecypher.runs")

NOTHING: Final = Usage()
EPISODE: Final = "episode:"
"""Put before the key of a leased copy: the next episode in it, which may be asked, never reads the runs before it."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """An event that is not stored yet, as its row's values, and when it happened, in seconds of the monotonic clock."""

    number: int
    values: Mapping[str, object]
    at: float


class RunRecorder:
    """Keeps one run in `scene`; without `is_on` nothing is kept. The constructor makes no call.

    Steps are stored at the end of each decision, when a person is asked, and before each action, whose id is kept with
    it: a process that is killed loses what the scene's history knows of that id. A run that can't be stored is carried
    out all the same, and a warning is logged; where writing is not allowed at all, none.
    """

    def __init__(self, database: Database, scene: SceneInfo, command: RunCommand, *, is_on: bool = True) -> None:
        self.number: int | None = None
        """The run's number, once it has begun and is kept."""
        self._database, self._scene, self._is_on = database, scene, is_on
        self._command: RunCommand = command
        self._waiting: list[_Kept] = []
        self._steps, self._usage = 0, NOTHING
        self._last_version: int | None = None
        self._by_belief = self._has_ended = False
        self._proposed = ""

    def resume(self, run: RunInfo, *, by_belief: bool) -> None:
        """Go on with a stored run: later events are its next steps. Raises InputError if a process carries it out."""
        resume_run(self._database, run, this_process())
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
                self._store(RunEnd(outcome, bounded(event.why), bounded(event.answer)))
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
            self._store(RunEnd(outcome, bounded(reason)))

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
        facts = RunFacts(
            EPISODE + key if self._command == "eval" else key,
            name,
            self._command,
            bounded(began.instruction),
            began.method,
            began.model,
            began.actor,
            began.version,
            began.belief_version,
            json.dumps(event_document(began)),
        )
        try:
            self.number = begin_run(self._database, facts, this_process())
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
            case Acted() | Corrected():
                version = event.world_version if self._by_belief else event.version
                self._last_version = version or self._last_version
            case _:
                pass
        values = step_values(event, by_belief=self._by_belief, proposed=self._proposed)
        self._waiting.append(_Kept(self._steps, values, time.monotonic()))

    def _store(self, end: RunEnd | None = None) -> None:
        """Store what waits; what can't be stored now waits for the next time."""
        if self.number is None:
            return
        now = time.monotonic()
        rows = [StepRow(it.number, it.values, round(1_000 * (now - it.at))) for it in self._waiting]
        progress = RunProgress(
            self._steps, self._last_version, self._usage.prompt_tokens, self._usage.completion_tokens
        )
        try:
            add_steps(self._database, self.number, rows, progress, end=end)
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
