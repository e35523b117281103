"""Reader of session logs of `plan --log`: the heading, complete turns, and an interrupted turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from scenecypher.chat.model import Usage
from scenecypher.errors import InputError
from scenecypher.planner.budget import Spent
from scenecypher.planner.events import Acted, Corrected, Proposed, Refused, Remembered, Solved
from scenecypher.planner.method import Decision, Turn, decision_from_document
from scenecypher.planner.staging import SessionSetting

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
    session finished. `heading` is the log's first line, empty if it has none.
    """

    turns: tuple[Turn, ...]
    spent: Spent
    interrupted: tuple[Mapping[str, Any], ...]
    ended: bool
    version: int = 0
    opening: str = ""
    heading: Mapping[str, Any] = field(default_factory=dict)


def log_heading(setting: SessionSetting) -> dict[str, Any]:
    """Return a log's first line as plain JSON values: the settings that must be equal when it is resumed."""
    return {
        "event": HEADING_EVENT,
        "scene": setting.scene.name,
        "method": setting.name,
        "ablations": list(setting.ablations),
        "instruction": setting.instruction,
    }


def read_log(file: Path) -> LoggedSession:
    """Read a log of `plan --log`; an incomplete last line is ignored. Raises InputError."""
    lines = [*_read_lines(file)]
    remembered = [_parse_remembered(line, file) for line in lines if line.event == "remembered"]
    turns = tuple(Turn(_parse_decision(it, file), it.feedback, it.done, it.refused) for it in remembered)
    usage = sum((it.usage for it in remembered), Usage())
    last = remembered[-1] if remembered else Remembered(0, None, "", (), refused=False, infeasible=0, usage=usage)
    actions = sum(len(it.done) for it in remembered)
    spent = Spent(last.step, actions, last.infeasible, usage, last.seconds, last.seeing)
    interrupted = tuple(line.model_dump() for line in lines if line.step > spent.steps and line.event != "finished")
    read = [line.model_dump() for line in lines if line.event in UNFINISHED_TURN_EVENTS]
    version = max((int(it.get(key, 0)) for it in read for key in VERSION_FIELDS), default=0)
    opening = next((it.opening for it in remembered if it.opening), "")
    ended = any(line.event == "finished" for line in lines)
    heading = next((line.model_dump() for line in lines[:1] if line.event == HEADING_EVENT), {})
    return LoggedSession(turns, spent, interrupted, ended=ended, version=version, opening=opening, heading=heading)


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
    try:
        file.write_bytes(kept + newline + (last + b"\n" if _is_complete(last) else b""))
    except OSError as error:
        msg = f"{file}: can't be written ({error.strerror}); resume from a copy that can"
        raise InputError(msg) from error


def _parse_remembered(line: _Line, file: Path) -> Remembered:
    try:
        return TypeAdapter(Remembered).validate_python(line.model_dump())
    except ValidationError as error:
        msg = f"{file}: the turn {line.step} can't be read; give a log that this version's `plan --log` wrote"
        raise InputError(msg) from error


def _parse_decision(turn: Remembered, file: Path) -> Decision | None:
    try:
        decision = None if turn.decision is None else decision_from_document(turn.decision)
        return None if decision is None else TypeAdapter(type(decision)).validate_python(asdict(decision))
    except (KeyError, TypeError, ValidationError) as error:
        msg = (
            f"{file}: the decision of turn {turn.step} can't be read; give a log that this version's `plan --log` wrote"
        )
        raise InputError(msg) from error
