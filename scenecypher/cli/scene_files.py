"""Files of scenes: pages and figures, vectors, and archives of one scene or all, by `db backup` and `db restore`."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from scenecypher.cli.context import open_store, progress_bar, show, tell
from scenecypher.cli.options import AsJson, argument, option
from scenecypher.errors import InputError
from scenecypher.files import write_files
from scenecypher.wording import counted

if TYPE_CHECKING:
    from scenecypher.db.store.load import LoadedScene
    from scenecypher.db.store.scene_store import SceneStore
    from scenecypher.ui.render import KeptVersion

EVENTS_ON_PAGE: Final = 100


def write_pages(store: SceneStore, snapshot: LoadedScene, wanted: Mapping[str, Path], versions: int) -> None:
    """Write a home as files by their kinds: html, svg, png."""
    from scenecypher.floorplan.figure import figure_of
    from scenecypher.floorplan.home_view import view_of
    from scenecypher.floorplan.layout import drawing_of
    from scenecypher.ui.render import cytoscape, home_file, png_of

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
    from scenecypher.db.store.vectors import read_vectors
    from scenecypher.importers.vectors_file import write_vectors_file

    sets = (read_vectors(store.database, it, scene.graph.nodes) for it in scene.info.declared.vectors)
    write_vectors_file(file, (it for it in sets if it.rows))
    tell(f"wrote {file}")
    return file.name


def export_archive(scene: str, file: Path | None, form: str) -> None:
    """Write an archive of one scene."""
    from scenecypher.db.archive.backup import back_up

    if file is None or form != "json":
        raise InputError("--with-history writes an archive, which is no text and has no other format: give --out FILE")
    with open_store() as store, progress_bar(f"reading {scene}") as progress:
        done = back_up(store.database, file, scenes=[store.find(scene)], progress=progress)
    print_archived(file, done.scenes, done.totals)


def backup(
    file: Annotated[Path, argument("FILE", "The archive to write; one that is there is replaced.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Write all scenes with their whole history into one file, which `db restore` takes back on any server.

    Scenes that change meanwhile are archived as they were at one moment; nobody has to wait.
    """
    from scenecypher.db.archive.backup import back_up

    with open_store() as store, progress_bar("reading the scenes") as progress:
        done = back_up(store.database, file, progress=progress)
    print_archived(file, done.scenes, done.totals, as_json=as_json)


def restore(
    file: Annotated[Path, argument("FILE", "An archive of `db backup` or `scenes export`.")],
    *,
    name: Annotated[str | None, option("--as", "NAME", "The name of the scene, if the archive has one.")] = None,
    prefix: Annotated[str, option("--prefix", "TEXT", "Put this before each name, such as old/.")] = "",
    replace: Annotated[bool, option("--replace", "Replace scenes that have the same names.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the scenes of an archive back, with their whole history: all of them, or none.

    The file is checked to its end before anything is written.
    """
    from scenecypher.db.archive.restore import Naming, check_archive, restore_archive

    if name is not None and prefix:
        raise InputError("give either --as or --prefix: one names a single world, the other all scenes")
    naming = Naming(name, prefix, replaces=replace)
    with open_store() as store:
        with progress_bar(f"checking {file}") as progress:
            contents = check_archive(store.database, file, naming, progress=progress)
        with progress_bar("restoring") as progress:
            names = restore_archive(store.database, file, contents, naming, progress=progress)
    said = f"restored {archived_words(len(contents.scenes), contents.totals)}"
    show({"scenes": list(names), **contents.totals}, said, as_json=as_json)


def print_archived(file: Path, scenes: int, totals: Mapping[str, int], *, as_json: bool = False) -> None:
    """Print what was written into an archive."""
    said = f"wrote {file}: {archived_words(scenes, totals)}"
    show({"file": str(file), "scenes": scenes, **totals}, said, as_json=as_json)


def archived_words(scenes: int, totals: Mapping[str, int]) -> str:
    """Return how much an archive holds, in words."""
    nouns = {"nodes": "node", "relations": "relation", "Event": "event"}
    if totals.get("Run"):
        nouns["Run"] = "run"
    return ", ".join([counted(scenes, "scene"), *(counted(totals.get(name, 0), noun) for name, noun in nouns.items())])
