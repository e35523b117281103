"""An experiment as data: its tables, their rows and columns, and one episode for each task and row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from scenecypher.errors import InputError
from scenecypher.evaluation.episode import AssignmentCache, EpisodePlan, Perception
from scenecypher.evaluation.measures import PartsPlan
from scenecypher.evaluation.options import Names, split_names, take_spread
from scenecypher.evaluation.published import data_table
from scenecypher.evaluation.views import pictured_tasks
from scenecypher.importers.datasets import DATASETS
from scenecypher.importers.grasif_folder import read_pairs
from scenecypher.planner.methods import METHODS, recipe_named
from scenecypher.planner.methods.matrix import matrix_cell
from scenecypher.planner.worlds.perturbation import Perturbation

PAPER: Final = "paper"
"""Value of `methods` that selects the rows of the paper's table."""
OURS: Final = "ours"
"""Value of `methods` that selects our rows beside those of the paper."""
Observer: TypeAlias = Literal["", "gt", "simulated", "pictures"]
"""Observer of a row, if a table has several rows of one method: the paper's, ground truth, one that errs, pictures."""


@dataclass(frozen=True, slots=True)
class RowPlan:
    """Row of a table: the paper's `label`, and the settings that its episodes are played with.

    `observer` distinguishes it from another row of the same method; `absent` is the reason if it can never be played.
    `eyes` are those of its episodes, if others than the table's.
    """

    method: str
    label: str = ""
    ablations: tuple[str, ...] = ()
    observer: Observer = ""
    options: tuple[tuple[str, str], ...] = ()
    is_ours: bool = False
    absent: str = ""
    eyes: Perception | None = None

    @property
    def key(self) -> str:
        """Key of the row in its table, and its name for `--method`."""
        return "+".join((f"{self.method}-{self.observer}" if self.observer else self.method, *self.ablations))


def paper_rows(table: str) -> tuple[RowPlan, ...]:
    """Return the rows of a paper's table, such as ``sg2-1``: methods, each with what it leaves out, by their names."""
    ways = ((*_method_and_ablations(key), label) for key, label in data_table("rows")[table].items())
    return tuple(RowPlan(method, label, ablations) for method, ablations, label in ways)


def _method_and_ablations(key: str) -> tuple[str, tuple[str, ...]]:
    method, *ablations = (key,) if key in METHODS else key.split("+")
    return method, tuple(ablations)


GOALS_FIRST: Final = (RowPlan("goal-then-plan", is_ours=True), RowPlan("explore-then-plan", is_ours=True))
"""Our methods in the tables that they fit: the model states the goal, and an engine plans."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """Table: the keys of its `columns` in `scenecypher.evaluation.measures`, its rows, and the published table.

    `common` are the settings that its episodes share, and `tasks` their ids; tables of one group share the episodes of
    equal rows. `ours` are our rows, added by OURS. `moved` maps the tasks before which a thing is moved to their seeds.
    `published` is a paper's file and its table's key, `parts` the tables that are derived from this one.
    """

    key: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[RowPlan, ...]
    tasks: tuple[str, ...]
    common: EpisodePlan
    moved: Mapping[str, int] = field(default_factory=dict)
    published: tuple[str, str] = ("", "")
    settings: str = ""
    notes: tuple[str, ...] = ()
    ours: tuple[RowPlan, ...] = ()
    parts: PartsPlan | None = None

    @property
    def group(self) -> str:
        """Group of its episodes."""
        return self.common.group


@dataclass(frozen=True, slots=True)
class Experiment:
    """Input of `episodes_task`; `tables` have all rows, and those in `run`, as (group, key), are played."""

    name: str
    title: str
    tables: tuple[TablePlan, ...]
    assignments: AssignmentCache
    run: frozenset[tuple[str, str]]

    def episodes(self) -> Iterator[EpisodePlan]:
        """Yield the episodes, task by task, so that each scene is read once; shared episodes are played once."""
        groups: dict[str, list[TablePlan]] = {}
        for table in self.tables:
            groups.setdefault(table.group, []).append(table)
        for group, tables in groups.items():
            rows = {row.key: row for table in tables for row in table.rows if (group, row.key) in self.run}
            for task in tables[0].tasks:
                yield from (_episode(tables[0], row, task, is_first=not i) for i, row in enumerate(rows.values()))


def select_rows(
    name: str, title: str, tables: Sequence[TablePlan], *, methods: Names, assignments: AssignmentCache
) -> Experiment:
    """Return the experiment in which `methods` play `tables`.

    `methods` are names of rows, PAPER for a table's own rows, OURS for ours; ``METHOD+ABLATION`` leaves a part out.
    Raises InputError for an unknown one.
    """
    found = [_with_rows(table, split_names(methods)) for table in tables]
    run = frozenset((table.group, key) for table, keys in found for key in keys)
    return Experiment(name, title, tuple(table for table, _ in found), assignments, run)


def asks_model(word: str) -> bool:
    """Check that the row with this name for `--method` needs a model. Raises InputError for an unknown method."""
    method = word if word in METHODS else word.partition("+")[0]
    for observer in filter(None, get_args(Observer)):
        method = method.removesuffix(f"-{observer}")
    return word in {PAPER, OURS} or recipe_named(method).model


def _with_rows(table: TablePlan, words: Sequence[str]) -> tuple[TablePlan, list[str]]:
    ours = {row.key: row for row in table.ours}
    known, keys = {row.key: row for row in table.rows}, list[str]()
    for word in chain.from_iterable(ours if each == OURS else (each,) for each in words):
        if word == PAPER:
            keys += [row.key for row in table.rows if not row.absent]
            continue
        row = known.get(word) or ours.get(word) or _row(word)
        if row.absent:
            raise InputError(f"the row {word} can't be played: it {row.absent}; leave it out")
        known[word] = replace(row, absent=_absence(row.method, table.tasks))
        keys += [word] if not known[word].absent else []
    return replace(table, rows=tuple(known.values())), keys


def _absence(method: str, tasks: Sequence[str]) -> str:
    """Return the reason why a method does not apply to the tasks' data set; empty if it does."""
    cells = (matrix_cell(method, name) for name in {task.partition("/")[0] for task in tasks} & {*DATASETS})
    return next((found for found in cells if found.startswith("no meaning")), "")


def _row(word: str) -> RowPlan:
    method, ablations = _method_and_ablations(word)
    recipe_named(method).without(method, ablations)
    return RowPlan(method, ablations=ablations, is_ours=True)


def _episode(table: TablePlan, row: RowPlan, task: str, *, is_first: bool) -> EpisodePlan:
    fields: dict[str, Any] = {"row": row.key, "method": row.method, "ablations": row.ablations, "task": task}
    if task in table.moved:
        fields |= {"moved": 1, "seed": table.moved[task]}
    if row.eyes is not None:
        fields["eyes"] = row.eyes
    return table.common.model_copy(update={**fields, "sizes": table.common.sizes and is_first})


def folder_tasks(
    folder: str, like: TablePlan, *, paper: str, limit: int, seed: int | None
) -> tuple[list[TablePlan], AssignmentCache]:
    """Return a table `like` this one for each of GraSIF's subsets in a folder, and the tasks. Raises InputError.

    `paper` is the key of the published tables, before the subset's name; tasks of no subset have a table without one.
    If `like` has pictures, only their tasks are in the tables.
    """
    pairs = read_pairs(Path(folder))
    if shown := like.common.pictures:
        found = pictured_tasks(Path(shown), [pair.task.id for pair in pairs])
        pairs = tuple(pair for pair in pairs if pair.task.id in found)
    chosen = {
        subset: take_spread([pair for pair in pairs if pair.subset == subset], limit, seed)
        for subset in dict.fromkeys(pair.subset for pair in pairs)
    }
    name, all_pairs = Path(folder).resolve().name, [pair for found in chosen.values() for pair in found]
    tables = [
        replace(
            like,
            key=subset or name,
            title=f"GraSIF's own files in {name}{f', {subset}' if subset else ''}",
            tasks=tuple(pair.task.id for pair in found),
            common=like.common.model_copy(update={"group": subset or name}),
            published=("lookplangraph", f"{paper}{subset}") if paper and subset else ("", ""),
        )
        for subset, found in chosen.items()
    ]
    scenes = {pair.task.id: pair.scene for pair in all_pairs}
    return tables, AssignmentCache(
        (pair.task for pair in all_pairs),
        scenes=lambda task: scenes[task.id],
        ends={pair.task.id: pair.end for pair in all_pairs},
        moved={pair.task.id: Perturbation((), pair.moved) for pair in all_pairs if pair.moved is not None},
    )
