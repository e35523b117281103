"""The form in which scenes are stored: its constraints and indexes, its number, and the steps from an older one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, LiteralString, TypeAlias

from neo4j import ManagedTransaction

from scenecypher.db.graph.axes import UP, exchanged, exchanged_delta, is_y_up
from scenecypher.db.graph.graph_json import delta_from_json, delta_hash, delta_json
from scenecypher.db.graph.scene import Node
from scenecypher.db.schema import definitions
from scenecypher.db.store.bounds import read_bounds
from scenecypher.db.store.connection import Database
from scenecypher.db.store.load import MEASURED_NODES, SCENE, measured_bounds, node_of, to_driver
from scenecypher.errors import DatabaseUnavailable, QueryFailed, ServiceError

Step: TypeAlias = Callable[[ManagedTransaction, str], None]
"""Bring the generation of a key, which is locked, to the next form; a second time it changes nothing."""
Teller: TypeAlias = Callable[[str], None]

# Databases of before there was a number have none, and those without a scene are of any form.
READ_FORM: Final[LiteralString] = """
OPTIONAL MATCH (f:StoredForm {of: 'scenes'})
RETURN f.number AS number, EXISTS { MATCH (s:Scene) WHERE s.status IN ['ready', 'retired'] } AS has_scenes
"""
SET_FORM: Final[LiteralString] = """
MERGE (f:StoredForm {of: 'scenes'})
SET f.number = CASE WHEN f.number > $number THEN f.number ELSE $number END
"""
KEYS: Final[LiteralString] = "MATCH (s:Scene) WHERE s.status IN ['ready', 'retired'] RETURN s.key AS key"
LOCK_SCENE: Final[LiteralString] = "MATCH (s:Scene {key: $key}) SET s:Scene"
ADD_FACTS: Final[LiteralString] = "MATCH (s:Scene {key: $key}) SET s += $facts"
COUNT_MEMBERS: Final[LiteralString] = """
MATCH (s:Scene {key: $key})
SET s.nodes = COUNT { MATCH (n:Entity {scene: $key}) RETURN n },
    s.relations = COUNT { MATCH (:Entity {scene: $key})-[r]->() RETURN r }
"""
SET_VALUES: Final[LiteralString] = """
UNWIND $rows AS row MATCH (n:Entity {scene: $key, id: row[0]}) SET n += row[1]
"""
PLACED: Final[LiteralString] = """
MATCH (e:Event {scene: $key})
WHERE e.version > 0 AND any(word IN ['"point"', '"size_', '"scale"', '"rotation"'] WHERE e.delta CONTAINS word)
RETURN e.version AS version, e.delta AS delta ORDER BY version
"""
SET_DELTA: Final[LiteralString] = """
MATCH (e:Event {scene: $key, version: $version}) SET e.delta = $delta, e.hash = $hash
"""
# What was built of events and nodes has no form any more, and is built anew when somebody reads it.
OUTDATE: Final[LiteralString] = "MATCH (h:PastHead {scene: $key}) SET h.form = 0"


def add_bounds(tx: ManagedTransaction, key: str) -> None:
    """Measure a scene that was imported before its bounds were kept."""
    record = tx.run(SCENE, key=key).single()
    if record is not None and read_bounds(record["scene"]) is None:
        tx.run(ADD_FACTS, key=key, facts=measured_bounds(tx, key).properties()).consume()


def count_members(tx: ManagedTransaction, key: str) -> None:
    """Count a scene whose sizes were kept as they were when it was made."""
    tx.run(COUNT_MEMBERS, key=key).consume()


def turn_upright(tx: ManagedTransaction, key: str) -> None:
    """Give a scene that was stored with Unity's axes, its history included, z as the axis that points up."""
    record = tx.run(SCENE, key=key).single()
    if record is None:
        return
    scene = record["scene"]
    if is_y_up(scene.get("up"), scene.get("vocabulary", "")):
        nodes = [node_of(*row) for row in tx.run(MEASURED_NODES, key=key)]
        turned = [(it, exchanged(it)) for it in nodes]
        rows = [[it.id, _values(it, other)] for it, other in turned if other is not it]
        tx.run(SET_VALUES, key=key, rows=rows).consume()
        for version, text in [*tx.run(PLACED, key=key)]:
            delta = delta_json(exchanged_delta(delta_from_json(text)))
            tx.run(SET_DELTA, key=key, version=version, delta=delta, hash=delta_hash(delta)).consume()
        tx.run(OUTDATE, key=key).consume()
    tx.run(ADD_FACTS, key=key, facts={"up": UP}).consume()


def _values(node: Node, other: Node) -> dict[str, Any]:
    """Return the properties that lead from one node to another, None for those to remove."""
    return {**dict.fromkeys(node.properties), **{name: to_driver(it) for name, it in other.properties.items()}}


STEPS: Final[tuple[Step, ...]] = (add_bounds, count_members, turn_upright)
"""The step at place N leads from form N to form N + 1."""
FORM: Final = len(STEPS)
"""The form of today, which docs/decisions.md describes; an archive has its number too."""


def current_form(database: Database, *, newest: int = FORM) -> int:
    """Return the stored form; a database without scenes has the newest. Raises DatabaseUnavailable for a newer one."""
    number, has_scenes = _read(database)
    if number is None:
        return 0 if has_scenes else newest
    if number > newest:
        raise DatabaseUnavailable(
            f"the database at {database.address.uri} has form {number}, written by a newer SceneCypher; this one knows "
            f"forms up to {newest}: upgrade it (`pip install --upgrade scenecypher`)"
        )
    return number


def bring_up_to_date(database: Database, *, steps: Sequence[Step] = STEPS, tell: Teller | None = None) -> None:
    """Take the steps that the database lacks, scene by scene, and store the new number.

    Safe for several processes at once, and to begin again after it broke off. Raises DatabaseUnavailable.
    """
    for number in range(current_form(database, newest=len(steps)), len(steps)):
        keys = [record["key"] for record in database.rows(KEYS)]
        if tell:
            tell(f"bringing {len(keys):,} scenes to the stored form {number + 1}…")
        take_step(database, keys, steps[number])
        _store_form(database, number + 1)
    _store_form(database, len(steps))


def take_step(database: Database, keys: Sequence[str], step: Step, *, more_s: float = 0.0) -> None:
    """Take a step with each of these generations, in a transaction each, which may take `more_s` than usual."""
    for key in keys:
        locked = partial(_locked, step=step, key=key)
        database.transaction(locked, access="write", timeout_s=2 * database.commit_timeout_s + more_s)


def _locked(tx: ManagedTransaction, *, step: Step, key: str) -> None:
    tx.run(LOCK_SCENE, key=key).consume()
    step(tx, key)


def _store_form(database: Database, number: int) -> None:
    stored, _ = _read(database)
    if stored is None or stored < number:
        database.execute(SET_FORM, {"number": number})


def _read(database: Database) -> tuple[int | None, bool]:
    """Return the number that is stored, if any, and whether there are scenes."""
    record = database.row(READ_FORM)
    return (record["number"], record["has_scenes"]) if record else (None, False)


ALREADY_THERE: Final = ("EquivalentSchemaRuleAlreadyExists", "IndexAlreadyExists", "ConstraintAlreadyExists")
"""Ends of the codes of a definition that somebody else has created since the look."""
LOOKS: Final = 4
ONLINE_NAMES: Final[LiteralString] = "SHOW INDEXES YIELD name, state WHERE state = 'ONLINE' RETURN name"
AWAIT: Final[LiteralString] = "UNWIND $names AS name CALL db.awaitIndex(name, $seconds)"
"""Of ours alone: an index of many vectors is made for minutes."""


def prepare(database: Database, *, tell: Callable[[str], None] | None = None) -> list[str]:
    """Create missing indexes, wait until they are online, and bring stored scenes to the form of today.

    Return the names of the created ones. Safe for concurrent processes; `tell` gets a line for each step that is taken.
    """
    created: list[str] = []
    seconds = 2 * database.commit_timeout_s
    for _ in range(LOOKS):
        present = {record["name"] for record in database.rows(ONLINE_NAMES)}
        missing: list[tuple[str, LiteralString]] = [(name, text) for name, text in definitions() if name not in present]
        if not missing:
            bring_up_to_date(database, tell=tell)
            database.is_prepared = True
            return created
        created += [name for name, text in missing if _is_created(database, text)]
        given = {"names": [name for name, _ in missing], "seconds": round(seconds)}
        database.rows(AWAIT, given, timeout_s=2 * seconds)
    names = ", ".join(name for name, _ in missing)
    raise ServiceError(f"the server does not bring online: {names}; `SHOW INDEXES` in Neo4j Browser says why")


def _is_created(database: Database, definition: LiteralString) -> bool:
    """Create an index or a constraint; False if another process was faster, which `IF NOT EXISTS` does not see."""
    try:
        database.execute(definition, timeout_s=4 * database.commit_timeout_s)
    except QueryFailed as error:
        if not error.code.endswith(ALREADY_THERE):
            raise
        return False
    return True
