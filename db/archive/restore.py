"""Restore: the scenes of an archive as new generations, which get their names together in one last transaction."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, LiteralString
from uuid import uuid4

from neo4j import ManagedTransaction, Record

from scenecypher.db.archive.contents import Contents, mapped, read_contents, spaces_of
from scenecypher.db.archive.file import NODES, read_lines
from scenecypher.db.archive.lines import NodeLine, RecordLine, SceneLine
from scenecypher.db.archive.records import RECORDS, RUN, STEP, VECTOR
from scenecypher.db.graph.scene import IN_ORDER
from scenecypher.db.graph.vectors import vector_of
from scenecypher.db.schema import SCENE_KEY, VectorSpace
from scenecypher.db.store.bounds import Measure, bounds_from
from scenecypher.db.store.catalog import checked_new_name
from scenecypher.db.store.connection import Database
from scenecypher.db.store.lease import LEASE_S
from scenecypher.db.store.load import LOADED_PER_SECOND, node_of, node_row, relation_rows
from scenecypher.db.store.publish import (
    ADD_NODES,
    ADD_RELATIONS,
    CREATE_SCENE,
    NODES_PER_BATCH,
    RELATIONS_PER_BATCH,
    Batch,
    Progress,
    delete_generation,
    write_batch,
)
from scenecypher.db.store.stored_form import prepare
from scenecypher.db.store.vectors import create_index, vector_row
from scenecypher.errors import ConstraintViolated, DocumentError, InputError, NameTaken, ServiceError

RECORDS_PER_BATCH: Final = 1_000
BATCH_LETTERS: Final = 4_000_000
"""The most text of records in a transaction, if each record is shorter: a change may hold thousands of nodes."""
TOUCH_S: Final = 600.0
"""`db clean` collects what was begun longer ago than its grace, an hour unless it is given."""

HOLDERS: Final[LiteralString] = """
UNWIND $names AS name MATCH (s:Scene {name: name}) RETURN s.name AS name, s.key AS key ORDER BY name
"""
TOUCH: Final[LiteralString] = """
UNWIND $keys AS key MATCH (s:Scene {key: key}) WHERE s.status = 'importing' SET s.started = datetime()
"""
# The label takes the lock: what is to be replaced is read as it stays.
LOCK_HOLDERS: Final[LiteralString] = "UNWIND $keys AS key MATCH (s:Scene {key: key}) SET s:Scene"
RETIRE_NAMES: Final[LiteralString] = """
UNWIND $rows AS row MATCH (s:Scene {name: row.name})
SET s.status = 'retired', s.retired = datetime(), s.was = s.name, s.name = null, s.replaced_by = row.key
"""
# The label takes the lock, so that the status is read as it stays.
PUBLISH_ALL: Final[LiteralString] = """
UNWIND $rows AS row MATCH (s:Scene {key: row.key}) SET s:Scene
WITH s, row WHERE s.status = 'importing'
SET s.status = row.status, s.name = row.name, s.was = row.was,
    s.published = CASE WHEN s.published > datetime() THEN datetime() ELSE s.published END,
    s.retired = CASE WHEN row.status = 'ready' THEN null WHEN s.retired <= datetime() THEN s.retired ELSE datetime() END
RETURN count(*) AS published
"""

# Numbers of runs are one's own in each database: those of the archive follow those that are there.
RESERVE_RUNS: Final[LiteralString] = """
MERGE (c:Counter {name: 'run'}) SET c.last = coalesce(c.last, 0) + $count RETURN c.last - $count AS last
"""
PUBLISH_RUNS: Final[LiteralString] = """
UNWIND $rows AS row MATCH (r:RestoredRun {scene: row.key}) WHERE r.number > 0
SET r:Run, r.touched = CASE WHEN r.touched > datetime() THEN datetime() ELSE r.touched END
REMOVE r:RestoredRun RETURN count(*) AS published
"""

MEASURED_NODES: Final[LiteralString] = """
MATCH (n:Entity {scene: $key}) RETURN labels(n) AS labels, properties(n) AS values
"""
MEASURED_OUT: Final[LiteralString] = """
MATCH (n:Entity {scene: $key})
CALL (n) { MATCH (n)-[r]->() RETURN type(r) AS type, count(*) AS degree }
RETURN type, sum(degree) AS relations, max(degree) AS most
"""
MEASURED_IN: Final[LiteralString] = """
MATCH (n:Entity {scene: $key})
CALL (n) { MATCH (n)<-[r]-() RETURN type(r) AS type, count(*) AS degree }
RETURN type, max(degree) AS most
"""
SET_BOUNDS: Final[LiteralString] = "MATCH (s:Scene {key: $key}) SET s += $bounds"


@dataclass(frozen=True, slots=True)
class Naming:
    """The names that restored scenes get: their own, or after `prefix`, or `name` if the archive has one world.

    With `replaces` they take the place of scenes that have the same names, as an import does.
    """

    name: str | None = None
    prefix: str = ""
    replaces: bool = False


OWN_NAMES: Final = Naming()


def check_archive(
    database: Database, path: Path, naming: Naming = OWN_NAMES, *, progress: Progress | None = None
) -> Contents:
    """Check all of an archive, and that its scenes can have their names; nothing is written.

    `progress` gets bytes of the file. Raises DocumentError naming the line, InputError for names that are taken.
    """
    contents = read_contents(path, progress=progress)
    _held(database, _ready(contents, _names(contents, naming, path)), naming)
    return contents


def restore_archive(
    database: Database,
    path: Path,
    contents: Contents,
    naming: Naming = OWN_NAMES,
    *,
    progress: Progress | None = None,
) -> tuple[str, ...]:
    """Bring all scenes of a checked archive into a database, or none of them; return their names.

    They are invisible until the last transaction. `progress` gets nodes, relations and records. Raises NameTaken for
    a name that another scene got or lost meanwhile, InputError, DocumentError, ServiceError.
    """
    if not database.is_prepared:
        prepare(database)
    names = _names(contents, naming, path)
    held = _held(database, _ready(contents, names), naming)
    keys = {scene.line.key: uuid4().hex for scene in contents.scenes}
    reserved = database.execute(RESERVE_RUNS, {"count": contents.last_run}) if contents.last_run else None
    base = reserved["last"] if reserved else 0
    spaces = {it.line.key: spaces_of(it, keys[it.line.key]) for it in contents.scenes}
    _Writing(database, path, contents, progress, keys, names, base, spaces).write()
    work = partial(_publish, keys=keys, contents=contents, names=names, held=held)
    try:
        database.transaction(work, access="write", timeout_s=4 * database.commit_timeout_s)
    except (NameTaken, ConstraintViolated) as error:
        for key in keys.values():
            delete_generation(database, key)
        name = error.name if isinstance(error, NameTaken) else ", ".join(_ready(contents, names)[:5])
        raise NameTaken(name) from error
    return tuple(_ready(contents, names))


def _names(contents: Contents, naming: Naming, path: Path) -> dict[str, str]:
    """Return the names of the scenes by their archived keys. Raises InputError."""
    old = "" if naming.name is None else _only_world(contents, path)
    new = naming.prefix if naming.name is None else naming.name
    return {it.line.key: checked_new_name(new + it.line.name.removeprefix(old), it.info.role) for it in contents.scenes}


def _ready(contents: Contents, names: Mapping[str, str]) -> list[str]:
    return [names[scene.line.key] for scene in contents.scenes if scene.line.status == "ready"]


def _only_world(contents: Contents, path: Path) -> str:
    """Return the name of the archive's only world, or scene; the others are about it. Raises InputError."""
    ready = [scene for scene in contents.scenes if scene.line.status == "ready"]
    names = [scene.line.name for scene in ready if scene.info.role == "world"] or [it.line.name for it in ready]
    only = names[0] if len(names) == 1 else ""
    if not only or any(not f"{scene.line.name}@".startswith(f"{only}@") for scene in contents.scenes):
        raise InputError(f"{path} has {len(ready):,} scenes; one name can't be that of all: give a `--prefix`")
    return only


def _holders(records: Iterable[Record]) -> dict[str, str]:
    """Return which generations hold names: their keys by name."""
    return {record["name"]: record["key"] for record in records}


def _held(database: Database, names: Sequence[str], naming: Naming) -> dict[str, str]:
    """Return which generations hold these names. Raises InputError if they are not to be replaced."""
    held = _holders(database.rows(HOLDERS, {"names": names}))
    if held and not naming.replaces:
        shown = ", ".join([*held][:5]) + (f" and {len(held) - 5:,} more" if len(held) > 5 else "")
        msg = f"scenes of these names are there: {shown}; give a `--prefix`, or have them replaced (`--replace`)"
        raise InputError(msg)
    return held


def _publish(
    tx: ManagedTransaction,
    *,
    keys: Mapping[str, str],
    contents: Contents,
    names: Mapping[str, str],
    held: Mapping[str, str],
) -> None:
    """Publish all names at once, in the last transaction, if the same generations as before, `held`, hold them."""
    rows = []
    for scene in contents.scenes:
        name, is_ready = names[scene.line.key], scene.line.status == "ready"
        naming = {"name": name if is_ready else None, "was": None if is_ready else name}
        rows.append({"key": keys[scene.line.key], "status": scene.line.status, **naming})
    ready = [row["name"] for row in rows if row["name"] is not None]
    tx.run(LOCK_HOLDERS, keys=[*held.values()]).consume()
    now = _holders(tx.run(HOLDERS, names=ready))
    for name in ready:
        if now.get(name) != held.get(name):
            raise NameTaken(name)
    tx.run(RETIRE_NAMES, rows=rows).consume()
    published = tx.run(PUBLISH_ALL, rows=rows).single(strict=True)["published"]
    runs = tx.run(PUBLISH_RUNS, rows=rows).single(strict=True)["published"]
    if (published, runs) != (len(rows), contents.totals[RUN]):
        msg = "`db clean` has collected a part of what was restored; nothing is visible of it, restore again"
        raise ServiceError(msg, retryable=True)


@dataclass(slots=True)
class _Writing:
    """The writing of an archive's scenes under new keys, invisible until they are published."""

    database: Database
    path: Path
    contents: Contents
    progress: Progress | None
    keys: Mapping[str, str]
    names: Mapping[str, str]
    """The new keys and names by the archived keys."""
    runs_before: int
    """What is added to the numbers of runs."""
    spaces: Mapping[str, Mapping[str, VectorSpace]]
    """The sets of vectors by the archived keys of scene and set."""
    _done: int = 0
    _touched: float = field(default_factory=time.monotonic)

    def write(self) -> None:
        """Write all scenes: their facts, then nodes and records, then relations, whose ends are all there by then."""
        for scene in self.contents.scenes:
            given = {"key": self.keys[scene.line.key], "facts": mapped(scene, self.keys), "lease_s": LEASE_S}
            self.database.execute(CREATE_SCENE, given, timeout_s=2 * self.database.commit_timeout_s)
        try:
            self._write_all(self._node_and_record_batches())
            self._write_all(self._relation_batches())
            for space in [it for spaces in self.spaces.values() for it in spaces.values()]:
                create_index(self.database, space)
        except ConstraintViolated as error:
            cause = "two nodes, or two events, of a scene have one id; make another backup"
            raise DocumentError(str(self.path), "the scenes", cause) from error
        for scene in self.contents.scenes:
            timeout_s = 2 * self.database.commit_timeout_s + scene.counts.total() / LOADED_PER_SECOND
            measure = partial(_set_bounds, key=self.keys[scene.line.key])
            self.database.transaction(measure, access="write", timeout_s=timeout_s)
            self._touch_if_due()

    def _lines(self) -> Iterator[tuple[str, NodeLine | RecordLine]]:
        """Yield the lines of all scenes, each with the archived key of its scene."""
        key = ""
        for _, line in read_lines(self.path):
            match line:
                case SceneLine():
                    key = line.key
                case NodeLine() | RecordLine():
                    yield key, line
                case _:
                    pass

    def _node_and_record_batches(self) -> Iterator[Batch]:
        rows = (self._row_of(key, line) for key, line in self._lines())
        for label, group in groupby(rows, key=itemgetter(0)):
            statement = RECORDS[label].add if label in RECORDS else ADD_NODES
            most = RECORDS_PER_BATCH if label in RECORDS else NODES_PER_BATCH
            for chunk in _chunks((row for _, row in group), most):
                yield Batch(statement, {"rows": chunk}, len(chunk))

    def _relation_batches(self) -> Iterator[Batch]:
        found = ((key, it) for key, line in self._lines() if isinstance(line, NodeLine) for it in line.relations())
        for key, group in groupby(found, key=itemgetter(0)):
            relations = (relation for _, relation in group)
            while chunk := [*islice(relations, RELATIONS_PER_BATCH)]:
                ids, rows = relation_rows(sorted(chunk, key=IN_ORDER))
                yield Batch(ADD_RELATIONS, {"key": self.keys[key], "ids": ids, "rows": rows}, len(chunk))

    def _row_of(self, key: str, line: NodeLine | RecordLine) -> tuple[str, dict[str, Any]]:
        if isinstance(line, NodeLine):
            return NODES, node_row(self.keys[key], line.node())
        if line.label == VECTOR:
            space = self.spaces[key][line.values["set"]]
            return VECTOR, vector_row(space, line.values["id"], vector_of(line.values["vector"]))
        row = {**line.values, SCENE_KEY: self.keys[key]}
        if line.label == RUN:
            row |= {"number": row["number"] + self.runs_before, "scene_name": self.names[key]}
        if line.label == STEP:
            row |= {"run": row["run"] + self.runs_before}
        return line.label, row

    def _write_all(self, batches: Iterator[Batch]) -> None:
        total = self.contents.totals.total()
        for batch in batches:
            self._done += write_batch(self.database, batch)
            self._touch_if_due()
            if self.progress:
                self.progress(self._done, total)

    def _touch_if_due(self) -> None:
        """Tell `db clean` from time to time that the scenes are still being written."""
        if time.monotonic() - self._touched < TOUCH_S:
            return
        self.database.execute(TOUCH, {"keys": [*self.keys.values()]})
        self._touched = time.monotonic()


def _set_bounds(tx: ManagedTransaction, key: str) -> None:
    """Measure the bounds of a written scene, whatever its archive said; one node at a time is in memory."""
    out, into = tx.run(MEASURED_OUT, key=key).values(), tx.run(MEASURED_IN, key=key).values()
    relations: list[tuple[Measure, str, int]] = [
        *(("relations", name, number) for name, number, _ in out),
        *(("out", name, most) for name, _, most in out),
        *(("in", name, most) for name, most in into),
    ]
    found = bounds_from((node_of(*row) for row in tx.run(MEASURED_NODES, key=key)), relations)
    tx.run(SET_BOUNDS, key=key, bounds=found.properties()).consume()


def _chunks(rows: Iterator[dict[str, Any]], most: int) -> Iterator[list[dict[str, Any]]]:
    """Yield rows in lists of at most `most`, and of no more text than BATCH_LETTERS by more than one row."""
    chunk: list[dict[str, Any]] = []
    letters = 0
    for row in rows:
        chunk.append(row)
        letters += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(chunk) == most or letters > BATCH_LETTERS:
            yield chunk
            chunk, letters = [], 0
    if chunk:
        yield chunk
