"""A run as a film: each event as a frame, with what it asked, read, did, was refused or saw."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, assert_never

from scenecypher.planner.sessions import events as e
from scenecypher.retriever.retrieval import cell_text

ARGUMENTS: Final = re.compile(r"\((.*)\)\s*$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Frame:
    """One event of a run. `kind` is its name in logs, `turn` the decision that it belongs to.

    `text` is what it says, `lines` further lines; `cypher` with `columns` and `rows` is what a question read. `version`
    is the scene's after it, None if it changed nothing; `nodes` are the words of an action that may name nodes.
    """

    kind: str
    turn: int
    text: str
    lines: tuple[str, ...] = ()
    cypher: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    version: int | None = None
    nodes: tuple[str, ...] = ()


def frames_of(lines: Iterable[str]) -> Iterator[Frame]:
    """Yield the frames of a run's log lines; ends of turns have none."""
    since = 0
    for line in lines:
        event = e.event_from_document(json.loads(line))
        if isinstance(event, e.Proposed):
            since = event.since
        if (frame := _frame(event, since)) is not None:
            yield frame
        if isinstance(event, e.Acted | e.Corrected):
            since = event.version


def words_of(action: str) -> tuple[str, ...]:
    """Return the arguments of an action such as ``put_in(cup_1, fridge_2)``."""
    found = ARGUMENTS.search(action)
    return tuple(it.strip() for it in found[1].split(",")) if found else ()


def _frame(event: e.Event, since: int) -> Frame | None:
    match event:
        case e.Asked() | e.Retrieved() | e.Called() | e.Answered() | e.Thought() | e.Solved():
            return _decided(event)
        case e.Proposed() | e.Corrected() | e.Acted() | e.Observed() | e.Refused():
            return _played(event, since)
        case e.Finished():
            answer = (f"answer: {event.answer}",) if event.answer else ()
            return Frame("finished", 0, event.words, answer)
        case e.Began() | e.Remembered():
            return None
        case _:
            assert_never(event)


def _played(event: e.Proposed | e.Corrected | e.Acted | e.Observed | e.Refused, since: int) -> Frame:
    match event:
        case e.Proposed():
            return _of(event, event.action, event.reason)
        case e.Corrected():
            return _acted(event, f"{event.action}, since {event.because}", event.version, event.action)
        case e.Acted():
            return _acted(event, event.action, event.version, event.action)
        case e.Observed():
            return _of(event, f"saw after {event.action}", *event.findings)
        case e.Refused():
            return _acted(event, event.action or event.cause, since, event.action, *event.reasons)
        case _:
            assert_never(event)


def _decided(event: e.Asked | e.Retrieved | e.Called | e.Answered | e.Thought | e.Solved) -> Frame:
    match event:
        case e.Asked():
            return _of(event, event.question, event.reason, *event.choices)
        case e.Retrieved():
            rows = tuple(tuple(cell_text(cell) for cell in row) for row in event.rows)
            refused = tuple(f"refused: {it.reason}" for it in event.refused)
            return Frame("retrieved", event.step, event.answer, refused, event.cypher or "", event.columns, rows)
        case e.Called():
            return _of(event, f"{event.tool} {json.dumps(event.arguments, ensure_ascii=False)}", event.reason)
        case e.Answered():
            return _of(event, event.answer)
        case e.Thought():
            return _of(event, event.thought)
        case e.Solved():
            return _of(event, "; ".join(event.actions), event.reason)
        case _:
            assert_never(event)


def _of(event: e.Asked | e.Called | e.Answered | e.Thought | e.Solved | e.Proposed | e.Observed, *text: str) -> Frame:
    first, *more = text
    return Frame(type(event).__name__.lower(), event.step, first, tuple(filter(None, more)))


def _acted(event: e.Acted | e.Corrected | e.Refused, text: str, version: int, action: str, *lines: str) -> Frame:
    return Frame(type(event).__name__.lower(), event.step, text, lines, version=version, nodes=words_of(action))
