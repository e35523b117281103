"""A scene's Enumerations: read by one statement between two equal versions, and cached by version."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Final, LiteralString

from cachetools import LRUCache
from neo4j import ManagedTransaction

from scenecypher.db.schema import HOLDING, KINDS, RESERVED_PROPERTIES
from scenecypher.db.store.catalog import SceneInfo, version_under_lock
from scenecypher.db.store.connection import Database
from scenecypher.db.store.counting import NodeGroup, PropertyRow, build_enumerations
from scenecypher.db.store.enumerations import DENSE, Enumerations

READ_TRIES: Final = 3
SCENES_CACHED: Final = 64
VERSIONS_NOTED_PER_SCENE: Final = 100
"""Number of latest versions noted per cached scene."""
LISTED_NODES_LIMIT: Final = 5_000
"""Largest number of nodes of which every name, id and value is read; above, the server counts by group."""
VALUE_LENGTH: Final = 60
AGENTS_SHOWN: Final = 20
LIMIT_PARAMETERS: Final = {"reserved": sorted(RESERVED_PROPERTIES), "longest": VALUE_LENGTH, "agents": AGENTS_SHOWN}


def _kind_of(variable: LiteralString) -> LiteralString:
    cases: list[LiteralString] = ["WHEN " + variable + ":" + kind + " THEN '" + kind + "'" for kind in KINDS]
    return "CASE " + " ".join(cases) + " END"


_GROUP_BY_KINDS: Final[LiteralString] = (
    "WITH " + _kind_of("a") + " AS source, type(r) AS type, " + _kind_of("b") + " AS target, count(*) AS count "
)
_CLOSE_COUNT: Final[LiteralString] = "COUNT { (n)-[:" + DENSE + "]->() }"
_OTHER_COUNTS: Final[LiteralString] = (
    """
CALL () { MATCH (a:Entity {scene: $key})-[r:!"""
    + DENSE
    + "]->(b) "
    + _GROUP_BY_KINDS
    + """
    RETURN collect([source, type, target, count]) AS patterns }
CALL () { MATCH (a:Agent {scene: $key}) WITH a ORDER BY a.name, a.id LIMIT $agents
    RETURN collect([a.name, a.class, [(a)-[:INSIDE]->(p:Place) | p.name], [(a)-[h:"""
    + "|".join(HOLDING)
    + """]->(o) | [type(h), o.name]]]) AS agents }
RETURN nodes, properties, patterns, agents
"""
)
EACH_NODE: Final[LiteralString] = (
    """
CALL () { MATCH (n:Entity {scene: $key})
    RETURN collect(["""
    + _kind_of("n")
    + """, n.class, n.states, n.affordances, 1, n.name, """
    + _CLOSE_COUNT
    + """, [n.name], [n.id]]) AS nodes,
    collect([key IN keys(n) WHERE NOT key IN $reserved | [key, valueType(n[key]), 1,
        CASE WHEN valueType(n[key]) STARTS WITH 'BOOLEAN' THEN n[key]
             WHEN valueType(n[key]) STARTS WITH 'STRING' THEN CASE WHEN size(n[key]) <= $longest THEN n[key] END
        END]]) AS properties }
"""
    + _OTHER_COUNTS
)
"""One row per node: for scenes of usual size grouping in the server takes twice as long."""
BY_GROUP: Final[LiteralString] = (
    """
CALL () { MATCH (n:Entity {scene: $key})
    WITH """
    + _kind_of("n")
    + """ AS kind, n.class AS class, n.states AS states, n.affordances AS affordances, count(*) AS count,
        min(n.name) AS example, sum("""
    + _CLOSE_COUNT
    + """) AS close,
        collect(CASE WHEN n:Place THEN n.name END) AS names
    RETURN collect([kind, class, states, affordances, count, example, close, names, []]) AS nodes }
CALL () { MATCH (n:Entity {scene: $key}) UNWIND keys(n) AS key
    WITH n, key WHERE NOT key IN $reserved
    WITH key, valueType(n[key]) AS type, count(*) AS count
    RETURN collect([[key, type, count, null]]) AS properties }
"""
    + _OTHER_COUNTS
)


class Enumerator:
    """Enumerations of scenes, cached by scene and version; safe to share between threads."""

    def __init__(
        self, database: Database, *, scenes_cached: int = SCENES_CACHED, listed_nodes_limit: int = LISTED_NODES_LIMIT
    ) -> None:
        self._database = database
        self._listed_nodes_limit = listed_nodes_limit
        self._cached_enumerations: LRUCache[tuple[str, int], Enumerations] = LRUCache(scenes_cached)
        self._latest: LRUCache[str, int] = LRUCache(VERSIONS_NOTED_PER_SCENE * scenes_cached)
        self._lock = Lock()

    def of(self, scene: SceneInfo) -> Enumerations:
        """Return Enumerations of `scene.version` or a later noted version: cached ones, else read now.

        If the scene changes during the read, a few nodes may be counted twice or not at all: it is read again, and
        returned without caching if writers leave no pause. Raises SceneReplaced.
        """
        self.note_version(scene.key, scene.version)
        cached = self._cached(scene.key)
        if cached is not None:
            return cached
        for _ in range(READ_TRIES):
            before = version_under_lock(self._database, scene.key, scene.name)
            enumerations = self._database.read(self._read_transaction(scene))
            if version_under_lock(self._database, scene.key, scene.name) == before:
                self._cache((scene.key, before), enumerations)
                break
        return enumerations

    def _read_transaction(self, scene: SceneInfo) -> Callable[[ManagedTransaction], Enumerations]:
        statement = EACH_NODE if scene.nodes <= self._listed_nodes_limit else BY_GROUP

        def work(tx: ManagedTransaction) -> Enumerations:
            found = tx.run(statement, {"key": scene.key} | LIMIT_PARAMETERS).single(strict=True)
            return build_enumerations(
                nodes=[NodeGroup(*row) for row in found["nodes"]],
                properties=[PropertyRow(*row) for rows in found["properties"] for row in rows],
                patterns=found["patterns"],
                agents=found["agents"],
            )

        return work

    def note_version(self, key: str, version: int) -> None:
        """Note a scene's version, so that Enumerations of earlier ones are no longer returned."""
        with self._lock:
            self._latest[key] = max(version, self._latest.get(key, version))

    def _cached(self, key: str) -> Enumerations | None:
        with self._lock:
            return self._cached_enumerations.get((key, self._latest.get(key, -1)))

    def _cache(self, version: tuple[str, int], enumerations: Enumerations) -> None:
        self.note_version(*version)
        with self._lock:
            self._cached_enumerations[version] = enumerations
