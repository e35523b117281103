"""Queries on one scene; and the result of a question: every attempt with its ending, and the answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, TypeVar

from scenecypher.chat.clean import clean_cypher
from scenecypher.chat.model import ReplySource, Usage
from scenecypher.db.gate import Answer, Explanation, Gate, KnownValues, SceneRef
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import LISTED_NODES_LIMIT, Enumerator
from scenecypher.db.store.load import LoadedScene
from scenecypher.db.store.values import JsonValue
from scenecypher.errors import QueryRefused
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.retriever.empty_answers import MAY_MISS, hints

T = TypeVar("T")

NAME_CODES: Final = frozenset({"label", "relation_type", "property"})
"""Codes of refusals that give better advice if the scene's values are known."""


@dataclass(frozen=True, slots=True)
class SceneReader:
    """Queries of people and models on one scene. Raises QueryRefused, SceneReplaced, ServiceError."""

    gate: Gate
    enumerator: Enumerator
    scene: SceneInfo
    meaning: Meaning = NO_MEANING

    def query(self, cypher: str) -> Answer:
        """Return the answer to the query in a text of a person or an agent, which may be fenced or labelled.

        An empty answer has hints: what in the query matches nothing; so has one with rows that a slip does not empty.
        """
        bare = clean_cypher(cypher)
        answer = self.run(bare)
        is_cheap = self.scene.nodes <= LISTED_NODES_LIMIT  # of a larger scene the values are not read for rows alone
        if not (answer.is_empty or (is_cheap and MAY_MISS.search(bare))):
            return answer
        occurring, schema = self.enumerator.of(self.scene), SceneRef.of(self.scene).schema
        return replace(answer, hints=hints(bare, occurring, self.meaning, schema, is_empty=answer.is_empty))

    def run(self, cypher: str) -> Answer:
        """Return the query's answer."""
        scene = SceneRef.of(self.scene)
        return self._with_known_values(lambda known: self.gate.run(cypher, scene, known=known))

    def now(self) -> LoadedScene:
        """Return the whole scene as it is now. Raises SceneReplaced, ServiceError."""
        return self.enumerator.replicas.now(self.scene)

    def explain(self, cypher: str) -> Explanation:
        """Return the query that would run and the server's plan of it, or its refusal."""
        scene, cypher = SceneRef.of(self.scene), clean_cypher(cypher)
        found = self.gate.explain(cypher, scene)
        if found.refused is None or found.refused.code not in NAME_CODES:
            return found
        return self.gate.explain(cypher, scene, known=self.enumerator.of(self.scene).known())

    def _with_known_values(self, work: Callable[[KnownValues | None], T]) -> T:
        """Do `work`; read the scene's values, which takes time, only if a name is refused."""
        try:
            return work(None)
        except QueryRefused as refused:
            if refused.code not in NAME_CODES:
                raise
        return work(self.enumerator.of(self.scene).known())


RetrievalOutcome: TypeAlias = Literal["answered", "unanswerable", "refused"]

ROWS_SHOWN: Final = 20
ITEMS_SHOWN: Final = 50
"""Items of one list that a text shows, such as the poses of a robot's path."""
CHARACTERS_SHOWN: Final = 4_000
NOTICES: Final[Mapping[ReplySource, str]] = {
    "scripted": "scripted replies: a person wrote this Cypher, no model did; the rows are the database's own",
    "recorded": "recorded replies: a model wrote this Cypher at an earlier time; the rows are the database's own",
}
"""What people are told of replies that no model gave just now, by their source."""


@dataclass(frozen=True, slots=True)
class QueryExecuted:
    """The query passed the gate and gave this answer, maybe without rows."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class TextAnswer:
    """The model, which was shown the whole graph at this version, answered in words."""

    text: str
    version: int


@dataclass(frozen=True, slots=True)
class Rejected:
    """The gate or the database refused the query; `message` is the text for the model."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Declined:
    """The model states that the scene graph can't answer, with its reason."""

    reason: str


AttemptEnding: TypeAlias = QueryExecuted | TextAnswer | Rejected | Declined


@dataclass(frozen=True, slots=True)
class Attempt:
    """One reply of the model and its ending.

    `seconds` is the time in the gate and the database; `repeats` is the number of the equal earlier attempt, whose
    query was not run again. `turned` are the arrows of the model's query that were turned, in words.
    """

    number: int
    cypher: str
    ending: AttemptEnding
    usage: Usage
    source: ReplySource
    seconds: float = 0.0
    repeats: int | None = None
    turned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The answer to a question, and all attempts.

    `answer` is the verifier's summary, else the rows in words, else the model's own words. `cypher`, `columns` and
    `rows` belong to the attempt that it rests on, read at scene version `version`; `truncated` says why there are no
    more rows, if there are any; `addressed` is the verifier's verdict, None without one. `worded` says that a model put
    the rows into the words of the answer.
    """

    question: str
    outcome: RetrievalOutcome
    answer: str
    attempts: tuple[Attempt, ...]
    usage: Usage
    cypher: str | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[JsonValue, ...], ...] = ()
    version: int | None = None
    truncated: str | None = None
    addressed: bool | None = None
    worded: bool = False

    @property
    def source(self) -> ReplySource:
        """Return the source of the model's replies."""
        return self.attempts[-1].source


def rows_text(answer: Answer) -> str:
    """Return a table as text of bounded size, equal for equal rows: a value, a list, or a line a row."""
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
    text = f"{shown}\nand {more:,} more rows" if more > 0 else shown
    return f"{text}\n(these are {answer.truncated})" if answer.truncated else text


def cell_text(value: Any) -> str:
    """Return one value for people: text as it is, a point as ``(x, y, z)``, all else as JSON; long lists are cut."""
    return value if isinstance(value, str) else _inner_text(value)


def _inner_text(value: Any) -> str:
    match value:
        case {"srid": _, "x": _, "y": _}:
            return f"({', '.join(str(value[axis]) for axis in 'xyz' if axis in value)})"
        case dict():
            return (
                "{"
                + ", ".join(
                    f"{json.dumps(key, ensure_ascii=False)}: {_inner_text(it)}" for key, it in sorted(value.items())
                )
                + "}"
            )
        case list() | tuple():
            more = [f"… and {len(value) - ITEMS_SHOWN:,} more"] if len(value) > ITEMS_SHOWN else []
            return "[" + ", ".join([*map(_inner_text, value[:ITEMS_SHOWN]), *more]) + "]"
        case _:
            return json.dumps(value, ensure_ascii=False)


def retrieval_document(of: Retrieval) -> dict[str, Any]:
    """Return the retrieval as plain JSON values."""
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
        "turned": list(attempt.turned),
    }
    match attempt.ending:
        case QueryExecuted(answer):
            return document | {"rows": len(answer.rows)}
        case TextAnswer(text):
            return document | {"told": text}
        case Rejected(code, message):
            return document | {"code": code, "refusal": message}
        case Declined(reason):
            return document | {"declined": reason}


def _row_text(columns: tuple[str, ...], row: tuple[Any, ...]) -> str:
    return ", ".join(f"{column}: {cell_text(value)}" for column, value in zip(columns, row, strict=True))
