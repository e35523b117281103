"""What comes of a question: every attempt with its outcome, and the answer they led to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from scenecypher.chat.model import Source, Usage
from scenecypher.db.gate import Answer

Outcome: TypeAlias = Literal["answered", "unanswerable", "refused"]

ROWS_SHOWN: Final = 20
CHARACTERS_SHOWN: Final = 4_000


@dataclass(frozen=True, slots=True)
class Ran:
    """The query passed the gate and gave this answer, maybe without rows."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Told:
    """The model, which had the whole graph before it at this version, answered in words."""

    text: str
    version: int


@dataclass(frozen=True, slots=True)
class Rejected:
    """The gate or the database refused the query; `message` is what the model was told."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Declined:
    """The model says that the scene graph can't answer, and why."""

    reason: str


Ending: TypeAlias = Ran | Told | Rejected | Declined


@dataclass(frozen=True, slots=True)
class Attempt:
    """One reply of the model and what became of it.

    `seconds` is the time in the gate and the database; `repeats` the number of the equal attempt before it, which was
    not run again.
    """

    number: int
    cypher: str
    ending: Ending
    usage: Usage
    source: Source
    seconds: float = 0.0
    repeats: int | None = None


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The answer to a question, and all that led to it.

    `answer` is the verifier's summary, else the rows in words, else what the model said of the graph; `cypher`,
    `columns` and `rows` are those of the attempt that it rests on, read at scene version `version`; `truncated` says
    why there are no more rows, if there are; `addressed` is the verifier's verdict, None where none was asked.
    """

    question: str
    outcome: Outcome
    answer: str
    attempts: tuple[Attempt, ...]
    usage: Usage
    cypher: str | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    version: int | None = None
    truncated: str | None = None
    addressed: bool | None = None

    @property
    def source(self) -> Source:
        """Where the model's replies came from."""
        return self.attempts[-1].source


def rows_text(answer: Answer) -> str:
    """A table in words, the same for the same rows: a value, a list, or a line a row, bounded in size."""
    columns, rows = tuple(answer.columns), tuple(tuple(row) for row in answer.rows)
    if not rows:
        return "nothing was found"
    if len(columns) == 1:
        shown = ", ".join(cell_text(row[0]) for row in rows[:ROWS_SHOWN])
    else:
        shown = "\n".join(_row_text(columns, row) for row in rows[:ROWS_SHOWN])
    if len(shown) > CHARACTERS_SHOWN:
        shown = f"{shown[:CHARACTERS_SHOWN]}…"
    more = len(rows) - ROWS_SHOWN
    told = f"{shown}\nand {more:,} more rows" if more > 0 else shown
    return f"{told}\n(these are {answer.truncated})" if answer.truncated else told


def cell_text(value: Any) -> str:
    """Return one value for people: text as it is, a point as ``(x, y, z)``, all else as JSON."""
    if isinstance(value, dict) and value.keys() - {"z"} == {"srid", "x", "y"}:
        return f"({', '.join(str(value[axis]) for axis in 'xyz' if axis in value)})"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def retrieval_document(of: Retrieval) -> dict[str, Any]:
    """The retrieval as plain JSON values."""
    return {
        "question": of.question,
        "outcome": of.outcome,
        "answer": of.answer,
        "cypher": of.cypher,
        "columns": list(of.columns),
        "rows": [list(row) for row in of.rows],
        "truncated": of.truncated,
        "version": of.version,
        "addressed": of.addressed,
        "source": of.source,
        "usage": {"prompt_tokens": of.usage.prompt_tokens, "completion_tokens": of.usage.completion_tokens},
        "attempts": [_attempt_document(attempt) for attempt in of.attempts],
    }


def _attempt_document(attempt: Attempt) -> dict[str, Any]:
    document: dict[str, Any] = {
        "cypher": attempt.cypher,
        "seconds": round(attempt.seconds, 4),
        "prompt_tokens": attempt.usage.prompt_tokens,
        "completion_tokens": attempt.usage.completion_tokens,
        "repeats": attempt.repeats,
    }
    match attempt.ending:
        case Ran(answer):
            return document | {"rows": len(answer.rows)}
        case Told(text):
            return document | {"told": text}
        case Rejected(code, message):
            return document | {"code": code, "refusal": message}
        case Declined(reason):
            return document | {"declined": reason}


def _row_text(columns: tuple[str, ...], row: tuple[Any, ...]) -> str:
    return ", ".join(f"{column}: {cell_text(value)}" for column, value in zip(columns, row, strict=True))
