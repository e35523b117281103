"""The part of a prompt about the past: its schema, and worked examples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Final, Literal, TypeAlias

from scenecypher.db.gate import Gate, SceneRef
from scenecypher.db.schema import PAST_KINDS, PAST_PROPERTIES, PAST_RELATIONS
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerations import literal
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.retriever.library import Example, Mention, Mentions, nearest_examples, read_examples, words_of
from scenecypher.retriever.linked_words import GENERAL, LABELS

PastMode: TypeAlias = Literal["auto", "always", "never"]
"""When a prompt has the part about the past: if the question tells that it is about it or the model asks, always, or
never.
"""
IN_THE_PAST: Final = re.compile(
    r"\b(?:was|were|did|had|undone|yesterday|ago|so far|at first|(?:first|last) time|how often|how many times)\b"
    r"|\b\d?\d:\d\d\b"
    r"|\bwho (?!(?:\w*s|are|have|can|could|may|might|will|would)\b)\w",
    re.IGNORECASE,
)
"""Words of questions about the past: its verbs, its times, and `who opened …`."""
NAMED: Final = re.compile(r"\b[^\W\d]\w*(?:(?<=\d)|-\d+)\b")
"""A name that tells one thing from others of its class: `lamp_28`."""
OF_CLASS: Final = re.compile(r"\{class: '(\w+)'\}")

ACTORS_SHOWN: Final = 12
ACTION_SHOWN: Final = 60
"""Characters of an action."""
RUN_TIMES: Final[Mapping[str, frozenset[str]]] = {"Run": frozenset({"began", "ended"}), "Step": frozenset({"at"})}
"""Times of runs and steps: models are told of them only in a scene without a clock of its own.

They are by the clock that the scene declares, else the server's; so in an episode, whose clock counts its versions.
"""
SUMMARY: Final = """
MATCH (e:PastEvent) WITH e.actor AS actor, count(*) AS events, max(e.version) AS version, min(e.at) AS first,
                         max(e.at) AS last, max(CASE e.kind WHEN 'act' THEN e.action END) AS action
ORDER BY events DESC, actor
RETURN collect(actor) AS actors, sum(events) AS events, max(version) AS version, min(first) AS first, max(last) AS last,
       max(action) AS action
"""
NOTES: Final = """\
Nodes of the past are nodes of their own; give each its label. No relation leads from them to the present: join by id, \
MATCH (p:PastNode), (n:Object) WHERE n.id = p.id.
It was so at version v, 0 at the beginning: f.since <= v AND (f.until IS NULL OR v < f.until), and at a time t \
likewise, with since_at and until_at. It is so now: f.until IS NULL.
CLOSE and FACING have no facts. An event that was taken back has undone = true: leave such events out, and those of \
kind 'undo' and 'redo', if the question is about what was done.
A time is written datetime('2026-01-31T10:15:00+00:00'); seconds are duration.inSeconds(a, b).seconds.
What was planned, asked or refused stands in runs and steps."""
RARE: Final[Mapping[str, tuple[str, ...]]] = {
    "Run": (
        *("number", "command", "method", "model", "version", "belief_version", "last_version", "steps", "tokens_in"),
        "tokens_out",
    ),
    "Step": (
        *("number", "run", "turn", "question", "observation", "cause", "cypher", "rows", "tool", "tokens"),
        "belief_version",
    ),
    "PastNode": ("since", "until", "since_at", "until_at"),
}
"""Properties that few questions need: told by their names alone."""


def is_about_past(question: str, actors: Iterable[str], agents: Iterable[str]) -> bool:
    """Check if a question's words tell that it is about the past, or it names somebody who acted and is nothing of the
    present: no robot in general, no agent.
    """
    mentions, others = Mentions.of(question), {*LABELS, *GENERAL, *words_of(agents)}
    return bool(IN_THE_PAST.search(question)) or any(
        mentions.mention(actor) is Mention.WHOLE and not others.intersection(words_of([actor])) for actor in actors
    )


def past_text(gate: Gate, scene: SceneInfo) -> str:
    """Return the schema of a scene's past, its times and who acted; the past is built first. Raises ServiceError."""
    ref = SceneRef.of(scene)
    state = gate.past(ref)
    lines = [*_schema_lines(run_times=state.clock.source == "server"), "NOTES on the past", NOTES, "TIMES"]
    lines += [f"now: {_told(state.now)}", f"version 0: {_told(state.clock.start)}"]
    return "\n".join((*lines, *_event_lines(gate, ref))) if state.built >= 0 else "\n".join(lines)


def past_examples(question: str, count: int, meaning: Meaning = NO_MEANING) -> tuple[Example, ...]:
    """Return the `count` worked examples about the past that are nearest to a question, the nearest last."""
    examples = past_library(by_name=bool(NAMED.search(question)))
    return nearest_examples(examples, question, count=count, meaning=meaning)


@cache
def past_library(*, by_name: bool = False) -> tuple[Example, ...]:
    """Return the worked examples about the past; things have their names in them, or else their classes."""
    examples = read_examples(files("scenecypher.retriever") / "past_queries.jsonl")
    return tuple(map(_by_name, examples)) if by_name else examples


def _by_name(example: Example) -> Example:
    """Return the example with the name of one thing, where it is about "the" thing of a class."""
    of_class = OF_CLASS.search(example.cypher)
    if not of_class or f"the {of_class[1]}" not in re.findall(r"the \w+", example.question):
        return example
    name = f"{of_class[1]}_7"
    cypher = example.cypher.replace(of_class[0], f"{{name: {literal(name)}}}")
    return Example(question=example.question.replace(f"the {of_class[1]}", name), cypher=cypher)


@cache
def _schema_lines(*, run_times: bool) -> tuple[str, ...]:
    """Return the labels, properties and relations; those of runs and steps with their times, if asked."""
    lines = ["NODE LABELS of the past, and their properties"]
    for kind, meaning in PAST_KINDS.items():
        lines.append(f"(:{kind}) {meaning}")
        rare = RARE.get(kind, ())
        left_out = {*rare, *(() if run_times else RUN_TIMES.get(kind, ()))}
        lines += [f"  {name}: {words}" for name, words in PAST_PROPERTIES[kind].items() if name not in left_out]
        lines += [f"  and {', '.join(rare)}"] if rare else []
    return (*lines, "RELATIONS of the past", *(f"{name}: {words}" for name, words in PAST_RELATIONS.items()))


def _event_lines(gate: Gate, ref: SceneRef) -> Iterator[str]:
    """Yield from when to when there are events, by whom, and how an action is written here."""
    for actors, events, version, first, last, action in gate.run(SUMMARY, ref).rows:
        if events:
            times = (_told(datetime.fromisoformat(str(time))) for time in (first, last))
            yield f"{events} events up to version {version}, from {' to '.join(times)}"
            shown = actors[:ACTORS_SHOWN] if isinstance(actors, list) else []
            yield f"actors: {', '.join(map(str, shown))}"
            if action:
                yield f"an action is text such as {literal(str(action)[:ACTION_SHOWN])}"


def _told(time: datetime) -> str:
    """Return a time as a query writes it."""
    return time.isoformat(timespec="seconds")
