"""Replicas: the scenes that a process touches, each in memory at a version and brought forward by its events.

Changes are decided on a replica and committed only at its version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import Any, Final, LiteralString
from uuid import uuid4

from cachetools import LRUCache
from neo4j import ManagedTransaction, Record

from scenecypher.db.graph.delta import Delta, edited_nodes
from scenecypher.db.graph.graph_json import delta_from_json
from scenecypher.db.graph.live import LiveGraph
from scenecypher.db.graph.scene import EMPTY
from scenecypher.db.rule_memory import check_change, opened_at, with_memory
from scenecypher.db.rules import Rule, rules_of
from scenecypher.db.store.bounds import UNKNOWN, TrackedBounds
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import (
    Committed,
    Decide,
    Intent,
    SceneVersion,
    WritePlan,
    check_answer,
    commit_at,
    commit_in,
    plan_write,
)
from scenecypher.db.store.connection import Database, row_of
from scenecypher.db.store.load import LoadedScene, load_generation, read_generation
from scenecypher.errors import ConflictError, ConstraintViolated, RejectedError, SceneReplaced
from scenecypher.waiting import waiting_for

TRIES: Final = 3
"""Tries without the scene's lock; if other writers come first each time, the change waits for the lock."""
MOST_EVENTS: Final = 2_000
"""The most events that are applied; a scene that is farther ahead is loaded."""

KEPT_MEMBERS: Final = 300_000
"""Nodes and relations of all scenes that are kept, some 60 MiB, unless a setting says otherwise."""

_EVENTS: Final[LiteralString] = """
       s.status AS status, s.version AS version, coalesce(s.redeclared, 0) AS redeclared,
       CASE WHEN s.version - $after > $most THEN [] ELSE
         COLLECT { MATCH (e:Event {scene: $key}) WHERE e.version > $after
                   RETURN [e.version, e.delta] ORDER BY e.version } END AS events
"""
EVENTS: Final[LiteralString] = "MATCH (s:Scene {key: $key}) RETURN $asked AS asked," + _EVENTS
# Setting a label that is present takes the lock and writes nothing: a commit under way is waited for.
EVENTS_SINCE: Final[LiteralString] = (
    """
MATCH (s:Scene {key: $key}) SET s:Scene
WITH s OPTIONAL MATCH (done:Event {scene: $key, action_id: $action_id})
RETURN $asked AS asked, done {.version, .hash, .delta} AS done,"""
    + _EVENTS
)

# By the clock that the scene declares, else the server's: those of its events.
IS_LATE: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) OPTIONAL MATCH (e:Event {scene: $key, version: $version})
RETURN $asked AS asked,
       coalesce(s.clock, datetime()) >= coalesce(e.clock, e.at) + duration({minutes: $limit}) AS late
"""


def is_alike(one: SceneInfo, other: SceneInfo) -> bool:
    """Check if two states of a scene have the same actions and declarations: what is decided by one fits the other.

    Rules may differ: each change is checked by those of the version that it is decided at.
    """
    mine, theirs = one.declared, other.declared
    return one.vocabulary == other.vocabulary and (mine == theirs or replace(mine, rules=theirs.rules) == theirs)


class Replica:
    """One scene in memory, safe to share between threads: each version of its graph is a value of its own.

    Nothing that is decided on it is committed unless the scene is still at its version, so a stale replica costs a
    round trip, never a wrong commit.
    """

    def __init__(self, database: Database, scene: SceneInfo) -> None:
        self.scene = scene
        self._database, self._lock, self._loading = database, Lock(), Lock()
        self.version, self._graph = -1, EMPTY
        self._bounds = TrackedBounds(EMPTY, UNKNOWN)

    @property
    def size(self) -> int:
        """The number of nodes and relations."""
        return self._graph.size

    @property
    def is_loaded(self) -> bool:
        """Check whether it has a version of the scene."""
        return self.version >= 0

    def load(self) -> bool:
        """Load the scene unless it is; the threads that wait for it load it once. Raises SceneReplaced, ServiceError.

        Returns True if it was loaded now.
        """
        with self._loading:
            if self.is_loaded:
                return False
            size = self.scene.nodes + self.scene.relations
            with waiting_for(f"{self.scene.name}: {size:,} nodes and relations to be read into memory"):
                self._keep(load_generation(self._database, self.scene))
            return True

    def reload(self, scene: SceneInfo) -> None:
        """Load the scene again. Raises SceneReplaced if it has other actions or declarations than `scene`."""
        self._keep(self._load(scene))

    def at(self, agent: str | None = None) -> SceneVersion:
        """Return the scene as it is known; `agent` is the acting node, the first agent by id if None."""
        with self._lock:
            version, graph, rules = self.version, self._graph, rules_of(self.scene.declared)
        return SceneVersion.of(version, graph, agent, rules)

    def snapshot(self) -> LoadedScene:
        """Return the scene as it is known."""
        with self._lock:
            return LoadedScene(replace(self.scene, version=self.version), self._graph)

    def change(
        self, decide: Decide, *, agent: str | None, intent: Intent, text: str | None, timeout_s: float
    ) -> Committed | None:
        """Decide a change and commit it at that version; return None if others came first each time.

        A refusal stands only at the scene's present version, and if the action is not committed already. `text` is the
        Delta's JSON if it is known before. If a connection breaks, the change may be committed: try again only with the
        same action id. Raises the errors of `decide`, AlreadyCommitted, ConflictError, ServiceError.
        """
        if intent.expected_version not in {None, self.version}:
            self._confirm(intent, text, timeout_s)
        for _ in range(TRIES):
            before = self.at(agent)
            try:
                done = self._commit(before, decide, intent, timeout_s)
            except (RejectedError, ConstraintViolated):
                self._confirm(intent, text, timeout_s)
                if self.version == before.version:
                    raise
                continue
            if done is not None:
                return done
            self._confirm(intent, text, timeout_s)
            if self.version == before.version:  # it was changed without a version, by hand
                self.reload(self.scene)
        return None

    def lock(self, tx: ManagedTransaction, *, agent: str | None, intent: Intent, text: str | None) -> SceneVersion:
        """Take the scene's lock for a transaction, and return the scene as it is then.

        Raises SceneReplaced, AlreadyCommitted, InputError (id used for another Delta), ConflictError (wrong version).
        """
        given = self._asking(intent.action_id)
        record = row_of(tx.run(EVENTS_SINCE, given), "asked", given["asked"])
        found = check_answer(record, self.scene, intent, text)
        self._follow(found, lambda: _alike(read_generation(tx, self.scene), self.scene))
        return self.at(agent)

    def write(
        self, tx: ManagedTransaction, at: SceneVersion, delta: Delta, *, intent: Intent, scene: SceneInfo | None = None
    ) -> Committed:
        """Write a change that was decided under the lock; `scene` has declarations that it needs, if others.

        Raises ConflictError, InputError. `apply` it once it is committed.
        """
        found = self._remembering(at, delta, intent)
        plan = self._plan(at, found, intent, scene or self.scene)
        return Committed(commit_in(tx, plan, at.version), found)

    def apply(self, done: Committed, plan: WritePlan | None = None) -> None:
        """Apply a commit, if it leads to the next version; `plan` is the one by which it was written, if known."""
        with self._lock:
            if not done.repeated and done.version == self.version + 1:
                self._advance([(done.version, done.delta, plan)])

    def catch_up(self) -> None:
        """Bring the replica to the scene's version, to read; no lock is waited for. Raises SceneReplaced, ServiceError.

        An event is stored by the commit that made its version: those that follow each other lead to a state that was.
        """
        record = self._database.row(EVENTS, self._asking(), echo="asked")
        if record is None or record["status"] != self.scene.status:
            raise SceneReplaced(self.scene.name)
        self._follow(record, lambda: load_generation(self._database, self.scene))

    def _commit(self, before: SceneVersion, decide: Decide, intent: Intent, timeout_s: float) -> Committed | None:
        """Decide and commit at a version; None if the scene is no longer there."""
        delta = self._remembering(before, decide(before), intent)
        plan = self._plan(before, delta, intent, self.scene)
        version = commit_at(self._database, plan, before.version, timeout_s=timeout_s)
        if version is None:
            return None
        done = Committed(version, delta)
        self.apply(done, plan)
        return done

    def _remembering(self, at: SceneVersion, delta: Delta, intent: Intent) -> Delta:
        """Return a change with what the rules of the house remember after it. Raises RuleBroken, ServiceError."""
        if intent.kind == "declare":
            return delta
        is_revert, counted = intent.kind in {"undo", "redo"}, intent.counted
        found = with_memory(at.rules, at.graph, delta, version=at.version, counted=counted, reverts=is_revert)
        if intent.enforced and self.scene.role == "world":
            late = partial(self._is_late, at)
            check_change(at.rules, at.graph, found, action=intent.action, counted=counted, is_late=late)
        return found

    def _is_late(self, at: SceneVersion, duty: Rule) -> bool:
        given = {"key": self.scene.key, "version": opened_at(duty, at.graph, at.version), "limit": duty.limit}
        record = self._database.row(IS_LATE, {**given, "asked": uuid4().hex}, echo="asked")
        return bool(record and record["late"])

    def _plan(self, at: SceneVersion, delta: Delta, intent: Intent, scene: SceneInfo) -> WritePlan:
        plan = plan_write(scene, at.graph, delta, intent=intent)
        with self._lock:
            raised = self._bounds.raised_by(at.graph, delta, plan.edits)
        return plan.with_bounds(raised) if raised else plan

    def _confirm(self, intent: Intent, text: str | None, timeout_s: float) -> None:
        """Bring the replica to the scene's version, once no commit is under way. Raises as `lock`, ServiceError."""
        given = self._asking(intent.action_id)
        record = self._database.execute(EVENTS_SINCE, given, timeout_s=timeout_s, echo="asked", auto_commit=True)
        found = check_answer(record, self.scene, intent, text)
        self._follow(found, lambda: self._load(self.scene))

    def _load(self, scene: SceneInfo) -> LoadedScene:
        return _alike(load_generation(self._database, scene), scene)

    def _asking(self, action_id: str = "") -> dict[str, Any]:
        """Return the parameters of a question for events; its answer has the `asked` that no other has."""
        about = {"key": self.scene.key, "after": self.version, "most": MOST_EVENTS}
        return {**about, "action_id": action_id, "asked": uuid4().hex}

    def _follow(self, record: Record, load: Callable[[], LoadedScene]) -> None:
        """Apply the events of a record; load the scene if they don't lead to its version."""
        versions = [version for version, _ in record["events"]]
        after = record["version"] - len(versions)
        if record["redeclared"] > self.version or versions != [*range(after + 1, record["version"] + 1)]:
            self._keep(load())
            return
        deltas = [(version, delta_from_json(text)) for version, text in record["events"]]
        try:
            with self._lock:
                self._advance([(version, delta, None) for version, delta in deltas if version > self.version])
        except ConflictError:
            self._keep(load())
            return
        if self.version < record["version"]:
            self._keep(load())

    def _advance(self, events: Sequence[tuple[int, Delta, WritePlan | None]]) -> None:
        """Apply what led to the next versions, and was planned here or not; the lock is held.

        After a ConflictError the scene has to be loaded.
        """
        if not events:
            return
        live = LiveGraph(self._graph)
        for _, delta, plan in events:
            edits = plan.edits if plan else edited_nodes(live, delta)
            raised = plan.raised if plan else self._bounds.raised_by(live, delta, edits)
            self._bounds.follow(delta, raised)
            live.apply(delta, edits)
        self.version, self._graph = events[-1][0], live.frozen()

    def _keep(self, loaded: LoadedScene) -> None:
        tracked = TrackedBounds(loaded.graph, loaded.info.bounds)
        with self._lock:
            if loaded.info.version >= self.version:
                self.scene, self.version, self._graph = loaded.info, loaded.info.version, loaded.graph
                self._bounds = tracked


def _alike(loaded: LoadedScene, scene: SceneInfo) -> LoadedScene:
    if not is_alike(loaded.info, scene):
        raise SceneReplaced(scene.name)
    return loaded


class Replicas:
    """The replicas of one store, by scene key; together of `most` members. Safe to share between threads.

    A scene that has more is kept alone.
    """

    def __init__(self, database: Database, *, most: int = KEPT_MEMBERS) -> None:
        self.database, self._lock = database, Lock()
        self._kept: LRUCache[str, Replica] = LRUCache(most, getsizeof=lambda it: min(it.size, most))
        self._loading: dict[str, Replica] = {}

    @contextmanager
    def of(self, scene: SceneInfo) -> Iterator[Replica]:
        """Yield the scene's replica to change the scene by, loaded if it is not kept.

        Raises SceneReplaced, also if the scene has other actions or declarations by now; ServiceError.
        """
        with self._lent(scene) as replica:
            replica.load()
            if not is_alike(replica.scene, scene):
                replica.reload(scene)
            yield replica

    def now(self, scene: SceneInfo, *, at_least: int | None = None) -> LoadedScene:
        """Return the scene as it is now, or as it is known if that is `at_least` of a version.

        Raises SceneReplaced, ServiceError.
        """
        with self._lent(scene) as replica:
            is_known = replica.load() or scene.is_past_copy or (at_least is not None and replica.version >= at_least)
            if not is_known:
                replica.catch_up()
            found = replica.snapshot()
        self.database.versions.note(scene.key, found.info.version)
        return found

    @contextmanager
    def _lent(self, scene: SceneInfo) -> Iterator[Replica]:
        """Yield the scene's replica; measure it anew afterwards, since it may have grown."""
        with self._lock:
            kept = self._kept.get(scene.key, self._loading.get(scene.key))
            replica = self._loading[scene.key] = Replica(self.database, scene) if kept is None else kept
        try:
            yield replica
        finally:
            with self._lock:
                self._loading.pop(scene.key, None)
                self._kept.pop(scene.key, None)
                if replica.is_loaded:
                    self._kept[scene.key] = replica
