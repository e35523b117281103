"""Batches of the past: the rows of one transaction, and how they raise the bounds of the past."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, TypeAlias

from scenecypher.db.graph.scene import Node
from scenecypher.db.past.facts import Effects, Fact, effects_of
from scenecypher.db.schema import PAST_PROPERTIES
from scenecypher.db.store.bounds import PREFIX, Bounds, lengths
from scenecypher.db.store.history import Event

ClockSource: TypeAlias = Literal["server", "declared", "episode"]

EPISODE_START: Final = datetime(2000, 1, 1, 8, tzinfo=UTC)
"""The time at which every episode starts in its own clock, so that prompts are the same bytes in any database."""
EPISODE_STEP: Final = timedelta(minutes=1)
"""The time of an episode from one version to the next."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a scene whose past starts at version `base` and at the time `start`."""

    source: ClockSource
    base: int
    start: datetime

    def now(self, version: int, clock: datetime) -> datetime:
        """Return the time that it is at a version, given the scene's own clock or the server's."""
        return self.start + (version - self.base) * EPISODE_STEP if self.source == "episode" else clock

    @classmethod
    def of(cls, scene: Mapping[str, Any]) -> Clock:
        """Return the clock of a Scene node's `base`, `leased`, `clock_start` and `imported_at`."""
        if scene["leased"]:
            return cls("episode", scene["base"], EPISODE_START)
        declared = scene["clock_start"]
        start = (declared or scene["imported_at"]).to_native().astimezone(UTC)
        return cls("declared" if declared else "server", scene["base"], start)

    def time_of(self, event: Event) -> datetime:
        """Return the time of an event."""
        return self.now(event.version, (event.clock or self.start) if self.source == "declared" else event.at)


Row: TypeAlias = dict[str, Any]


@dataclass(slots=True)
class Batch:
    """Rows of one transaction; versions count from the start of the past, times are ISO text.

    `known` are facts that may have to be added since they held before the first event about them; `closed` are facts of
    earlier batches that end. `gone` are the nodes that are not there after the batch. `latest_at` is the latest time so
    far.
    """

    latest_at: datetime
    nodes: list[Row] = field(default_factory=list)
    described: dict[str, Row] = field(default_factory=dict)
    events: list[Row] = field(default_factory=list)
    known: list[Row] = field(default_factory=list)
    facts: list[Row] = field(default_factory=list)
    closed: list[Row] = field(default_factory=list)
    gone: dict[str, Row] = field(default_factory=dict)
    has_undoes: bool = False
    open: dict[str, Row] = field(default_factory=dict)

    @property
    def described_rows(self) -> list[Row]:
        """The new names, classes and kinds."""
        return [{"id": node_id, "values": values} for node_id, values in self.described.items()]

    @property
    def linked(self) -> list[Row]:
        """The facts that are relations."""
        return [row for row in self.facts if row["target"] is not None]

    @property
    def unlinked(self) -> list[Row]:
        """The facts about one node alone."""
        return [row for row in self.facts if row["target"] is None]


def start_batch(nodes: Iterable[Node], facts: Iterable[Fact], at: datetime) -> Batch:
    """Return a batch of what there was at the start of the past."""
    batch = Batch(at)
    for node in nodes:
        batch.nodes.append(_node_row(node, 0, at.isoformat()))
    for fact in facts:
        _begin(batch, fact, 0, at.isoformat())
    return batch


def event_batch(events: Sequence[Event], clock: Clock, latest_at: datetime) -> Batch:
    """Return the batch of these events; versions count from the start of the clock."""
    batch, base = Batch(latest_at), clock.base
    for event in events:
        at, version = clock.time_of(event), event.version - base
        batch.latest_at = max(batch.latest_at, at)
        effects = effects_of(event.delta)
        values = {
            "version": version,
            "actor": event.actor,
            "action": event.action,
            "kind": event.kind,
            "undone": False,
            "undoes": [one - base for one in event.undoes if one > base],
        }
        batch.events.append({"at": at.isoformat(), "values": values, "touched": [*effects.touched]})
        batch.has_undoes |= bool(event.undoes)
        _add_effects(batch, effects, version)
    return batch


def _add_effects(batch: Batch, effects: Effects, version: int) -> None:
    at = batch.latest_at.isoformat()
    for node in effects.added:
        batch.nodes.append(_node_row(node, version, at))
        batch.gone.pop(node.id, None)
        batch.described.pop(node.id, None)
    for node_id, values in effects.described.items():
        batch.described.setdefault(node_id, {}).update(values)
    for fact in effects.known:
        _add_known(batch, fact)
    for fact in effects.ended:
        _end(batch, fact, version, at)
    for fact in effects.began:
        _begin(batch, fact, version, at)
    for fact in effects.returned:
        _begin(batch, fact, version, at, if_back=True)
    for node_id in effects.removed:
        batch.gone[node_id] = {"id": node_id, "version": version, "at": at}


def _node_row(node: Node, version: int, at: str) -> Row:
    described = {"name": node.name, "class": node.class_, "kind": node.kind}
    return {"id": node.id, "since": version, "at": at, "values": described}


def _begin(batch: Batch, fact: Fact, version: int, at: str, *, if_back: bool = False) -> None:
    """Add the row of a fact; with `if_back` it is written only if the node was there before, or once it is known."""
    values = {**fact.values, "since": version, "_open": fact.handle}
    row: Row = {"subject": fact.subject, "target": fact.target, "at": at, "if_back": if_back}
    row |= {"until": None, "until_at": None, "values": values}
    batch.facts.append(row)
    batch.open[fact.handle] = row


def _add_known(batch: Batch, fact: Fact) -> None:
    if fact.handle in batch.open:
        batch.open[fact.handle]["if_back"] = False
    else:
        batch.known.append({"subject": fact.subject, "values": {**fact.values, "_open": fact.handle}})


def _end(batch: Batch, fact: Fact, version: int, at: str) -> None:
    row = batch.open.pop(fact.handle, None)
    if row is None:
        batch.closed.append({"handle": fact.handle, "version": version, "at": at})
    else:
        row["until"], row["until_at"] = version, at
        row["values"]["_open"] = None


def raised_bounds(batch: Batch, known: Mapping[str, Any]) -> dict[str, int]:
    """Return the bounds of the past after a batch, as properties of its head that begin with `most_`."""
    found = Counter({name: int(number) for name, number in known.items() if name.startswith(PREFIX)})
    facts = len(batch.facts) + len(batch.known)
    more = {"PastNode": len(batch.nodes), "PastEvent": len(batch.events), "PastFact": facts}
    touched = [len(row["touched"]) for row in batch.events]
    began = Counter(row["values"]["since"] for row in batch.facts if batch.events)
    ended = Counter([row["version"] for row in batch.closed] + [row["until"] for row in batch.facts if row["until"]])
    found.update({f"{PREFIX}nodes_{kind}": number for kind, number in more.items()})
    found.update(
        {
            f"{PREFIX}relations_CHANGED": sum(touched),
            f"{PREFIX}relations_BEGAN": facts if batch.events else 0,
            f"{PREFIX}relations_ENDED": ended.total(),
            f"{PREFIX}relations_ABOUT": facts,
            f"{PREFIX}relations_TARGET": len(batch.linked),
        }
    )
    most_began = max((*began.values(), found[f"{PREFIX}out_BEGAN"])) + len(batch.known)
    out = {"CHANGED": max(touched, default=0), "BEGAN": most_began, "ENDED": max(ended.values(), default=0)}
    degrees = {f"{PREFIX}out_{name}": number for name, number in {**out, "ABOUT": 1, "TARGET": 1}.items()}
    degrees |= {f"{PREFIX}in_BEGAN": 1, f"{PREFIX}in_ENDED": 1}
    degrees |= {f"{PREFIX}in_{name}": found[f"{PREFIX}relations_{name}"] for name in ("CHANGED", "ABOUT", "TARGET")}
    rows = (batch.nodes, batch.described_rows, batch.events, batch.known, batch.facts)
    for values in ({"id": row.get("id", ""), **row["values"]} for group in rows for row in group):
        for (measure, name), number in lengths(values).items():
            if number:
                degrees[f"{PREFIX}{measure}_{name}"] = max(number, degrees.get(f"{PREFIX}{measure}_{name}", 0))
    return {**found, **{name: max(number, found[name]) for name, number in degrees.items()}}


MAX_TOLD_TEXT: Final = 16_000
"""Maximum bytes of a text or a list's item of a run or a step."""
MAX_TOLD_ITEMS: Final = 50


def bounds_of_runs(runs: int, steps: int) -> Bounds:
    """Return the bounds of so many runs and steps: the properties at their largest, all steps in one run."""
    found = [("nodes", "Run", runs), ("nodes", "Step", steps), ("relations", "HAS_STEP", steps)]
    found += [("out", "HAS_STEP", steps), ("in", "HAS_STEP", 1)]
    found += [("relations", "LED_TO", steps), ("out", "LED_TO", min(1, steps)), ("in", "LED_TO", steps)]
    texts = {name for kind in ("Run", "Step") for name, words in PAST_PROPERTIES[kind].items() if "text" in words}
    lists = {name for name, words in PAST_PROPERTIES["Step"].items() if words.startswith("list")}
    found += [("text", name, MAX_TOLD_TEXT) for name in texts if runs]
    found += [("items", name, MAX_TOLD_ITEMS) for name in lists if steps]
    return Bounds(frozenset(found))
