"""The one table of data sets: their origin, the import of their scenes, and their scenes and tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any, Final, Literal, Protocol, TypeAlias

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.errors import InputError, did_you_mean
from scenecypher.importers.task import Task

ReadScenes: TypeAlias = Callable[[str | None], Iterator[ImportedScene]]
ReadTasks: TypeAlias = Callable[[str | None], Iterator[Task]]

ReadGraph: TypeAlias = Callable[[str], SceneGraph]
Family: TypeAlias = Literal["virtualhome", "grasif", "babyai", "questions"]
"""Kinds of tasks, as far as methods differ in them."""

NONE: Final = "-"
SEEDS: Final = 100
"""The listed instances of a generated level, as many as the papers have. A single instance may have any seed."""


class _DatasetModule(Protocol):
    """A module with both functions."""

    def scenes(self, only: str | None) -> Iterator[ImportedScene]: ...

    def tasks(self, only: str | None) -> Iterator[Task]: ...


@dataclass(frozen=True, slots=True)
class PaperFigures:
    """The papers' figures as printed, and the differences here with their reasons."""

    tasks: str = NONE
    rooms: str = NONE
    nodes: str = NONE
    actions: str = NONE
    difference: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Scenes and their tasks from one source.

    `name` is one word and its key in DATASETS. `import_command` imports a task's scene into the database; `{}` stands
    for the task's id within the data set. `family` tells which methods have a meaning for its tasks, `published` what
    papers print of it, and with `has_reference_plans` the shortest known plans of its tasks are stored.

    `read_scenes` and `read_tasks` take an id within the data set, or None for all. They raise InputError if the source
    is not installed or has no such id. `read_final_graph` returns the graph after a task's recorded program, by the
    task's id, for sources that have one. Use `tasks`, not `read_tasks`, for ids that are unique across data sets.
    """

    name: str
    title: str
    source: str
    import_command: str
    family: Family
    published: PaperFigures
    read_scenes: ReadScenes
    read_tasks: ReadTasks
    has_reference_plans: bool
    read_final_graph: ReadGraph | None = None

    def scenes(self, only: str | None = None) -> Iterator[ImportedScene]:
        """Return the scenes in the source's order, made one by one, or the one of the task `only`."""
        return self.read_scenes(only)

    def tasks(self, only: str | None = None) -> Iterator[Task]:
        """Yield the tasks under ids such as ``eai/963_2``: the data set's name, then the id within it."""
        for task in self.read_tasks(only):
            yield replace(task, id=f"{self.name}/{task.id}")

    def command(self, task_id: str) -> str:
        """Return the command that imports the scene of a task, given the task's id in `tasks`."""
        return self.import_command.format(task_id.removeprefix(f"{self.name}/"))


def dataset(name: str) -> Dataset:
    """Return the data set of this name. Raises InputError with the nearest names."""
    if name not in DATASETS:
        hint = did_you_mean(name[:60], tuple(DATASETS)) or f"; there are {', '.join(DATASETS)}"
        msg = f"no data set is called {name[:60]!r}{hint}"
        raise InputError(msg)
    return DATASETS[name]


def task(task_id: str) -> tuple[Dataset, Task]:
    """Return the data set and the task of an id such as ``eai/963_2``. Raises InputError."""
    name, slash, within = task_id.partition("/")
    if not slash or not within:
        msg = f"{task_id[:60]!r} is no task: ids look like eai/963_2; `scenecypher tasks list` shows them"
        raise InputError(msg)
    chosen = dataset(name)
    return chosen, next(chosen.tasks(within))


def _virtualhome_scenes(only: str | None) -> Iterator[ImportedScene]:
    from scenecypher.importers import eai, virtualhome

    return (virtualhome.packaged_scene(task_id) for task_id in eai.graph_files(only))


def _virtualhome_tasks(only: str | None) -> Iterator[Task]:
    from scenecypher.importers import virtualhome_tasks

    return virtualhome_tasks.tasks(only)


def _scenes(only: str | None, *, module: str) -> Iterator[ImportedScene]:
    return _module(module).scenes(only)


def _tasks(only: str | None, *, module: str) -> Iterator[Task]:
    return _module(module).tasks(only)


def _module(module: str) -> _DatasetModule:
    """Import a module of this package on first use, since most need optional packages."""
    found: Any = import_module(f"scenecypher.importers.{module}")
    source: _DatasetModule = found
    return source


def _virtualhome_end(task_id: str) -> SceneGraph:
    from scenecypher.importers import virtualhome

    return virtualhome.packaged_scene(task_id, part="final").graph


def _robothow_end(task_id: str) -> SceneGraph:
    from scenecypher.importers import robothow

    return robothow.program_scene(next(robothow.programs(task_id)), part="final").graph


def _office_scenes(only: str | None, *, subset: str) -> Iterator[ImportedScene]:
    from scenecypher.importers import offices

    if only is None or any(offices.tasks(subset, only)):
        yield offices.scene(subset)


def _office_tasks(only: str | None, *, subset: str) -> Iterator[Task]:
    from scenecypher.importers import offices

    return offices.tasks(subset, only)


def _level_scenes(only: str | None, *, level: str) -> Iterator[ImportedScene]:
    from scenecypher.importers import babyai

    return (babyai.read_level(level, seed) for seed in _seeds(only))


def _level_tasks(only: str | None, *, level: str) -> Iterator[Task]:
    from scenecypher.importers import babyai

    for seed in _seeds(only):
        found = babyai.read_task(level, seed)
        if found is not None:
            yield replace(found, id=str(seed))


def _seeds(only: str | None) -> range:
    if only is None:
        return range(SEEDS)
    if not (only.isascii() and only.isdecimal() and len(only) <= 18):
        msg = f"{only[:60]!r} is no seed; give a whole number from 0, as in trv1/7"
        raise InputError(msg)
    return range(int(only), int(only) + 1)


def _office(subset: str, title: str, published: PaperFigures) -> Dataset:
    return Dataset(
        name=subset,
        title=title,
        source="SceneCypher, made by hand",
        import_command=f"scenecypher import grasif --subset {subset}",
        family="grasif",
        published=published,
        has_reference_plans=True,
        read_scenes=partial(_office_scenes, subset=subset),
        read_tasks=partial(_office_tasks, subset=subset),
    )


def _level(level: str, title: str, family: Family, published: PaperFigures) -> Dataset:
    return Dataset(
        name=level,
        title=title,
        source="MiniGrid, made from level and seed",
        import_command=f"scenecypher import babyai --level {level} --seed {{}}",
        family=family,
        published=published,
        has_reference_plans=False,
        read_scenes=partial(_level_scenes, level=level),
        read_tasks=partial(_level_tasks, level=level),
    )


DATASETS: Final[Mapping[str, Dataset]] = {
    row.name: row
    for row in (
        Dataset(
            name="eai",
            title="VirtualHome, as the Embodied Agent Interface sets it",
            source="eai-eval",
            import_command="scenecypher import virtualhome --only {}",
            family="virtualhome",
            published=PaperFigures(
                "338",
                difference="342 ids are listed, of which four have no goal; the scenes are those of all recorded "
                "programs",
            ),
            read_scenes=_virtualhome_scenes,
            read_tasks=_virtualhome_tasks,
            has_reference_plans=False,
            read_final_graph=_virtualhome_end,
        ),
        Dataset(
            name="behavior-1k",
            title="BEHAVIOR-1K's activities of moving things about",
            source="bddl",
            import_command="scenecypher import grasif --subset behavior-1k --only {}",
            family="grasif",
            published=PaperFigures(
                "177",
                "1.23",
                "12.1",
                "9.8",
                "all activities of `bddl` 3.5.0 whose predicates are those the paper allows; which eleven of them the "
                "paper's annotators dropped besides, and what they added to the scenes, is not said",
            ),
            read_scenes=partial(_scenes, module="behavior"),
            read_tasks=partial(_tasks, module="behavior"),
            has_reference_plans=True,
        ),
        Dataset(
            name="robothow",
            title="RobotHow's programs of moving and switching things, in GraSIF's terms",
            source="eai-eval",
            import_command="scenecypher import grasif --subset robothow --only {}",
            family="grasif",
            published=PaperFigures(
                "308",
                "4",
                "195.7",
                "3.1",
                "the paper's filters on the public programs: 111 of 518 pass, all in one home, and fifteen of these "
                "leave all but the robot as it was, so that they set no task; the paper had programs that are not "
                "public",
            ),
            read_scenes=partial(_scenes, module="robothow"),
            read_tasks=partial(_tasks, module="robothow"),
            has_reference_plans=True,
            read_final_graph=_robothow_end,
        ),
        _office(
            "sayplan-office",
            "An office of 37 rooms, as large as SayPlan's",
            PaperFigures(
                "29",
                "37",
                "202.6",
                "4.2",
                "the paper's authors rebuilt SayPlan's office and have not published it; ours is another office of "
                "that size, one scene for all tasks, and its instructions are our own: fifteen errands and fourteen "
                "long tasks, as in the planning sections of SayPlan",
            ),
        ),
        _office(
            "our-office",
            "An office of seven rooms, as large as that of LookPlanGraph's trial with a person",
            PaperFigures(
                "15",
                "7",
                difference="the paper counts 75 assets and 130 objects, as here; with rooms and agent these are 213 "
                "nodes",
            ),
        ),
        Dataset(
            name="homes",
            title="Two homes of ours, the same ten tasks in each",
            source="SceneCypher, made by hand",
            import_command="scenecypher import homes",
            family="virtualhome",
            published=PaperFigures(
                "10 a home",
                NONE,
                "115",
                NONE,
                "the papers' homes are not ours to ship; these are two others of that size, with the same ten tasks in "
                "each, the five that the paper prints among them; two are examples with their program, eight are "
                "tested",
            ),
            read_scenes=partial(_scenes, module="homes"),
            read_tasks=partial(_tasks, module="homes"),
            has_reference_plans=True,
        ),
        _level(
            "trv1",
            "BabyAI, traversal with a blocked door",
            "babyai",
            PaperFigures("100", "2", difference="one instance a seed; the root, a node too, is no room"),
        ),
        _level(
            "trv2",
            "BabyAI, traversal with a door blocked on both sides",
            "babyai",
            PaperFigures("100", "2", difference="likewise"),
        ),
        _level(
            "numqa",
            "BabyAI, questions that take counting",
            "questions",
            PaperFigures("100", "9", difference="likewise; its tasks are questions"),
        ),
    )
}
"""The data sets by name, with which the ids of their tasks begin."""
