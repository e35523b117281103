"""The events of a planning session, printed for people or as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from scenecypher.cli.context import output, print_line
from scenecypher.wording import event_line

if TYPE_CHECKING:
    from scenecypher.planner.sessions.events import Event, Finished


def show_events(events: Iterable[Event], *, as_json: bool = False) -> Finished:
    """Print events as they happen; return the last one."""
    from scenecypher.planner.sessions.events import Finished, event_document

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
