"""The Cypher that writes and reads the nodes of a past.

Each lookup names its index: a past grows from nothing, and plans made by the counts of that moment read all of it.
"""

from __future__ import annotations

from typing import Final, LiteralString

STATE: Final[LiteralString] = """
MATCH (s:Scene {key: $key})
OPTIONAL MATCH (w:Scene {key: s.world})
OPTIONAL MATCH (h:PastHead {scene: $key})
RETURN s.status AS status, s.past IS NOT NULL AS is_past_copy, s.version AS version,
       coalesce(s.base, 0) AS base, s.clock_start AS clock_start,
       coalesce(s.clock, datetime()) AS clock,
       s.leased IS NOT NULL OR w.leased IS NOT NULL AS leased,
       coalesce(s.published, s.started, datetime({epochSeconds: 0})) AS imported_at, properties(h) AS head,
       COUNT { (:Run {scene: $key}) } AS runs, COUNT { (:Step {scene: $key}) } AS steps,
       EXISTS {
         MATCH (t:Step {scene: $key}) USING INDEX SEEK t:Step(scene, version)
         WHERE h.base < t.version <= h.done AND NOT EXISTS { (t)-[:LED_TO]->() }
         MATCH (e:PastEvent {scene: $key, version: t.version - h.base}) USING INDEX SEEK e:PastEvent(scene, version)
       } AS has_unlinked
"""

# The second SET takes the lock: builders of one past follow each other.
BEGIN: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) WHERE s.status = $status
MERGE (h:PastHead {scene: $key})
SET h:PastHead
WITH h WHERE coalesce(h.build, '') = $before
SET h = $head
RETURN count(*) AS begun
"""
LOCK: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) WHERE s.status = $status
MATCH (h:PastHead {scene: $key}) SET h:PastHead
WITH h WHERE h.build = $build AND h.stage = $stage AND h.done = $done
RETURN count(*) AS held
"""
ADVANCE: Final[LiteralString] = "MATCH (h:PastHead {scene: $key}) SET h += $head"

DROP: Final[LiteralString] = """
MATCH (n:PastEvent|PastFact|PastNode {scene: $key}) WITH n LIMIT $limit DETACH DELETE n RETURN count(*) AS dropped
"""
# Steps are stored by who acts, before or after somebody builds what they led to.
LINK_STEPS: Final[LiteralString] = """
MATCH (t:Step {scene: $key}) USING INDEX SEEK t:Step(scene, version)
WHERE $base < t.version <= $done AND NOT EXISTS { (t)-[:LED_TO]->() }
MATCH (e:PastEvent {scene: $key, version: t.version - $base}) USING INDEX SEEK e:PastEvent(scene, version)
WITH t, e LIMIT $limit
CREATE (t)-[:LED_TO]->(e) RETURN count(*) AS linked
"""
ADD_NODES: Final[LiteralString] = """
UNWIND $rows AS row
MERGE (n:PastNode {scene: $key, id: row.id})
ON CREATE SET n:Past, n.since = row.since, n.since_at = datetime(row.at)
ON MATCH SET n._since = row.since, n._since_at = datetime(row.at)
SET n += row.values REMOVE n.until, n.until_at
"""
DESCRIBE: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (n:PastNode {scene: $key, id: row.id}) USING INDEX SEEK n:PastNode(scene, id)
SET n += row.values
"""
ADD_KNOWN: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (n:PastNode {scene: $key, id: row.subject}) USING INDEX SEEK n:PastNode(scene, id)
WHERE NOT EXISTS {
  MATCH (f:PastFact {scene: $key, _open: row.values._open}) USING INDEX SEEK f:PastFact(scene, _open)
}
CREATE (f:Past:PastFact)-[:ABOUT]->(n)
SET f = row.values, f.scene = $key, f.since = coalesce(n._since, n.since),
    f.since_at = coalesce(n._since_at, n.since_at)
WITH f MATCH (e:PastEvent {scene: $key, version: f.since}) USING INDEX SEEK e:PastEvent(scene, version)
CREATE (e)-[:BEGAN]->(f)
"""
ADD_EVENTS: Final[LiteralString] = """
UNWIND $rows AS row
CREATE (e:Past:PastEvent) SET e = row.values, e.scene = $key, e.at = datetime(row.at)
WITH e, row UNWIND row.touched AS id
MATCH (n:PastNode {scene: $key, id: id}) USING INDEX SEEK n:PastNode(scene, id)
CREATE (e)-[:CHANGED]->(n)
"""
CLOSE: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (f:PastFact {scene: $key, _open: row.handle}) USING INDEX SEEK f:PastFact(scene, _open)
SET f.until = row.version, f.until_at = datetime(row.at) REMOVE f._open
WITH f, row
MATCH (e:PastEvent {scene: $key, version: row.version}) USING INDEX SEEK e:PastEvent(scene, version)
CREATE (e)-[:ENDED]->(f)
"""
REMOVE_NODES: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (n:PastNode {scene: $key, id: row.id}) USING INDEX SEEK n:PastNode(scene, id)
SET n.until = row.version, n.until_at = datetime(row.at)
"""

_OF: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (n:PastNode {scene: $key, id: row.subject}) USING INDEX SEEK n:PastNode(scene, id)
"""
_TO: Final[LiteralString] = "MATCH (t:PastNode {scene: $key, id: row.target}) USING INDEX SEEK t:PastNode(scene, id)\n"
_IF_BACK: Final[LiteralString] = "WHERE NOT row.if_back OR n.since < row.values.since\n"
_AFTER: Final[LiteralString] = """
MATCH (e:PastEvent {scene: $key, version: row.values.since}) USING INDEX SEEK e:PastEvent(scene, version)
OPTIONAL MATCH (last:PastEvent {scene: $key, version: row.until}) USING INDEX SEEK last:PastEvent(scene, version)
"""
_FACT: Final[LiteralString] = """
CREATE (f:Past:PastFact)-[:ABOUT]->(n)
SET f = row.values, f.scene = $key, f.since_at = datetime(row.at), f.until = row.until,
    f.until_at = datetime(row.until_at)
"""
_TARGET: Final[LiteralString] = "CREATE (f)-[:TARGET]->(t)\n"
_EVENTS: Final[LiteralString] = """
CREATE (e)-[:BEGAN]->(f)
FOREACH (it IN CASE WHEN last IS NULL THEN [] ELSE [last] END | CREATE (it)-[:ENDED]->(f))
"""
START_LINKED: Final[LiteralString] = _OF + _TO + _FACT + _TARGET
START_UNLINKED: Final[LiteralString] = _OF + _FACT
ADD_LINKED: Final[LiteralString] = _OF + _TO + _AFTER + _FACT + _TARGET + _EVENTS
ADD_UNLINKED: Final[LiteralString] = _OF + _IF_BACK + _AFTER + _FACT + _EVENTS

REVERTS: Final[LiteralString] = """
MATCH (e:PastEvent {scene: $key}) WHERE size(e.undoes) > 0 OR e.undone
RETURN e.version AS version, e.undoes AS undoes, e.undone AS undone
"""
SET_UNDONE: Final[LiteralString] = """
UNWIND $rows AS row
MATCH (e:PastEvent {scene: $key, version: row[0]}) USING INDEX SEEK e:PastEvent(scene, version)
SET e.undone = row[1]
"""
