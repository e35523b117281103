"""Reader of session logs, stored or of `plan --log`: the heading, complete turns, and an interrupted turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from scenecypher.chat.model import Usage
from scenecypher.db.store.connection import Database
from scenecypher.db.store.runs import find_run, read_lines
from scenecypher.errors import InputError
from scenecypher.files import write_file
from scenecypher.planner.sessions.budget import Spent
from scenecypher.planner.sessions.events import Acted, Corrected, Proposed, Refused, Remembered, Solved
from scenecypher.planner.sessions.method import Decision, Turn, decision_from_document

VERSION_FIELDS: Final = ("version", "since")
"""Fields of events that hold a version of the scene."""
UNFINISHED_TURN_EVENTS: Final = {
    "solved": Solved,
    "proposed": Proposed,
    "corrected": Corrected,
    "acted": Acted,
    "refused": Refused,
}
"""Event types that are read of an interrupted turn, by their names in a log."""
NAMED_SETTINGS: Final = ("scene", "method", "ablations", "instruction", "model")
"""Settings that are fields of the heading."""
HEADING_EVENT: Final = "began"
"""Name of the heading, a log's first line."""


class _Line(BaseModel):
    """A line of a log; `event` is the name of its event."""

    model_config = ConfigDict(extra="allow")

    event: str
    step: int = 0


@dataclass(frozen=True, slots=True)
class LoggedSession:
    """A session as read from its log: complete turns, the budget they used, and the events of an interrupted turn.

    `version` is the scene's last version in the log, `opening` the method's first view, and `ended` is True if the
    session finished. `heading` is the log's first line, empty if it has none; `source` names the log in words.
    `settings` are all that the session was begun with, as far as the heading has it.
    """

    turns: tuple[Turn, ...]
    spent: Spent
    interrupted: tuple[Mapping[str, Any], ...]
    ended: bool
    version: int = 0
    opening: str = ""
    heading: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the session was begun with, by name."""
        named = {name: self.heading[name] for name in NAMED_SETTINGS if name in self.heading}
        return {**named, **self.heading.get("settings", {})}


def settings_then(database: Database, source: str) -> Mapping[str, Any]:
    """Return what the session of a run's number or a log's file was begun with. Raises InputError."""
    return (read_run(database, int(source)) if source.isdecimal() else read_log(Path(source))).settings


def read_log(file: Path) -> LoggedSession:
    """Read a log of `plan --log`; an incomplete last line is ignored. Raises InputError."""
    return _session_of([*_read_lines(file)], str(file))


def read_run(database: Database, number: int) -> LoggedSession:
    """Read the log of a stored run. Raises InputError if there is no such run."""
    run = find_run(database, number)
    lines = [_Line.model_validate_json(line) for line in (run.line, *read_lines(database, number))]
    return _session_of(lines, f"run {number}")


def _session_of(lines: Sequence[_Line], source: str) -> LoggedSession:
    remembered = [_parse_remembered(line, source) for line in lines if line.event == "remembered"]
    turns = tuple(Turn(_parse_decision(it, source), it.feedback, it.done, it.refused) for it in remembered)
    usage = sum((it.usage for it in remembered), Usage())
    last = remembered[-1] if remembered else Remembered(0, None, "", (), refused=False, infeasible=0, usage=usage)
    actions = sum(len(it.done) for it in remembered)
    spent = Spent(last.step, actions, last.infeasible, usage, last.seconds, last.seeing)
    interrupted = tuple(line.model_dump() for line in lines if line.step > spent.steps and line.event != "finished")
    heading = next((line.model_dump() for line in lines[:1] if line.event == HEADING_EVENT), {})
    return LoggedSession(
        turns,
        spent,
        interrupted,
        ended=any(line.event == "finished" for line in lines),
        version=_last_version(lines, heading),
        opening=next((it.opening for it in remembered if it.opening), ""),
        heading=heading,
        source=source,
    )


def _last_version(lines: Sequence[_Line], heading: Mapping[str, Any]) -> int:
    """Return the last version in a log of the scene by which the robot acts: of the belief, if there is one."""
    begun = heading.get("belief_version")
    read = [line.model_dump() for line in lines if line.event in UNFINISHED_TURN_EVENTS]
    seen = [int(it.get(key, 0)) for it in read for key in VERSION_FIELDS]
    return max((*seen, int(heading.get("version", 0) if begun is None else begun)))


def _read_lines(file: Path) -> Iterator[_Line]:
    """Yield the lines, split at newlines only, without an incomplete last one. Raises InputError."""
    try:
        *whole, last = file.read_bytes().split(b"\n")
    except OSError as error:
        msg = f"{file}: can't be read ({error.strerror}); give a log that `plan --log` wrote"
        raise InputError(msg) from error
    if not whole or _is_complete(last):
        whole += [last] if last else []
    for number, text in enumerate(whole, 1):
        try:
            yield _parse_line(text)
        except ValidationError as error:
            msg = f"{file}:{number}: this is no event of a session; give a log that `plan --log` wrote"
            raise InputError(msg) from error


def _parse_line(text: bytes) -> _Line:
    """Parse a line. Raises ValidationError."""
    line = _Line.model_validate_json(text)
    if line.event in UNFINISHED_TURN_EVENTS:
        TypeAdapter(UNFINISHED_TURN_EVENTS[line.event]).validate_python(line.model_dump())
    return line


def _is_complete(text: bytes) -> bool:
    try:
        _parse_line(text)
    except ValidationError:
        return False
    return True


def trim_log(file: Path) -> None:
    """Remove an incomplete last line, so that the log can be appended to. Raises InputError."""
    kept, newline, last = file.read_bytes().rpartition(b"\n")
    if not last:
        return
    write_file(file, kept + newline + (last + b"\n" if _is_complete(last) else b""))


def _parse_remembered(line: _Line, source: str) -> Remembered:
    try:
        return TypeAdapter(Remembered).validate_python(line.model_dump())
    except ValidationError as error:
        msg = f"{source}: the turn {line.step} can't be read; give a log of this version's `plan --log`"
        raise InputError(msg) from error


def _parse_decision(turn: Remembered, source: str) -> Decision | None:
    try:
        decision = None if turn.decision is None else decision_from_document(turn.decision)
        return None if decision is None else TypeAdapter(type(decision)).validate_python(asdict(decision))
    except (KeyError, TypeError, ValidationError) as error:
        msg = f"{source}: the decision of turn {turn.step} can't be read; give a log of this version's `plan --log`"
        raise InputError(msg) from error
