"""Runs and their steps in the database, and the processes that carry them out."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, LiteralString, TypeAlias

from scenecypher.db.store.connection import Database, ServerRestarted, retry_once
from scenecypher.db.store.stored_form import prepare
from scenecypher.errors import InputError, ServiceError

SAME_START_S: Final = 2.0
"""Start times of one process, as read twice, differ by less."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process by its host, id and start, in seconds since 1970 (0.0: not known); an id alone may be reused.

    `space` tells containers and machines apart that have one host's name.
    """

    host: str
    pid: int
    started: float = 0.0
    space: str = ""

    @property
    def is_here(self) -> bool:
        """Check whether it is, or was, a process of this host, container and start of the machine."""
        return self.host == socket.gethostname() and self.space == process_space()


def this_process() -> Process:
    """Return the running process."""
    import psutil

    return Process(socket.gethostname(), os.getpid(), psutil.Process().create_time(), process_space())


def process_space() -> str:
    """Return what tells processes apart that have one host's name and id: container and start of the machine.

    It is empty except on Linux.
    """
    try:
        return f"{Path('/proc/self/ns/pid').readlink()} {Path('/proc/sys/kernel/random/boot_id').read_text().strip()}"
    except OSError:
        return ""


def is_gone(process: Process) -> bool:
    """Check whether a process of this host has ended; of another host's that can't be known, and is False."""
    if not process.is_here:
        return False
    import psutil

    try:
        found = psutil.Process(process.pid)
        is_other = process.started > 0 and abs(found.create_time() - process.started) > SAME_START_S
        return is_other or bool(found.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False


RunCommand: TypeAlias = Literal["plan", "session", "ask", "eval"]

STEPS_PER_BATCH: Final = 2_000
RUNS_PER_PAGE: Final = 200
SILENT_S: Final = 3_600.0
"""Seconds without a step after which a run of another host counts as cut off."""

# Times are by the clock of the scene, as those of its events; `touched` is the server's.
_CREATE_RUN: Final[LiteralString] = """
WITH c OPTIONAL MATCH (s:Scene {key: $facts.scene})
CREATE (r:Past:Run {number: c.last, began: coalesce(s.clock, datetime()), touched: datetime(), steps: 0})
SET r += $facts
RETURN r.number AS number
"""
BEGIN_RUN: Final[LiteralString] = "MATCH (c:Counter {name: 'run'}) SET c.last = c.last + 1" + _CREATE_RUN
# The counter's constraint is there by then.
BEGIN_FIRST_RUN: Final[LiteralString] = (
    "MERGE (c:Counter {name: 'run'}) SET c.last = coalesce(c.last, 0) + 1" + _CREATE_RUN
)
# A batch whose answer was lost is sent again: what is there already stays as it is. Steps are told how long ago they
# happened, so that all times are the server's.
ADD_STEPS: Final[LiteralString] = """
MATCH (r:Run {number: $number})
OPTIONAL MATCH (scene:Scene {key: r.scene})
SET r += $facts, r.touched = datetime(), r.ended = CASE WHEN $ends THEN coalesce(scene.clock, datetime()) END
WITH r, scene.clock AS clock
UNWIND $steps AS row
MERGE (s:Step {run: $number, number: row.number})
ON CREATE SET s:Past, s.scene = r.scene, s += row.values,
  s.at = coalesce(clock, datetime() - duration({milliseconds: row.ago_ms}))
MERGE (r)-[:HAS_STEP]->(s)
"""
# What it was carried out by is read after the lock is taken, so that of two processes one goes on with it.
RESUME_RUN: Final[LiteralString] = """
MATCH (r:Run {number: $number}) SET r:Run
WITH r WHERE r.host = $was.host AND r.pid = $was.pid AND r.started = $was.started
SET r += $now, r.touched = datetime(), r.ended = null, r.outcome = null, r.reason = null, r.answer = null
RETURN r.number AS number
"""
FIND_RUN: Final[LiteralString] = "MATCH (r:Run {number: $number}) RETURN r"
LATEST_RUNS: Final[LiteralString] = """
MATCH (r:Run) WHERE r.number < $before RETURN r ORDER BY r.number DESC LIMIT $limit
"""
LATEST_RUNS_OF: Final[LiteralString] = """
MATCH (r:Run {scene_name: $name}) WHERE r.number < $before RETURN r ORDER BY r.number DESC LIMIT $limit
"""
LINES: Final[LiteralString] = """
MATCH (s:Step {run: $number}) WHERE s.number > $after RETURN s.number AS number, s.line AS line
ORDER BY s.run, s.number LIMIT $limit
"""
DROP_STEPS: Final[LiteralString] = """
MATCH (s:Step {run: $number}) WHERE s.number > 0 WITH s LIMIT $limit DETACH DELETE s
WITH count(*) AS dropped WHERE dropped > 0 RETURN dropped
"""
DROP_RUN: Final[LiteralString] = "MATCH (r:Run {number: $number}) DETACH DELETE r"
EXPIRED: Final[LiteralString] = """
MATCH (r:Run) WHERE r.touched < datetime() - duration({seconds: $keep_s}) RETURN r.number AS number
UNION
MATCH (r:Run) WHERE r.number > 0 WITH r.number AS number ORDER BY number DESC SKIP $keep RETURN number
"""


@dataclass(frozen=True)
class RunFacts:
    """What is known of a run at its start; `scene` is the key of the generation, `line` the heading of its log."""

    scene: str
    scene_name: str
    command: RunCommand
    instruction: str
    method: str
    model: str
    actor: str
    version: int
    belief_version: int | None
    line: str


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step to be stored: its place in the run, its values, and how many milliseconds ago it happened."""

    number: int
    values: Mapping[str, Any]
    ago_ms: int = 0


@dataclass(frozen=True)
class RunProgress:
    """What a run has come to: its steps, the version that its last action led to (None: none), and all its tokens."""

    steps: int
    last_version: int | None
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True)
class RunEnd:
    """The end of a run."""

    outcome: str
    reason: str = ""
    answer: str = ""


@dataclass(frozen=True, kw_only=True)
class RunInfo(RunEnd, RunProgress, RunFacts):
    """A stored run, as of one read. `outcome` is empty as long as it has not ended."""

    number: int
    began: datetime
    touched: datetime
    ended: datetime | None
    process: Process

    @property
    def state(self) -> str:
        """The outcome, else ``running``, or ``cut off`` if the process that carried it out is gone.

        Of a process on another host it is known only that nothing was heard for SILENT_S.
        """
        silent_s = (datetime.now(UTC) - self.touched).total_seconds()
        is_silent = silent_s > SILENT_S and not self.process.is_here
        return self.outcome or ("cut off" if is_silent or is_gone(self.process) else "running")


def begin_run(database: Database, facts: RunFacts, process: Process) -> int:
    """Store a new run and return its number. Raises ServiceError, also where writing is not allowed."""
    given = {"facts": {**asdict(facts), **asdict(process)}}
    record = database.execute(BEGIN_RUN, given, auto_commit=True)
    if record is None:
        prepare(database)
        record = database.execute(BEGIN_FIRST_RUN, given, auto_commit=True)
    if record is None:
        raise ServiceError("the server stored no run; try again", retryable=True)
    return int(record["number"])


def resume_run(database: Database, run: RunInfo, process: Process) -> None:
    """Let `process` go on with a run that was stopped or cut off. Raises InputError if another one carries it out."""
    given = {"number": run.number, "was": asdict(run.process), "now": asdict(process)}
    if run.state == "running" or database.execute(RESUME_RUN, given, auto_commit=True) is None:
        msg = f"run {run.number} is carried out by process {run.process.pid} on {run.process.host}; end that one first"
        raise InputError(msg)


def add_steps(
    database: Database, number: int, rows: Sequence[StepRow], progress: RunProgress, *, end: RunEnd | None = None
) -> None:
    """Store steps of a run, and its end if it has one, in one transaction; safe to repeat. Raises ServiceError."""
    facts = asdict(progress) | ({} if end is None else asdict(end))
    steps = [{"number": row.number, "values": dict(row.values), "ago_ms": row.ago_ms} for row in rows]
    given = {"number": number, "facts": facts, "ends": end is not None, "steps": steps}
    retry_once(lambda: database.execute(ADD_STEPS, given, auto_commit=True), errors=ServerRestarted)


def find_run(database: Database, number: int) -> RunInfo:
    """Return a run. Raises InputError if there is none of this number."""
    record = database.row(FIND_RUN, {"number": number})
    if record is None:
        raise InputError(f"there is no run {number}; `scenecypher runs list` shows those that are kept")
    return _info_of(record["r"])


def latest_runs(database: Database, name: str | None = None) -> Iterator[RunInfo]:
    """Yield the runs, newest first, by pages as they are asked for; with `name`, those in the scene of this name."""
    statement: LiteralString = LATEST_RUNS if name is None else LATEST_RUNS_OF
    before = 2**63 - 1
    while True:
        given = {"name": name, "before": before, "limit": RUNS_PER_PAGE}
        page = [_info_of(record["r"]) for record in database.rows(statement, given)]
        yield from page
        if len(page) < RUNS_PER_PAGE:
            return
        before = page[-1].number


def read_lines(database: Database, number: int) -> Iterator[str]:
    """Yield the lines of a run's log, without the heading, in order and by pages."""
    after = 0
    while True:
        page = database.rows(LINES, {"number": number, "after": after, "limit": STEPS_PER_BATCH})
        yield from (record["line"] for record in page)
        if len(page) < STEPS_PER_BATCH:
            return
        after = page[-1]["number"]


def delete_run(database: Database, number: int) -> None:
    """Delete a run, its steps first, in transactions of bounded size. Raises InputError if there is none."""
    find_run(database, number)
    _drop_run(database, number)


def delete_expired(database: Database, *, keep_days: float, keep_runs: int) -> int:
    """Delete the runs that stored nothing for `keep_days`, and all but the last `keep_runs`; return their number."""
    given = {"keep": keep_runs, "keep_s": keep_days * 86_400}
    expired = database.rows(EXPIRED, given, timeout_s=2 * database.read_timeout_s)
    for record in expired:
        _drop_run(database, record["number"])
    return len(expired)


def _drop_run(database: Database, number: int) -> None:
    given = {"number": number, "limit": STEPS_PER_BATCH}
    while database.execute(DROP_STEPS, given, timeout_s=2 * database.commit_timeout_s):
        pass
    database.execute(DROP_RUN, given)


def _info_of(stored: Mapping[str, Any]) -> RunInfo:
    """Return the value of a Run node; facts that it gets in the course of the run may be missing."""
    facts: dict[str, Any] = {field.name: stored.get(field.name) for field in fields(RunInfo)}
    times = {name: facts[name] and facts[name].to_native() for name in ("began", "touched", "ended")}
    texts = {name: facts[name] or "" for name in ("outcome", "reason", "answer")}
    numbers = {name: facts[name] or 0 for name in ("steps", "tokens_in", "tokens_out")}
    process = Process(stored["host"], stored["pid"], stored.get("started", 0.0), stored.get("space", ""))
    return RunInfo(**{**facts, **times, **texts, **numbers, "process": process})
