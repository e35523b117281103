"""`scenecypher db backup` and `db restore`: all scenes with their history in one file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from scenecypher.cli.context import counted, open_store, output, print_json, progress_bar
from scenecypher.cli.options import AsJson
from scenecypher.errors import InputError


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The archive to write; one that is there is replaced.")],
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
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An archive of `db backup` or `scenes export`.")],
    *,
    name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="The name of the scene, if the archive has one.")
    ] = None,
    prefix: Annotated[
        str, typer.Option("--prefix", metavar="TEXT", help="Put this before each name, such as old/.")
    ] = "",
    replace: Annotated[bool, typer.Option("--replace", help="Replace scenes that have the same names.")] = False,
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
    if as_json:
        print_json({"scenes": list(names), **contents.totals})
        return
    output().print(f"restored {archived_words(len(contents.scenes), contents.totals)}", markup=False)


def print_archived(file: Path, scenes: int, totals: Mapping[str, int], *, as_json: bool = False) -> None:
    """Print what was written into an archive."""
    if as_json:
        print_json({"file": str(file), "scenes": scenes, **totals})
        return
    output().print(f"wrote {file}: {archived_words(scenes, totals)}", markup=False)


def archived_words(scenes: int, totals: Mapping[str, int]) -> str:
    """Return how much an archive holds, in words."""
    nouns = {"nodes": "node", "relations": "relation", "Event": "event"}
    if totals.get("Run"):
        nouns["Run"] = "run"
    return ", ".join([counted(scenes, "scene"), *(counted(totals.get(name, 0), noun) for name, noun in nouns.items())])
