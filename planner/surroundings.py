"""The part of a scene around its agents: their rooms with all contents, and nodes seen or touched."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, LiteralString

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import partial_graph
from scenecypher.db.store.connection import Database
from scenecypher.db.store.steady import steady_record

# Contents of a room are followed over four levels; nodes touched or seen come with their containers.
SURROUNDINGS: Final[LiteralString] = """
MATCH (s:Scene {key: $key})
WITH s, COLLECT { MATCH (a:Agent {scene: $key})-[:INSIDE]->(p:Place) RETURN DISTINCT p } AS stood
WITH s, stood + COLLECT {
       UNWIND CASE WHEN $through_doors THEN stood ELSE [] END AS p
       MATCH (p)-[:CONNECTS]-(d:Door)-[:CONNECTS]-(q:Place) WHERE 'open' IN d.states RETURN DISTINCT q } AS here
WITH s, here,
     COLLECT { UNWIND $touched AS id MATCH (n:Entity {scene: $key, id: id}) RETURN n } +
     COLLECT { UNWIND $classes AS class MATCH (n:Entity {scene: $key, class: class}) RETURN n } +
     COLLECT { MATCH (n:Object {scene: $key, seen: true}) RETURN n } +
     COLLECT { MATCH (a:Agent {scene: $key})-[:HOLDS|HOLDS_LH|HOLDS_RH]->(n) RETURN n } AS known
WITH s, known +
     COLLECT { MATCH (n:Place {scene: $key}) RETURN n } +
     COLLECT { MATCH (n:Agent {scene: $key}) RETURN n } +
     COLLECT { MATCH (n:Door {scene: $key}) RETURN n } +
     COLLECT { UNWIND known AS k MATCH (k)-[:INSIDE|ON|UNDER|ATTACHED_TO*1..4]->(n) RETURN DISTINCT n } +
     COLLECT { UNWIND here AS p MATCH (n)-[:INSIDE|ON|UNDER|ATTACHED_TO*1..4]->(p)
               WHERE n.seen IS NULL OR n.seen OR $priors RETURN DISTINCT n } AS found
WITH s, COLLECT { UNWIND found AS n RETURN DISTINCT n } AS nodes
RETURN nodes,
       COLLECT { UNWIND nodes AS a
                 MATCH (a)-[r:INSIDE|ON|UNDER|ATTACHED_TO|HOLDS|HOLDS_LH|HOLDS_RH|CONNECTS|BETWEEN]->(b)
                 RETURN [a.id, type(r), b.id] } AS relations
"""


def read_surroundings(
    database: Database,
    scene: SceneInfo,
    *,
    touched: Iterable[str],
    classes: Iterable[str] = (),
    priors: bool = True,
    through_doors: bool = False,
) -> SceneGraph:
    """Read all places, agents and doors, the contents of the agents' rooms, and other known nodes, in one query.

    The others are those seen or `touched`, and those of `classes`. Each node comes with its containers. Without
    `priors` unseen objects are left out; with `through_doors` the rooms behind open doors count as the agents'.
    Nearness relations are not read. Raises SceneReplaced.
    """
    given = {
        "touched": sorted({*touched}),
        "classes": sorted({*classes}),
        "priors": priors,
        "through_doors": through_doors,
    }
    record = steady_record(database, scene, SURROUNDINGS, given)
    known = {node["id"] for node in record["nodes"]}
    return partial_graph(record["nodes"], [it for it in record["relations"] if it[0] in known and it[2] in known])
