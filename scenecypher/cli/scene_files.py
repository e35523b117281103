"""Files that `scenecypher scenes` writes of a scene: its page and figures, its vectors, an archive."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from scenecypher.cli.context import open_store, progress_bar, tell
from scenecypher.errors import InputError
from scenecypher.files import write_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from scenecypher.db.store.load import LoadedScene
    from scenecypher.db.store.scene_store import SceneStore
    from scenecypher.ui.render import KeptVersion

EVENTS_ON_PAGE: Final = 100


def write_pages(store: SceneStore, snapshot: LoadedScene, wanted: Mapping[str, Path], versions: int) -> None:
    """Write a home as files by their kinds: html, svg, png."""
    from scenecypher.floorplan.figure import figure_of
    from scenecypher.floorplan.home_view import view_of
    from scenecypher.floorplan.layout import drawing_of
    from scenecypher.ui.drawing import cytoscape
    from scenecypher.ui.render import home_file, png_of

    title = f"{snapshot.info.name} at version {snapshot.info.version}"
    files: dict[Path, str | bytes] = {}
    if "html" in wanted:
        events = [*islice(store.latest(snapshot.info), EVENTS_ON_PAGE)]
        kept = _kept_versions(store, snapshot, versions) if versions else []
        files[wanted["html"]] = home_file(snapshot, title, events, versions=kept, library=cytoscape(tell))
    if {*wanted} & {"svg", "png"}:
        figure = figure_of(drawing_of(snapshot.graph, view_of(snapshot.graph)), title)
        files |= {wanted["svg"]: figure} if "svg" in wanted else {}
        files |= {wanted["png"]: png_of(figure)} if "png" in wanted else {}
    write_files(files)
    for file in files:
        tell(f"wrote {file}")


def _kept_versions(store: SceneStore, snapshot: LoadedScene, count: int) -> list[KeptVersion]:
    """Return the last versions of a scene, oldest first, up to the one that is shown."""
    from scenecypher.ui.render import KeptVersion

    newest = snapshot.info.version
    first = max(0, newest - count)
    events = {it.version: it for it in store.history(snapshot.info, after=first - 1, limit=count + 1)}
    past = [KeptVersion(it, store.as_of(snapshot.info.name, it), events.get(it)) for it in range(first, newest)]
    return [*past, KeptVersion(newest, snapshot.graph, events.get(newest))]


def export_vectors(store: SceneStore, scene: LoadedScene, file: Path) -> str:
    """Write the vectors of a scene's nodes; return the file's name."""
    from scenecypher.db.store.vectors import read_ids, read_vectors
    from scenecypher.importers.vectors_file import write_vectors_file

    nodes, database = scene.graph.nodes, store.database
    sources = []
    for space in scene.info.declared.vectors:
        ids = [*filter(nodes.__contains__, read_ids(database, space))]
        sources.append((space, ids, (row for row in read_vectors(database, space) if row[0] in nodes)))
    write_vectors_file(file, sources)
    tell(f"wrote {file}")
    return file.name


def export_archive(scene: str, file: Path | None, form: str) -> None:
    """Write an archive of one scene."""
    from scenecypher.cli.archives import print_archived
    from scenecypher.db.archive.backup import back_up

    if file is None or form != "json":
        raise InputError("--with-history writes an archive, which is no text and has no other format: give --out FILE")
    with open_store() as store, progress_bar(f"reading {scene}") as progress:
        done = back_up(store.database, file, scenes=[store.find(scene)], progress=progress)
    print_archived(file, done.scenes, done.totals)
