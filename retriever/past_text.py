"""The part of a prompt about the past: whether a question speaks of it, its schema, and worked examples."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final, Literal, TypeAlias

from scenecypher.db.gate import Gate, SceneRef
from scenecypher.db.past import PastState
from scenecypher.db.schema import PAST_KINDS, PAST_PROPERTIES, PAST_RELATIONS
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.retriever.library import Example, nearest_examples, read_examples

PastMode: TypeAlias = Literal["auto", "always", "never"]
"""When a prompt has the part about the past: if the question speaks of time, always, or never."""

DONE: Final = (
    "been|touched|moved|opened|closed|shut|taken|took|changed|used|put|placed|switched|turned|cleaned|washed|left|"
    "undone"
)
SPEAKS_OF_TIME: Final = re.compile(
    r"(?<!how much )\bdid\b|\b(?:was|were|had|when|why|ago|yesterday|today|tonight|previously|earlier|formerly)\b"
    r"|\b(?:history|ever|since|until|undid|undone|undo|happened|refused|used to|in which order|so far|last time)\b"
    r"|\bthis (?:morning|afternoon|evening)\b|\bhow (?:often|long)\b|\bhow many times\b|\b\d{1,2}(?::\d\d| ?o'clock)"
    rf"|\b(?:who|nobody|anyone|anybody|somebody) (?:last )?(?:{DONE}|has|undid)\b"
    rf"|\b(?:has|have)\b.*(?<!-)\b(?:{DONE})\b(?!-)",
    re.IGNORECASE,
)
ACTORS_SHOWN: Final = 12
RUN_TIMES: Final[Mapping[str, frozenset[str]]] = {"Run": frozenset({"began", "ended"}), "Step": frozenset({"at"})}
"""Times of runs and steps: models are told of them only in a scene without a clock of its own.

They are by the clock that the scene declares, else the server's; so in an episode, whose clock counts its versions.
"""
SUMMARY: Final = """
MATCH (e:PastEvent) WITH e.actor AS actor, count(*) AS events, max(e.version) AS version, min(e.at) AS first,
                         max(e.at) AS last ORDER BY events DESC, actor
RETURN collect(actor) AS actors, sum(events) AS events, max(version) AS version, min(first) AS first, max(last) AS last
"""
NOTES: Final = """\
Nodes of the past are nodes of their own; give each its label. No relation leads from them to the present: join by id, \
MATCH (p:PastNode), (n:Object) WHERE n.id = p.id.
It was so at version v: f.since <= v AND (f.until IS NULL OR v < f.until). At a time t it is the same with since_at \
and until_at: f.since_at <= t AND (f.until_at IS NULL OR t < f.until_at). It is so now: f.until IS NULL.
CLOSE and FACING have no facts. An event that was taken back has undone = true: leave such events out, and those of \
kind 'undo' and 'redo', if the question is about what was done.
A time is written datetime('2026-01-31T10:15:00+00:00'), a length of time is duration.between(a, b) or, in seconds, \
duration.inSeconds(a, b).seconds.
What was planned, asked or refused stands in runs and steps; a Step led to the PastEvent of the same version."""


def speaks_of_time(question: str) -> bool:
    """Check whether a question is about what was, by its words."""
    return SPEAKS_OF_TIME.search(question) is not None


def wants_past(question: str, mode: PastMode, *, is_map: bool) -> bool:
    """Check whether a prompt needs the past. Without being asked, a robot's map is left to the poses that it holds."""
    return mode == "always" or (mode == "auto" and not is_map and speaks_of_time(question))


def past_text(gate: Gate, scene: SceneInfo) -> str:
    """Return the schema of a scene's past, its times and who acted; the past is built first. Raises ServiceError."""
    ref = SceneRef.of(scene)
    state = gate.past(ref)
    lines = [*_schema_lines(run_times=state.clock.source == "server"), "NOTES on the past", NOTES]
    if state.built >= 0:
        lines += ["TIMES", *_time_lines(gate, ref, state)]
    return "\n".join(lines)


def past_examples(question: str, count: int, meaning: Meaning = NO_MEANING) -> tuple[Example, ...]:
    """Return the `count` worked examples about the past that are nearest to a question, the nearest last."""
    return nearest_examples(past_library(), question, count=count, meaning=meaning)


@cache
def past_library() -> tuple[Example, ...]:
    """Return the worked examples about the past."""
    return read_examples(files("scenecypher.retriever") / "past_queries.jsonl")


@cache
def _schema_lines(*, run_times: bool) -> tuple[str, ...]:
    """Return the labels, properties and relations; those of runs and steps with their times, if asked."""
    lines = ["NODE LABELS of the past, and their properties"]
    for kind, meaning in PAST_KINDS.items():
        lines.append(f"(:{kind}) {meaning}")
        left_out = () if run_times else RUN_TIMES.get(kind, ())
        lines += [f"  {name}: {words}" for name, words in PAST_PROPERTIES[kind].items() if name not in left_out]
    return (*lines, "RELATIONS of the past", *(f"{name}: {words}" for name, words in PAST_RELATIONS.items()))


def _time_lines(gate: Gate, ref: SceneRef, state: PastState) -> list[str]:
    """Return the time that it is, and from when to when there are events, in the scene's own clock if it has one."""
    answer = gate.run(SUMMARY, ref)
    lines = [
        f"now: {state.now.isoformat(timespec='seconds')}",
        f"version 0: {state.clock.start.isoformat(timespec='seconds')}",
    ]
    for actors, events, version, first, last in answer.rows:
        if events:
            lines.append(f"{events} events up to version {version}, from {first} to {last}")
            shown = actors[:ACTORS_SHOWN] if isinstance(actors, list) else []
            lines.append(f"actors: {', '.join(map(str, shown))}")
    return lines
