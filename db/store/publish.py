"""Import of any size: batches into an unnamed generation, then one transaction that moves the name to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any, Final, LiteralString, TypeAlias, TypeVar
from uuid import uuid4

from neo4j import ManagedTransaction, Record

from scenecypher.db.graph.axes import UP
from scenecypher.db.graph.graph_json import canonical_json
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import Declared
from scenecypher.db.store.bounds import bounds_of
from scenecypher.db.store.catalog import Role, SceneInfo, checked_new_name, info_of
from scenecypher.db.store.connection import Database
from scenecypher.db.store.lease import LEASE_S, give_up_idle
from scenecypher.db.store.load import node_row, relation_rows
from scenecypher.db.store.stored_form import prepare
from scenecypher.db.vocabulary import base_name
from scenecypher.errors import ConstraintViolated, NameTaken, SceneReplaced, ServiceError

NODES_PER_BATCH: Final = 2_000
RELATIONS_PER_BATCH: Final = 5_000

Progress: TypeAlias = Callable[[int, int], None]
"""Callback with (done, total), the number of nodes and relations together."""
T = TypeVar("T")

CREATE_SCENE: Final[LiteralString] = """
CREATE (s:Scene {key: $key, status: 'importing', started: datetime(), version: 0})
SET s += $facts,
    s.leased_until = CASE WHEN $facts.leased IS NULL THEN null ELSE datetime() + duration({seconds: $lease_s}) END
"""
ADD_NODES: Final[LiteralString] = """
UNWIND $rows AS row CREATE (n:Entity:$(row.kind)) SET n = row.values RETURN count(*) AS written
"""
# Each end is looked up once a batch, not once a relation: rows name their ends by place in `ids`.
ADD_RELATIONS: Final[LiteralString] = """
UNWIND range(0, size($ids) - 1) AS place MATCH (n:Entity {scene: $key, id: $ids[place]})
WITH n ORDER BY place
WITH collect(n) AS ends WHERE size(ends) = size($ids)
UNWIND $rows AS row UNWIND row[2] AS target
WITH ends[row[0]] AS a, row[1] AS type, ends[target] AS b
CREATE (a)-[:$(type)]->(b) RETURN count(*) AS written
"""
# The label takes the lock of what is to be replaced, so that who holds the name is read as it stays. A name that is
# free twice is given once: its constraint refuses the second.
PUBLISH: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) WHERE s.status = 'importing'
OPTIONAL MATCH (old:Scene {key: $replaces})
SET old:Scene
WITH s
OPTIONAL MATCH (old:Scene {name: $name})
WITH s, old WHERE coalesce(old.key, '') = coalesce($replaces, '')
SET old.status = 'retired', old.retired = datetime(), old.was = old.name, old.name = null, old.replaced_by = s.key
WITH s LIMIT 1
SET s.status = 'ready', s.name = $name, s.published = datetime()
RETURN s
"""
RETIRE: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) WHERE s.status = 'ready'
SET s.status = 'retired', s.retired = datetime(), s.was = s.name, s.name = null
RETURN s.key AS key
"""
# At the version that the change of it just made, unless it was redeclared since it was looked at. Those who keep the
# scene in memory load it again, and those who know it as it was before are told so. Of a belief it is a version without
# an event.
REDECLARE: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) WHERE coalesce(s.redeclared, 0) <= $seen
SET s.redeclared = s.version, s += $facts
WITH s
CALL (s) {
  MATCH (b:Scene {status: 'ready'}) WHERE b.world = s.key SET b:Scene
  WITH b, b.version + 1 AS version
  SET b.version = version, b.redeclared = version, b += $facts
  RETURN count(b) AS beliefs
}
RETURN beliefs
"""
# What an import replaced is kept longer than what was deleted, if it has a past.
LEFTOVERS: Final[LiteralString] = """
MATCH (s:Scene) WHERE (s.status = 'retired' AND s.retired < datetime() - duration({seconds: $grace_s})
                       AND (s.replaced_by IS NULL OR s.retired < datetime() - duration({seconds: $keep_s})
                            OR NOT (EXISTS { MATCH (e:Event {scene: s.key}) WHERE e.version > 0 }
                                    OR EXISTS { MATCH (:Run {scene: s.key}) })))
                   OR (s.status = 'importing' AND s.started < datetime() - duration({seconds: $grace_s}))
                   OR s.status = 'deleting'
RETURN s.key AS key
"""
OLD_COPIES: Final[LiteralString] = """
MATCH (s:Scene) WHERE s.past >= '' AND s.published < datetime() - duration({seconds: $grace_s}) RETURN s.key AS key
"""
# First, since no version moves while members are deleted: a reader of the generation sees its status change.
MARK_DELETING: Final[LiteralString] = "MATCH (s:Scene {key: $key}) SET s.status = 'deleting', s.past = null"
# Of the same nodes as DROP_MEMBERS: one node may have more relations than fit into a transaction.
DROP_RELATIONS: Final[LiteralString] = """
MATCH (n:Entity {scene: $key}) WITH n LIMIT $nodes
MATCH (n)-[r]-() WITH DISTINCT r LIMIT $limit DELETE r RETURN count(*) AS dropped
"""
DROP_MEMBERS: Final[LiteralString] = """
MATCH (n:Entity {scene: $key}) WITH n LIMIT $nodes DETACH DELETE n RETURN count(*) AS dropped
"""
DROP_EVENTS: Final[LiteralString] = """
MATCH (e:Event {scene: $key}) WHERE e.version > 0 WITH e LIMIT $limit DELETE e RETURN count(*) AS dropped
"""
# The head first: a builder that still runs finds it gone, and writes nothing more.
DROP_PAST_HEAD: Final[LiteralString] = "MATCH (h:PastHead {scene: $key}) DELETE h"
DROP_PAST: Final[LiteralString] = """
MATCH (n:Past {scene: $key}) WITH n LIMIT $limit DETACH DELETE n RETURN count(*) AS dropped
"""
# Of earlier versions of SceneCypher, which kept graphs of the past.
DROP_SNAPSHOTS: Final[LiteralString] = """
MATCH (p:Snapshot {scene: $key}) WHERE p.version >= 0 AND p.part >= 0
WITH p LIMIT 10 DELETE p RETURN count(*) AS dropped
"""
DROP_SCENE: Final[LiteralString] = "MATCH (s:Scene {key: $key}) DELETE s"


@dataclass(frozen=True, slots=True)
class Header:
    """The facts of a new generation: its name and its origin."""

    name: str
    vocabulary: str
    role: Role = "world"
    declared: Declared = field(default_factory=Declared)
    source: str = ""
    copied_from: str | None = None
    world: str | None = None
    world_version: int | None = None
    leased: str | None = None
    version: int = 0

    @classmethod
    def of(cls, info: SceneInfo) -> Header:
        """Return the header of a scene's copy at this version, which is no belief about a world."""
        origin = f"{info.key}@{info.version}"
        return cls(info.name, info.vocabulary, info.role, info.declared, info.source, copied_from=origin)


@dataclass(frozen=True, slots=True)
class Batch:
    """A transaction of an import: its statement, which returns the number `written`, and the number expected."""

    statement: LiteralString
    parameters: dict[str, Any]
    size: int


def publish(
    database: Database,
    graph: SceneGraph,
    header: Header,
    *,
    replaces: str | None = None,
    progress: Progress | None = None,
) -> SceneInfo:
    """Write `graph` as a new generation and give it its name; until then readers see the whole old one.

    The name must be free, or held by the generation with the key `replaces`, also at the end: else NameTaken is raised
    and nothing is replaced. A crash leaves the old scene readable, and a leftover that `delete_leftovers` deletes.
    Raises InputError for a name that no new scene may have.
    """
    if replaces is None and header.leased is None:
        checked_new_name(header.name, header.role)
    key = write_generation(database, graph, header, progress=progress)
    try:
        record = _run(database, PUBLISH, key=key, name=header.name, replaces=replaces)
    except ConstraintViolated:
        record = None
    if record is None:
        delete_generation(database, key)
        raise NameTaken(header.name)
    return info_of(record["s"])


def write_generation(database: Database, graph: SceneGraph, header: Header, *, progress: Progress | None = None) -> str:
    """Write `graph` as a generation that nobody finds yet; return its key."""
    if not database.is_prepared:
        prepare(database)
    key = uuid4().hex
    _run(database, CREATE_SCENE, key=key, facts=_facts(graph, header), lease_s=LEASE_S)
    done = 0
    for batch in _batches(key, graph):
        done += write_batch(database, batch)
        if progress:
            progress(done, graph.size)
    return key


def redeclare(tx: ManagedTransaction, scene: SceneInfo, *, vocabulary: str, declared: Declared) -> None:
    """Give a locked scene, and the beliefs about it, another vocabulary and what it declares. Raises SceneReplaced."""
    given = {"key": scene.key, "seen": scene.version, "facts": _declared_facts(vocabulary, declared)}
    if tx.run(REDECLARE, given).single() is None:
        raise SceneReplaced(scene.name)


def retire(database: Database, key: str) -> bool:
    """Remove the name of a generation; `delete_leftovers` deletes its members. False if it was gone already."""
    return _run(database, RETIRE, key=key) is not None


def delete_leftovers(database: Database, *, grace_s: float, keep_s: float, progress: Progress | None = None) -> int:
    """Delete generations retired, left half-imported, or cached of earlier versions, more than `grace_s` seconds ago.

    So are copies for leases that were last leased before then.

    Of those that an import replaced, the ones with events or runs stay for `keep_s` seconds. Returns their number.
    """
    given = {"grace_s": grace_s, "keep_s": keep_s}
    found = [*database.rows(LEFTOVERS, given), *database.rows(OLD_COPIES, given)]
    keys = list(dict.fromkeys([*give_up_idle(database, grace_s=grace_s), *(record["key"] for record in found)]))
    for number, key in enumerate(keys, 1):
        delete_generation(database, key)
        if progress:
            progress(number, len(keys))
    return len(keys)


def delete_generation(database: Database, key: str) -> None:
    """Delete one generation, members and history first, in transactions of bounded size."""
    _run(database, MARK_DELETING, key=key)
    dropped = NODES_PER_BATCH
    while dropped:
        while _drop(database, DROP_RELATIONS, key) == RELATIONS_PER_BATCH:
            pass
        dropped = _drop(database, DROP_MEMBERS, key)
    _run(database, DROP_PAST_HEAD, key=key)
    for statement in (DROP_EVENTS, DROP_PAST, DROP_SNAPSHOTS):
        while _drop(database, statement, key):
            pass
    _run(database, DROP_SCENE, key=key)


def _facts(graph: SceneGraph, header: Header) -> dict[str, Any]:
    return {
        "role": header.role,
        **_declared_facts(header.vocabulary, header.declared),
        "source": header.source,
        "up": UP,
        "copied_from": header.copied_from,
        "world": header.world,
        "world_version": header.world_version,
        "leased": header.leased,
        "free": None if header.leased is None else False,
        "nodes": len(graph.nodes),
        "relations": graph.size - len(graph.nodes),
        "version": header.version,
        "base": header.version or None,
        **bounds_of(graph).properties(),
    }


def _declared_facts(vocabulary: str, declared: Declared) -> dict[str, Any]:
    return {
        "vocabulary": base_name(vocabulary),
        "declared_relations": list(declared.relation_types),
        "declared_properties": list(declared.properties),
        "actions": declared.actions or None,
        "domain": declared.domain or None,
        "rules": declared.rules or None,
        "vectors": canonical_json([asdict(it) for it in declared.vectors]) if declared.vectors else None,
    }


def _batches(key: str, graph: SceneGraph) -> Iterator[Batch]:
    for nodes in _chunks(graph.nodes.values(), NODES_PER_BATCH):
        yield Batch(ADD_NODES, {"rows": [node_row(key, node) for node in nodes]}, len(nodes))
    for relations in _chunks(graph.in_order(), RELATIONS_PER_BATCH):
        ids, rows = relation_rows(relations)
        yield Batch(ADD_RELATIONS, {"key": key, "ids": ids, "rows": rows}, len(relations))


def _chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    left = iter(items)
    while chunk := list(islice(left, size)):
        yield chunk


def write_batch(database: Database, batch: Batch) -> int:
    """Write a batch; return the number of its rows. Raises ServiceError if fewer were written."""
    written = _number(_run(database, batch.statement, **batch.parameters))
    if written != batch.size:
        msg = f"a batch wrote {written} of {batch.size} rows; nothing was published, import again"
        raise ServiceError(msg, retryable=True)
    return written


def _drop(database: Database, statement: LiteralString, key: str) -> int:
    return _number(_run(database, statement, key=key, nodes=NODES_PER_BATCH, limit=RELATIONS_PER_BATCH))


def _number(record: Record | None) -> int:
    return int(record[0]) if record else 0


def _run(database: Database, statement: LiteralString, **parameters: object) -> Record | None:
    return database.execute(statement, parameters, timeout_s=2 * database.commit_timeout_s)
