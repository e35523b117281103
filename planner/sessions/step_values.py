"""The values of a stored step, made from an event: what a query of the past reads, and the log's line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, assert_never

from scenecypher.planner.sessions import events as e

TEXT_LENGTH: Final = 4_000
"""Characters of a text that a query can read; the line has all of it."""
ROW_LENGTH: Final = 1_000
ITEMS: Final = 50


def step_values(event: e.Event, *, by_belief: bool, proposed: str) -> dict[str, Any]:
    """Return the properties of the step that an event is (`scenecypher.db.schema.PAST_PROPERTIES`), without None.

    `by_belief` says whether the robot acts by a belief; `proposed` is the reason of the action proposed last.
    """
    document = e.event_document(event)
    values = {
        "kind": document["event"],
        "turn": document.get("step"),
        "action": document.get("action"),
        "line": json.dumps(document),
        **_own_values(event, proposed),
    }
    if isinstance(event, e.Acted | e.Corrected):
        values |= _versions(event, by_belief=by_belief)
    return {name: _readable(value) if name != "line" else value for name, value in values.items() if value is not None}


def _own_values(event: e.Event, proposed: str) -> Mapping[str, Any]:
    match event:
        case e.Asked() | e.Retrieved() | e.Called() | e.Answered() | e.Thought() | e.Solved():
            return _thought_values(event)
        case e.Proposed() | e.Corrected() | e.Acted() | e.Refused():
            return _action_values(event, proposed)
        case e.Observed():
            return {"observation": "; ".join(event.findings)}
        case e.Remembered():
            return {"tokens": event.usage.total_tokens}
        case e.Finished():
            return {"observation": event.answer or None, "reason": event.reason or None}
        case e.Began():
            return {}
        case _:
            assert_never(event)


def _thought_values(
    event: e.Asked | e.Retrieved | e.Called | e.Answered | e.Thought | e.Solved,
) -> Mapping[str, Any]:
    match event:
        case e.Asked():
            choices = "; ".join(event.choices) or None
            return {"question": event.question, "reason": event.reason or None, "observation": choices}
        case e.Retrieved():
            return {
                "question": event.question,
                "cypher": event.cypher,
                "rows": _rows(event.columns, event.rows),
                "observation": event.answer,
                "reasons": [f"{it.reason} ({it.cypher})" for it in event.refused] or None,
                "tokens": event.usage.total_tokens,
            }
        case e.Called():
            return {"tool": event.tool, "observation": json.dumps(event.arguments), "reason": event.reason or None}
        case e.Answered():
            return {"tool": event.tool, "observation": event.answer, "tokens": event.usage.total_tokens}
        case e.Thought():
            return {"observation": event.thought}
        case e.Solved():
            return {"observation": ", ".join(event.actions), "reason": event.reason or None}
        case _:
            assert_never(event)


def _action_values(event: e.Proposed | e.Corrected | e.Acted | e.Refused, proposed: str) -> Mapping[str, Any]:
    match event:
        case e.Proposed():
            return {"reason": event.reason or None}
        case e.Corrected():
            return {"reason": event.because}
        case e.Acted():
            return {"reason": proposed or None}
        case e.Refused():
            return {"cause": event.cause, "reasons": list(event.reasons), "reason": proposed or None}
        case _:
            assert_never(event)


def _versions(event: e.Acted | e.Corrected, *, by_belief: bool) -> dict[str, int | None]:
    if by_belief:
        return {"version": event.world_version, "belief_version": event.version}
    return {"version": event.version}


def _rows(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str] | None:
    return [json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False)[:ROW_LENGTH] for row in rows] or None


def _readable(value: Any) -> Any:
    if isinstance(value, list):
        return [_readable(it) for it in value[:ITEMS]]
    return bounded(value) if isinstance(value, str) else value


def bounded(text: str) -> str:
    """Return the beginning of a text, as valid Unicode: a model may write half a surrogate pair."""
    return text[:TEXT_LENGTH].encode("utf-8", "replace").decode()
