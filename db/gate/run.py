"""The gate: it parses a model's query, binds it to one scope, checks its plan, and runs it within limits.

A scope is a scene, or a part of another graph, or all of it.
"""

from __future__ import annotations

import itertools
import json
import logging
import math
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final, TypedDict, Unpack, cast
from urllib.parse import urlsplit

from neo4j import Driver, Result
from neo4j.exceptions import BrokenRecordError
from neo4j.vector import Vector

from scenecypher.db.gate.cost import Cost
from scenecypher.db.gate.graph import Graph, SceneRef, measured_bounds, read_graph
from scenecypher.db.gate.judge import VERIFIED, Plan, check_plan
from scenecypher.db.gate.limits import Limits
from scenecypher.db.gate.messages import EXPLAIN, refusal_of
from scenecypher.db.gate.names import KnownValues, joined_bounds, reads_past
from scenecypher.db.gate.scope import DESCRIBED, SCENE_PARAMETER, VECTORS_PARAMETER, ScopedQuery, Value, scope
from scenecypher.db.gate.words import RESERVED
from scenecypher.db.graph.vectors import fault, single
from scenecypher.db.past import PastNotBuilt, PastState, build_past, past_state
from scenecypher.db.schema import SCENE_KEY, Schema, VectorSpace
from scenecypher.db.store.bounds import Bounds
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database, retry_once_on_disconnect
from scenecypher.db.store.consistent_read import SceneChanging, known_version, read_until
from scenecypher.db.store.load import current_bounds
from scenecypher.db.store.sharing import LRUCache
from scenecypher.db.store.values import JsonValue, exceeds, json_value
from scenecypher.db.store.vectors import nearest
from scenecypher.db.store.watchdog import Watchdog
from scenecypher.db.telemetry import span, timed
from scenecypher.errors import GateFault, QueryRefused, SceneCypherError, SceneReplaced, ServiceError
from scenecypher.meaning import Embed

LOG: Final = logging.getLogger("scenecypher.db")
OPERATION: Final = "query"
PLANNING_TRIES: Final = 2  # maximum requests for a plan that the server does not make in time
UNPLANNED_S: Final = 60.0  # how long a shape that the server could not plan in time is not tried again
PAST_TRIES: Final = 5  # maximum reads of a past whose scene changes meanwhile
LEAST_S: Final = 0.1  # time limit of a question's last try
GRACE_S: Final = 0.5  # time after a transaction's limit until the watchdog terminates it, if the server has not
CACHE_SIZE: Final = 512  # maximum entries of each cache: texts, plans, bounds
EMPTY_CELLS: Final = (None, False, "", 0)
"""Values of cells, besides empty lists, in the answer to a query that found nothing."""
VARIABLE: Final = re.compile(r"(?<![\w$.:|&!`])[A-Za-z_]\w*(?!\w|\()")
PLAN_S: Final = 600.0  # lifetime of a checked plan in the cache: the server may plan anew as its data changes


@dataclass(frozen=True, slots=True)
class Explanation:
    """The text, plan and cost of a query that was not run. A refused query has what came before the refusal."""

    text: str | None = None
    parameters: Mapping[str, Value] = field(default_factory=dict)
    plan: Plan | None = None
    cost: Cost | None = None
    refused: QueryRefused | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of an answer at one version of the scene; `truncated` says where rows were cut off, or is None.

    The version of a graph that is no scene is 0. `hints` name what in the query matches nothing, if the answer is empty
    and was read for a person or an agent.
    """

    columns: tuple[str, ...]
    rows: list[list[JsonValue]]
    truncated: str | None
    version: int
    seconds: float
    hints: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if it holds nothing: no rows, or only nulls, zeros, false values and empty lists."""
        return all(
            cell == [] or any(cell is none or cell == none for none in EMPTY_CELLS) for row in self.rows for cell in row
        )

    @property
    def says_no(self) -> bool:
        """True if it answers all the same though it is empty: a row says false, or counts 0."""
        return any(cell is False or cell == 0 for row in self.rows for cell in row)


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as it was asked, with values that occur in its graph and those of its parameters."""

    cypher: str
    graph: Graph
    known: KnownValues | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)


class Asking(TypedDict, total=False):
    """What may be given with a query: values that occur in its graph, and those of its parameters."""

    known: KnownValues | None
    parameters: Mapping[str, object]


class Gate:
    """Runs queries of untrusted authors, each on one scene or another graph. Safe to share between threads.

    The constructor sends nothing to the server. Expensive queries share the database's slots; `tell` gets a line when
    one waits for a slot. `known` are values that occur in the scene, for better hints. A driver of neo4j's serves as
    well as a Database, and is not closed; `database` is then the name of the database that is read. `encoders` give,
    by the name of a model, what makes vectors of texts as it does.
    """

    def __init__(
        self,
        server: Database | Driver,
        *,
        database: str = "neo4j",
        limits: Limits | None = None,
        tell: Callable[[str], None] | None = None,
        encoders: Callable[[str], Embed | None] = lambda _: None,
    ) -> None:
        self.limits = limits or Limits()
        self._database = Database.of(server, database=database) if isinstance(server, Driver) else server
        self._tell, self._encoders = tell, encoders
        self._watchdog = Watchdog(self._database, lost_s=self.limits.lost_seconds)
        self._lost_shapes: set[str] = set()
        self._texts: LRUCache[tuple[str, Schema, Bounds], ScopedQuery] = LRUCache(CACHE_SIZE)
        self._plans: LRUCache[tuple[Schema, str], tuple[float, int, Plan]] = LRUCache(CACHE_SIZE)
        self._unplanned: LRUCache[str, float] = LRUCache(CACHE_SIZE)
        self._bounds: LRUCache[str, tuple[int, Bounds]] = LRUCache(CACHE_SIZE)
        self._measured: LRUCache[Graph, tuple[float, Bounds]] = LRUCache(CACHE_SIZE)
        self._compared: LRUCache[tuple[str, str], Value] = LRUCache(CACHE_SIZE // 8)
        self._server = VERIFIED[0]
        self._mark, self._numbers = f"gate-{secrets.token_hex(8)}", itertools.count()

    def note(self, scene: SceneInfo) -> None:
        """Note the bounds of a scene as just read, which saves the first query a read."""
        if self._bounds.get(scene.key) is None:
            self._bounds.put(scene.key, (scene.version, scene.bounds))

    def past(self, scene: SceneRef) -> PastState:
        """Build the past of a scene up to its version, as far as this connection may, and return its state."""
        return build_past(self._database, scene)

    def graph(self, *, scope: tuple[str, str | int] | None = None, member: str = "") -> Graph:
        """Return the graph of the database, or its part in which a property has a value: its names and its size.

        It is measured now, and again when a query comes after ten minutes. `member` is the label that all nodes of the
        part have with an index of that property, if any. Raises InputError for a part that is empty, or that relations
        join with the rest; ServiceError, as if it is too large to be read.
        """
        graph, bounds = read_graph(self._database, scope, member)
        self._measured.put(graph, (time.monotonic() + PLAN_S, bounds))
        return graph

    def check(self, cypher: str, graph: Graph, **asking: Unpack[Asking]) -> Explanation:
        """Check a query's text, names and cost; a refusal is part of the result.

        The server is asked for no more than the graph's size, if that is not known. Raises ServiceError, and InputError
        as `graph` does.
        """
        return self._explain(Asked(cypher, graph, **asking), planned=False)

    def explain(self, cypher: str, graph: Graph, **asking: Unpack[Asking]) -> Explanation:
        """Check a query and its plan without running it; a refusal is part of the result. Raises as `check`."""
        return self._explain(Asked(cypher, graph, **asking), planned=True)

    def _explain(self, asked: Asked, *, planned: bool) -> Explanation:
        found, scoped, graph = Explanation(), None, asked.graph
        with _own_faults():
            try:
                past = None
                if isinstance(graph, SceneRef) and reads_past(asked.cypher, asked.parameters):
                    past = past_state(self._database, graph)
                scoped = self._scoped(asked, past)
                found = Explanation(scoped.text, scoped.parameters, cost=scoped.cost)
                if not planned:
                    return found
                accepted, checked = self._accepted(self._with_vectors(scoped, graph), graph)
                return replace(found, text=accepted.text, plan=checked)
            except QueryRefused as refused:
                plan = self._plan(scoped, graph)[0] if scoped and refused.code in {"plan", "write"} else None
                return replace(found, plan=plan, refused=refused)

    def run(self, cypher: str, graph: Graph, **asking: Unpack[Asking]) -> Answer:
        """Run a query and return its answer, of a scene at one version.

        Raises QueryRefused, SceneReplaced, ServiceError, and InputError as `graph` does.
        """
        asked = Asked(cypher, graph, **asking)
        with _own_faults():
            if isinstance(graph, SceneRef) and reads_past(cypher, asked.parameters):
                return self._run_with_past(asked, graph)
            return self._run(asked)

    def _run_with_past(self, asked: Asked, scene: SceneRef) -> Answer:
        """Run a query on a scene and its past, which is built up to the answer's version.

        A connection that may not write reads what is built, and the answer says so.
        """
        used = 0.0
        for _ in range(PAST_TRIES):
            if used >= self.limits.seconds:
                break
            past = build_past(self._database, scene)
            if past.built < 0:
                raise PastNotBuilt(scene.name)
            answer = self._run(asked, past, seconds=self.limits.seconds - used)
            used += answer.seconds
            if not past.is_current:
                upto = f"of the past up to version {past.built} of {past.version}, since this account may only read"
                return replace(answer, truncated=f"{answer.truncated}, {upto}" if answer.truncated else f"rows {upto}")
            if answer.version <= past.built:
                return answer
        raise SceneChanging(scene.name)

    def _run(self, asked: Asked, past: PastState | None = None, *, seconds: float | None = None) -> Answer:
        start, graph = time.perf_counter(), asked.graph
        with span("gate", {"scenecypher.scene": graph.name}) as gated:
            scoped, _ = self._accepted(self._with_vectors(self._scoped(asked, past), graph), graph)
            with (
                self._slot(scoped.cost.steps),
                timed("db.client.operation.duration", self._about),
                span(
                    f"{OPERATION} {self._about['db.namespace']}",
                    {**self._about, "db.query.text": scoped.text},
                    kind="CLIENT",
                ) as queried,
            ):
                until = time.monotonic() + (self.limits.seconds if seconds is None else seconds)
                read = partial(self._rows, scoped, graph, until)
                if isinstance(graph, SceneRef):
                    (columns, rows, truncated), version = read_until(self._database, graph, read, until=until)
                else:
                    (columns, rows, truncated), version = retry_once_on_disconnect(read), 0
                queried.note({"db.response.returned_rows": len(rows)})
            gated.note({"scenecypher.version": version, "scenecypher.truncated": truncated is not None})
        return Answer(columns, rows, truncated, version, time.perf_counter() - start)

    @cached_property
    def _about(self) -> Mapping[str, str | int | None]:
        """The server and its database, by the conventions for databases."""
        address = self._database.address
        server = urlsplit(address.uri)
        return {
            "db.system.name": "neo4j",
            "db.namespace": address.database,
            "db.operation.name": OPERATION,
            "server.address": server.hostname,
            "server.port": server.port,
        }

    # --- before the server

    def _scoped(self, asked: Asked, past: PastState | None) -> ScopedQuery:
        bounds, schema = self._current_bounds(asked.graph), asked.graph.schema
        if found := self.encoder(schema):
            schema = replace(schema, vectors=(found[0],))
        if past is not None:
            bounds = joined_bounds(bounds, past.bounds)

        def scoped() -> ScopedQuery:
            return scope(
                asked.cypher, schema, self.limits, known=asked.known, bounds=bounds, parameters=asked.parameters
            )

        return scoped() if asked.parameters else self._texts.get_or_create((asked.cypher, schema, bounds), scoped)

    def encoder(self, schema: Schema) -> tuple[VectorSpace, Embed] | None:
        """Return the first vectors of a graph whose model can make vectors of texts here, and that model."""
        found = ((space, self._encoders(space.model)) for space in schema.vectors)
        return next(((space, embed) for space, embed in found if embed is not None), None)

    def _with_vectors(self, scoped: ScopedQuery, graph: Graph) -> ScopedQuery:
        """Return a query with vectors in place of the texts that stand for some. Raises QueryRefused, ServiceError."""
        texts = {name: str(text) for name, text in scoped.parameters.items() if name.startswith(DESCRIBED)}
        if not texts:
            return scoped
        found = self.encoder(graph.schema)
        if found is None:
            unnamed = "no named model (import {} again with --vectors MODEL)"
            models = ", ".join(it.model or unnamed.format(it.name) for it in graph.schema.vectors)
            hint = (
                "compare names and classes; or set SCENECYPHER_EMBEDDING_MODEL to such a model of your service, or for "
                "CLIP run `pip install 'scenecypher[vectors]'`"
            )
            raise QueryRefused("vectors", f"no encoder is set for this scene's vectors, by {models}", hint=hint)
        space, embed = found
        parameters = {**scoped.parameters, VECTORS_PARAMETER: space.set}
        for name, text in texts.items():
            compared = partial(self._compare, text, space, embed)
            parameters[name] = self._compared.get_or_create((space.set, text), compared)
        hinted = tuple(replace(it, parameters=parameters) for it in scoped.hinted)
        return replace(scoped, parameters=parameters, hinted=hinted)

    def _compare(self, text: str, space: VectorSpace, embed: Embed) -> Value:
        """Return what stands in a query for a text: its vector, or how near to it the nearest of an index are."""
        vector = [float(number) for number in embed([text])[0]]
        if cause := fault(single(vector), space.dimension):
            msg = f"the vector of this text by {space.model} can't be compared with {space.name}: it {cause}"
            is_other = len(vector) != space.dimension
            hint = f"name the model of {space.name} at its import (--vectors)" if is_other else "give other words"
            raise QueryRefused("vectors", msg, piece=text[:40], hint=hint)
        if space.indexed:
            return nearest(self._database, space, vector, timeout_s=self.limits.seconds)
        return Vector.from_native(vector, "f32") if self._database.takes_vectors else vector

    def _current_bounds(self, graph: Graph) -> Bounds:
        """Return the bounds of a scene as of the version that was seen last; of another graph as they were measured.

        Raises SceneReplaced.
        """
        if isinstance(graph, SceneRef):
            return self._bounds_of_scene(graph)
        if graph.bounds is not None:
            return graph.bounds
        cached = self._measured.get(graph)
        if cached is None or cached[0] <= time.monotonic():
            cached = (time.monotonic() + PLAN_S, measured_bounds(self._database, graph))
            self._measured.put(graph, cached)
        return cached[1]

    def _bounds_of_scene(self, scene: SceneRef) -> Bounds:
        version = known_version(self._database, scene)
        cached = self._bounds.get(scene.key)
        if cached is None or version > cached[0]:
            bounds = current_bounds(self._database, scene.key)
            if bounds is None:
                raise SceneReplaced(scene.name)
            cached = (version, bounds)
            self._bounds.put(scene.key, cached)
        return cached[1]

    def _accepted(self, scoped: ScopedQuery, graph: Graph) -> tuple[ScopedQuery, Plan]:
        """Return the query to run and its plan, which the judge accepted; each shape is planned once."""
        key = graph.schema, scoped.text
        cached = self._plans.get(key)
        if cached is None or cached[0] <= time.monotonic():
            cached = (time.monotonic() + PLAN_S, *self._judged(scoped, graph))
            self._plans.put(key, cached)
        return (scoped, *scoped.hinted)[cached[1]], cached[2]

    def _judged(self, scoped: ScopedQuery, graph: Graph) -> tuple[int, Plan]:
        """Return which form of the query is accepted, 0 without index hints, and its plan.

        The server chooses a plan by what the whole database holds. If the judge refuses it, the hints are tried.
        """
        try:
            return 0, self._checked_plan(scoped, graph)
        except QueryRefused as refused:
            if refused.code == "plan":
                for number, hinted in enumerate(scoped.hinted, 1):
                    with suppress(QueryRefused):
                        return number, self._checked_plan(hinted, graph)
            raise

    def _checked_plan(self, scoped: ScopedQuery, graph: Graph) -> Plan:
        plan, query_type = self._plan(scoped, graph)
        check_plan(plan, query_type, graph.schema, version=self._server)
        return plan

    def _plan(self, scoped: ScopedQuery, graph: Graph) -> tuple[Plan, str | None]:
        """Return the server's plan and query type, in a turn of its own: planning takes the server's processor, too.

        Raises ServiceError if the server is too busy to plan, at once for the same query in other names.
        """
        shape = shape_of(scoped.text)
        with self._database.planners.taken(waiting=lambda _: None):
            if (self._unplanned.get(shape) or 0.0) <= time.monotonic():
                for _ in range(PLANNING_TRIES):
                    try:
                        return retry_once_on_disconnect(lambda: self._explain_once(scoped, graph))
                    except QueryRefused as refused:
                        if refused.code != "timeout":
                            raise
                self._unplanned.put(shape, time.monotonic() + UNPLANNED_S)
        msg = (
            f"the server was busy: in {PLANNING_TRIES} times {self.limits.planning_seconds:g} seconds it did not plan "
            "the query, which says nothing about the query; ask again in a minute, when the server is less busy, or "
            "raise SCENECYPHER_QUERY_PLANNING_S"
        )
        raise ServiceError(msg, retryable=True)

    def _explain_once(self, scoped: ScopedQuery, graph: Graph) -> tuple[Plan, str | None]:
        with self._running(EXPLAIN + scoped.text, scoped, graph, seconds=self.limits.planning_seconds) as result:
            summary = result.consume()
        self._note_version(summary.server.agent.rpartition("/")[2])
        return Plan.of(summary.plan or {"operatorType": "none"}), summary.query_type

    def _note_version(self, version: str) -> None:
        """Warn once if the server's version is none of those that the judge was tested on."""
        if version not in {self._server, *VERIFIED}:
            tested = " and ".join(VERIFIED)
            LOG.warning("the gate was tested on Neo4j %s, this is %s: it may refuse what is fine", tested, version)
        self._server = version

    # --- on the server

    def _slot(self, steps: float) -> AbstractContextManager[None]:
        """Return the context that holds a slot of the database; a cheap query needs none."""
        if steps <= self.limits.cheap_steps:
            return nullcontext()
        tell = self._tell or (lambda _: None)
        return self._database.slots.taken(
            waiting=lambda ahead: tell(f"the query waits: others that cost much run, {ahead} more before it…")
        )

    @contextmanager
    def _running(
        self, text: str, scoped: ScopedQuery, graph: Graph, *, seconds: float, limit: float | None = None
    ) -> Iterator[Result]:
        """Run a text under the server's time limit and the watchdog; translate errors into refusals for models.

        A refusal tells the `limit`, if given, of which `seconds` are left. A shape whose transaction ran on for too
        long after it was terminated is refused from then on.
        """
        if scoped.text in self._lost_shapes:
            raise lost_refusal()
        mark = f"{self._mark}-{next(self._numbers)}"
        with self._watchdog.watch(mark, seconds + GRACE_S) as watched:
            try:
                with run_scoped(self._database, text, scoped, graph, seconds=seconds, mark=mark) as result:
                    yield result
            except ServiceError as error:
                refusal = lost_refusal() if watched.lost else refusal_of(error, scoped, graph, limit or seconds)
                if refusal is None:
                    raise
                raise refusal from error
            finally:
                if watched.lost:
                    self._lost_shapes.add(scoped.text)

    def _rows(
        self, scoped: ScopedQuery, graph: Graph, until: float
    ) -> tuple[tuple[str, ...], list[list[JsonValue]], str | None]:
        left = max(LEAST_S, math.ceil(10 * (until - time.monotonic())) / 10)
        limit = self.limits.seconds
        with self._running(scoped.text, scoped, graph, seconds=min(left, limit), limit=limit) as result:
            return collect(result, scoped, self.limits, graph.schema.scope)


@contextmanager
def _own_faults() -> Iterator[None]:
    """Turn an error that is none of ours into a GateFault, which every surface tells and survives."""
    try:
        yield
    except SceneCypherError:
        raise
    except Exception as error:
        LOG.exception("the gate failed on a query")
        raise GateFault(error) from error


def shape_of(text: str) -> str:
    """Return a text with its variables renamed in order of appearance: texts of one shape are planned alike."""
    names: dict[str, str] = {}

    def renamed(found: re.Match[str]) -> str:
        word = found.group()
        return word if word.upper() in RESERVED else names.setdefault(word, f"v{len(names)}")

    return VARIABLE.sub(renamed, text)


def run_scoped(
    database: Database, text: str, scoped: ScopedQuery, graph: Graph, *, seconds: float, mark: str
) -> AbstractContextManager[Result]:
    """Run a text that `scope` made from a model's, in read mode, and return its rows.

    This is the only place that sends a text to the server that is no literal of ours; no type can express that.
    """
    parameters = {**scoped.parameters, **({SCENE_PARAMETER: graph.key} if graph.schema.scope else {})}
    return database.run_read_only(cast("Any", text), parameters, timeout_s=seconds, mark=mark)


def collect(
    result: Result, scoped: ScopedQuery, limits: Limits, hidden: str = SCENE_KEY
) -> tuple[tuple[str, ...], list[list[JsonValue]], str | None]:
    """Return columns, rows up to the limits, and where rows were cut off; nodes without the `hidden` property.

    Raises QueryRefused for a too long row.
    """
    keys = tuple(result.keys())
    columns = keys[: len(keys) - len(scoped.columns)] + scoped.columns
    rows: list[list[JsonValue]] = []
    size = 0
    for row in _records(result, limits, partial(json_value, public=scoped.public, hidden=hidden)):
        if len(rows) == limits.rows:
            return columns, rows, f"the first {limits.rows:,} rows; there are more"
        length = len(json.dumps(row, ensure_ascii=False).encode())
        if row is None or length > limits.row_bytes:
            msg = f"a row of the answer is longer than {limits.row_bytes:,} bytes"
            raise QueryRefused("size", msg, hint="return fewer values in a row, or count them")
        size += length
        if size > limits.total_bytes:
            return columns, rows, f"the first {len(rows):,} rows, {limits.total_bytes:,} bytes; there are more"
        rows.append(row)
    return columns, rows, None


def _records(result: Result, limits: Limits, read: Callable[[Any], JsonValue]) -> Iterator[list[JsonValue] | None]:
    """Yield the rows as JSON values; each is measured before it is converted, and None if it is too long.

    Raises QueryRefused for a value that the driver can't take, such as a year 10,000.
    """
    for record in result:
        try:
            values = record.values()
            yield None if exceeds(values, limits.row_bytes) else [read(value) for value in values]
        except BrokenRecordError as error:
            msg = "a value of the answer is out of range"
            raise QueryRefused("failed", msg, hint="return it as text, or not at all") from error


def lost_refusal() -> QueryRefused:
    """Return the refusal of a query that the server could not end."""
    msg = "the server can't end a query of this form once it runs"
    return QueryRefused("lost", msg, hint="ask for less: no loops within loops, simpler regular expressions")
