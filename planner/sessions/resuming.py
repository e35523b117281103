"""Resuming an interrupted session: its turns are read from its log, and the action under way is done by its id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from scenecypher.errors import InputError
from scenecypher.planner.sessions.budget import Spent
from scenecypher.planner.sessions.events import Event
from scenecypher.planner.sessions.log import LoggedSession, read_log, read_run, trim_log
from scenecypher.planner.sessions.method import Act, Solve
from scenecypher.planner.sessions.recipe import Recipe
from scenecypher.planner.sessions.session import Interrupted
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session, settings_of

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
