"""The nodes of a scene that are no members: how each label is archived, and which values its properties may have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, LiteralString, TypeAlias

from neo4j.time import DateTime

from scenecypher.db.graph.value import Properties

WHOLE: Final = range(2**53)
"""Whole numbers of an archive: no counter reaches its end, and adding to them never leaves the database's range."""
RUN_NUMBERS: Final = range(1, 2**31)
YEARS: Final = range(2, 9999)
"""Years of times, any of which can be told in any zone."""

Check: TypeAlias = Callable[[Any], bool]
"""Test for the type and the range of a value that was read from an archive."""


def is_text(value: Any) -> bool:
    """Check for text that can be stored: half a surrogate pair can't."""
    try:
        return isinstance(value, str) and len(value.encode()) >= 0
    except UnicodeEncodeError:
        return False


def is_whole(value: Any) -> bool:
    """Check for a whole number from 0."""
    return type(value) is int and value in WHOLE


def is_time(value: Any) -> bool:
    """Check for a time with an offset."""
    return isinstance(value, DateTime) and value.utcoffset() is not None and value.year in YEARS


def _is_number(value: Any) -> bool:
    return type(value) in {int, float} and math.isfinite(value)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


def _is_wholes(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_whole, value))


def _is_run_number(value: Any) -> bool:
    return type(value) is int and value in RUN_NUMBERS


def _one_of(*values: str) -> Check:
    return lambda value: value in values


@dataclass(frozen=True, slots=True)
class Facts:
    """The properties of a label: those that it must have, and those that it may have."""

    required: Mapping[str, Check]
    optional: Mapping[str, Check]

    def faults(self, values: Mapping[str, Any]) -> Iterator[str]:
        """Yield the names of properties that are missing or have a value of another type or range."""
        yield from (name for name, check in self.required.items() if not check(values.get(name)))
        yield from (name for name, check in self.optional.items() if name in values and not check(values[name]))

    def check_others(self, values: Mapping[str, Any]) -> None:
        """Check the properties that are in no table, which a newer version may have. Raises InvalidValue."""
        Properties({name: value for name, value in values.items() if not self.knows(name)})

    def knows(self, name: str) -> bool:
        """Check if the property is in one of the tables."""
        return name in self.required or name in self.optional


@dataclass(frozen=True, slots=True)
class RecordKind:
    """A label: the statements that read and write its nodes, and the properties that count them upwards in a scene.

    `facts` are the values that its properties may have.

    `read` returns `values` for the scene `$key`; `add` takes such maps as `$rows`, with the new scene's key.
    """

    order: tuple[str, ...]
    facts: Facts
    read: LiteralString
    add: LiteralString


EVENT, RUN, STEP = "Event", "Run", "Step"
RECORDS: Final[Mapping[str, RecordKind]] = {
    # Sorted as the index is, so that the server reads on without holding them all.
    EVENT: RecordKind(
        ("version",),
        Facts(
            {
                **dict.fromkeys(("actor", "action", "action_id", "delta", "hash"), is_text),
                "version": is_whole,
                "kind": _one_of("act", "undo", "redo", "declare"),
                "undoes": _is_wholes,
                "at": is_time,
            },
            {"clock": is_time},
        ),
        """
MATCH (r:Event {scene: $key}) WHERE r.version > 0 RETURN properties(r) AS values ORDER BY r.scene, r.version
""",
        "UNWIND $rows AS row CREATE (r:Event) SET r = row RETURN count(*) AS written",
    ),
    # Until it is published, a run has another label, so that nobody finds it.
    RUN: RecordKind(
        ("number",),
        Facts(
            {
                **dict.fromkeys(("scene_name", "command", "instruction", "method", "model", "actor", "line"), is_text),
                "number": _is_run_number,
                "version": is_whole,
                "began": is_time,
                "touched": is_time,
                "host": is_text,
                "pid": is_whole,
            },
            {
                **dict.fromkeys(("outcome", "reason", "answer"), is_text),
                **dict.fromkeys(("belief_version", "last_version", "steps", "tokens_in", "tokens_out"), is_whole),
                "started": _is_number,
                "ended": is_time,
            },
        ),
        "MATCH (r:Run {scene: $key}) WITH r ORDER BY r.number RETURN properties(r) AS values",
        "UNWIND $rows AS row CREATE (r:Past:RestoredRun) SET r = row RETURN count(*) AS written",
    ),
    STEP: RecordKind(
        ("run", "number"),
        Facts(
            {"run": _is_run_number, "number": is_whole, "line": is_text, "at": is_time},
            {
                **dict.fromkeys(("kind", "action", "reason", "cause", "question", "cypher", "tool"), is_text),
                **dict.fromkeys(("observation",), is_text),
                **dict.fromkeys(("turn", "tokens", "version", "belief_version"), is_whole),
                **dict.fromkeys(("reasons", "rows"), _is_texts),
            },
        ),
        """
MATCH (run:Run {scene: $key}) WITH run.number AS number ORDER BY number
CALL (number) { MATCH (r:Step {run: number}) WHERE r.number > 0 RETURN r ORDER BY r.run, r.number }
RETURN properties(r) AS values
""",
        """
UNWIND $rows AS row MATCH (run:RestoredRun {scene: row.scene, number: row.run})
CREATE (run)-[:HAS_STEP]->(r:Past:Step) SET r = row RETURN count(*) AS written
""",
    ),
}
"""The labels in the order in which they are archived: those that others hang on come first.

What is derived from events (PastEvent, PastFact, PastNode) is left out: it is built anew when somebody asks.
"""

SCENE_FACTS: Final = Facts(
    {"version": is_whole},
    {
        **dict.fromkeys(("base", "redeclared", "world_version"), is_whole),
        **dict.fromkeys(("vocabulary", "source", "actions", "domain"), is_text),
        "role": _one_of("world", "belief"),
        "declared_relations": _is_texts,
        "declared_properties": _is_texts,
        **dict.fromkeys(("published", "retired", "clock", "clock_start"), is_time),
    },
)
"""All facts of a scene that are read from an archive; others are computed, and any more are refused."""
NOT_ARCHIVED: Final = frozenset(
    {
        *("key", "name", "was", "status", "started", "world", "copied_from", "replaced_by"),
        *("leased", "leased_until", "free", "past"),
    }
)
"""Properties of a Scene node that have places of their own in an archive, or a meaning in one database only."""
