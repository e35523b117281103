"""`scenecypher import dsg --watch`: each new version of a map is merged into its scene as it is written."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenecypher.cli.context import counted, errors, open_store, output, print_line
from scenecypher.errors import DocumentError

if TYPE_CHECKING:
    from scenecypher.db.graph.imported import ImportedScene
    from scenecypher.db.store.scene_store import Imported
    from scenecypher.importers.watching import FileVersion


def watch_and_print(place: Path, read: Callable[[Path], ImportedScene], *, versions: int | None, as_json: bool) -> None:
    """Import the versions of a file or folder as they are written; print a line for each, until interrupted."""
    from scenecypher.db.store.map_update import MapUpdater
    from scenecypher.importers.watching import Watch

    told: set[str] = set()
    watch = Watch(place)
    with open_store() as store:
        updater = MapUpdater(store)
        for version in islice(watch.versions(read), versions):
            if isinstance(version.read, DocumentError):
                _print_unreadable(version.read, as_json=as_json)
                continue
            done = updater.update(version.read)
            _print_version(version, done, new={*done.conflicts} - told, as_json=as_json)
            told = {*done.conflicts}


def _print_unreadable(error: DocumentError, *, as_json: bool) -> None:
    if as_json:
        problems = [{"place": place, "cause": cause} for place, cause in error.problems]
        _print_json({"file": error.file, "problems": problems})
    else:
        errors().print(str(error), markup=False)


def _print_version(version: FileVersion, done: Imported, *, new: set[str], as_json: bool) -> None:
    if as_json:
        facts = {"name": done.name, "file": str(version.path), "outcome": done.outcome, "version": done.version}
        counts = {"changes": done.changes, "nodes": done.nodes, "relations": done.relations}
        _print_json(facts | counts | {"skipped": version.skipped, "conflicts": sorted(done.conflicts)})
        return
    skipped = f", {counted(version.skipped, 'older version')} skipped" if version.skipped else ""
    changes = f", {counted(done.changes, 'change')}" if done.outcome == "updated" else ""
    size = f"{done.nodes:,} nodes, {done.relations:,} relations"
    line = f"{done.name}: {done.outcome}, version {done.version}{changes}, {size} ({version.path.name}{skipped})"
    output().print(line, markup=False)
    for conflict in sorted(new):
        errors().print(f"conflict: {conflict}", markup=False)


def _print_json(document: dict[str, Any]) -> None:
    import json

    print_line(json.dumps(document, ensure_ascii=False))
