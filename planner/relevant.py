"""The part of a scene that a goal is about: what it names, what that is in and on, rooms, agents and what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, LiteralString

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import partial_graph
from scenecypher.db.store.connection import Database, ManagedTransaction
from scenecypher.errors import SceneReplaced

RELEVANT_TIMEOUT_S: Final = 10.0
SMALL_SCENE_NODES: Final = 40
"""A scene of at most so many nodes is read whole."""
CONTAINMENT: Final = ("INSIDE", "ON", "UNDER", "ATTACHED_TO")
"""The relations to what a node is in or on."""
MAX_CONTAINMENT_DEPTH: Final = 5
"""Things in or on one another that are followed to a room."""
MAX_CONTENTS: Final = 40
"""Things in or on what was found, of which a wide part has no more."""

# A room's spare surface is the first by id, and so is what fills a hand; `wide` adds the other rooms, and what is in
# and on what was found.
RELEVANT: Final[LiteralString] = """
MATCH (s:Scene {key: $key})
WITH s, COUNT { MATCH (:Entity {scene: $key}) } <= $small AS whole,
     COLLECT { UNWIND $ids AS id MATCH (n:Entity {scene: $key, id: id}) RETURN n } +
     COLLECT { UNWIND $classes AS class MATCH (n:Entity {scene: $key, class: class}) RETURN n } +
     COLLECT { MATCH (n:Agent {scene: $key}) RETURN n } +
     COLLECT { MATCH (a:Agent {scene: $key})-[:HOLDS|HOLDS_LH|HOLDS_RH|ON]->(n) RETURN n } AS goal
WITH s, whole, goal +
     COLLECT { UNWIND goal AS g MATCH (g)-[:INSIDE|ON|UNDER|ATTACHED_TO*1..5]->(n) RETURN DISTINCT n } +
     CASE WHEN $wide THEN COLLECT { MATCH (n:Place {scene: $key}) RETURN n } ELSE [] END AS core
WITH s, whole, core, COLLECT { UNWIND core AS n WITH DISTINCT n WHERE n:Place RETURN n } AS places
WITH s, whole, core +
     COLLECT { UNWIND places AS p
               CALL (p) { MATCH (n)-[:INSIDE]->(p) WHERE any(a IN n.affordances WHERE a IN $surfaces)
                            AND none(a IN n.affordances WHERE a IN $lifted)
                          RETURN n ORDER BY n.id LIMIT 1 }
               RETURN n } +
     COLLECT { UNWIND CASE WHEN $fillers THEN places ELSE [] END AS p
               CALL (p) { MATCH (n)-[:INSIDE]->(p) WHERE any(a IN n.affordances WHERE a IN $lifted)
                            AND NOT EXISTS { (n)-[:INSIDE]->(box) WHERE NOT box:Place AND 'closed' IN box.states }
                          RETURN n ORDER BY n.id LIMIT 1 }
               RETURN n } AS core
WITH s, whole, core +
     CASE WHEN $wide
          THEN COLLECT { UNWIND core AS c MATCH (n)-[:INSIDE|ON|UNDER|ATTACHED_TO]->(c)
                         WHERE NOT c:Place AND NOT n IN core
                         WITH DISTINCT n ORDER BY n.id RETURN n LIMIT $contents } ELSE [] END +
     CASE WHEN whole THEN COLLECT { MATCH (n:Entity {scene: $key}) RETURN n } ELSE [] END AS found
WITH s, COLLECT { UNWIND found AS n RETURN DISTINCT n } AS nodes
RETURN s.status AS status, nodes,
       COLLECT { UNWIND nodes AS a MATCH (a)-[r]->(b) WHERE b IN nodes RETURN [a.id, type(r), b.id] } AS relations
"""


@dataclass(frozen=True, slots=True)
class RelevanceQuery:
    """What a part is found by: `ids` and `classes` of its nodes, and the affordances of what is useful beside them.

    `surfaces` are the affordances of what things can be put on, of which there is one a room; what has one of `lifted`
    can be carried away and is none. With `fillers` there is one of those, too, that nothing closed holds.
    """

    ids: frozenset[str]
    classes: frozenset[str]
    surfaces: tuple[str, ...]
    lifted: tuple[str, ...]
    fillers: bool = False


def read_relevant_part(
    database: Database, scene: SceneInfo, sought: RelevanceQuery, *, wide: bool = False
) -> SceneGraph:
    """The nodes that are sought, with what decides how they can be moved and the rooms of all these.

    With `wide` there are all rooms, and what is in and on what was found. A small scene is read whole. Raises
    SceneReplaced.
    """
    given = {
        "ids": sorted(sought.ids),
        "classes": sorted(sought.classes),
        "surfaces": [*sought.surfaces],
        "lifted": [*sought.lifted],
        "fillers": sought.fillers,
        "wide": wide,
    }

    def work(tx: ManagedTransaction) -> SceneGraph:
        record = tx.run(RELEVANT, given, key=scene.key, small=SMALL_SCENE_NODES, contents=MAX_CONTENTS).single()
        if record is None or record["status"] != "ready":
            raise SceneReplaced(scene.name)
        return partial_graph(record["nodes"], record["relations"])

    return database.read(work, timeout_s=RELEVANT_TIMEOUT_S)
