"""`scenecypher import`: files and packaged data sets into scenes; one bad file does not stop the others."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from glob import glob, has_magic
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scenecypher.cli.context import counting, errors, open_store, output, print_json
from scenecypher.errors import DocumentError, InputError, did_you_mean

if TYPE_CHECKING:
    from db.imported import ImportedScene
    from db.store import SceneStore
    from importers.virtualhome import Part

import_app = typer.Typer(name="import", help="Bring scenes into the database.", no_args_is_help=True)


@dataclass(frozen=True, slots=True)
class Source:
    """A scene that may be imported: what messages call it, the scene's name, and how to read it."""

    label: str
    name: str
    read: Callable[[], ImportedScene]


@dataclass(slots=True)
class Report:
    """What became of each source, so far."""

    scenes: list[dict[str, Any]] = field(default_factory=list)
    failures: list[tuple[str, InputError]] = field(default_factory=list)


@import_app.command()
def virtualhome(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Files, folders or globs of environment graphs; else the public data."),
    ] = None,
    *,
    only: Annotated[str | None, typer.Option("--only", metavar="ID", help="Only this task, such as 963_2.")] = None,
    final: Annotated[bool, typer.Option("--final", help="Also the graph after each program, as NAME@final.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count; write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Import VirtualHome environment graphs: your own, or the 518 of the Embodied Agent Interface."""
    parts: tuple[Part, ...] = ("initial", "final") if final else ("initial",)
    sources = list(_of_files(paths, only, parts) if paths else _of_package(only, parts))
    _import_and_print(sources, dry_run=dry_run, as_json=as_json)


@import_app.command()
def babyai(
    *,
    level: Annotated[str, typer.Option("--level", help="trv1, trv2, numqa, or any id of MiniGrid.")],
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the first instance.")] = 0,
    count: Annotated[int, typer.Option("--count", min=1, help="How many instances: SEED, SEED + 1, …")] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count; write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Import instances of a BabyAI level: two of traversal, one of questions, or one of MiniGrid's own."""
    sources = list(_of_level(level, range(seed, seed + count)))
    _import_and_print(sources, dry_run=dry_run, as_json=as_json)


@import_app.command()
def grasif(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Files, folders or globs of GraSIF JSON; else a --subset."),
    ] = None,
    *,
    subset: Annotated[
        str | None,
        typer.Option("--subset", metavar="NAME", help="sayplan-office, behavior-1k, robothow or our-office."),
    ] = None,
    only: Annotated[str | None, typer.Option("--only", metavar="ID", help="Only this scene.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count; write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Import GraSIF scenes: your own JSON files, or a part of the data set, rebuilt from public data or by hand."""
    if bool(paths) == (subset is not None):
        raise InputError(f"give either the PATH of GraSIF files or a --subset: {', '.join(_SUBSETS)}")
    sources = list(_of_grasif_files(paths, only) if paths else _of_subset(subset or "", only))
    _import_and_print(sources, dry_run=dry_run, as_json=as_json)


@import_app.command()
def homes(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="FOLDER", help="Homes: folders of graph.json and tasks.json, or folders of such."),
    ] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count; write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Import homes with tasks given as desired states: your own folders, or our two."""
    _import_and_print(list(_of_homes(paths)), dry_run=dry_run, as_json=as_json)


@import_app.command("json")
def documents(
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="Files, folders or globs of scene documents.")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count; write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Import SceneCypher's own JSON documents, as `scenes export` writes them, under the names that stand in them."""
    _import_and_print(list(_of_documents(paths)), dry_run=dry_run, as_json=as_json)


def _import_and_print(sources: Sequence[Source], *, dry_run: bool, as_json: bool) -> None:
    """Import what can be. Raises Exit where something can't, after all is told."""
    report = Report()
    try:
        _import_all(sources, report, dry_run=dry_run)
    finally:
        _print(report, dry_run=dry_run, as_json=as_json)
    if report.failures:
        raise typer.Exit(InputError.exit_code)


def _of_documents(paths: Sequence[str]) -> Iterator[Source]:
    """Documents are read to know their names; one that can't be is a source that fails when its turn comes."""
    from importers.document import read_document  # noqa: PLC0415

    for path, _ in _found(paths):
        try:
            scene = read_document(path)
        except InputError as error:
            yield Source(str(path), path.name, partial(_fail, error))
        else:
            yield Source(str(path), scene.name, partial(_same, scene))


def _same(scene: ImportedScene) -> ImportedScene:
    return scene


def _fail(error: InputError) -> ImportedScene:
    raise error


def _of_level(level: str, seeds: Sequence[int]) -> Iterator[Source]:
    from importers import babyai  # noqa: PLC0415

    babyai.check_level(level)
    for seed in seeds:
        name = babyai.scene_name(level, seed)
        yield Source(name, name, partial(babyai.read_level, level, seed))


def _of_subset(subset: str, only: str | None) -> Iterator[Source]:
    found = _SUBSETS.get(subset)
    if found is None:
        hint = did_you_mean(subset[:60], tuple(_SUBSETS)) or f"; give --subset {', '.join(_SUBSETS)}"
        raise InputError(f"no subset {subset[:60]!r} is known{hint}")
    return found(only)


def _of_behavior(only: str | None) -> Iterator[Source]:
    from importers import behavior, behavior_definitions  # noqa: PLC0415

    for activity in behavior_definitions.activities(only):
        name = behavior.scene_name(activity.name)
        yield Source(name, name, partial(behavior.scene_of, activity))


def _of_robothow(only: str | None) -> Iterator[Source]:
    from importers import robothow  # noqa: PLC0415

    for program in robothow.programs(only):
        name = robothow.scene_name(program.id)
        yield Source(name, name, partial(robothow.scene_of, program))


def _of_office(only: str | None, *, subset: str) -> Iterator[Source]:
    from importers import offices  # noqa: PLC0415

    if only is not None:
        raise InputError(f"{subset} is one scene; leave out --only {only[:60]}")
    yield Source(offices.scene_name(subset), offices.scene_name(subset), partial(offices.scene, subset))


def _of_homes(paths: Sequence[str] | None) -> Iterator[Source]:
    from importers import homes as reader  # noqa: PLC0415

    if not paths:
        yield from (Source(scene.name, scene.name, partial(_same, scene)) for scene in reader.scenes())
        return
    for folder in (folder for path in paths for folder in reader.folders(Path(path))):
        yield Source(str(folder), reader.scene_name(folder), partial(reader.read_scene, folder))


_SUBSETS: Mapping[str, Callable[[str | None], Iterator[Source]]] = {
    "sayplan-office": partial(_of_office, subset="sayplan-office"),
    "behavior-1k": _of_behavior,
    "robothow": _of_robothow,
    "our-office": partial(_of_office, subset="our-office"),
}
"""The sources of each subset's scenes, or of the one that `--only` names."""


def _of_grasif_files(paths: Sequence[str], only: str | None) -> Iterator[Source]:
    from importers import grasif  # noqa: PLC0415

    found = list(_found(paths))
    chosen = [(path, folder) for path, folder in found if only in (None, path.stem)]
    if not chosen:
        raise InputError(f"none of the {len(found)} files is {only}.json; leave out --only to import them all")
    for path, folder in chosen:
        name = grasif.NAME_PREFIX + path.relative_to(folder).with_suffix("").as_posix()
        yield Source(str(path), name, partial(grasif.read_scene, path, name=name))


def _of_package(only: str | None, parts: Sequence[Part]) -> Iterator[Source]:
    from importers import eai, virtualhome  # noqa: PLC0415

    for (task_id, path), part in product(eai.graph_files(only).items(), parts):
        name = virtualhome.NAME_PREFIX + task_id
        read = partial(virtualhome.read_graph, path, name=name, part=part, source=eai.source_of(path))
        yield Source(virtualhome.part_name(name, part), virtualhome.part_name(name, part), read)


def _of_files(paths: Sequence[str], only: str | None, parts: Sequence[Part]) -> Iterator[Source]:
    from importers import virtualhome  # noqa: PLC0415

    files = [(path, virtualhome.scene_name(path, within=folder)) for path, folder in _found(paths)]
    wanted = {name for _, name in files} if only is None else {virtualhome.NAME_PREFIX + only}
    chosen = [(path, name) for path, name in files if name in wanted]
    if not chosen:
        msg = f"none of the {len(files)} files is {only}.json or file{only}.json; leave out --only to import them all"
        raise InputError(msg)
    for (path, name), part in product(chosen, parts):
        read = partial(virtualhome.read_graph, path, name=name, part=part)
        yield Source(str(path), virtualhome.part_name(name, part), read)


def _found(paths: Sequence[str]) -> Iterator[tuple[Path, Path]]:
    """Each file, and the folder from which its scene's name counts."""
    for given in paths:
        path = Path(given)
        files, folder = [path], path.parent
        if path.is_dir():
            files, folder = sorted(path.rglob("*.json")), path
        elif has_magic(given) and not path.exists():
            files = sorted(Path(match) for match in glob(given, recursive=True))  # noqa: PTH207
            folder = Path(os.path.commonpath([file.parent for file in files])) if files else folder
        if not files:
            msg = f"no JSON file is at {given}; check the path"
            raise InputError(msg)
        yield from ((file, folder) for file in files)


def _import_all(sources: Sequence[Source], report: Report, *, dry_run: bool) -> None:
    done: dict[str, str] = {}
    what = "checking" if dry_run else "importing"
    with nullcontext() if dry_run else open_store() as store, counting(what) as progress:
        for count, source in enumerate(sources):
            progress(count, len(sources))
            try:
                _refuse_same_name(source, done)
                report.scenes.append(_import_one(source, store, None if len(sources) > 1 else progress))
            except InputError as error:
                report.failures.append((source.label, error))


def _refuse_same_name(source: Source, done: dict[str, str]) -> None:
    if source.name in done:
        msg = f"{source.label} would be the scene {source.name} again, after {done[source.name]}; rename one of them"
        raise InputError(msg)
    done[source.name] = source.label


def _import_one(
    source: Source, store: SceneStore | None, progress: Callable[[int, int], None] | None
) -> dict[str, Any]:
    from db.catalog import checked_name  # noqa: PLC0415

    checked_name(source.name)
    scene = source.read()
    facts = {"name": scene.name, "nodes": len(scene.graph.nodes), "relations": len(scene.graph.relations)}
    if store is None:
        kinds = Counter(node.kind for node in scene.graph.nodes.values())
        types = Counter(relation.type for relation in scene.graph.relations)
        return facts | {"kinds": dict(sorted(kinds.items())), "relation_types": dict(sorted(types.items()))}
    done = store.put(scene, progress=progress)
    return facts | {"outcome": done.outcome, "version": done.version}


def _print(report: Report, *, dry_run: bool, as_json: bool) -> None:
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
