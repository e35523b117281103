"""Commits: the checks before a change, and the one statement that writes it.

A change is written only if its scene is still at the version that it was decided at: compare and swap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, LiteralString, TypeAlias, assert_never

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
)
from scenecypher.db.graph.graph_json import delta_from_json, delta_hash, delta_json
from scenecypher.db.graph.scene import GraphView, Node
from scenecypher.db.rule_memory import without_memory
from scenecypher.db.rules import NO_RULES, Rules
from scenecypher.db.schema import EXTRA_PROPERTIES, RELATION_TYPES, Declared
from scenecypher.db.store.bounds import values_of
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database, WrongAnswer, row_of
from scenecypher.db.store.load import node_row, to_driver
from scenecypher.errors import ConflictError, InputError, QueryFailed, SceneReplaced

STANDARD_PROPERTIES: Final = frozenset({*EXTRA_PROPERTIES, *TEXT_FIELDS})
"""Properties that every scene may use undeclared."""

# Takes the scene's lock. At another version the division by zero rolls the transaction back.
VERSION_GUARD: Final[LiteralString] = """
MATCH (s:Scene {key: $key}) SET s:Scene, s.version = s.version + 1
WITH s, 1 / CASE WHEN s.version = $read_at + 1 AND s.status = 'ready' THEN 1 ELSE 0 END AS unchanged
"""
DIVISION_BY_ZERO: Final = "Neo.ClientError.Statement.ArithmeticError"
"""Server error code of a division by zero."""
# The type is compared in WHERE, not matched as `r:$(row[1])`: it saves the server a millisecond.
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
# After the changes: the scene's bounds, where one grows.
SET_BOUNDS: Final[LiteralString] = "SET s += $raised\n"
# What a list of scenes shows, of worlds and beliefs alike, is the size at the version that it shows.
SET_SIZES: Final[LiteralString] = """
SET s.nodes = coalesce(s.nodes, 0) + $more_nodes, s.relations = coalesce(s.relations, 0) + $more_relations
"""
WRITE_EVENT: Final[LiteralString] = """
CREATE (e:Event {scene: $key, version: s.version, at: datetime(), actor: $actor, action: $action, kind: $kind,
                 action_id: $action_id, delta: $delta, hash: $hash, undoes: $undoes, clock: s.clock,
                 approved_by: $approved_by})
"""


@dataclass(frozen=True, slots=True)
class Intent:
    """The author and the purpose of a change.

    `action_id` makes the change safe to repeat: the same id with the same Delta is applied once. `kind` is ``act``,
    ``undo``, ``redo``, or ``declare`` of an event without changes; `undoes` are the versions that it reverts. Rules of
    the house are checked if it is `enforced`; `approved_by` is who approved it, if a rule has a person asked. An
    agent's action is `counted` where a rule wants something within so many of them.
    """

    actor: str
    action: str
    action_id: str
    expected_version: int | None = None
    kind: str = "act"
    undoes: tuple[int, ...] = ()
    enforced: bool = True
    approved_by: str = ""
    counted: bool = False


@dataclass(frozen=True, slots=True)
class SceneVersion:
    """A scene's graph at a version, on which a change is decided, and the rules of the house at that version.

    `agent` is the acting node's id; None if the scene has no agent, or not the one that was asked for.
    """

    version: int
    graph: GraphView
    agent: str | None = None
    rules: Rules = NO_RULES

    @classmethod
    def of(cls, version: int, graph: GraphView, agent: str | None, rules: Rules = NO_RULES) -> SceneVersion:
        """Return the version with the `agent` asked for, the first by id if that is None."""
        agents = graph.by_kind.get("Agent", ())
        found = agents[0] if agent is None and agents else agent
        return cls(version, graph, found if found in agents else None, rules)


Decide: TypeAlias = Callable[[SceneVersion], Delta]
"""Function from the scene to the Delta; raises ActionRefused. Pure, since a retry calls it again."""


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
    changed nodes as they are after it.
    """

    groups: tuple[LiteralString, ...]
    parameters: Mapping[str, Any]
    edits: Mapping[str, Node | None] = field(default_factory=dict)

    def with_bounds(self, raised: Mapping[str, int]) -> WritePlan:
        """Return the plan with the bounds of the scene that it raises."""
        return replace(self, parameters={**self.parameters, "raised": dict(raised)})

    @property
    def raised(self) -> Mapping[str, int]:
        """The bounds of the scene that the change moves."""
        raised: Mapping[str, int] = self.parameters.get("raised", {})
        return raised

    @property
    def body(self) -> LiteralString:
        """The clauses that write the changes and the event."""
        text: LiteralString = ""
        for name in self.groups:
            text += WRITE_PARTS[name]
        sizes: LiteralString = SET_SIZES if self.parameters["more_nodes"] or self.parameters["more_relations"] else ""
        bounds: LiteralString = SET_BOUNDS if self.raised else ""
        return text + bounds + sizes + WRITE_EVENT


class AlreadyCommitted(Exception):
    """Signal that the same action was committed before; caught within this package."""

    def __init__(self, version: int, delta_text: str) -> None:
        super().__init__(version)
        self.version, self.delta_text = version, delta_text


def check_answer(record: Record | None, scene: SceneInfo, intent: Intent, text: str | None) -> Record:
    """Check what the scene and the action's id say under the lock; `text` is the Delta's JSON if it is known already.

    Raises SceneReplaced, AlreadyCommitted, InputError (id used for another Delta), ConflictError (wrong version).
    """
    if record is None or record["status"] != "ready":
        raise SceneReplaced(scene.name)
    done = record["done"]
    if done is not None:
        if text is not None and done["hash"] != delta_hash(text) and _forgetting(done["delta"]) != _forgetting(text):
            msg = f"action id {intent.action_id!r} was used for another change; give each action an id of its own"
            raise InputError(msg)
        raise AlreadyCommitted(done["version"], done["delta"])
    check_version(record["version"], intent.expected_version)
    return record


def _forgetting(text: str) -> Delta:
    return without_memory(delta_from_json(text))


def check_version(version: int, expected: int | None) -> None:
    """Raise ConflictError if a scene is not at the version that is `expected`, if any."""
    if expected not in {None, version}:
        raise ConflictError(
            f"the scene is at version {version}, not {expected}; "
            "look at what changed since (`scenecypher history`) and decide anew"
        )


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
        "approved_by": intent.approved_by or None,
        "delta": text,
        "hash": delta_hash(text),
    }
    return WritePlan(tuple(name for name in WRITE_PARTS if groups[name]), parameters, after)


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
                key, edited = change.key if isinstance(change, SetProperty) else change.field, after[change.id]
                values.setdefault(change.id, {})[key] = to_driver(values_of(edited).get(key)) if edited else None
            case _:
                assert_never(change)
    groups["set_values"] = [[node_id, items] for node_id, items in values.items()]
    return groups


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


def commit_at(database: Database, plan: WritePlan, version: int, *, timeout_s: float) -> int | None:
    """Write a change that was decided at `version`; return the version it made, None if the scene is at another.

    Raises ServiceError; ConstraintViolated if the action id is taken. If a connection breaks, or answers another
    statement, the change may be committed: try again only with the same action id.
    """
    try:
        given = {**plan.parameters, "read_at": version}
        written = database.execute(
            conditional_write(plan), given, timeout_s=timeout_s, echo="action_id", auto_commit=True
        )
    except QueryFailed as error:
        if error.code != DIVISION_BY_ZERO:
            raise
        return None
    return written["version"] if written else None


def commit_in(tx: ManagedTransaction, plan: WritePlan, version: int) -> int:
    """Write a change that was decided at `version` in a transaction that holds the scene's lock; return its version.

    Raises WrongAnswer. Where a row does not match, the server's DIVISION_BY_ZERO ends the transaction.
    """
    given = {**plan.parameters, "read_at": version}
    record = row_of(tx.run(conditional_write(plan), given), "action_id", given["action_id"])
    if record is None:
        raise WrongAnswer
    return int(record["version"])


def conditional_write(plan: WritePlan) -> LiteralString:
    """Return the statement that writes a change if the scene is at the expected version and every row matches."""
    fits: LiteralString = " AND ".join(name + " = size($" + name + ")" for name in plan.groups) or "true"
    end: LiteralString = ", unchanged, 1 / CASE WHEN " + fits + " THEN 1 ELSE 0 END AS fits"
    return VERSION_GUARD + plan.body + "RETURN $action_id AS action_id, s.version AS version" + end
