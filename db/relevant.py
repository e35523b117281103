"""The part of a scene that a goal is about: what it names, what that is in and on, rooms, agents and what they hold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, LiteralString

from neo4j import ManagedTransaction

from db.catalog import SceneInfo
from db.commit import partial_graph
from db.connection import Database
from db.scene import SceneGraph
from scenecypher.errors import SceneReplaced

RELEVANT_TIMEOUT_S: Final = 10.0
SMALL: Final = 40
"""A scene of at most so many nodes is read whole."""

# A room's spare surface is the first by id; `wide` adds what is in and on what was found.
RELEVANT: Final[LiteralString] = """
MATCH (s:Scene {key: $key})
WITH s, COUNT { MATCH (:Entity {scene: $key}) } <= $small AS whole
WITH s, whole,
     COLLECT { UNWIND $ids AS id MATCH (n:Entity {scene: $key, id: id}) RETURN n } +
     COLLECT { UNWIND $classes AS class MATCH (n:Entity {scene: $key, class: class}) RETURN n } +
     COLLECT { MATCH (a:Agent {scene: $key})-[:HOLDS|HOLDS_LH|HOLDS_RH|ON]->(n) RETURN n } AS goal
WITH s, whole, goal +
     COLLECT { MATCH (n:Place {scene: $key}) RETURN n } +
     COLLECT { MATCH (n:Agent {scene: $key}) RETURN n } +
     COLLECT { UNWIND goal AS g MATCH (g)-[:INSIDE|ON|UNDER|ATTACHED_TO*1..5]->(n) RETURN DISTINCT n } +
     COLLECT { MATCH (p:Place {scene: $key})
               CALL (p) { MATCH (n)-[:INSIDE]->(p) WHERE any(a IN n.affordances WHERE a IN $surfaces)
                            AND none(a IN n.affordances WHERE a IN $lifted)
                          RETURN n ORDER BY n.id LIMIT 1 }
               RETURN n } AS core
WITH s, whole, core +
     CASE WHEN $wide
          THEN COLLECT { UNWIND core AS c MATCH (n)-[:INSIDE|ON|UNDER|ATTACHED_TO]->(c) WHERE NOT c:Place
                         RETURN DISTINCT n LIMIT 40 } ELSE [] END +
     CASE WHEN whole THEN COLLECT { MATCH (n:Entity {scene: $key}) RETURN n } ELSE [] END AS found
WITH s, COLLECT { UNWIND found AS n RETURN DISTINCT n } AS nodes
RETURN s.status AS status, nodes,
       COLLECT { UNWIND nodes AS a MATCH (a)-[r]->(b) WHERE b IN nodes RETURN [a.id, type(r), b.id] } AS relations
"""


def relevant(
    database: Database,
    scene: SceneInfo,
    *,
    ids: Iterable[str],
    classes: Iterable[str],
    surfaces: Iterable[str],
    lifted: Iterable[str],
    wide: bool = False,
) -> SceneGraph:
    """The nodes `ids` and those of `classes`, with what decides how they can be moved; a small scene whole.

    `surfaces` are the affordances of what things can be put on, of which there is one a room; what has one of `lifted`
    can be carried away and is none. With `wide` it holds what is in and on all those, too. Raises SceneReplaced.
    """
    words = {"surfaces": sorted(surfaces), "lifted": sorted(lifted)}
    given = {"ids": sorted(ids), "classes": sorted(classes), **words, "wide": wide}

    def work(tx: ManagedTransaction) -> SceneGraph:
        record = tx.run(RELEVANT, given, key=scene.key, small=SMALL).single()
        if record is None or record["status"] != "ready":
            raise SceneReplaced(scene.name)
        return partial_graph(record["nodes"], record["relations"])

    return database.read(work, timeout_s=RELEVANT_TIMEOUT_S)
