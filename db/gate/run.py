"""The gate: a model's query read, bound to one scene, judged, run within limits, and answered in plain values."""

from __future__ import annotations

import itertools
import json
import logging
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, cast

from neo4j import Result
from neo4j.exceptions import BrokenRecordError

from scenecypher.db.gate.arrival import exceeds
from scenecypher.db.gate.cost import Cost
from scenecypher.db.gate.hints import Known
from scenecypher.db.gate.judge import VERIFIED, judge
from scenecypher.db.gate.kept import Kept
from scenecypher.db.gate.limits import Limits
from scenecypher.db.gate.looks import Looks
from scenecypher.db.gate.messages import EXPLAIN, refusal_of
from scenecypher.db.gate.plan import Plan
from scenecypher.db.gate.scope import SCENE_PARAMETER, Scoped, Value, scope
from scenecypher.db.gate.values import JsonValue, plain
from scenecypher.db.gate.watch import Watchdog, Watched
from scenecypher.db.schema import Vocabulary
from scenecypher.db.store.bounds import Bounds
from scenecypher.db.store.catalog import version_under_lock
from scenecypher.db.store.connection import Database, retry_once_on_disconnect
from scenecypher.db.store.load import current_bounds
from scenecypher.db.telemetry import span
from scenecypher.errors import MemoryExceeded, QueryFailed, QueryRefused, QueryTimeout, SceneReplaced, ServiceError

LOG: Final = logging.getLogger("scenecypher.db")
QUERYING: Final = {"db.system.name": "neo4j", "db.operation.name": "query"}
PLANNING_TRIES: Final = 2
"""How often the server is asked for a plan that it does not make in time."""
TRIES: Final = 8
"""How often a query is run whose scene changes meanwhile."""
GRACE_S: Final = 0.5
"""How long after its time limit the server may take to end a transaction before the watchdog does."""
KEPT: Final = 512
"""Texts, verdicts and versions that are remembered."""
VERDICT_S: Final = 600.0
"""How long a verdict holds: the server may plan anew as its data changes."""


@dataclass(frozen=True, slots=True)
class SceneRef:
    """A scene by its key, which queries never see, and its name, for messages."""

    key: str = field(repr=False)
    name: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A query that may run: its text as the server gets it, the server's plan, and the most steps that it may take."""

    text: str
    parameters: dict[str, Value]
    plan: Plan
    steps: float = 0.0


@dataclass(frozen=True, slots=True)
class Explained:
    """What is known of a query without running it: of a refused one as much as came before the refusal."""

    text: str | None = None
    parameters: Mapping[str, Value] = field(default_factory=dict)
    plan: Plan | None = None
    cost: Cost | None = None
    refused: QueryRefused | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of an answer at one version of the scene; `truncated` says why there are no more, if there are."""

    columns: tuple[str, ...]
    rows: list[list[JsonValue]]
    truncated: str | None
    version: int
    seconds: float


class PlanningTimeout(Exception):
    """The server did not plan a query in time; it never leaves this module."""


class Gate:
    """Runs queries of untrusted authors on one scene each; safe to share between threads. Makes no call by itself.

    Heavy queries share the database's slots; `tell` gets a line when one waits for its turn.
    """

    def __init__(
        self, database: Database, *, limits: Limits | None = None, tell: Callable[[str], None] | None = None
    ) -> None:
        self.limits = limits or Limits()
        self._database, self._tell = database, tell
        self._watchdog = Watchdog(database, lost_s=self.limits.lost_seconds)
        self._lost: set[str] = set()
        self._texts: Kept[tuple[str, Vocabulary, Bounds], Scoped] = Kept(KEPT)
        self._plans: Kept[str, tuple[float, bool, Plan]] = Kept(KEPT)
        self._bounds: Kept[str, tuple[int, Bounds]] = Kept(KEPT)
        self._versions: Kept[str, int] = Kept(KEPT)
        self._looks: Kept[str, Looks] = Kept(KEPT)
        self._server = VERIFIED
        self._mark, self._numbers = f"gate-{secrets.token_hex(8)}", itertools.count()

    def check(self, cypher: str, scene: SceneRef, vocabulary: Vocabulary, *, known: Known | None = None) -> Verdict:
        """Everything short of running it. `known`: values that occur in the scene, for better hints.

        Raises QueryRefused, ServiceError.
        """
        scoped, plan = self._judged(self._scoped(cypher, scene, vocabulary, known), scene)
        return Verdict(scoped.text, dict(scoped.parameters), plan, scoped.cost.steps)

    def explain(self, cypher: str, scene: SceneRef, vocabulary: Vocabulary, *, known: Known | None = None) -> Explained:
        """The same for people: a refusal is part of it. Raises ServiceError."""
        found = Explained()
        try:
            scoped = self._scoped(cypher, scene, vocabulary, known)
            found = Explained(scoped.text, scoped.parameters, cost=scoped.cost)
            found = replace(found, plan=self._planned(scoped, scene)[0])
            scoped, plan = self._judged(scoped, scene)
            found = replace(found, text=scoped.text, plan=plan)
        except QueryRefused as refused:
            return replace(found, refused=refused)
        return found

    def run(self, cypher: str, scene: SceneRef, vocabulary: Vocabulary, *, known: Known | None = None) -> Answer:
        """The answer of one query at one version of the scene.

        Raises QueryRefused, SceneReplaced, ServiceError.
        """
        start = time.perf_counter()
        with span("gate", {"scenecypher.scene": scene.name}) as gated:
            scoped, _ = self._judged(self._scoped(cypher, scene, vocabulary, known), scene)
            with (
                self._turn(scoped.cost.steps),
                span("query neo4j", {**QUERYING, "db.query.text": scoped.text}, kind="CLIENT") as queried,
            ):
                columns, rows, truncated, version = self._steady(scoped, scene)
                queried.note({"db.response.returned_rows": len(rows)})
            gated.note({"scenecypher.version": version, "scenecypher.truncated": truncated is not None})
        return Answer(columns, rows, truncated, version, time.perf_counter() - start)

    # --- before the server

    def _scoped(self, cypher: str, scene: SceneRef, vocabulary: Vocabulary, known: Known | None) -> Scoped:
        bounds = self._current_bounds(scene)
        return self._texts.get(
            (cypher, vocabulary, bounds),
            lambda: scope(cypher, vocabulary, self.limits, known=known, bounds=bounds),
        )

    def _current_bounds(self, scene: SceneRef) -> Bounds:
        """Return the scene's bounds as of the version that was seen last. Raises SceneReplaced."""
        kept, version = self._bounds.peek(scene.key), self._versions.peek(scene.key)
        if kept is None or (version or 0) > kept[0]:
            kept = current_bounds(self._database, scene.key)
            if kept is None:
                raise SceneReplaced(scene.name)
            self._bounds.put(scene.key, kept)
        return kept[1]

    def _judged(self, scoped: Scoped, scene: SceneRef) -> tuple[Scoped, Plan]:
        """Return the text to run and its plan, with which the judge agreed; the server is asked once for each shape.

        The server chooses a plan by what the whole database holds. Where the judge refuses it, the text is planned
        again with index hints.
        """
        now = time.monotonic()
        kept = self._plans.peek(scoped.text)
        if kept is None or kept[0] <= now:
            is_hinted, plan = False, Plan("none")
            try:
                plan = self._agreed(scoped, scene)
            except QueryRefused as refused:
                if refused.code != "plan" or scoped.hinted is None:
                    raise
                is_hinted, plan = True, self._agreed_hinted(scoped.hinted, scene, refused)
            kept = (now + VERDICT_S, is_hinted, plan)
            self._plans.put(scoped.text, kept)
        return (scoped.hinted or scoped) if kept[1] else scoped, kept[2]

    def _agreed(self, scoped: Scoped, scene: SceneRef) -> Plan:
        plan, query_type = self._planned(scoped, scene)
        judge(plan, query_type, version=self._server)
        return plan

    def _agreed_hinted(self, hinted: Scoped, scene: SceneRef, refused: QueryRefused) -> Plan:
        try:
            return self._agreed(hinted, scene)
        except QueryRefused as again:
            raise refused from again

    def _planned(self, scoped: Scoped, scene: SceneRef) -> tuple[Plan, str | None]:
        """The server's plan, and what it says that the query does."""
        for _ in range(PLANNING_TRIES):
            try:
                return retry_once_on_disconnect(lambda: self._explained(scoped, scene))
            except PlanningTimeout:
                continue
        msg = (
            f"the server was busy: in {PLANNING_TRIES} times {self.limits.planning_seconds:g} seconds it did not plan "
            "the query, which says nothing about the query; ask again when the server is less busy, or raise "
            "SCENECYPHER_QUERY_PLANNING_S"
        )
        raise ServiceError(msg, retryable=True)

    def _explained(self, scoped: Scoped, scene: SceneRef) -> tuple[Plan, str | None]:
        seconds = self.limits.planning_seconds
        try:
            with self._asked(EXPLAIN + scoped.text, scoped, scene, seconds=seconds) as result:
                summary = result.consume()
            self._note_version(summary.server.agent.rpartition("/")[2])
        except QueryRefused as refused:
            if refused.code == "timeout":
                raise PlanningTimeout from refused
            raise
        return Plan.of(summary.plan or {"operatorType": "none"}), summary.query_type

    def _note_version(self, version: str) -> None:
        """Warn once of a server whose plans the judge was not tested on."""
        if version not in {self._server, VERIFIED}:
            LOG.warning("the gate was tested on Neo4j %s, this is %s: it may refuse what is fine", VERIFIED, version)
        self._server = version

    # --- on the server

    def _turn(self, steps: float) -> AbstractContextManager[None]:
        """Return the wait for a slot, which a cheap query does not need."""
        if steps <= self.limits.cheap_steps:
            return nullcontext()
        return self._database.slots.taken(waiting=self._waiting)

    def _waiting(self, ahead: int) -> None:
        if self._tell is not None:
            self._tell(f"the query waits: others that cost much run, {ahead} more before it…")

    @contextmanager
    def _asked(self, text: str, scoped: Scoped, scene: SceneRef, *, seconds: float) -> Iterator[Result]:
        """The rows of a text, timed by the server and watched by us; errors in words for models.

        Raises QueryRefused at once where the same shape has cost everybody the server before.
        """
        if scoped.text in self._lost:
            raise lost()
        mark = f"{self._mark}-{next(self._numbers)}"
        try:
            with (
                self._watchdog.over(mark, seconds + GRACE_S) as watched,
                self._noting(scoped.text, watched),
                asked(self._database, text, scoped, scene, seconds=seconds, mark=mark) as result,
            ):
                yield result
        except QueryFailed as error:
            raise refusal_of(error, scoped, scene.key) from error
        except QueryTimeout as error:
            msg = f"the query took longer than {seconds:g} seconds"
            raise QueryRefused("timeout", msg, hint="ask for less: fewer patterns, shorter paths") from error
        except MemoryExceeded as error:
            msg = "the query needs more memory than one may have"
            raise QueryRefused("memory", msg, hint="collect or sort less, or add LIMIT earlier") from error

    @contextmanager
    def _noting(self, shape: str, watched: Watched) -> Iterator[None]:
        """Refuse a shape from now on if its transaction went on for too long after it was ended."""
        try:
            yield
        except ServiceError as error:
            if watched.lost:
                raise lost() from error
            raise
        finally:
            if watched.lost:
                self._lost.add(shape)

    def _steady(
        self, scoped: Scoped, scene: SceneRef
    ) -> tuple[tuple[str, ...], list[list[JsonValue]], str | None, int]:
        """The rows, and the version that the scene had from before they were read until after.

        A version only grows. So the one that was seen last, however long ago, serves as the one before: where it
        still holds afterwards, nothing was committed in between.
        """
        before = self._versions.peek(scene.key)
        if before is None:
            before = self._version(scene)
        for _ in range(TRIES):
            columns, rows, truncated = self._rows(scoped, scene)
            after = self._version(scene)
            self._versions.put(scene.key, after)
            if after == before:
                return columns, rows, truncated, after
            before = after
        msg = f"scene {scene.name!r} changes faster than the query reads it; ask again"
        raise ServiceError(msg, retryable=True)

    def _rows(self, scoped: Scoped, scene: SceneRef) -> tuple[tuple[str, ...], list[list[JsonValue]], str | None]:

        def read() -> tuple[tuple[str, ...], list[list[JsonValue]], str | None]:
            with self._asked(scoped.text, scoped, scene, seconds=self.limits.seconds) as result:
                return collect(result, scoped, self.limits)

        return retry_once_on_disconnect(read)

    def _version(self, scene: SceneRef) -> int:
        """The scene's version between two commits, seen by a look that begins now. Raises SceneReplaced.

        Waits for whoever is half through a commit: the server may show its version before or after the rest.
        """
        look = partial(version_under_lock, self._database, scene.key, scene.name)
        return self._looks.get(scene.key, Looks).fresh(look)


def asked(
    database: Database, text: str, scoped: Scoped, scene: SceneRef, *, seconds: float, mark: str
) -> AbstractContextManager[Result]:
    """The rows of a text that was made from a model's, in read mode.

    The one place where text that is no literal of ours goes to the server: `scope` made it, which no type can say.
    """
    parameters = {**scoped.parameters, SCENE_PARAMETER: scene.key}
    return database.run_read_only(cast("Any", text), parameters, timeout_s=seconds, mark=mark)


def collect(
    result: Result, scoped: Scoped, limits: Limits
) -> tuple[tuple[str, ...], list[list[JsonValue]], str | None]:
    """Columns and rows up to the limits, and what was cut off. Raises QueryRefused for a row beyond them."""
    keys = tuple(result.keys())
    kept = len(keys) - len(scoped.columns)
    columns = keys[:kept] + scoped.columns
    rows: list[list[JsonValue]] = []
    size = 0
    for row in records(result, limits):
        if len(rows) == limits.rows:
            return columns, rows, f"the first {limits.rows:,} rows; there are more"
        length = len(json.dumps(row))
        if length > limits.row_bytes:
            raise too_long(limits)
        size += length
        if size > limits.total_bytes:
            return columns, rows, f"the first {len(rows):,} rows, {limits.total_bytes:,} bytes; there are more"
        rows.append(row)
    return columns, rows, None


def records(result: Result, limits: Limits) -> Iterator[list[JsonValue]]:
    """The rows as plain values, each measured as it arrives.

    Raises QueryRefused for a row beyond the limits, and for a value that the driver can't take, such as a year 10,000.
    """
    for record in result:
        try:
            values = record.values()
            if exceeds(values, limits.row_bytes):
                raise too_long(limits)
            yield [plain(value) for value in values]
        except BrokenRecordError as error:
            msg = "a value of the answer is out of range"
            raise QueryRefused("failed", msg, hint="return it as text, or not at all") from error


def too_long(limits: Limits) -> QueryRefused:
    """Return the refusal of a row beyond the limits."""
    msg = f"a row of the answer is longer than {limits.row_bytes:,} bytes"
    return QueryRefused("size", msg, hint="return fewer values in a row, or count them")


def lost() -> QueryRefused:
    """Return the refusal of a query that the server could not end."""
    msg = "the server can't end a query of this form once it runs"
    return QueryRefused("lost", msg, hint="ask for less: no loops within loops, simpler regular expressions")
