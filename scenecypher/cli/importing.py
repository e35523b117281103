"""Import many scenes: find their files, import and report each; a failure does not stop the others."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenecypher.cli.completion import vocabularies
from scenecypher.cli.context import errors, open_store, output, print_json, progress_bar
from scenecypher.errors import DocumentError, InputError

if TYPE_CHECKING:
    from scenecypher.db.graph.imported import ImportedScene
    from scenecypher.db.store.scene_store import SceneStore
    from scenecypher.importers.adjusting import Adjustment


@dataclass(frozen=True, slots=True)
class Source:
    """A scene to import: its label in messages, the scene's name, and a function that reads it."""

    label: str
    name: str
    read: Callable[[], ImportedScene]


@dataclass(slots=True)
class ImportReport:
    """The outcome of each source so far."""

    scenes: list[dict[str, Any]] = field(default_factory=list)
    failures: list[tuple[str, InputError]] = field(default_factory=list)


VocabularyOption = Annotated[
    str | None,
    typer.Option(
        "--vocabulary",
        metavar="NAME",
        help="The actions that the scenes allow, in place of the format's.",
        autocompletion=vocabularies,
    ),
]
AgentOption = Annotated[
    str | None, typer.Option("--agent", metavar="NAME", help="Add an agent of this name, where a scene has none.")
]
PlaceOption = Annotated[str | None, typer.Option("--in", metavar="ROOM", help="The room of the added agent.")]


def import_and_print(
    sources: Sequence[Source], *, dry_run: bool, as_json: bool, adjustment: Adjustment | None = None
) -> None:
    """Import all sources, each adjusted, and print the outcome. Raises Exit afterwards if one failed."""
    if adjustment is not None:
        sources = [replace(source, read=partial(_adjusted, source, adjustment)) for source in sources]
    report = ImportReport()
    vocabulary = None if adjustment is None else adjustment.vocabulary
    try:
        _import_all(sources, report, vocabulary, dry_run=dry_run)
    finally:
        _print(report, dry_run=dry_run, as_json=as_json)
    if report.failures:
        raise typer.Exit(InputError.exit_code)


def _adjusted(source: Source, adjustment: Adjustment) -> ImportedScene:
    return adjustment(source.read())


def sources_of_files(
    paths: Sequence[str],
    read: Callable[..., ImportedScene],
    *,
    prefix: str,
    suffixes: Sequence[str] = (".json",),
    only: str | None = None,
) -> Iterator[Source]:
    """Yield a source for each file, named after its path below the given folder; with `only`, the file of that stem.

    `read` takes the file's path and its scene's `name`. Raises InputError if no file is found.
    """
    files = list(files_at(paths, suffixes))
    chosen = [(path, folder) for path, folder in files if only in (None, path.stem)]
    if not chosen:
        raise InputError(f"none of the {len(files)} files is {only}{suffixes[0]}; leave out --only to import them all")
    for path, folder in chosen:
        name = prefix + path.relative_to(folder).with_suffix("").as_posix()
        yield Source(str(path), name, partial(read, path, name=name))


def files_at(paths: Sequence[str], suffixes: Sequence[str] = (".json",)) -> Iterator[tuple[Path, Path]]:
    """Yield each file with the folder that its scene's name is relative to; of a folder, the files with `suffixes`.

    Raises InputError if a path has no file.
    """
    for given in paths:
        if not given:
            raise InputError(
                "a path is empty, and would mean this folder; give a file, a folder (. is this one) or a glob"
            )
        path = Path(given)
        files, folder = [path], path.parent
        if path.is_dir():
            files, folder = sorted(file for suffix in suffixes for file in path.rglob(f"*{suffix}")), path
        elif has_magic(given) and not path.exists():
            files = sorted(Path(match) for match in glob(given, recursive=True))  # noqa: PTH207
            folder = Path(os.path.commonpath([file.parent for file in files])) if files else folder
        if not files:
            kinds = "JSON" if [*suffixes] == [".json"] else " or ".join(suffixes)
            msg = f"no {kinds} file is at {given}; check the path"
            raise InputError(msg)
        yield from ((file, folder) for file in files)


def _import_all(sources: Sequence[Source], report: ImportReport, vocabulary: str | None, *, dry_run: bool) -> None:
    done: dict[str, str] = {}
    what = "checking" if dry_run else "importing"
    with nullcontext() if dry_run else open_store() as store, progress_bar(what) as progress:
        for count, source in enumerate(sources):
            progress(count, len(sources))
            try:
                _refuse_same_name(source, done)
                report.scenes.append(_import_one(source, store, vocabulary, None if len(sources) > 1 else progress))
            except InputError as error:
                report.failures.append((source.label, error))


def _refuse_same_name(source: Source, done: dict[str, str]) -> None:
    if source.name in done:
        msg = f"{source.label} would be the scene {source.name} again, after {done[source.name]}; rename one of them"
        raise InputError(msg)
    done[source.name] = source.label


def _import_one(
    source: Source, store: SceneStore | None, vocabulary: str | None, progress: Callable[[int, int], None] | None
) -> dict[str, Any]:
    from scenecypher.db.store.catalog import checked_name, checked_new_name, lookup_scene

    checked_name(source.name)
    scene = source.read()
    facts = {"name": scene.name, "nodes": len(scene.graph.nodes), "relations": len(scene.graph.relations)}
    if store is None:
        checked_new_name(scene.name, scene.role)
        kinds = Counter(node.kind for node in scene.graph.nodes.values())
        types = Counter(relation.type for relation in scene.graph.relations)
        return facts | {"kinds": dict(sorted(kinds.items())), "relation_types": dict(sorted(types.items()))}
    known = lookup_scene(store.database, scene.name) if vocabulary is not None else None
    if known is not None and known.vocabulary != scene.vocabulary:
        store.set_vocabulary(scene.name, scene.vocabulary)
    done = store.put(scene, progress=progress)
    return facts | {"outcome": done.outcome, "version": done.version}


def _print(report: ImportReport, *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        print_json({"scenes": report.scenes, "failed": [_failure(*failed) for failed in report.failures]})
        return
    for facts in report.scenes:
        size = f"{facts['nodes']:,} nodes, {facts['relations']:,} relations"
        output().print(f"{facts['name']}: {_counts(facts) if dry_run else facts['outcome']}, {size}", markup=False)
    for _, error in report.failures:
        errors().print(str(error), markup=False)
    if len(report.scenes) + len(report.failures) > 1:
        if dry_run:
            output().print(_means(report.scenes))
        verb = "checked, nothing written" if dry_run else "imported"
        output().print(f"{len(report.scenes):,} scenes {verb}; {len(report.failures):,} failed")


def _counts(facts: dict[str, Any]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in facts["kinds"].items()) or "empty"


def _means(scenes: Sequence[dict[str, Any]]) -> str:
    places = sum(facts["kinds"].get("Place", 0) for facts in scenes) / max(1, len(scenes))
    nodes = sum(facts["nodes"] for facts in scenes) / max(1, len(scenes))
    return f"on average {places:.2f} places and {nodes:.1f} nodes a scene"


def _failure(label: str, error: InputError) -> dict[str, Any]:
    problems = error.problems if isinstance(error, DocumentError) else (("", str(error)),)
    return {"source": label, "problems": [{"place": place, "cause": cause} for place, cause in problems]}
