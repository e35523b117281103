"""The events of a planning session, printed for people or as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, assert_never

from scenecypher.cli.context import counted, output, print_line

if TYPE_CHECKING:
    from scenecypher.planner.events import (
        Answered,
        Asked,
        Began,
        Called,
        Event,
        Finished,
        Proposed,
        Remembered,
        Retrieved,
        Solved,
        Thought,
    )


def show_events(events: Iterable[Event], *, as_json: bool = False) -> Finished:
    """Print events as they happen; return the last one."""
    from scenecypher.planner.events import Finished, event_document

    for event in events:
        if as_json:
            print_line(json.dumps(event_document(event), ensure_ascii=False))
        else:
            print_event(event)
        if isinstance(event, Finished):
            return event
    raise AssertionError


def print_event(event: Event) -> None:
    """Print an event for people; nothing of one that is for logs only."""
    style, line = event_line(event)
    if line:
        output().print(line, style=style, markup=False)


def event_line(event: Event) -> tuple[str, str]:
    """Return an event's style and its line for people."""
    from scenecypher.planner import events as e

    match event:
        case e.Asked() | e.Retrieved() | e.Called() | e.Answered() | e.Thought() | e.Solved() | e.Proposed():
            return _decided(event)
        case e.Corrected():
            return "yellow", f"     first {event.action}, since {event.because}; version {event.version}"
        case e.Acted():
            return "green", f"     done, version {event.version}"
        case e.Observed():
            return "magenta", "\n".join(f"     saw: {finding}" for finding in event.findings)
        case e.Refused():
            return "red", f"     refused: {'; '.join(event.reasons)}"
        case e.Began() | e.Remembered() | e.Finished():
            return _bounded(event)
        case _:
            assert_never(event)


def _bounded(event: Began | Remembered | Finished) -> tuple[str, str]:
    """Return style and line of a session's end; its start and the ends of turns are for logs only."""
    from scenecypher.planner import events as e

    if not isinstance(event, e.Finished):
        return "dim", ""
    seeing = f" and {event.seeing.total_tokens:,} of pictures" if event.seeing.total_tokens else ""
    tokens = f"{event.usage.total_tokens:,} tokens{seeing}, {event.seconds:.1f} s"
    end = f"{event.outcome}: {event.reason}" if event.reason else event.outcome
    answer = f"\nanswer: {event.answer}" if event.answer else ""
    return "bold", f"{end} ({counted(event.steps, 'step')}, {counted(event.actions, 'action')}, {tokens}){answer}"


def _decided(event: Asked | Retrieved | Called | Answered | Thought | Solved | Proposed) -> tuple[str, str]:
    from scenecypher.planner import events as e

    match event:
        case e.Asked():
            return "cyan", f"{event.step:>3}  ask: {event.question}"
        case e.Retrieved() | e.Answered():
            return "dim", f"     {event.answer}".replace("\n", "\n     ")
        case e.Called():
            arguments = ", ".join(f"{name}={value!r}" for name, value in event.arguments.items())
            return "cyan", f"{event.step:>3}  {event.tool}({arguments})"
        case e.Thought():
            return "cyan", f"{event.step:>3}  think: {event.thought}"
        case e.Solved():
            return "cyan", f"{event.step:>3}  a solution of {counted(len(event.actions), 'action')}"
        case e.Proposed():
            return "bold", f"{event.step:>3}  {event.action}" + (f"  ({event.reason})" if event.reason else "")
        case _:
            assert_never(event)
