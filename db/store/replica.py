"""Replica: a scene kept in memory at a version, on which actions are decided, and committed at that very version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, LiteralString

from scenecypher.db.graph.document import delta_from_json
from scenecypher.db.graph.live import LiveGraph
from scenecypher.db.store.commit import Committed, Decide, Intent, LockedPart, WritePlan, plan_write
from scenecypher.db.store.connection import Database
from scenecypher.db.store.load import Snapshot, load_generation
from scenecypher.errors import ConflictError, QueryFailed, SceneReplaced

# The lock. If the scene has moved since the replica's version, the division ends the transaction, as a misfit does.
UNMOVED: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) SET s:Scene, s.version = s.version + 1
WITH s, 1 / CASE WHEN s.version = $read_at + 1 AND s.status = 'ready' THEN 1 ELSE 0 END AS unmoved
"""
MOVED: Final = "Neo.ClientError.Statement.ArithmeticError"
"""What the server says of the divisions."""
FITS: Final[Mapping[str, LiteralString]] = {
    "remove_relations": "remove_relations = size($remove_relations)",
    "remove_nodes": "remove_nodes = size($remove_nodes)",
    "add_nodes": "add_nodes = size($add_nodes)",
    "set_kinds": "set_kinds = size($set_kinds)",
    "set_values": "set_values = size($set_values)",
    "add_relations": "add_relations = size($add_relations)",
}
SINCE: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) SET s:Scene
RETURN s.status AS status, s.version AS version,
       COLLECT { MATCH (e:Event {scene: $key}) WHERE e.version > $after
                 RETURN [e.version, e.delta] ORDER BY e.version } AS events
"""


class Replica:
    """One scene in memory. Not safe to share between threads.

    Nothing that is decided on it is committed unless the scene is still at its version, so a stale replica costs a
    round trip, never a wrong commit.
    """

    def __init__(self, database: Database, snapshot: Snapshot) -> None:
        self._database = database
        self.scene, self.version, self.graph = snapshot.info, snapshot.info.version, LiveGraph(snapshot.graph)

    def __len__(self) -> int:
        """Return the number of nodes and relations."""
        return len(self.graph.nodes) + len(self.graph.relations)

    def locked(self, agent: str | None) -> LockedPart:
        """Return what an action is decided on; `agent` is who acts, the first agent by id if None."""
        agents = self.graph.by_kind.get("Agent", ())
        found = agent if agent in agents else next(iter(agents), None) if agent is None else None
        return LockedPart(self.version, self.graph, found)

    def commit(self, decide: Decide, *, agent: str | None, intent: Intent, timeout_s: float) -> Committed | None:
        """Decide and write all of it or nothing; None if the scene is no longer at the replica's version.

        Raises what `decide` raises, ConflictError, ServiceError. A connection that breaks may do so after the commit:
        who tries again does so with the same action id.
        """
        delta = decide(self.locked(agent))
        plan = plan_write(self.scene, self.graph, delta, intent=intent)
        try:
            given = {**plan.parameters, "read_at": self.version}
            written = self._database.run_autocommit(guarded_write(plan), given, timeout_s=timeout_s)
        except QueryFailed as error:
            if error.code != MOVED:
                raise
            return None
        if written is None:
            return None
        self.graph.apply(delta)
        self.version = written["version"]
        return Committed(self.version, delta)

    def catch_up(self, *, timeout_s: float) -> None:
        """Bring a replica that is not as the scene is to its version, by the events in between or by loading it again.

        Raises SceneReplaced, ServiceError.
        """
        given = {"key": self.scene.key, "after": self.version}
        record = self._database.run_autocommit(SINCE, given, timeout_s=timeout_s)
        if record is None or record["status"] != "ready":
            raise SceneReplaced(self.scene.name)
        versions = [version for version, _ in record["events"]]
        if not versions or versions != [*range(self.version + 1, record["version"] + 1)]:
            self._reload()
            return
        try:
            for version, delta in record["events"]:
                self.graph.apply(delta_from_json(delta))
                self.version = version
        except ConflictError:
            self._reload()

    def follow(self, done: Committed) -> None:
        """Take over a commit that was made elsewhere, if it is the next one."""
        if done.version == self.version + 1 and not done.repeated:
            self.graph.apply(done.delta)
            self.version = done.version

    def _reload(self) -> None:
        snapshot = load_generation(self._database, self.scene)
        self.version, self.graph = snapshot.info.version, LiveGraph(snapshot.graph)


def guarded_write(plan: WritePlan) -> LiteralString:
    """Return the statement that writes a change to a scene that has not moved, if every row of it fits."""
    fits: LiteralString = " AND ".join(FITS[name] for name in plan.groups) or "true"
    end: LiteralString = "RETURN s.version AS version, unmoved, 1 / CASE WHEN " + fits + " THEN 1 ELSE 0 END AS fits"
    return UNMOVED + plan.body + end
