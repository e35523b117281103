"""Batches of the past: what events begin and end as the rows of one transaction, and the bounds that they raise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, TypeAlias

from scenecypher.db.graph.change import (
    AddNode,
    AddRelation,
    Change,
    ChangeList,
    RemoveNode,
    RemoveRelation,
    SetKind,
    SetProperty,
    node_id_of,
)
from scenecypher.db.graph.scene import Node, Relation, SceneGraph, Value
from scenecypher.db.schema import HOLDING, PAST_PROPERTIES
from scenecypher.db.store.bounds import PREFIX, Bounds, lengths
from scenecypher.db.store.history import Event
from scenecypher.db.store.load import to_driver

ClockSource: TypeAlias = Literal["server", "declared", "episode"]
FactSort: TypeAlias = Literal["relation", "state", "property"]

LEFT_OUT: Final = frozenset({"CLOSE", "FACING"})
"""Relation types without facts: nearness follows from places, and a step of an agent changes dozens of them."""
NOT_KEPT: Final = frozenset({"last_seen", "confidence"})
"""Properties without facts: each look of a robot changes them."""
SEPARATOR: Final = "\x1f"


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that is so of one node: a relation to a target, a state, or the value of a property."""

    sort: FactSort
    name: str
    subject: str
    target: str | None = None
    value: Value | None = field(default=None, compare=False)

    @property
    def handle(self) -> str:
        """The text that identifies the fact among those that hold."""
        return SEPARATOR.join((self.sort, self.name, self.subject, self.target or ""))

    @property
    def values(self) -> dict[str, Any]:
        """The properties that tell what is so."""
        found: dict[str, Any] = {self.sort: self.name}
        return {**found, "value": to_driver(self.value)} if self.sort == "property" else found


def facts_of(graph: SceneGraph) -> Iterator[Fact]:
    """Yield the facts of a scene graph in a fixed order: relations, then states."""
    for relation in graph.in_order():
        if relation.type not in LEFT_OUT:
            yield _fact_of(relation)
    for node_id in sorted(graph.nodes):
        yield from _states_of(graph.nodes[node_id])


def _fact_of(relation: Relation) -> Fact:
    return Fact("relation", relation.type, relation.source, relation.target)


def _states_of(node: Node) -> list[Fact]:
    return [Fact("state", state, node.id) for state in node.states]


def _properties_of(node: Node) -> list[Fact]:
    values = {**_described(node), **node.properties}
    return [Fact("property", name, node.id, value=value) for name, value in values.items() if name not in NOT_KEPT]


def _described(node: Node) -> dict[str, str]:
    return {"name": node.name, "class": node.class_, "kind": node.kind}


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
    earlier batches that end. `gone` are the nodes that are not there after the batch, `described` the new names,
    classes and kinds by id. `latest_at` is the latest time so far, `version` the one that is being added.
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
    version: int = 0

    @classmethod
    def of_start(cls, nodes: Iterable[Node], facts: Iterable[Fact], at: datetime) -> Batch:
        """Return a batch of what there was at the start of the past."""
        batch = cls(at)
        for node in nodes:
            batch._add_node(node)
        batch._begin(*facts)
        return batch

    @classmethod
    def of_events(cls, events: Sequence[Event], clock: Clock, latest_at: datetime) -> Batch:
        """Return the batch of these events; versions count from the start of the clock."""
        batch, base = cls(latest_at), clock.base
        for event in events:
            at, batch.version = clock.time_of(event), event.version - base
            batch.latest_at = max(batch.latest_at, at)
            touched = dict.fromkeys(it for change in event.delta.changes for it in batch._add(change))
            values = {
                "version": batch.version,
                "actor": event.actor,
                "action": event.action,
                "kind": event.kind,
                "undone": False,
                "undoes": [one - base for one in event.undoes if one > base],
            }
            batch.events.append({"at": at.isoformat(), "values": values, "touched": [*touched]})
            batch.has_undoes |= bool(event.undoes)
        return batch

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

    def _add(self, change: Change) -> Sequence[str]:
        """Add what a change begins and ends; return the nodes that it touches."""
        match change:
            case AddRelation(relation):
                return self._relate(relation, self._begin)
            case RemoveRelation(relation):
                return self._relate(relation, self._end)
            case SetKind():
                return self._set(change.id, "kind", change.before, change.after)
            case SetProperty():
                return self._set(change.id, change.key, change.before, change.after)
            case AddNode(node):
                self._add_node(node)
                self._begin(*_states_of(node))
                self._begin(*_properties_of(node), if_back=True)
            case RemoveNode(node):
                self._end(*_states_of(node))
                self._end_known(*_properties_of(node))
                self.gone[node.id] = {"id": node.id, "version": self.version, "at": self._at}
            case ChangeList(id_, "states"):
                self._end(*(Fact("state", it, id_) for it in change.removed))
                self._begin(*(Fact("state", it, id_) for it in change.added))
        return (node_id_of(change),)

    @property
    def _at(self) -> str:
        return self.latest_at.isoformat()

    def _relate(self, relation: Relation, add: Callable[[Fact], None]) -> Sequence[str]:
        if relation.type in LEFT_OUT:
            return ()
        add(_fact_of(relation))
        return (relation.source, relation.target) if relation.type in HOLDING else (relation.source,)

    def _set(self, node_id: str, name: str, before: Value | None, after: Value | None) -> Sequence[str]:
        if name in NOT_KEPT:
            return ()
        if before is not None:
            self._end_known(Fact("property", name, node_id, value=before))
        if after is not None:
            self._begin(Fact("property", name, node_id, value=after))
        if name in {"name", "class", "kind"}:
            self.described.setdefault(node_id, {})[name] = str(after)
        return (node_id,)

    def _add_node(self, node: Node) -> None:
        self.nodes.append({"id": node.id, "since": self.version, "at": self._at, "values": _described(node)})
        self.gone.pop(node.id, None)
        self.described.pop(node.id, None)

    def _begin(self, *facts: Fact, if_back: bool = False) -> None:
        """Add facts; with `if_back` they are written only if the node was there before, or once they are known."""
        for fact in facts:
            values = {**fact.values, "since": self.version, "_open": fact.handle}
            row: Row = {"subject": fact.subject, "target": fact.target, "at": self._at, "if_back": if_back}
            row |= {"until": None, "until_at": None, "values": values}
            self.facts.append(row)
            self.open[fact.handle] = row

    def _end_known(self, *facts: Fact) -> None:
        """End facts that hold since their node is there, if no earlier event began them."""
        for fact in facts:
            if fact.handle in self.open:
                self.open[fact.handle]["if_back"] = False
            else:
                self.known.append({"subject": fact.subject, "values": {**fact.values, "_open": fact.handle}})
        self._end(*facts)

    def _end(self, *facts: Fact) -> None:
        for fact in facts:
            row = self.open.pop(fact.handle, None)
            if row is None:
                self.closed.append({"handle": fact.handle, "version": self.version, "at": self._at})
            else:
                row["until"], row["until_at"] = self.version, self._at
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
