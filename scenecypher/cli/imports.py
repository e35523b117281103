"""`scenecypher import`: the commands of all formats, and the scenes that each imports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from glob import has_magic
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from scenecypher.cli.importing import (
    JSON_LINES,
    AgentOption,
    PlaceOption,
    ReplaceOption,
    Source,
    VectorsOption,
    VocabularyOption,
    fail,
    files_at,
    import_and_print,
    sources_of_file,
    sources_of_files,
)
from scenecypher.cli.watching import watch_and_print
from scenecypher.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from scenecypher.db.graph.imported import ImportedScene
    from scenecypher.db.schema import Declared
    from scenecypher.importers.json_file import JsonLine
    from scenecypher.importers.virtualhome import GraphPart


class _ByContent(TyperGroup):
    """The commands by format; what is none of them is the path of a file whose content decides."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command of a format, or the one for any file."""
        is_format = not args or args[0].startswith("-") or self.get_command(ctx, args[0]) is not None
        return super().resolve_command(ctx, args if is_format else [ANY, *args])


ANY: Final = "any"
DeclareOption = Annotated[
    list[str] | None,
    typer.Option("--declare", metavar="NAME", help="A RELATION_TYPE or property of your own; repeat it."),
]
StrictOption = Annotated[
    bool, typer.Option("--strict", help="Refuse what would be left out: NaN, and weights of edges.")
]
import_app = typer.Typer(
    name="import", cls=_ByContent, help="Bring scenes into the database: FILE, or by format.", no_args_is_help=True
)


@import_app.command(ANY)
def any_file(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH", help="Files, folders or globs, in formats that are known.")
    ],
    *,
    declare: DeclareOption = None,
    strict: StrictOption = False,
    vocabulary: VocabularyOption = None,
    agent: AgentOption = None,
    place: PlaceOption = None,
    vectors: VectorsOption = None,
    replaces: ReplaceOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count; write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Import files whose content tells their format; `any` may be left out."""
    from scenecypher.db.schema import Declared
    from scenecypher.importers.adjusting import Adjustment

    adjustment = Adjustment(vocabulary, agent, place, vectors)
    sources = list(_of_any(paths, Declared.of_names(declare or ()), strict=strict))
    import_and_print(sources, dry_run=dry_run, as_json=as_json, replaces=replaces, adjustment=adjustment)


@import_app.command()
def virtualhome(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Files, folders or globs of environment graphs; else the public data."),
    ] = None,
    *,
    only: Annotated[str | None, typer.Option("--only", metavar="ID", help="Only this task, such as 963_2.")] = None,
    final: Annotated[bool, typer.Option("--final", help="Also the graph after each program, as NAME@final.")] = False,
    vocabulary: VocabularyOption = None,
    replaces: ReplaceOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count; write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Import VirtualHome environment graphs: your own, or the 518 of the Embodied Agent Interface."""
    from scenecypher.importers.adjusting import Adjustment

    parts: tuple[GraphPart, ...] = ("initial", "final") if final else ("initial",)
    sources = list(_of_files(paths, only, parts) if paths else _of_package(only, parts))
    import_and_print(
        sources,
        dry_run=dry_run,
        as_json=as_json,
        replaces=replaces,
        adjustment=Adjustment(vocabulary),
        command="virtualhome",
    )


@import_app.command()
def babyai(
    *,
    level: Annotated[str, typer.Option("--level", help="trv1, trv2, numqa, or any id of MiniGrid.")],
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the first instance.")] = 0,
    count: Annotated[int, typer.Option("--count", min=1, help="How many instances: SEED, SEED + 1, …")] = 1,
    vocabulary: VocabularyOption = None,
    replaces: ReplaceOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count; write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Import instances of a BabyAI level: two of traversal, one of questions, or one of MiniGrid's own."""
    from scenecypher.importers.adjusting import Adjustment

    sources = list(_of_level(level, range(seed, seed + count)))
    import_and_print(sources, dry_run=dry_run, as_json=as_json, replaces=replaces, adjustment=Adjustment(vocabulary))


@import_app.command()
def grasif(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Files, folders or globs of GraSIF JSON or pickles; else a --subset."),
    ] = None,
    *,
    subset: Annotated[
        str | None,
        typer.Option("--subset", metavar="NAME", help="sayplan-office, behavior-1k, robothow or our-office."),
    ] = None,
    only: Annotated[str | None, typer.Option("--only", metavar="ID", help="Only this scene.")] = None,
    vocabulary: VocabularyOption = None,
    replaces: ReplaceOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count; write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Import GraSIF scenes: your own JSON files or pickled graphs, or a part of the data set, rebuilt."""
    from scenecypher.importers.adjusting import Adjustment

    if bool(paths) == (subset is not None):
        raise InputError(f"give either the PATH of GraSIF files or a --subset: {', '.join(_SUBSETS)}")
    sources = list(_of_grasif_files(paths, only) if paths else _of_subset(subset or "", only))
    import_and_print(
        sources,
        dry_run=dry_run,
        as_json=as_json,
        replaces=replaces,
        adjustment=Adjustment(vocabulary),
        command="grasif",
    )


@import_app.command()
def homes(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="FOLDER", help="Homes: folders of graph.json and tasks.json, or folders of such."),
    ] = None,
    *,
    vocabulary: VocabularyOption = None,
    vectors: VectorsOption = None,
    replaces: ReplaceOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count; write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Import homes with tasks given as desired states: your own folders, or our two."""
    from scenecypher.importers.adjusting import Adjustment

    adjustment = Adjustment(vocabulary, vectors=vectors)
    import_and_print(list(_of_homes(paths)), dry_run=dry_run, as_json=as_json, replaces=replaces, adjustment=adjustment)


@import_app.command()
def networkx(
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="Files, folders or globs of node-link JSON.")],
    *,
    declare: DeclareOption = None,
    strict: StrictOption = False,
    only: Annotated[str | None, typer.Option("--only", metavar="NAME", help="Only this file, without .json.")] = None,
    vocabulary: VocabularyOption = None,
    agent: AgentOption = None,
    place: PlaceOption = None,
    vectors: VectorsOption = None,
    replaces: ReplaceOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count; write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Import graphs that `networkx.node_link_data` wrote: your own nodes and edges in known words."""
    from scenecypher.db.schema import Declared
    from scenecypher.importers import networkx_json
    from scenecypher.importers.adjusting import Adjustment

    read = partial(networkx_json.read_scene, declare=Declared.of_names(declare or ()), strict=strict)
    suffixes = (".json", JSON_LINES)
    sources = list(sources_of_files(paths, read, prefix=networkx_json.NAME_PREFIX, suffixes=suffixes, only=only))
    import_and_print(
        sources,
        dry_run=dry_run,
        as_json=as_json,
        replaces=replaces,
        adjustment=Adjustment(vocabulary, agent, place, vectors),
        command="networkx",
    )


@import_app.command()
def dsg(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH", help="Files, folders or globs of spark-dsg JSON.")
    ] = None,
    *,
    labels: Annotated[
        list[Path] | None,
        typer.Option(
            "--labels", metavar="FILE", help="A label space, which names label numbers; a second is of rooms."
        ),
    ] = None,
    strict: StrictOption = False,
    watch: Annotated[
        Path | None,
        typer.Option("--watch", metavar="FILE|DIR", help="Import each new version of one map as it is written."),
    ] = None,
    versions: Annotated[
        int | None, typer.Option("--versions", min=1, help="With --watch: stop after this many versions.")
    ] = None,
    only: Annotated[str | None, typer.Option("--only", metavar="NAME", help="Only this file, without .json.")] = None,
    vocabulary: VocabularyOption = None,
    agent: AgentOption = None,
    place: PlaceOption = None,
    vectors: VectorsOption = None,
    replaces: ReplaceOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count; write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Import 3D scene graphs that Hydra or spark-dsg saved: objects, places, rooms, buildings, and where they are."""
    from scenecypher.importers import dsg as reader
    from scenecypher.importers.adjusting import Adjustment
    from scenecypher.importers.label_space import read_labels

    if bool(paths) == (watch is not None):
        raise InputError("give either the PATH of maps or a FILE or DIR to --watch")
    adjust = Adjustment(vocabulary, agent, place, vectors)
    if len(labels or ()) > 2:
        raise InputError("--labels is given more than twice; give that of objects, then that of rooms")
    objects, rooms, *_ = (*map(read_labels, labels or ()), None, None)
    read = partial(reader.read_scene, strict=strict, labels=objects, room_labels=rooms)
    if watch is not None:
        name = reader.NAME_PREFIX + (watch.resolve().name if watch.is_dir() else watch.stem)
        memory = reader.NodeMemory()

        def adjusted(path: Path) -> ImportedScene:
            return adjust(read(path, name=name, memory=memory))

        watch_and_print(watch, adjusted, versions=versions, as_json=as_json)
        return
    sources = list(sources_of_files(paths or (), read, prefix=reader.NAME_PREFIX, only=only))
    import_and_print(sources, dry_run=dry_run, as_json=as_json, replaces=replaces, adjustment=adjust, command="dsg")


@import_app.command("json")
def documents(
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="Files, folders or globs of scene documents.")],
    *,
    vocabulary: VocabularyOption = None,
    agent: AgentOption = None,
    place: PlaceOption = None,
    vectors: VectorsOption = None,
    replaces: ReplaceOption = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check and count; write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Import SceneCypher's own JSON documents, as `scenes export` writes them, under the names that stand in them."""
    from scenecypher.importers.adjusting import Adjustment

    adjustment = Adjustment(vocabulary, agent, place, vectors)
    import_and_print(
        list(_of_documents(paths)),
        dry_run=dry_run,
        as_json=as_json,
        replaces=replaces,
        adjustment=adjustment,
        command="json",
    )


def _of_documents(paths: Sequence[str]) -> Iterator[Source]:
    """Return a source for each document."""
    from scenecypher.importers.scene_json import read_document

    return _read_at_once(paths, read_document)


def _of_any(paths: Sequence[str], declared: Declared, *, strict: bool) -> Iterator[Source]:
    """Yield a source for each scene of files of known formats. Raises InputError for a path that is none."""
    from scenecypher.importers.detect import FORMATS, joined, read_scenes, suffixes

    for given in paths:
        if not has_magic(given) and not Path(given).exists():
            commands = (it.name or getattr(it.callback, "__name__", "") for it in import_app.registered_commands)
            hint = did_you_mean(given, tuple(dict.fromkeys((*FORMATS, *commands)))) if given.isidentifier() else ""
            raise InputError(f"there is no file {given[:200]!r}{hint}; check the path")
    has_folder = any(Path(given).is_dir() for given in paths)
    found: list[tuple[Path, ImportedScene]] = []
    for path, _ in files_at(paths, suffixes() if has_folder else (".json",)):
        try:
            if path.name.removesuffix(".gz").endswith(JSON_LINES):
                yield from _of_lines(path, declared, strict=strict)
            else:
                found += ((path, scene) for scene in read_scenes(path, declared=declared, strict=strict))
        except InputError as error:
            yield Source(str(path), path.name, partial(fail, error))
    for path, scene in joined(found):
        yield Source(str(path), scene.name, partial(_as_read, scene))


def _of_lines(path: Path, declared: Declared, *, strict: bool) -> Iterator[Source]:
    """Yield the source of each line, which is read when it is imported."""
    from scenecypher.importers.detect import prefix_of, read_scenes
    from scenecypher.importers.json_file import json_lines

    lines = json_lines(path)
    prefix = prefix_of(path, lines[0])

    def read(line: JsonLine, name: str) -> ImportedScene:
        return next(iter(read_scenes(path, declared=declared, strict=strict, line=line, name=name)))

    for line in lines:
        name = f"{prefix}/{line.number}"
        yield Source(f"{path}:{line.number}", name, partial(read, line, name))


def _read_at_once(paths: Sequence[str], read: Callable[[Path], ImportedScene]) -> Iterator[Source]:
    """Yield a source for each file, whose name stands in it. One that can't be read fails when it is imported."""
    for path, _ in files_at(paths):
        try:
            scene = read(path)
        except InputError as error:
            yield Source(str(path), path.name, partial(fail, error))
        else:
            yield Source(str(path), scene.name, partial(_as_read, scene))


def _as_read(scene: ImportedScene) -> ImportedScene:
    return scene


def _of_level(level: str, seeds: Sequence[int]) -> Iterator[Source]:
    from scenecypher.importers import babyai

    babyai.check_level(level)
    for seed in seeds:
        name = babyai.scene_name(level, seed)
        yield Source(name, name, partial(babyai.read_level, level, seed))


def _of_subset(subset: str, only: str | None) -> Iterator[Source]:
    found = _SUBSETS.get(subset)
    if found is None:
        hint = did_you_mean(subset[:60], tuple(_SUBSETS))
        raise InputError(f"no subset {subset[:60]!r} is known{hint}; give one of {', '.join(_SUBSETS)}")
    return found(only)


def _of_behavior(only: str | None) -> Iterator[Source]:
    from scenecypher.importers import behavior, behavior_definitions

    for activity in behavior_definitions.activities(only):
        name = behavior.scene_name(activity.name)
        yield Source(name, name, partial(behavior.activity_scene, activity))


def _of_robothow(only: str | None) -> Iterator[Source]:
    from scenecypher.importers import robothow

    for program in robothow.programs(only):
        name = robothow.scene_name(program.id)
        yield Source(name, name, partial(robothow.program_scene, program))


def _of_office(only: str | None, *, subset: str) -> Iterator[Source]:
    from scenecypher.importers import offices

    if only is not None:
        raise InputError(f"{subset} is one scene; leave out --only {only[:60]}")
    yield Source(offices.scene_name(subset), offices.scene_name(subset), partial(offices.scene, subset))


def _of_homes(paths: Sequence[str] | None) -> Iterator[Source]:
    from scenecypher.importers import homes as reader

    if not paths:
        yield from (Source(scene.name, scene.name, partial(_as_read, scene)) for scene in reader.scenes())
        return
    for folder in (folder for path in paths for folder in reader.folders(Path(path))):
        yield Source(str(folder), reader.scene_name(folder), partial(reader.read_scene, folder))


_SUBSETS: Final[Mapping[str, Callable[[str | None], Iterator[Source]]]] = {
    "sayplan-office": partial(_of_office, subset="sayplan-office"),
    "behavior-1k": _of_behavior,
    "robothow": _of_robothow,
    "our-office": partial(_of_office, subset="our-office"),
}
"""Functions that yield the sources of a subset's scenes, or of the one that `--only` names."""


def _of_grasif_files(paths: Sequence[str], only: str | None) -> Iterator[Source]:
    from scenecypher.importers import grasif, grasif_folder, grasif_pickle

    def read(path: Path, *, name: str) -> ImportedScene:
        pickled = path.suffix in grasif_pickle.SUFFIXES
        return (grasif_pickle.read_scene if pickled else grasif.read_scene)(path, name=name)

    suffixes = (".json", *grasif_pickle.SUFFIXES)
    found = sources_of_files(paths, read, prefix=grasif.NAME_PREFIX, suffixes=suffixes, only=only)
    return (source for source in found if Path(source.label).name != grasif_folder.TASKS)


def _of_package(only: str | None, parts: Sequence[GraphPart]) -> Iterator[Source]:
    from scenecypher.importers import eai, virtualhome

    for (task_id, path), part in product(eai.graph_files(only).items(), parts):
        name = virtualhome.NAME_PREFIX + task_id
        read = partial(virtualhome.read_graph, path, name=name, part=part, source=eai.source_of(path))
        yield Source(virtualhome.part_name(name, part), virtualhome.part_name(name, part), read)


def _of_files(paths: Sequence[str], only: str | None, parts: Sequence[GraphPart]) -> Iterator[Source]:
    from scenecypher.importers import virtualhome

    found = files_at(paths, (".json", JSON_LINES))
    files = [(path, virtualhome.scene_name(path, within=folder)) for path, folder in found]
    wanted = {name for _, name in files} if only is None else {virtualhome.NAME_PREFIX + only}
    chosen = [(path, name) for path, name in files if name in wanted]
    if not chosen:
        msg = f"none of the {len(files)} files is {only}.json or file{only}.json; leave out --only to import them all"
        raise InputError(msg)
    for (path, name), part in product(chosen, parts):
        for source in sources_of_file(path, partial(virtualhome.read_graph, part=part), name=name):
            yield replace(source, name=virtualhome.part_name(source.name, part))
