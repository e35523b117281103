"""A scene's Enumerations: read by one statement at one version, and cached."""

from __future__ import annotations

from typing import Final, LiteralString

from neo4j import ManagedTransaction

from scenecypher.db.schema import HOLDING, KINDS, RESERVED_PROPERTIES
from scenecypher.db.store.cache import LRUCache
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.counting import (
    AGENTS_SHOWN,
    VALUE_LENGTH,
    NodeGroup,
    PropertyRow,
    build_enumerations,
    count_graph,
)
from scenecypher.db.store.enumerations import DENSE, Enumerations
from scenecypher.db.store.replicas import Replicas
from scenecypher.db.store.steady import SceneChanging, read_steadily

READ_TRIES: Final = 3
SCENES_CACHED: Final = 64
LISTED_NODES_LIMIT: Final = 5_000
"""Largest number of nodes of which every name, id and value is read; above, the server counts by group."""
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
    + """, n.class, n.states, n.affordances, 1, n.name, [n.name], [n.id], """
    + _CLOSE_COUNT
    + """]) AS nodes,
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
    RETURN collect([kind, class, states, affordances, count, example, names, [], close]) AS nodes }
CALL () { MATCH (n:Entity {scene: $key}) UNWIND keys(n) AS key
    WITH n, key WHERE NOT key IN $reserved
    WITH key, valueType(n[key]) AS type, count(*) AS count
    RETURN collect([[key, type, count, null]]) AS properties }
"""
    + _OTHER_COUNTS
)


class Enumerator:
    """Enumerations of scenes, of the latest version each; safe to share between threads.

    A scene that `replicas` have at that version is counted in memory.
    """

    def __init__(
        self,
        database: Database,
        *,
        replicas: Replicas | None = None,
        scenes_cached: int = SCENES_CACHED,
        listed_nodes_limit: int = LISTED_NODES_LIMIT,
    ) -> None:
        self._database, self._replicas = database, replicas
        self._listed_nodes_limit = listed_nodes_limit
        self._cached: LRUCache[str, tuple[int, Enumerations]] = LRUCache(scenes_cached)

    def of(self, scene: SceneInfo) -> Enumerations:
        """Return Enumerations of `scene.version`, or of a later one that was seen: cached ones, else read now.

        If the scene changes during each read, a few nodes may be counted twice or not at all, and the result is not
        cached. Raises SceneReplaced.
        """
        version, cached = self._cached.get(scene.key) or (-1, None)
        wanted = max(scene.version, self._database.versions.latest(scene.key) or 0)
        if cached is not None and version >= wanted:
            return cached
        found = self._counted(scene, wanted) or self._read(scene)
        if isinstance(found, Enumerations):
            return found
        self._cached.put(scene.key, found)
        return found[1]

    def _counted(self, scene: SceneInfo, version: int) -> tuple[int, Enumerations] | None:
        """Count the scene's replica, if there is one at `version` that nobody uses, and every node is listed."""
        if self._replicas is None or scene.nodes > self._listed_nodes_limit:
            return None
        with self._replicas.at(scene, version) as replica:
            return None if replica is None else (replica.version, count_graph(replica.graph))

    def _read(self, scene: SceneInfo) -> tuple[int, Enumerations] | Enumerations:
        """Read the enumerations and their version; without it if the scene changes during each read."""
        statement = EACH_NODE if scene.nodes <= self._listed_nodes_limit else BY_GROUP

        def work(tx: ManagedTransaction) -> Enumerations:
            found = tx.run(statement, {"key": scene.key} | LIMIT_PARAMETERS).single(strict=True)
            return build_enumerations(
                nodes=[NodeGroup(*row[:-1]) for row in found["nodes"]],
                close=sum(row[-1] for row in found["nodes"]),
                properties=[PropertyRow(*row) for rows in found["properties"] for row in rows],
                patterns=found["patterns"],
                agents=found["agents"],
            )

        def read() -> Enumerations:
            return self._database.read(work)

        try:
            enumerations, version = read_steadily(self._database, scene, read, tries=READ_TRIES)
        except SceneChanging:
            return read()
        return version, enumerations
