"""Logs of sessions, stored or of `plan --log`, and the rest of an interrupted one: what was begun is done by its id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from scenecypher.chat.model import Usage
from scenecypher.db.store.connection import Database
from scenecypher.db.store.runs import find_run, read_lines
from scenecypher.errors import InputError
from scenecypher.files import write_file
from scenecypher.planner.sessions.budget import Spent
from scenecypher.planner.sessions.events import EVENTS, Event, Remembered
from scenecypher.planner.sessions.method import Act, Decision, Recipe, Solve, Turn, decision_from_document
from scenecypher.planner.sessions.session import Interrupted
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session, settings_of

VERSION_FIELDS: Final = ("version", "since")
"""Fields of events that hold a version of the scene."""
UNFINISHED_TURN_EVENTS: Final = {name: EVENTS[name] for name in ("solved", "proposed", "corrected", "acted", "refused")}
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
        return None if turn.decision is None else decision_from_document(turn.decision)
    except (KeyError, ValidationError) as error:
        msg = f"{source}: the decision of turn {turn.step} can't be read; give a log of this version's `plan --log`"
        raise InputError(msg) from error


ACTION_EVENTS: Final = frozenset({"acted", "corrected"})
"""Events of executed actions, by their names in a log."""


def resume_session(setting: SessionSetting, recipe: Recipe, source: Path | int) -> Iterator[Event]:
    """Yield the remaining events of the session of a log: a file, or a stored run's number.

    All settings must be the same as before. Raises InputError if it is no session's log, if it differs in one of them,
    or if the session has ended.
    """
    past = read_log(source) if isinstance(source, Path) else read_run(setting.store.database, source)
    if past.ended:
        msg = f"{past.source}: this session came to its end; start another without --resume"
        raise InputError(msg)
    for what, now in settings_of(setting, recipe):
        if past.settings.get(what, now) != now:
            msg = f"{past.source}: that session's {what} is {past.settings[what]!r}, not {now!r}; give the same as then"
            raise InputError(msg)
    interrupted, spent = _interrupted(past)
    if isinstance(source, Path):
        trim_log(source)
    return _continue(replace(setting, since=past.heading.get("version")), recipe, past, interrupted, spent)


def _continue(
    setting: SessionSetting, recipe: Recipe, past: LoggedSession, interrupted: Interrupted | None, spent: Spent
) -> Iterator[Event]:
    ready = prepare_session(setting, recipe)
    if past.turns and past.version:
        ready.others.since = past.version
    memory = replace(ready.memory, turns=past.turns, opening=past.opening)
    yield from ready.traced(ready.session.run(memory, spent=spent, interrupted=interrupted))


def _interrupted(past: LoggedSession) -> tuple[Interrupted | None, Spent]:
    """Return the turn that was cut off once an action was proposed, and the budget used so far. Raises InputError."""
    events = past.interrupted
    proposed = [number for number, it in enumerate(events) if it["event"] == "proposed"]
    if not proposed:
        return None, past.spent
    before, (last, *since) = events[: proposed[-1]], events[proposed[-1] :]
    if not last.get("action_id"):
        msg = f"{past.source}: the action under way has no id there; look what was done, and start another plan"
        raise InputError(msg)
    logged = frozenset(it["action_id"] for it in since if it["event"] in ACTION_EVENTS)
    solved = next((it for it in before if it["event"] == "solved"), None)
    if solved is None:
        return Interrupted(Act(last["action"], last["reason"]), last["action_id"], logged), past.spent
    done = tuple(it["action"] for it in before if it["event"] in ACTION_EVENTS)
    rest = Solve(
        tuple(solved["actions"]),
        solved["reason"],
        solved.get("final", True),
        tried=len(proposed) - 1,
        refused=len(_refusals(before)),
        done=done,
        told="; ".join([*(f"{action} was carried out" for action in done), *_refusals(before)]),
    )
    spent = replace(past.spent, actions=past.spent.actions + len(done))
    return Interrupted(rest, last["action_id"], logged), spent


def _refusals(events: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the refusals in words, the last one of each proposal: one that was under way may have been tried twice."""
    told: dict[str, str] = {}
    proposed = ""
    for it in events:
        if it["event"] == "proposed":
            proposed = it["action_id"]
        elif it["event"] == "refused":
            told[proposed] = f"{it['action']} was refused: {'; '.join(it['reasons'])}"
    return [*told.values()]
