"""Import many scenes, or versions of one as they are written: report each; a failure does not stop the others."""

from __future__ import annotations

import gc
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from glob import glob, has_magic
from itertools import islice
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Final, Self, TypeAlias

import typer

from scenecypher.cli.context import open_store, print_json, print_line, progress_bar, say, warn
from scenecypher.errors import DocumentError, InputError
from scenecypher.wording import counted

if TYPE_CHECKING:
    from scenecypher.cli.options import ImportOptions
    from scenecypher.db.graph.imported import ImportedScene
    from scenecypher.db.store.publish import Progress
    from scenecypher.db.store.scene_store import Imported, SceneStore
    from scenecypher.importers.adjusting import Adjustment
    from scenecypher.importers.watching import FileVersion

WRITERS: Final = 2
"""Scenes imported at once, each in memory: while one is read, the server writes another."""
COLLECTOR_THRESHOLDS: Final = (50_000, 20, 50)
TOLD_MB: Final = 5
"""The size of vectors that is told before they are written."""
JSON_LINES: Final = (".jsonl", ".ndjson")
"""Ending of files with one document a line."""


@dataclass(frozen=True, slots=True)
class Source:
    """A scene to import: its label in messages, the scene's name, and a function that reads it."""

    label: str
    name: str
    read: Callable[[], ImportedScene]

    @classmethod
    def named(cls, name: str, read: Callable[[], ImportedScene]) -> Self:
        """Return a scene of a data set, whose label is its name."""
        return cls(name, name, read)

    @classmethod
    def read_already(cls, label: Path | str, scene: ImportedScene) -> Self:
        """Return a scene that was read before."""
        return cls(str(label), scene.name, lambda: scene)

    @classmethod
    def failed(cls, path: Path, error: InputError) -> Self:
        """Return a file that could not be read."""
        return cls(str(path), path.name, partial(_fail, error))


Outcomes: TypeAlias = dict[int, dict[str, Any] | tuple[str, InputError]]
"""The outcomes so far, by the source's number: facts about its scene, or its label and error."""


def import_and_print(sources: Iterable[Source], how: ImportOptions, *, command: str = "") -> None:
    """Import all sources, each adjusted, and print the outcome. Raises Exit afterwards if one failed.

    Of a file that is of another format than that of the `command`, the error says which it is.
    """
    adjust = adjustment_of(how)
    unlike, outcomes = _refuse_same_names([*sources]), Outcomes()
    try:
        _import_all(unlike, adjust, outcomes, how, command)
    finally:
        _print([it for _, it in sorted(outcomes.items())], dry_run=how.dry_run, as_json=how.as_json)
    if any(isinstance(it, tuple) for it in outcomes.values()):
        raise typer.Exit(InputError.exit_code)


def adjustment_of(how: ImportOptions) -> Adjustment:
    """Return how the scenes shall differ from their files."""
    from scenecypher.importers.adjusting import Adjustment

    return Adjustment(how.vocabulary, how.agent, how.place, how.vectors)


def sources_of_files(
    paths: Sequence[str],
    read: Callable[..., ImportedScene],
    *,
    prefix: str,
    suffixes: Sequence[str] = (".json",),
    only: str | None = None,
) -> Iterator[Source]:
    """Yield a source for each file, named after its path below the given folder; with `only`, the file of that stem.

    `read` takes the file's path and its scene's `name`; of a JSON Lines file each `line` is a source, NAME/LINE. Raises
    InputError if no file is found.
    """
    files = list(files_at(paths, suffixes))
    chosen = [(path, folder) for path, folder in files if only in (None, path.stem)]
    if not chosen:
        raise InputError(f"none of the {len(files)} files is {only}{suffixes[0]}; leave out --only to import them all")
    for path, folder in chosen:
        yield from sources_of_file(path, read, name=prefix + path.relative_to(folder).with_suffix("").as_posix())


def sources_of_file(path: Path, read: Callable[..., ImportedScene], *, name: str) -> Iterator[Source]:
    """Yield the source of a file, or of each line of a JSON Lines file."""
    if path.suffix not in JSON_LINES:
        yield Source(str(path), name, partial(read, path, name=name))
        return
    from scenecypher.importers.json_file import json_lines

    for line in json_lines(path):
        line_name = f"{name}/{line.number}"
        yield Source(f"{path}:{line.number}", line_name, partial(read, path, name=line_name, line=line))


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
            raise InputError(f"no file that ends in {', '.join(suffixes)} is at {given}; check the path")
        yield from ((file, folder) for file in files)


def _import_all(
    unlike: Sequence[Source], adjust: Adjustment, outcomes: Outcomes, how: ImportOptions, command: str
) -> None:
    what = "checking" if how.dry_run else "importing"
    with nullcontext() if how.dry_run else open_store() as store, progress_bar(what) as progress, _seldom_collecting():

        def bring(number: int, progress: Progress) -> None:
            try:
                outcomes[number] = _import_one(unlike[number], adjust, store, progress, how)
            except InputError as error:
                from scenecypher.importers.detect import told_form

                outcomes[number] = (unlike[number].label, told_form(error, command))

        _for_each(bring, len(unlike), progress, workers=1 if how.dry_run else WRITERS)


def _for_each(bring: Callable[[int, Progress], None], count: int, progress: Progress, *, workers: int) -> None:
    """Call `bring` with each number below `count`, several at once; a single one shows its own progress.

    What one raises, or an interrupt, ends the others at their next batch.
    """
    if count == 1:
        bring(0, progress)
        return
    stopped = Event()

    def check(_done: int, _total: int) -> None:
        if stopped.is_set():
            raise _EndedEarly

    with ThreadPoolExecutor(workers) as pool:
        try:
            waiting = [pool.submit(bring, number, check) for number in range(count)]
            for done, ended in enumerate(as_completed(waiting), 1):
                ended.result()
                progress(done, count)
        finally:
            stopped.set()
            pool.shutdown(cancel_futures=True)


class _EndedEarly(Exception):
    """Another import failed or the person interrupted: what this one wrote stays unpublished."""


@contextmanager
def _seldom_collecting() -> Iterator[None]:
    """Collect garbage more seldom during the block: scenes are many objects, none of them in a cycle."""
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*COLLECTOR_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def _refuse_same_names(sources: Sequence[Source]) -> list[Source]:
    """Return the sources, with one that fails in place of each whose name an earlier one has."""
    first, unlike = dict[str, Source](), list[Source]()
    for source in sources:
        same = first.setdefault(source.name, source)
        msg = f"{source.label} would be the scene {source.name} again, after {same.label}; rename one of them"
        unlike.append(source if same is source else replace(source, read=partial(_fail, InputError(msg))))
    return unlike


def _fail(error: InputError) -> ImportedScene:
    raise error


def _import_one(
    source: Source, adjust: Adjustment, store: SceneStore | None, progress: Progress, how: ImportOptions
) -> dict[str, Any]:
    from scenecypher.db.store.catalog import checked_name, checked_new_name
    from scenecypher.db.store.map_update import bring_in

    checked_name(source.name)
    scene = adjust(source.read())
    facts: dict[str, Any] = {
        "name": scene.name,
        "nodes": len(scene.graph.nodes),
        "relations": len(scene.graph.relations),
        **({"notes": notes} if (notes := [*scene.notes, *map(str, scene.vectors)]) else {}),
    }
    if store is None:
        checked_new_name(scene.name, scene.role)
        kinds = Counter(node.kind for node in scene.graph.nodes.values())
        types = Counter(relation.type for relation in scene.graph.relations)
        return facts | {"kinds": dict(sorted(kinds.items())), "relation_types": dict(sorted(types.items()))}
    for vectors in scene.vectors:
        if (size_mb := len(vectors.rows) * vectors.space.dimension * 4 // 1_000_000) >= TOLD_MB:
            warn(f"{scene.name}: writing {size_mb:,} MB of {vectors}…")
    sets = how.vocabulary is not None
    done = bring_in(store, scene, sets_vocabulary=sets, replaces=how.replaces, progress=progress)
    told = {"changes": done.changes, "conflicts": [*done.conflicts]} if scene.merges else {}
    return facts | {"outcome": done.outcome, "version": done.version} | told


def _print(outcomes: Sequence[dict[str, Any] | tuple[str, InputError]], *, dry_run: bool, as_json: bool) -> None:
    scenes = [it for it in outcomes if isinstance(it, dict)]
    failed = [it for it in outcomes if isinstance(it, tuple)]
    if as_json:
        told = [{"source": label, "problems": _problems(error)} for label, error in failed]
        print_json({"scenes": scenes, "failed": told})
        return
    for facts in scenes:
        size = f"{facts['nodes']:,} nodes, {facts['relations']:,} relations"
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in facts["kinds"].items()) if dry_run else ""
        say(f"{facts['name']}: {(kinds or 'empty') if dry_run else facts['outcome']}, {size}")
        for note in (*facts.get("notes", ()), *(f"conflict: {it}" for it in facts.get("conflicts", ()))):
            warn(f"{facts['name']}: {note}")
    for label, error in failed:
        warn(str(error) if isinstance(error, DocumentError) or label in str(error) else f"{label}: {error}")
    if len(outcomes) > 1:
        if dry_run:
            places = sum(facts["kinds"].get("Place", 0) for facts in scenes) / max(1, len(scenes))
            nodes = sum(facts["nodes"] for facts in scenes) / max(1, len(scenes))
            say(f"on average {places:.2f} places and {nodes:.1f} nodes a scene")
        verb = "checked, nothing written" if dry_run else "imported"
        say(f"{len(scenes):,} scenes {verb}; {len(failed):,} failed")


def _problems(error: InputError) -> list[dict[str, str]]:
    problems = error.problems if isinstance(error, DocumentError) else (("", str(error)),)
    return [{"place": place, "cause": cause} for place, cause in problems]


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
                told_json = {"file": version.read.file, "problems": _problems(version.read)}
                print_line(json.dumps(told_json, ensure_ascii=False)) if as_json else warn(str(version.read))
                continue
            done = updater.update(version.read)
            _print_version(version, done, new={*done.conflicts} - told, as_json=as_json)
            told = {*done.conflicts}


def _print_version(version: FileVersion, done: Imported, *, new: set[str], as_json: bool) -> None:
    if as_json:
        facts = {"name": done.name, "file": str(version.path), "outcome": done.outcome, "version": done.version}
        facts |= {"changes": done.changes, "nodes": done.nodes, "relations": done.relations}
        facts |= {"skipped": version.skipped, "conflicts": sorted(done.conflicts)}
        print_line(json.dumps(facts, ensure_ascii=False))
        return
    skipped = f", {counted(version.skipped, 'older version')} skipped" if version.skipped else ""
    changes = f", {counted(done.changes, 'change')}" if done.outcome == "updated" else ""
    size = f"{done.nodes:,} nodes, {done.relations:,} relations"
    say(f"{done.name}: {done.outcome}, version {done.version}{changes}, {size} ({version.path.name}{skipped})")
    for conflict in sorted(new):
        warn(f"conflict: {conflict}")
