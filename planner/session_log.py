"""A session's log, as `plan --log` writes it, read back: its heading, whole turns, and the turn that was cut off."""

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
"""The fields of events that name a version of the scene."""
UNFINISHED_TURN_EVENTS: Final = {
    "solved": Solved,
    "proposed": Proposed,
    "corrected": Corrected,
    "acted": Acted,
    "refused": Refused,
}
"""Events of a turn that was cut off, by their names in a log."""
HEADING_EVENT: Final = "began"
"""What the first line of a log has for an event."""


class _Line(BaseModel):
    """What is read of a log's line; `event` says which event it is."""

    model_config = ConfigDict(extra="allow")

    event: str
    step: int = 0


@dataclass(frozen=True, slots=True)
class LoggedSession:
    """What a log says of a session: its whole turns, what they cost, and the events of the turn that was cut off.

    `version` is the last of the scene's that it names, `opening` the view that the session began with, and `ended` is
    whether it came to its end. `began` is its heading, empty where it has none.
    """

    turns: tuple[Turn, ...]
    spent: Spent
    cut: tuple[Mapping[str, Any], ...]
    ended: bool
    version: int = 0
    opening: str = ""
    began: Mapping[str, Any] = field(default_factory=dict)


def log_heading(setting: SessionSetting) -> dict[str, Any]:
    """The first line of a session's log, as plain JSON values: what must be the same when it is resumed."""
    return {
        "event": HEADING_EVENT,
        "scene": setting.scene.name,
        "method": setting.name,
        "ablations": list(setting.ablations),
        "instruction": setting.instruction,
    }


def read_log(file: Path) -> LoggedSession:
    """The turns in a log of `plan --log`; a last line that was cut off is left out. Raises InputError."""
    lines = [*_read_lines(file)]
    whole = [_parse_remembered(line, file) for line in lines if line.event == "remembered"]
    turns = tuple(Turn(_parse_decision(it, file), it.feedback, it.done, it.refused) for it in whole)
    usage = sum((it.usage for it in whole), Usage())
    last = whole[-1] if whole else Remembered(0, None, "", (), refused=False, infeasible=0, usage=usage)
    actions = sum(len(it.done) for it in whole)
    spent = Spent(last.step, actions, last.infeasible, usage, last.seconds, last.seeing)
    cut = tuple(line.model_dump() for line in lines if line.step > spent.steps and line.event != "finished")
    read = [line.model_dump() for line in lines if line.event in UNFINISHED_TURN_EVENTS]
    version = max((int(it.get(key, 0)) for it in read for key in VERSION_FIELDS), default=0)
    opening = next((it.opening for it in whole if it.opening), "")
    ended = any(line.event == "finished" for line in lines)
    began = next((line.model_dump() for line in lines[:1] if line.event == HEADING_EVENT), {})
    return LoggedSession(turns, spent, cut, ended=ended, version=version, opening=opening, began=began)


def _read_lines(file: Path) -> Iterator[_Line]:
    """Each line but a last one that was cut off; none ends anywhere but at its newline."""
    try:
        *whole, last = file.read_bytes().split(b"\n")
    except OSError as error:
        msg = f"{file}: can't be read ({error.strerror}); give a log that `plan --log` wrote"
        raise InputError(msg) from error
    if not whole or _is_whole(last):
        whole += [last] if last else []
    for number, text in enumerate(whole, 1):
        try:
            yield _parse_line(text)
        except ValidationError as error:
            msg = f"{file}:{number}: this is no event of a session; give a log that `plan --log` wrote"
            raise InputError(msg) from error


def _parse_line(text: bytes) -> _Line:
    """Raises ValidationError."""
    line = _Line.model_validate_json(text)
    if line.event in UNFINISHED_TURN_EVENTS:
        TypeAdapter(UNFINISHED_TURN_EVENTS[line.event]).validate_python(line.model_dump())
    return line


def _is_whole(text: bytes) -> bool:
    try:
        _parse_line(text)
    except ValidationError:
        return False
    return True


def trim_log(file: Path) -> None:
    """Take away a last line that was cut off, so that a log can be written on. Raises InputError."""
    kept, newline, last = file.read_bytes().rpartition(b"\n")
    if not last:
        return
    try:
        file.write_bytes(kept + newline + (last + b"\n" if _is_whole(last) else b""))
    except OSError as error:
        msg = f"{file}: can't be written on ({error.strerror}); resume from a copy that can"
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
