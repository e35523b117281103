"""Backup: all scenes of a database, or some, each as it is at one version, as an archive."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, LiteralString

from neo4j import ManagedTransaction

from scenecypher.db.archive.file import LINES_PER_NOTE, NODES, RELATIONS, ArchiveWriter, SceneWriter
from scenecypher.db.archive.lines import Header, RecordLine, SceneLine, node_line
from scenecypher.db.archive.records import NOT_ARCHIVED, RECORDS, VECTOR
from scenecypher.db.graph.vectors import single
from scenecypher.db.store.catalog import SceneInfo, info_of, list_scenes, lookup_scene, scene_of
from scenecypher.db.store.connection import Database
from scenecypher.db.store.consistent_read import consistent_transaction
from scenecypher.db.store.load import LOAD_NODES, LOADED_PER_SECOND, SCENE, node_of
from scenecypher.db.store.publish import Progress
from scenecypher.db.store.stored_form import FORM
from scenecypher.errors import SceneReplaced
from scenecypher.files import new_file

# What was replaced is kept for its past; what was deleted is not.
EARLIER: Final[LiteralString] = """
MATCH (s:Scene {status: 'retired'})
WHERE s.replaced_by IS NOT NULL AND s.leased IS NULL AND (s.version > 0 OR EXISTS { MATCH (:Run {scene: s.key}) })
RETURN s ORDER BY s.retired
"""


@dataclass(frozen=True, slots=True)
class BackedUp:
    """A backup that was written: its scenes, and their nodes, relations and records by label."""

    scenes: int
    totals: Counter[str]


def back_up(
    database: Database, path: Path, *, scenes: Iterable[SceneInfo] | None = None, progress: Progress | None = None
) -> BackedUp:
    """Write an archive of all scenes and the earlier generations that have a history, or of `scenes` alone.

    Each scene is archived as of one version, and a belief before its world, so that it is never the newer one. Leased
    copies are left out. `progress` gets nodes and relations. Raises InputError if the file can't be written.
    """
    chosen = _all_scenes(database) if scenes is None else [*scenes]
    total = sum(info.nodes + info.relations for info in chosen)
    with new_file(path, mode=0o600) as file:
        archive = ArchiveWriter(file, Header(FORM, datetime.now(UTC).isoformat(timespec="seconds")))

        def note(counts: Counter[str]) -> None:
            if progress:
                done = sum((archive.totals + counts)[name] for name in (NODES, RELATIONS))
                progress(min(done, total), total)

        for info in _as_they_are(database, chosen):
            _archive_scene(database, info, archive, note)
        archive.end()
    return BackedUp(archive.scenes, archive.totals)


def _all_scenes(database: Database) -> list[SceneInfo]:
    """Return what a whole archive holds, in its order: beliefs, earlier generations, worlds."""
    ready = list_scenes(database)
    earlier = [info_of(record["s"]) for record in database.rows(EARLIER)]
    beliefs = [info for info in ready if info.role == "belief"]
    return [*beliefs, *earlier, *(info for info in ready if info.role != "belief")]


def _as_they_are(database: Database, scenes: list[SceneInfo]) -> Iterator[SceneInfo]:
    """Yield each generation as it now is; one that was replaced since the list was made, with its successor."""
    listed = {info.key for info in scenes}
    for info in scenes:
        now = scene_of(database, info.key)
        if now is not None and now.status == info.status:
            yield now
        elif info.status == "ready":
            successor = lookup_scene(database, info.name)
            if successor is not None and now is not None and now.status == "retired":
                yield now
            if successor is not None and successor.key not in listed:
                listed.add(successor.key)
                yield successor


def _archive_scene(
    database: Database, info: SceneInfo, archive: ArchiveWriter, note: Callable[[Counter[str]], None]
) -> None:
    """Write one generation as of one version; from its beginning again if it changes meanwhile."""

    def work(tx: ManagedTransaction) -> SceneWriter:
        scene = archive.begin_scene()
        for number, line in enumerate(_lines(tx, info)):
            scene.write(line)
            if number % LINES_PER_NOTE == 0:
                note(scene.counts)
        return scene

    size = info.nodes + info.relations + info.version
    timeout_s = 2 * database.read_timeout_s + size / LOADED_PER_SECOND
    scene, _ = consistent_transaction(database, info, work, timeout_s=timeout_s, status=info.status)
    archive.keep(scene)
    note(Counter())


def _lines(tx: ManagedTransaction, info: SceneInfo) -> Iterator[Any]:
    record = tx.run(SCENE, key=info.key).single()
    if record is None:
        raise SceneReplaced(info.name)
    stored = record["scene"]
    facts = {name: value for name, value in stored.items() if name not in NOT_ARCHIVED}
    world, origin, successor = (stored.get(name) for name in ("world", "copied_from", "replaced_by"))
    yield SceneLine(stored["key"], info_of(stored).name, stored["status"], world, origin, successor, facts)
    for labels, values, to in tx.run(LOAD_NODES, key=info.key):
        yield node_line(node_of(labels, values), map(tuple, to))
    for label, kind in RECORDS.items():
        for row in tx.run(kind.read, key=info.key):
            values = {name: value for name, value in row["values"].items() if name != "scene"}
            if label == VECTOR:
                values["vector"] = b64encode(single(values.pop("values")).tobytes()).decode()
            yield RecordLine(label, values)
