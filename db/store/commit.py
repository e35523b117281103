"""Commits: lock one scene, read what the change depends on, check, apply and record it, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Final, LiteralString, assert_never

from neo4j import ManagedTransaction, Record

from scenecypher.db.graph.delta import (
    TEXT_FIELDS,
    AddNode,
    AddRelation,
    ChangeList,
    Delta,
    RemoveNode,
    RemoveRelation,
    SetKind,
    SetProperty,
    edited_nodes,
    value_of,
)
from scenecypher.db.graph.document import delta_hash, delta_json
from scenecypher.db.graph.scene import GraphView, Node, SceneGraph, relation_between
from scenecypher.db.schema import EXTRA_PROPERTIES, RELATION_TYPES, Declared
from scenecypher.db.store.bounds import raised
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import row_of
from scenecypher.db.store.rows import node_from_record, node_row, to_driver
from scenecypher.errors import ConflictError, InputError, SceneReplaced

# Everything is read after the lock is taken: a check of data read before it may pass on stale data.
# The label takes the lock that a property with a computed name takes later (RAISE_BOUNDS), and that every brief lock
# takes: in this order, else a writer and a reader wait for each other.
LOCK: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) SET s:Scene, s.version = s.version + 1
WITH s, s.version - 1 AS version
OPTIONAL MATCH (done:Event {scene: $key, action_id: $action_id})
WITH s, version, done
"""

SCENE_FACTS: Final[LiteralString] = """
       $action_id AS action_id, s.status AS status, version, done {.version, .hash, .delta} AS done,
"""

READ_NAMED: Final[LiteralString] = (
    LOCK
    + """
RETURN """
    + SCENE_FACTS
    + """
       COLLECT { UNWIND $ids AS id MATCH (n:Entity {scene: $key, id: id}) RETURN n } AS nodes,
       COLLECT { UNWIND $pairs AS p
                 MATCH (:Entity {scene: $key, id: p[0]})-[r]->(:Entity {scene: $key, id: p[1]})
                 RETURN [p[0], type(r), p[1]] } AS relations
"""
)

STANDARD_PROPERTIES: Final = frozenset({*EXTRA_PROPERTIES, *TEXT_FIELDS})
"""Properties that every scene may use undeclared."""

PLACEHOLDER_KIND: Final = "Object"
"""Kind of a node of which only the id was read."""

# The type is compared in WHERE, not matched as `r:$(row[1])`: it saves the server a millisecond.
WRITE_HEAD: Final[LiteralString] = "MATCH (s:Scene {key: $key})\n"
WRITE_PARTS: Final[Mapping[LiteralString, LiteralString]] = {
    "remove_relations": """
CALL (s) { UNWIND $remove_relations AS row
  MATCH (:Entity {scene: $key, id: row[0]})-[r]->(:Entity {scene: $key, id: row[2]}) WHERE type(r) = row[1]
  DELETE r RETURN count(*) AS remove_relations }
""",
    "remove_nodes": """
CALL (s) { UNWIND $remove_nodes AS id MATCH (n:Entity {scene: $key, id: id})
  DELETE n RETURN count(*) AS remove_nodes }
""",
    "add_nodes": """
CALL (s) { UNWIND $add_nodes AS row CREATE (n:Entity:$(row.kind)) SET n = row.values
  RETURN count(*) AS add_nodes }
""",
    "set_kinds": """
CALL (s) { UNWIND $set_kinds AS row MATCH (n:Entity {scene: $key, id: row[0]})
  REMOVE n:$(row[1]) SET n:$(row[2]) RETURN count(*) AS set_kinds }
""",
    "set_values": """
CALL (s) { UNWIND $set_values AS row MATCH (n:Entity {scene: $key, id: row[0]})
  SET n += row[1] RETURN count(*) AS set_values }
""",
    "add_relations": """
CALL (s) { UNWIND $add_relations AS row
  MATCH (a:Entity {scene: $key, id: row[0]}), (b:Entity {scene: $key, id: row[2]})
  CREATE (a)-[:$(row[1])]->(b) RETURN count(*) AS add_relations }
""",
}
# After the changes: the scene's bounds, raised by what grows them. Only degrees have to be counted. Where the whole
# scene is in memory (`TrackedBounds`), SET_BOUNDS does it, and only if a bound grows.
SET_BOUNDS: Final[LiteralString] = "SET s += $raised\n"
RAISE_BOUNDS: Final[LiteralString] = """
CALL (s) { UNWIND $bounds AS row
  WITH s, row[0] AS name, coalesce(s[row[0]], 0) + row[1] AS number, row[2] AS least
  SET s[name] = CASE WHEN number < least THEN least ELSE number END RETURN count(*) AS bounded }
"""
RAISE_DEGREES: Final[LiteralString] = """
CALL (s) { UNWIND $add_relations AS row
  MATCH (a:Entity {scene: $key, id: row[0]}), (b:Entity {scene: $key, id: row[2]})
  WITH s, row[1] AS type, max(COUNT { (a)-[r]->() WHERE type(r) = row[1] }) AS out,
       max(COUNT { (b)<-[r]-() WHERE type(r) = row[1] }) AS in
  UNWIND [['most_out_' + type, out], ['most_in_' + type, in]] AS degree
  WITH s, degree[0] AS name, degree[1] AS number WHERE coalesce(s[name], 0) < number
  SET s[name] = number RETURN count(*) AS joined }
"""
# What a list of scenes shows, of worlds and beliefs alike, is the size at the version that it shows.
SET_SIZES: Final[LiteralString] = """
SET s.nodes = coalesce(s.nodes, 0) + $more_nodes, s.relations = coalesce(s.relations, 0) + $more_relations
"""
WRITE_EVENT: Final[LiteralString] = """
CREATE (e:Event {scene: $key, version: s.version, at: datetime(), actor: $actor, action: $action, kind: $kind,
                 action_id: $action_id, delta: $delta, hash: $hash, undoes: $undoes, clock: s.clock})
"""


@dataclass(frozen=True, slots=True)
class Intent:
    """The author and the purpose of a change.

    `action_id` makes the change safe to repeat: the same id with the same Delta is applied once. `kind` is ``act``,
    ``undo``, ``redo``, or ``declare`` of an event without changes; `undoes` are the versions that it reverts.
    """

    actor: str
    action: str
    action_id: str
    expected_version: int | None = None
    kind: str = "act"
    undoes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LockedPart:
    """The part of a scene (or all of it) on which a change is decided, and its version before the change.

    `agent` is the acting node's id if one was requested and found.
    """

    version: int
    part: GraphView
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """The version of a commit; `repeated` if it was committed before, and nothing is changed."""

    version: int
    delta: Delta
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class WritePlan:
    """The Cypher that writes a Delta to a scene `s` in one statement, and its parameters.

    `groups` are the non-empty groups of changes; each returns the number of its rows that matched. `edits` are the
    changed nodes as they are after it. The clauses `raising` raise the scene's bounds.
    """

    groups: tuple[LiteralString, ...]
    parameters: Mapping[str, Any]
    edits: Mapping[str, Node | None] = field(default_factory=dict)
    raising: LiteralString = ""

    def with_bounds(self, raising: LiteralString, **parameters: object) -> WritePlan:
        """Return the plan with clauses that raise the scene's bounds, and their parameters."""
        return replace(self, raising=raising, parameters={**self.parameters, **parameters})

    @property
    def body(self) -> LiteralString:
        """The clauses that write the changes and the event."""
        text: LiteralString = ""
        for name in self.groups:
            text += WRITE_PARTS[name]
        sizes: LiteralString = SET_SIZES if self.parameters["more_nodes"] or self.parameters["more_relations"] else ""
        return text + self.raising + sizes + WRITE_EVENT

    @property
    def end(self) -> LiteralString:
        """The RETURN clause: the action's id, the version and the counts."""
        text: LiteralString = "RETURN $action_id AS wrote, s.version AS version"
        for name in self.groups:
            text += ", " + name
        return text


class AlreadyCommitted(Exception):
    """Signal that the same action was committed before; caught within this package."""

    def __init__(self, version: int, delta_text: str) -> None:
        super().__init__(version)
        self.version, self.delta_text = version, delta_text


def read_named(tx: ManagedTransaction, scene: SceneInfo, delta: Delta, intent: Intent) -> LockedPart:
    """Lock the scene and read what a known Delta names. Raises as `read_locked` does."""
    given = {"key": scene.key, "action_id": intent.action_id, "ids": _named_ids(delta), "pairs": _named_pairs(delta)}
    found = row_of(tx.run(READ_NAMED, given), "action_id", intent.action_id)
    return read_locked(found, scene, intent, delta_json(delta))


def read_locked(record: Record | None, scene: SceneInfo, intent: Intent, text: str | None = None) -> LockedPart:
    """Check and parse the record of a locking statement; `text` is the Delta's JSON if it is known already.

    Raises SceneReplaced, AlreadyCommitted, InputError (id used for another Delta), ConflictError (wrong version).
    """
    if record is None or record["status"] != "ready" or record.get("redeclared", 0) > scene.version:
        raise SceneReplaced(scene.name)
    done = record["done"]
    if done is not None:
        if text is not None and done["hash"] != delta_hash(text):
            msg = f"action id {intent.action_id!r} was used for another change; give each action an id of its own"
            raise InputError(msg)
        raise AlreadyCommitted(done["version"], done["delta"])
    version = record["version"]
    if intent.expected_version not in {None, version}:
        msg = (
            f"the scene is at version {version}, not {intent.expected_version}; "
            "look at what changed since (`scenecypher history`) and decide anew"
        )
        raise ConflictError(msg)
    return part_of(record)


def part_of(record: Record) -> LockedPart:
    """Return the part of a scene that a statement has read, with its version."""
    graph = partial_graph(record["nodes"], record["relations"])
    return LockedPart(record["version"], graph, record.get("agent"))


def write_delta(
    tx: ManagedTransaction, scene: SceneInfo, locked: LockedPart, delta: Delta, *, intent: Intent
) -> Committed:
    """Check `delta` against the locked part, apply it and add the event. Raises ConflictError."""
    plan = plan_counted_write(scene, locked.part, delta, intent=intent)
    record = row_of(tx.run(WRITE_HEAD + plan.body + plan.end, dict(plan.parameters)), "wrote", intent.action_id)
    if record is None:
        raise SceneReplaced(scene.name)
    for name in plan.groups:
        if record[name] != len(plan.parameters[name]):
            msg = f"{name.replace('_', ' ')}: {record[name]} of {len(plan.parameters[name])} fit; load the scene again"
            raise ConflictError(msg)
    return Committed(record["version"], delta)


def plan_write(scene: SceneInfo, part: GraphView, delta: Delta, *, intent: Intent) -> WritePlan:
    """Check `delta` against the part it was decided on; return its WritePlan. Raises ConflictError, InputError."""
    _check_declared(delta, scene.declared)
    after = edited_nodes(part, delta)
    groups = _groups(scene.key, delta, after)
    text = delta_json(delta)
    parameters: dict[str, Any] = {
        **groups,
        "more_nodes": len(groups["add_nodes"]) - len(groups["remove_nodes"]),
        "more_relations": len(groups["add_relations"]) - len(groups["remove_relations"]),
        "key": scene.key,
        "actor": intent.actor,
        "action": intent.action,
        "action_id": intent.action_id,
        "kind": intent.kind,
        "undoes": list(intent.undoes),
        "delta": text,
        "hash": delta_hash(text),
    }
    return WritePlan(tuple(name for name in WRITE_PARTS if groups[name]), parameters, after)


def plan_counted_write(scene: SceneInfo, part: GraphView, delta: Delta, *, intent: Intent) -> WritePlan:
    """Return a WritePlan that counts what raises the scene's bounds, for a part of a scene. Raises as `plan_write`."""
    plan = plan_write(scene, part, delta, intent=intent)
    if not scene.bounds:
        return plan
    raising: LiteralString = RAISE_BOUNDS + (RAISE_DEGREES if "add_relations" in plan.groups else "")
    return plan.with_bounds(raising, bounds=raised(delta, plan.edits, scene.bounds))


def partial_graph(nodes: Iterable[Any], relations: Iterable[Sequence[str]]) -> SceneGraph:
    """Return part of a scene as a SceneGraph; a relation's end that was not read becomes a placeholder with its id."""
    values = {node.id: node for node in map(node_from_record, nodes)}
    pairs = {relation_between(*row) for row in relations}
    for relation in pairs:
        for end in (relation.source, relation.target):
            if end not in values:
                values[end] = _placeholder(end)
    return SceneGraph.of(values.values(), pairs)


@lru_cache(maxsize=65_536)
def _placeholder(node_id: str) -> Node:
    return Node(node_id, PLACEHOLDER_KIND, node_id, "unread")


def _groups(key: str, delta: Delta, after: Mapping[str, Node | None]) -> dict[str, list[Any]]:
    """Return the Delta's changes as rows of each of WRITE_PARTS; lists and values as they are after it."""
    groups: dict[str, list[Any]] = {name: [] for name in WRITE_PARTS}
    values: dict[str, dict[str, Any]] = {}
    for change in delta.changes:
        match change:
            case RemoveRelation(r) | AddRelation(r):
                name = "add_relations" if isinstance(change, AddRelation) else "remove_relations"
                groups[name].append([r.source, r.type, r.target])
            case RemoveNode(node):
                groups["remove_nodes"].append(node.id)
            case AddNode(node):
                groups["add_nodes"].append(node_row(key, node))
            case SetKind():
                groups["set_kinds"].append([change.id, change.before, change.after])
            case SetProperty() | ChangeList():
                values.setdefault(change.id, {}).update(_value_after(change, after[change.id]))
            case _:
                assert_never(change)
    groups["set_values"] = [[node_id, items] for node_id, items in values.items()]
    return groups


def _value_after(change: SetProperty | ChangeList, node: Node | None) -> dict[str, Any]:
    if node is None:
        return {}
    if isinstance(change, SetProperty):
        return {change.key: to_driver(value_of(node, change.key))}
    return {change.field: list(node.states if change.field == "states" else node.affordances)}


def _check_declared(delta: Delta, declared: Declared) -> None:
    """Check that relation types and properties are in the registry or declared by the scene."""
    for change in delta.changes:
        used: Iterable[str]
        match change:
            case AddRelation(relation) if relation.type not in RELATION_TYPES:
                used = {relation.type}.difference(declared.relation_types)
            case SetProperty() if change.key not in STANDARD_PROPERTIES and change.after is not None:
                used = {change.key}.difference(declared.properties)
            case AddNode(node) if node.properties:
                used = {*node.properties}.difference(STANDARD_PROPERTIES, declared.properties)
            case _:
                continue
        for name in sorted(used):
            msg = f"{name!r} is neither in the schema nor declared by this scene; declare it in the scene's document"
            raise InputError(msg)


def _named_ids(delta: Delta) -> list[str]:
    ids: set[str] = set()
    for change in delta.changes:
        match change:
            case AddRelation(r) | RemoveRelation(r):
                ids.update((r.source, r.target))
            case AddNode(node) | RemoveNode(node):
                ids.add(node.id)
            case _:
                ids.add(change.id)
    return sorted(ids)


def _named_pairs(delta: Delta) -> list[list[str]]:
    pairs = {
        (change.relation.source, change.relation.target)
        for change in delta.changes
        if isinstance(change, AddRelation | RemoveRelation)
    }
    return [list(pair) for pair in sorted(pairs)]


Decide = Callable[[LockedPart], Delta]
"""Function from the locked part to the Delta; raises ActionRefused. Pure, since a retry calls it again."""
