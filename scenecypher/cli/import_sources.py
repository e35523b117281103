"""Scenes that `scenecypher import` brings: those of data sets and of their files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scenecypher.cli.importing import JSON_LINES, Source, files_at, sources_of_file, sources_of_files
from scenecypher.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from scenecypher.db.graph.imported import ImportedScene
    from scenecypher.importers.virtualhome import GraphPart


def as_read(scene: ImportedScene) -> ImportedScene:
    """Return a scene that was read before."""
    return scene


def of_level(level: str, seeds: Sequence[int]) -> Iterator[Source]:
    """Yield the instances of a BabyAI level with these seeds. Raises InputError for an unknown level."""
    from scenecypher.importers import babyai

    babyai.check_level(level)
    for seed in seeds:
        yield Source.named(babyai.scene_name(level, seed), partial(babyai.read_level, level, seed))


def of_subset(subset: str, only: str | None) -> Iterator[Source]:
    """Return the scenes of one of SUBSETS, or the one of an id. Raises InputError."""
    found = SUBSETS.get(subset)
    if found is None:
        hint = did_you_mean(subset[:60], tuple(SUBSETS))
        raise InputError(f"no subset {subset[:60]!r} is known{hint}; give one of {', '.join(SUBSETS)}")
    return found(only)


def _of_behavior(only: str | None) -> Iterator[Source]:
    from scenecypher.importers import behavior

    for activity in behavior.activities(only):
        yield Source.named(behavior.scene_name(activity.name), partial(behavior.activity_scene, activity))


def _of_robothow(only: str | None) -> Iterator[Source]:
    from scenecypher.importers import robothow

    for program in robothow.programs(only):
        yield Source.named(robothow.scene_name(program.id), partial(robothow.program_scene, program))


def _of_office(only: str | None, *, subset: str) -> Iterator[Source]:
    from scenecypher.importers import grasif

    if only is not None:
        raise InputError(f"{subset} is one scene; leave out --only {only[:60]}")
    yield Source.named(grasif.NAME_PREFIX + subset, partial(grasif.scene, subset))


def of_homes(paths: Sequence[str] | None) -> Iterator[Source]:
    """Yield the homes in folders; without `paths` our own."""
    from scenecypher.importers import homes as reader

    if not paths:
        yield from (Source.named(scene.name, partial(as_read, scene)) for scene in reader.scenes())
        return
    for folder in (folder for path in paths for folder in reader.folders(Path(path))):
        yield Source(str(folder), reader.scene_name(folder), partial(reader.read_scene, folder))


SUBSETS: Final[Mapping[str, Callable[[str | None], Iterator[Source]]]] = {
    "sayplan-office": partial(_of_office, subset="sayplan-office"),
    "behavior-1k": _of_behavior,
    "robothow": _of_robothow,
    "our-office": partial(_of_office, subset="our-office"),
}
"""Functions that yield the sources of a subset's scenes, or of the one that `--only` names."""


def of_grasif_files(paths: Sequence[str], only: str | None) -> Iterator[Source]:
    """Yield the scenes of GraSIF's JSON files and pickles, without its lists of tasks."""
    from scenecypher.importers import grasif, grasif_folder, grasif_pickle

    suffixes = (".json", *grasif_pickle.SUFFIXES)
    found = sources_of_files(paths, grasif_pickle.read_scene, prefix=grasif.NAME_PREFIX, suffixes=suffixes, only=only)
    return (source for source in found if Path(source.label).name != grasif_folder.TASKS)


def of_package(only: str | None, parts: Sequence[GraphPart]) -> Iterator[Source]:
    """Yield the graphs that come with `eai-eval`, or those of one task."""
    from scenecypher.importers import virtualhome

    for (task_id, path), part in product(virtualhome.graph_files(only).items(), parts):
        name = virtualhome.NAME_PREFIX + task_id
        read = partial(virtualhome.read_graph, path, name=name, part=part, source=virtualhome.source_of(path))
        yield Source.named(virtualhome.part_name(name, part), read)


def of_files(paths: Sequence[str], only: str | None, parts: Sequence[GraphPart]) -> Iterator[Source]:
    """Yield the graphs of VirtualHome's files. Raises InputError if none is chosen."""
    from scenecypher.importers import virtualhome

    found = files_at(paths, (".json", *JSON_LINES))
    files = [(path, virtualhome.scene_name(path, within=folder)) for path, folder in found]
    wanted = {name for _, name in files} if only is None else {virtualhome.NAME_PREFIX + only}
    chosen = [(path, name) for path, name in files if name in wanted]
    if not chosen:
        msg = f"none of the {len(files)} files is {only}.json or file{only}.json; leave out --only to import them all"
        raise InputError(msg)
    for (path, name), part in product(chosen, parts):
        for source in sources_of_file(path, partial(virtualhome.read_graph, part=part), name=name):
            yield replace(source, name=virtualhome.part_name(source.name, part))
