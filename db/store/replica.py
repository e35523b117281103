"""Replica: a scene in memory at a version; actions are decided on it and committed only at that version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, LiteralString

from scenecypher.db.graph.delta import Delta, edited_nodes
from scenecypher.db.graph.document import delta_from_json
from scenecypher.db.graph.live import LiveGraph
from scenecypher.db.graph.scene import Node
from scenecypher.db.store.bounds import TrackedBounds
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import SET_BOUNDS, Committed, Decide, Intent, LockedPart, plan_write
from scenecypher.db.store.connection import Database
from scenecypher.db.store.guarded import commit_at
from scenecypher.db.store.load import Snapshot, load_generation
from scenecypher.errors import ConflictError, SceneReplaced

EVENTS_SINCE: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) SET s:Scene
RETURN $key AS key, s.status AS status, s.version AS version, coalesce(s.redeclared, 0) AS redeclared,
       COLLECT { MATCH (e:Event {scene: $key}) WHERE e.version > $after
                 RETURN [e.version, e.delta] ORDER BY e.version } AS events
"""


def is_alike(one: SceneInfo, other: SceneInfo) -> bool:
    """Check if two states of a scene have the same actions and declarations: what is decided by one fits the other."""
    return (one.vocabulary, one.declared) == (other.vocabulary, other.declared)


class Replica:
    """One scene in memory. Not safe to share between threads.

    Nothing that is decided on it is committed unless the scene is still at its version, so a stale replica costs a
    round trip, never a wrong commit.
    """

    scene: SceneInfo
    version: int
    graph: LiveGraph
    _bounds: TrackedBounds | None

    def __init__(self, database: Database, snapshot: Snapshot) -> None:
        self._database = database
        self._load(snapshot)

    def __len__(self) -> int:
        """Return the number of nodes and relations."""
        return len(self.graph.nodes) + len(self.graph.relations)

    def locked(self, agent: str | None) -> LockedPart:
        """Return the graph for deciding an action; `agent` is the acting node, the first agent by id if None."""
        agents = self.graph.by_kind.get("Agent", ())
        found = agent if agent in agents else next(iter(agents), None) if agent is None else None
        return LockedPart(self.version, self.graph, found)

    def commit(self, decide: Decide, *, agent: str | None, intent: Intent, timeout_s: float) -> Committed | None:
        """Decide an action and commit it whole; return None if the scene is no longer at the replica's version.

        Raises the errors of `decide`, ConflictError, ServiceError. If a connection breaks, the action may be committed:
        try again only with the same action id.
        """
        delta = decide(self.locked(agent))
        plan = plan_write(self.scene, self.graph, delta, intent=intent)
        raised = self._raised_by(delta, plan.edits)
        if raised:
            plan = plan.with_bounds(SET_BOUNDS, raised=raised)
        version = commit_at(self._database, plan, self.version, timeout_s=timeout_s)
        if version is None:
            return None
        if self._bounds:
            self._bounds.follow(delta, raised, is_ours=True)
        self.graph.apply(delta, plan.edits)
        self.version = version
        return Committed(version, delta)

    def catch_up(self, *, timeout_s: float) -> None:
        """Bring the replica to the scene's version by the events in between; if they do not lead there, load it again.

        Raises SceneReplaced, ServiceError.
        """
        given = {"key": self.scene.key, "after": self.version}
        record = self._database.run_autocommit(EVENTS_SINCE, given, timeout_s=timeout_s, echo="key")
        if record is None or record["status"] != "ready":
            raise SceneReplaced(self.scene.name)
        versions = [version for version, _ in record["events"]]
        is_redeclared = record["redeclared"] > self.version
        if is_redeclared or not versions or versions != [*range(self.version + 1, record["version"] + 1)]:
            self.reload(self.scene)
            return
        try:
            for version, delta in record["events"]:
                self._apply(version, delta_from_json(delta))
        except ConflictError:
            self.reload(self.scene)

    def reload(self, scene: SceneInfo) -> None:
        """Load the scene again. Raises SceneReplaced if it has other actions or declarations than `scene`."""
        snapshot = load_generation(self._database, scene)
        if not is_alike(snapshot.info, scene):
            raise SceneReplaced(scene.name)
        self._load(snapshot)

    def follow(self, done: Committed) -> None:
        """Apply a commit that was made without this replica, if it leads to the next version."""
        if done.version == self.version + 1 and not done.repeated:
            self._apply(done.version, done.delta)

    def _apply(self, version: int, delta: Delta) -> None:
        """Apply a commit of others."""
        edits = edited_nodes(self.graph, delta)
        if self._bounds:
            self._bounds.follow(delta, self._raised_by(delta, edits), is_ours=False)
        self.graph.apply(delta, edits)
        self.version = version

    def _raised_by(self, delta: Delta, edits: Mapping[str, Node | None]) -> dict[str, int]:
        return self._bounds.raised_by(self.graph, delta, edits) if self._bounds else {}

    def _load(self, snapshot: Snapshot) -> None:
        self.scene, self.version, self.graph = snapshot.info, snapshot.info.version, LiveGraph(snapshot.graph)
        self._bounds = TrackedBounds(self.graph, snapshot.info.bounds) if snapshot.info.bounds else None
