"""The part of a scene that is relevant to a goal: named nodes, their containers, rooms, agents and held objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, LiteralString

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import partial_graph
from scenecypher.db.store.connection import Database
from scenecypher.db.store.steady import steady_record
from scenecypher.planner.actions.pddl_effort import SMALL_SCENE_NODES

CONTAINMENT: Final = ("INSIDE", "ON", "UNDER", "ATTACHED_TO")
"""Relations to the containers and supports of a node."""
MAX_CONTAINMENT_DEPTH: Final = 5
"""Longest chain of containment that is followed up to a room."""
MAX_CONTENTS: Final = 40
"""Most contents of the found nodes in a wide part."""

# Of a room's spare surfaces the first by id is read, and so for objects that fill a hand; `wide` adds the other rooms
# and the contents of the nodes found.
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
RETURN nodes,
       COLLECT { UNWIND nodes AS a MATCH (a)-[r]->(b) WHERE b IN nodes RETURN [a.id, type(r), b.id] } AS relations
"""


@dataclass(frozen=True, slots=True)
class RelevanceQuery:
    """Query for a relevant part: `ids` and `classes` of its nodes, and affordances of useful additional nodes.

    A node with an affordance of `surfaces` and none of `lifted` (which make it portable) is a spare surface; one is
    read for each room. With `fillers`, one portable object outside closed containers is read for each room too. A scene
    of at most `small` nodes is read whole.
    """

    ids: frozenset[str]
    classes: frozenset[str]
    surfaces: tuple[str, ...]
    lifted: tuple[str, ...]
    fillers: bool = False
    small: int = SMALL_SCENE_NODES


def read_relevant_part(
    database: Database, scene: SceneInfo, query: RelevanceQuery, *, wide: bool = False
) -> SceneGraph:
    """Return the nodes of a query with their containers, rooms and agents, in one statement.

    With `wide` all rooms and the contents of the found nodes are added. A small scene is read whole. Raises
    SceneReplaced.
    """
    parameters = {
        "ids": sorted(query.ids),
        "classes": sorted(query.classes),
        "surfaces": [*query.surfaces],
        "lifted": [*query.lifted],
        "fillers": query.fillers,
        "wide": wide,
        "small": query.small,
        "contents": MAX_CONTENTS,
    }

    record = steady_record(database, scene, RELEVANT, parameters)
    return partial_graph(record["nodes"], record["relations"])
