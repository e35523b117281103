"""`scenecypher import`: the commands of all formats; and `scenecypher domain`: a scene's own actions, from PDDL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from glob import has_magic
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from scenecypher.cli.context import open_store, progress_bar, say, show
from scenecypher.cli.importing import (
    JSON_LINES,
    Source,
    adjustment_of,
    files_at,
    import_and_print,
    sources_of_file,
    sources_of_files,
    watch_and_print,
)
from scenecypher.cli.options import AsJson, AsTheyAre, ImportOptions, InVocabulary, Name, argument, option, with_options
from scenecypher.errors import InputError, did_you_mean
from scenecypher.wording import counted

if TYPE_CHECKING:
    from scenecypher.db.graph.imported import ImportedScene
    from scenecypher.db.schema import Declared
    from scenecypher.importers.json_file import JsonLine
    from scenecypher.importers.virtualhome import GraphPart

domain_app = typer.Typer(name="domain", help="A scene's own actions, from a PDDL domain.", no_args_is_help=True)
DomainFile = Annotated[Path, argument("DOMAIN", "A PDDL domain, such as kitchen.pddl.")]
MappingOption = Annotated[
    Path | None, option("--mapping", "FILE", "TOML that says how predicates and types are stored.")
]


class _ByContent(TyperGroup):
    """The commands by format; what is none of them is the path of a file whose content decides."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the command for any file before what names no format, and asks for no help."""
        is_format = not args or args[0] in ctx.help_option_names or self.get_command(ctx, args[0]) is not None
        return super().parse_args(ctx, args if is_format else [ANY, *args])


ANY: Final = "any"
SUBSETS: Final = ("sayplan-office", "behavior-1k", "robothow", "our-office")
"""The parts of GraSIF."""
DeclareOption = Annotated[
    list[str] | None, option("--declare", "NAME", "A RELATION_TYPE or property of your own; repeat it.")
]
StrictOption = Annotated[bool, option("--strict", "Refuse what would be left out: NaN, and weights of edges.")]
import_app = typer.Typer(
    name="import", cls=_ByContent, help="Bring scenes into the database: FILE, or by format.", no_args_is_help=True
)


@import_app.command(ANY)
@with_options
def any_file(
    paths: Annotated[list[str], argument("PATH", "Files, folders or globs, in formats that are known.")],
    *,
    declare: DeclareOption = None,
    strict: StrictOption = False,
    how: ImportOptions,
) -> None:
    """Import files whose content tells their format; `any` may be left out."""
    from scenecypher.db.schema import Declared

    import_and_print(_of_any(paths, Declared.of_names(declare or ()), strict=strict), how)


@import_app.command()
@with_options
def virtualhome(
    paths: Annotated[
        list[str] | None, argument("PATH", "Files, folders or globs of environment graphs; else the public data.")
    ] = None,
    *,
    only: Annotated[str | None, option("--only", "ID", "Only this task, such as 963_2.")] = None,
    final: Annotated[bool, option("--final", "Also the graph after each program, as NAME@final.")] = False,
    how: InVocabulary,
) -> None:
    """Import VirtualHome environment graphs: your own, or the 518 of the Embodied Agent Interface."""
    parts: tuple[GraphPart, ...] = ("initial", "final") if final else ("initial",)
    sources = _of_graph_files(paths, only, parts) if paths else _of_package(only, parts)
    import_and_print(sources, how, command="virtualhome")


def _of_package(only: str | None, parts: Sequence[GraphPart]) -> Iterator[Source]:
    """Yield the graphs that come with `eai-eval`, or those of one task."""
    from scenecypher.importers import virtualhome

    for (task_id, path), part in product(virtualhome.graph_files(only).items(), parts):
        name = virtualhome.NAME_PREFIX + task_id
        read = partial(virtualhome.read_graph, path, name=name, part=part, source=virtualhome.source_of(path))
        yield Source.named(virtualhome.part_name(name, part), read)


def _of_graph_files(paths: Sequence[str], only: str | None, parts: Sequence[GraphPart]) -> Iterator[Source]:
    """Yield the graphs of VirtualHome's files. Raises InputError if none is chosen."""
    from scenecypher.importers import virtualhome

    files = [
        (path, virtualhome.scene_name(path, within=folder)) for path, folder in files_at(paths, (".json", *JSON_LINES))
    ]
    chosen = [(path, name) for path, name in files if only is None or name == virtualhome.NAME_PREFIX + only]
    if not chosen:
        msg = f"none of the {len(files)} files is {only}.json or file{only}.json; leave out --only to import them all"
        raise InputError(msg)
    for (path, name), part in product(chosen, parts):
        for source in sources_of_file(path, partial(virtualhome.read_graph, part=part), name=name):
            yield replace(source, name=virtualhome.part_name(source.name, part))


@import_app.command()
@with_options
def babyai(
    *,
    level: Annotated[str, option("--level", "trv1, trv2, numqa, or any id of MiniGrid.")],
    seed: Annotated[int, option("--seed", "The seed of the first instance.", min=0)] = 0,
    count: Annotated[int, option("--count", "How many instances: SEED, SEED + 1, …", min=1)] = 1,
    how: InVocabulary,
) -> None:
    """Import instances of a BabyAI level: two of traversal, one of questions, or one of MiniGrid's own."""
    from scenecypher.importers import babyai

    babyai.check_level(level)
    read = partial(babyai.read_level, level)
    numbers = range(seed, seed + count)
    import_and_print([Source.named(f"{babyai.NAME_PREFIX}{level}/{it}", partial(read, it)) for it in numbers], how)


@import_app.command()
@with_options
def grasif(
    paths: Annotated[
        list[str] | None, argument("PATH", "Files, folders or globs of GraSIF JSON or pickles; else a --subset.")
    ] = None,
    *,
    subset: Annotated[
        str | None, option("--subset", "NAME", "sayplan-office, behavior-1k, robothow or our-office.")
    ] = None,
    only: Annotated[str | None, option("--only", "ID", "Only this scene.")] = None,
    how: InVocabulary,
) -> None:
    """Import GraSIF scenes: your own JSON files or pickled graphs, or a part of the data set, rebuilt."""
    if bool(paths) == (subset is not None):
        raise InputError(f"give either the PATH of GraSIF files or a --subset: {', '.join(SUBSETS)}")
    sources = _of_grasif_files(paths, only) if paths else _of_subset(subset or "", only)
    import_and_print(sources, how, command="grasif")


def _of_subset(subset: str, only: str | None) -> Iterator[Source]:
    """Return the scenes of one of SUBSETS, or the one of an id. Raises InputError."""
    from scenecypher.importers import behavior, robothow
    from scenecypher.importers import grasif as offices

    if subset not in SUBSETS:
        hint = did_you_mean(subset[:60], SUBSETS)
        raise InputError(f"no subset {subset[:60]!r} is known{hint}; give one of {', '.join(SUBSETS)}")
    if subset == "behavior-1k":
        for activity in behavior.activities(only):
            yield Source.named(behavior.SCENES + activity.name, partial(behavior.activity_scene, activity))
    elif subset == "robothow":
        for program in robothow.programs(only):
            yield Source.named(robothow.SCENES + program.id, partial(robothow.program_scene, program))
    elif only is not None:
        raise InputError(f"{subset} is one scene; leave out --only {only[:60]}")
    else:
        yield Source.named(offices.NAME_PREFIX + subset, partial(offices.scene, subset))


def _of_grasif_files(paths: Sequence[str], only: str | None) -> Iterator[Source]:
    """Yield the scenes of GraSIF's JSON files and pickles, without its lists of tasks."""
    from scenecypher.importers import grasif, grasif_folder, grasif_pickle

    suffixes = (".json", *grasif_pickle.SUFFIXES)
    found = sources_of_files(paths, grasif_pickle.read_scene, prefix=grasif.NAME_PREFIX, suffixes=suffixes, only=only)
    return (source for source in found if Path(source.label).name != grasif_folder.TASKS)


@import_app.command()
@with_options
def homes(
    paths: Annotated[
        list[str] | None, argument("FOLDER", "Homes: folders of graph.json and tasks.json, or folders of such.")
    ] = None,
    *,
    how: Annotated[ImportOptions, {"vocabulary", "vectors", "replaces", "dry_run", "as_json"}],
) -> None:
    """Import homes with tasks given as desired states: your own folders, or our two."""
    from scenecypher.importers import homes as reader

    folders = [folder for path in paths or () for folder in reader.folders(Path(path))]
    found = [Source(str(it), reader.NAME_PREFIX + it.name, partial(reader.read_scene, it)) for it in folders]
    ours = () if paths else reader.scenes()
    import_and_print([*found, *(Source.read_already(it.name, it) for it in ours)], how)


@import_app.command()
@with_options
def networkx(
    paths: Annotated[list[str], argument("PATH", "Files, folders or globs of node-link JSON.")],
    *,
    declare: DeclareOption = None,
    strict: StrictOption = False,
    only: Annotated[str | None, option("--only", "NAME", "Only this file, without .json.")] = None,
    how: ImportOptions,
) -> None:
    """Import graphs that `networkx.node_link_data` wrote: your own nodes and edges in known words."""
    from scenecypher.db.schema import Declared
    from scenecypher.importers.detect import read_scenes
    from scenecypher.importers.networkx_json import NAME_PREFIX

    read_all = partial(read_scenes, file_format="networkx", declared=Declared.of_names(declare or ()), strict=strict)

    def read(path: Path, *, name: str, line: JsonLine | None = None) -> ImportedScene:
        return next(read_all(path, name=name, line=line))

    suffixes = (".json", *JSON_LINES)
    sources = sources_of_files(paths, read, prefix=NAME_PREFIX, suffixes=suffixes, only=only)
    import_and_print(sources, how, command="networkx")


@import_app.command()
@with_options
def dsg(
    paths: Annotated[list[str] | None, argument("PATH", "Files, folders or globs of spark-dsg JSON.")] = None,
    *,
    labels: Annotated[
        list[Path] | None, option("--labels", "FILE", "A label space, which names label numbers; a second is of rooms.")
    ] = None,
    strict: StrictOption = False,
    watch: Annotated[
        Path | None, option("--watch", "FILE|DIR", "Import each new version of one map as it is written.")
    ] = None,
    versions: Annotated[int | None, option("--versions", "With --watch: stop after this many versions.", min=1)] = None,
    only: Annotated[str | None, option("--only", "NAME", "Only this file, without .json.")] = None,
    how: ImportOptions,
) -> None:
    """Import 3D scene graphs that Hydra or spark-dsg saved: objects, places, rooms, buildings, and where they are."""
    from scenecypher.importers import dsg as reader
    from scenecypher.importers.dsg_format import read_labels

    if bool(paths) == (watch is not None):
        raise InputError("give either the PATH of maps or a FILE or DIR to --watch")
    if watch is not None and (only or how.dry_run or how.replaces):
        raise InputError("--watch writes each version of one map; leave out --only, --dry-run and --replace")
    if watch is None and versions is not None:
        raise InputError("--versions counts those of a map that is watched; give --watch, or leave it out")
    if len(labels or ()) > 2:
        raise InputError("--labels is given more than twice; give that of objects, then that of rooms")
    objects, rooms, *_ = (*map(read_labels, labels or ()), None, None)
    read = partial(reader.read_scene, strict=strict, labels=objects, room_labels=rooms)
    if watch is not None:
        name = reader.NAME_PREFIX + (watch.resolve().name if watch.is_dir() else watch.stem)
        adjust = adjustment_of(how)

        def adjusted(path: Path) -> ImportedScene:
            return adjust(read(path, name=name))

        watch_and_print(watch, adjusted, versions=versions, as_json=how.as_json)
        return
    sources = sources_of_files(paths or (), read, prefix=reader.NAME_PREFIX, only=only)
    import_and_print(sources, how, command="dsg")


@import_app.command("json")
@with_options
def documents(
    paths: Annotated[list[str], argument("PATH", "Files, folders or globs of scene documents.")], *, how: ImportOptions
) -> None:
    """Import SceneCypher's own JSON documents, as `scenes export` writes them, under the names that stand in them."""
    import_and_print(_of_documents(paths), how, command="json")


def _of_documents(paths: Sequence[str]) -> Iterator[Source]:
    """Yield a source for each document, whose name stands in it. One that can't be read fails when it is imported."""
    from scenecypher.importers.detect import read_any

    for path, _ in files_at(paths):
        try:
            scene = read_any(path, file_format="json")
        except InputError as error:
            yield Source.failed(path, error)
        else:
            yield Source.read_already(path, scene)


def _of_any(paths: Sequence[str], declared: Declared, *, strict: bool) -> Iterator[Source]:
    """Yield a source for each scene of files of known formats. Raises InputError for a path that is none."""
    from scenecypher.importers.detect import FORMATS, is_scene_folder, joined, read_scenes, suffixes

    for given in paths:
        if not has_magic(given) and not Path(given).exists():
            commands = (it.name or getattr(it.callback, "__name__", "") for it in import_app.registered_commands)
            hint = did_you_mean(given, tuple(dict.fromkeys((*FORMATS, *commands)))) if given.isidentifier() else ""
            raise InputError(f"there is no file {given[:200]!r}{hint}; check the path")
    has_folder = any(Path(given).is_dir() for given in paths)
    found: list[tuple[Path, ImportedScene]] = []
    maps = [Path(given) for given in paths if is_scene_folder(Path(given))]
    rest = [given for given in paths if Path(given) not in maps]
    files = [*maps, *(it for it, _ in files_at(rest, suffixes() if has_folder else (".json",)))]
    with progress_bar("reading") as progress:
        for done, path in enumerate(files):
            progress(done, len(files) if len(files) > 1 else None)
            try:
                if path.name.removesuffix(".gz").endswith(JSON_LINES):
                    yield from _of_lines(path, declared, strict=strict)
                else:
                    found += ((path, scene) for scene in read_scenes(path, declared=declared, strict=strict))
            except InputError as error:
                yield Source.failed(path, error)
    for path, scene in joined(found):
        yield Source.read_already(path, scene)


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


@domain_app.command()
def add(scene: Name, domain: DomainFile, *, mapping: MappingOption = None, as_json: AsJson = False) -> None:
    """Give a scene the actions of a PDDL domain in place of its vocabulary's; its graph and history stay.

    Several domains add up; one of a name that the scene has replaces that one.

    Predicates become states, relations, classes and kinds by their names, or as a mapping file says. What can't be
    mapped is named with its line (exit code 2).
    """
    from scenecypher.planner.vocabularies.own_actions import add_actions

    with open_store() as store:
        added = add_actions(store, scene, domain, mapping=mapping)
    names = [action.name for action in added.domain.actions]
    notes = added.domain.notes
    document = {"scene": scene, "domain": added.domain.name, "actions": names, "stored_as": {**added.forms}}
    document |= {"notes": [*notes]} if notes else {}
    instead = " in place of its earlier ones" if added.replaced else ""
    also = f", besides those of {', '.join(added.besides)}" if added.besides else ""
    head = f"{scene} has {counted(len(names), 'action')} of the domain {added.domain.name}{instead}{also}:"
    forms = (f"  {name}: {form}" for name, form in added.forms.items())
    lines = (head, f"  {', '.join(names)}", "predicates are stored as:", *forms, *notes)
    show(document, *lines, as_json=as_json)


@domain_app.command()
def remove(scene: Name) -> None:
    """Take a scene's own actions away: it has those of its vocabulary again. Its graph and history stay."""
    from scenecypher.planner.vocabularies.own_actions import remove_actions

    with open_store() as store:
        info = remove_actions(store, scene)
    say(f"{scene} has the actions of the vocabulary {info.vocabulary}")


@domain_app.command("show")
def show_domain(scene: Name) -> None:
    """Print the PDDL domain of a scene's own actions."""
    with open_store() as store:
        declared = store.find(scene).declared
    if not declared.domain:
        raise InputError(f"{scene} has no actions of its own; `scenecypher act {scene} --list` shows those that it has")
    typer.echo(declared.domain, nl=False)


@import_app.command("pddl")
@with_options
def import_pddl(
    problem: Annotated[Path, argument("PROBLEM", "A PDDL problem.")],
    *,
    domain: Annotated[Path, option("--domain", "DOMAIN", "The PDDL domain of the problem.")],
    mapping: MappingOption = None,
    name: Annotated[str | None, option("--name", "The scene's name; else pddl/ and the problem's.")] = None,
    how: AsTheyAre,
) -> None:
    """Import a PDDL problem: its objects and initial facts as a scene, its domain's actions, its goal for `plan`."""
    from scenecypher.planner.vocabularies.own_actions import NAME_PREFIX, read_pddl_scene

    named = name or NAME_PREFIX + problem.stem
    read = partial(read_pddl_scene, problem, domain, mapping=mapping, name=named)
    import_and_print([Source(str(problem), named, read)], how)
