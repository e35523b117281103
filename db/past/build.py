"""The builder of a past: it turns the events of a scene into facts, in batches, from where the last builder stopped.

A `PastHead` beside the past says what has been built. Each batch is one transaction that locks the head, goes on only
if nobody else has written that batch, and moves the head: two builders share the work, and one that is killed leaves
what it finished. The scene itself is never locked, so an action costs and waits for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate
from typing import Any, Final, LiteralString, TypeAlias
from uuid import uuid4

from neo4j import ManagedTransaction

from scenecypher.db.past import statements
from scenecypher.db.past.batch import Batch, Clock, Row, bounds_of_runs, facts_of, raised_bounds
from scenecypher.db.store.bounds import UNKNOWN, Bounds, read_bounds
from scenecypher.db.store.catalog import scene_of
from scenecypher.db.store.connection import Database
from scenecypher.db.store.consistent_read import WRITE_REFUSED, Generation
from scenecypher.db.store.history import Event, read_events, taken_back
from scenecypher.db.store.rewind import SceneAt, load_version
from scenecypher.errors import QueryFailed, QueryRefused, SceneReplaced, ServiceError
from scenecypher.waiting import waiting_for

NODES_PER_BATCH: Final = 2_000
FACTS_PER_BATCH: Final = 5_000
EVENTS_PER_BATCH: Final = 1_000
CHANGES_PER_BATCH: Final = 10_000
DROPPED_PER_BATCH: Final = 5_000
FORM: Final = 2
"""Number of the form of a past; a past of another form is built anew."""


Head: TypeAlias = dict[str, Any]
"""The facts about a build: its id, `stage`, what is `done` in it, the `version` that is built, clock and bounds."""


@dataclass(frozen=True, slots=True)
class PastState:
    """A scene's version and how far its past is built: up to the version `built`, -1 if it is not.

    `clock` is what the past must be built by; `head` is None if no such past was begun, `before` the id of the build
    that is to be replaced. `now` is the time by that clock. `run_bounds` are the bounds of what runs tell. With
    `has_unlinked` some steps are not joined yet with the events that they led to.
    """

    version: int
    built: int
    clock: Clock
    head: Head | None
    now: datetime
    run_bounds: Bounds = UNKNOWN
    before: str = ""
    has_unlinked: bool = False

    @property
    def bounds(self) -> Bounds:
        """The bounds of the past, so far as it is built."""
        return Bounds(read_bounds(self.head or {}).entries | self.run_bounds.entries)

    @property
    def is_current(self) -> bool:
        """True if the past is built up to the scene's version."""
        return self.built >= self.version


def past_state(database: Database, scene: Generation, *, status: str = "ready") -> PastState:
    """Return how far the past of a scene is built. Raises SceneReplaced if this generation has another status."""
    record = database.row(statements.STATE, {"key": scene.key})
    if record is None or record["status"] != status:
        raise SceneReplaced(scene.name)
    if record["is_past_copy"]:
        name, _, version = scene.name.rpartition("@")
        hint = f"ask about events up to version {version} of {name!r} itself, or about what was there, without the past"
        raise QueryRefused("past", f"{scene.name!r} is an earlier state, which has no past of its own", hint=hint)
    version, clock, head = record["version"], Clock.of(record), record["head"]
    run_bounds = bounds_of_runs(record["runs"], record["steps"])
    now = clock.now(version, record["clock"].to_native().astimezone(UTC))
    if head is None:
        return PastState(version, -1, clock, None, now, run_bounds)
    head = {**head, "start": head["start"].to_native(), "latest_at": head["latest_at"].to_native()}
    if head.get("form") != FORM or Clock(head["source"], head["base"], head["start"]) != clock:
        return PastState(version, -1, clock, None, now, run_bounds, head["build"])
    if head["stage"] != "events":
        return PastState(version, -1, clock, head, now, run_bounds)
    return PastState(version, head["done"], clock, head, now, run_bounds, has_unlinked=record["has_unlinked"])


def build_past(database: Database, scene: Generation, *, status: str = "ready") -> PastState:
    """Bring the past of a scene up to the version that the scene has now, with its steps joined; return its state.

    A connection that may not write gets the state as it is. Raises SceneReplaced.
    """
    state = past_state(database, scene, status=status)
    if state.is_current and not state.has_unlinked:
        return state
    with waiting_for(f"the past of {scene.name!r}, which is built once from its events"):
        try:
            return _Builder(database, scene, status).run(state)
        except QueryFailed as error:
            if error.code in WRITE_REFUSED:
                return state
            raise


class PastNotBuilt(ServiceError):
    """The past of a scene was never built, and this connection may not write."""

    def __init__(self, name: str) -> None:
        msg = (
            f"the past of {name!r} is not built yet, and this account may only read; ask about it once with an account "
            "that may write"
        )
        super().__init__(msg)


class _Builder:
    """The builder of one past. A stage ends early if another builder comes first."""

    def __init__(self, database: Database, scene: Generation, status: str) -> None:
        self._database, self._scene, self._status = database, scene, status
        self._given = {"key": scene.key, "status": status}

    def run(self, state: PastState) -> PastState:
        """Build until the past has the version that the scene had at the start."""
        wanted = state.version
        while state.built < wanted:
            if state.head is None:
                self._begin(state)
            elif state.head["stage"] == "drop":
                self._drop(state.head)
            elif state.head["stage"] == "start":
                self._start(state, state.head)
            else:
                self._events(state, state.head)
            state = past_state(self._database, self._scene, status=self._status)
        while state.has_unlinked and state.head is not None:
            self._advance(state.head, partial(self._link_steps, state.head), {})
            state = past_state(self._database, self._scene, status=self._status)
        return state

    def _begin(self, state: PastState) -> None:
        """Make the head of a new past; what an earlier one left is dropped first."""
        clock = state.clock
        head = {"scene": self._scene.key, "build": uuid4().hex, "stage": "drop", "done": 0, "form": FORM}
        head |= {"source": clock.source, "base": clock.base, "start": clock.start, "latest_at": clock.start}
        given = {**self._given, "before": state.before, "head": head}
        self._database.execute(statements.BEGIN, given)

    def _drop(self, head: Head) -> None:
        found: Head | None = head
        while found and found["stage"] == "drop":
            found = self._advance(found, self._drop_some, {"done": found["done"] + 1})

    def _drop_some(self, tx: ManagedTransaction) -> Head:
        record = tx.run(statements.DROP, {**self._given, "limit": DROPPED_PER_BATCH}).single(strict=True)
        return {"stage": "start", "done": 0} if record["dropped"] < DROPPED_PER_BATCH else {}

    def _start(self, state: PastState, head: Head) -> None:
        """Write what there was at the start, in an order of its own, from where the last builder stopped."""
        info = scene_of(self._database, self._scene.key)
        if info is None:
            raise SceneReplaced(self._scene.name)
        graph = load_version(self._database, SceneAt(info, state.clock.base)).graph
        nodes, facts = [graph.nodes[node_id] for node_id in sorted(graph.nodes)], list(facts_of(graph))
        found: Head | None = head
        while found and found["done"] < len(nodes) + len(facts):
            some = nodes[found["done"] : found["done"] + NODES_PER_BATCH]
            first = found["done"] - len(nodes)
            batch = Batch.of_start(some, () if some else facts[first : first + FACTS_PER_BATCH], state.clock.start)
            done = found["done"] + len(batch.nodes) + len(batch.facts)
            found = self._advance(
                found,
                partial(write_batch, key=self._scene.key, batch=batch),
                {"done": done, **raised_bounds(batch, found)},
            )
        if found:
            self._advance(found, _nothing, {"stage": "events", "done": state.clock.base})

    def _link_steps(self, head: Head, tx: ManagedTransaction) -> Head:
        """Join steps with the events that they led to, as many as fit into one transaction."""
        given = {**self._given, "base": head["base"], "done": head["done"], "limit": NODES_PER_BATCH}
        tx.run(statements.LINK_STEPS, given).consume()
        return {}

    def _events(self, state: PastState, head: Head) -> None:
        """Write the events up to the scene's version."""
        found: Head | None = head
        while found and found["done"] < state.version:
            events = self._events_after(found["done"], state.version)
            batch = Batch.of_events(events, state.clock, found["latest_at"])
            done = events[-1].version if events else state.version
            changes = {"done": done, "latest_at": batch.latest_at, **raised_bounds(batch, found)}
            found = self._advance(found, partial(write_batch, key=self._scene.key, batch=batch), changes)

    # --- one transaction

    def _advance(self, head: Head, work: Callable[[ManagedTransaction], Head], changes: Head) -> Head | None:
        """Do `work` and move the head in one transaction; None if the head is no longer as given."""
        given = {**self._given, **{name: head[name] for name in ("build", "stage", "done")}}

        def attempt(tx: ManagedTransaction) -> Head | None:
            if not tx.run(statements.LOCK, given).single(strict=True)["held"]:
                return None
            moved = {**changes, **work(tx)}
            tx.run(statements.ADVANCE, key=self._scene.key, head=moved).consume()
            return {**head, **moved}

        return self._database.transaction(attempt, access="write", timeout_s=2 * self._database.commit_timeout_s)

    # --- reading the scene

    def _events_after(self, version: int, until: int) -> list[Event]:
        """Return the next events that fit into one transaction, at least one if there is any."""
        page = read_events(self._database, self._scene.key, after=version, until=until, limit=EVENTS_PER_BATCH)
        changes = list(accumulate(len(event.delta) for event in page))
        return [event for event, number in zip(page, changes, strict=True) if number <= CHANGES_PER_BATCH] or page[:1]


def write_batch(tx: ManagedTransaction, key: str, batch: Batch) -> Head:
    """Write the rows of a batch.

    What ends comes before what begins, which may be the same again; what was known of a node before it is there anew.
    """
    is_start = not batch.events
    written: tuple[tuple[LiteralString, list[Row]], ...] = (
        (statements.ADD_KNOWN, batch.known),
        (statements.ADD_NODES, batch.nodes),
        (statements.DESCRIBE, batch.described_rows),
        (statements.ADD_EVENTS, batch.events),
        (statements.CLOSE, batch.closed),
        (statements.START_LINKED if is_start else statements.ADD_LINKED, batch.linked),
        (statements.START_UNLINKED if is_start else statements.ADD_UNLINKED, batch.unlinked),
        (statements.REMOVE_NODES, [*batch.gone.values()]),
    )
    for statement, rows in written:
        if rows:
            tx.run(statement, key=key, rows=rows).consume()
    if batch.has_undoes:
        _mark_undone(tx, key)
    return {}


def _mark_undone(tx: ManagedTransaction, key: str) -> None:
    """Mark the events that an event in effect took back, and no others."""
    found = [(row["version"], row["undoes"], row["undone"]) for row in tx.run(statements.REVERTS, key=key)]
    undone = taken_back({version: undoes for version, undoes, _ in found if undoes})
    marked = {version for version, _, is_undone in found if is_undone}
    rows = [[version, version in undone] for version in sorted(undone ^ marked)]
    tx.run(statements.SET_UNDONE, key=key, rows=rows).consume()


def _nothing(_: ManagedTransaction) -> Head:
    return {}
