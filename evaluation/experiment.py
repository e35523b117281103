"""An experiment as data: its tables, their rows and columns, and an episode for each task and row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias, get_args

from scenecypher.errors import InputError
from scenecypher.evaluation.book import Book
from scenecypher.evaluation.episode import Episode
from scenecypher.evaluation.options import Names, listed
from scenecypher.planner.methods import METHODS, recipe_named
from scenecypher.planner.methods.matrix import SETS, matrix_cell

PAPER: Final = "paper"
"""In place of methods: the rows that the paper's table has."""
Observer: TypeAlias = Literal["", "gt", "simulated"]
"""Who looks, where a table has several rows of a method: whoever the paper has, the ground truth, or one that errs."""


@dataclass(frozen=True, slots=True)
class RowPlan:
    """A row: how the paper writes it (`label`), and what its episodes are played with.

    `observer` tells it apart from another of the same method; `absent` says why it is not played, ever.
    """

    method: str
    label: str = ""
    ablations: tuple[str, ...] = ()
    observer: Observer = ""
    options: tuple[tuple[str, str], ...] = ()
    is_ours: bool = False
    absent: str = ""

    @property
    def key(self) -> str:
        """The row's key in its table, and what `--method` takes."""
        return "+".join((f"{self.method}-{self.observer}" if self.observer else self.method, *self.ablations))


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A table: the keys of its `columns` in `scenecypher.evaluation.measures`, its rows, and where it is published.

    `like` is what its episodes have in common, `tasks` their ids; tables of one group share the episodes of equal rows.
    `moved` are those before which a thing is moved, with the seed. `published` is a paper's file and its table's key.
    """

    key: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[RowPlan, ...]
    tasks: tuple[str, ...]
    like: Episode
    moved: Mapping[str, int] = field(default_factory=dict)
    published: tuple[str, str] = ("", "")
    settings: str = ""
    notes: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """What its episodes have as theirs."""
        return self.like.group


@dataclass(frozen=True, slots=True)
class Experiment:
    """What `evaluation/episodes.py` makes a task of. `tables` have all rows; those in `run`, by group, are played."""

    name: str
    title: str
    tables: tuple[TablePlan, ...]
    book: Book
    run: frozenset[tuple[str, str]]

    def episodes(self) -> Iterator[Episode]:
        """Task by task, a method after the other, so that a scene is read once; what tables share is played once."""
        groups: dict[str, list[TablePlan]] = {}
        for table in self.tables:
            groups.setdefault(table.group, []).append(table)
        for group, tables in groups.items():
            rows = {row.key: row for table in tables for row in table.rows if (group, row.key) in self.run}
            for task in tables[0].tasks:
                yield from (_episode(tables[0], row, task, is_first=not i) for i, row in enumerate(rows.values()))


def planned(name: str, title: str, tables: Sequence[TablePlan], *, methods: Names, book: Book) -> Experiment:
    """The experiment in which `methods` play `tables`, as `with_methods` has them. Raises InputError."""
    wanted, run = with_methods(tables, methods)
    return Experiment(name, title, wanted, book, run)


def with_methods(
    tables: Sequence[TablePlan], methods: Names
) -> tuple[tuple[TablePlan, ...], frozenset[tuple[str, str]]]:
    """The tables with rows for `methods`, and which rows are to be played.

    `methods` are the names of rows, PAPER for the table's own; ``METHOD+ABLATION`` leaves a part out.
    Raises InputError for an unknown one.
    """
    found = [_wanted(table, listed(methods)) for table in tables]
    run = frozenset((table.group, key) for table, keys in found for key in keys)
    return tuple(table for table, _ in found), run


def asks_model(word: str) -> bool:
    """Whether the row that `--method` names so needs a model. Raises InputError for no method's."""
    method = word if word in METHODS else word.partition("+")[0]
    for observer in filter(None, get_args(Observer)):
        method = method.removesuffix(f"-{observer}")
    return word == PAPER or recipe_named(method).model


def _wanted(table: TablePlan, words: Sequence[str]) -> tuple[TablePlan, list[str]]:
    known, keys = {row.key: row for row in table.rows}, list[str]()
    for word in words:
        if word == PAPER:
            keys += [row.key for row in table.rows if not row.absent]
            continue
        row = known[word] if word in known else _row(word)
        if row.absent:
            raise InputError(f"the row {word} can't be played, for it {row.absent}; leave it out")
        known[word] = replace(row, absent=_meaningless(row.method, table.tasks))
        keys += [word] if not known[word].absent else []
    return replace(table, rows=tuple(known.values())), keys


def _meaningless(method: str, tasks: Sequence[str]) -> str:
    """Why a method has no meaning for the tasks' data set."""
    names = {task.partition("/")[0] for task in tasks} & {*SETS}
    return next(
        (found for found in (matrix_cell(method, name) for name in names) if found.startswith("no meaning")), ""
    )


def _row(word: str) -> RowPlan:
    method, *ablations = (word,) if word in METHODS else word.split("+")
    recipe_named(method).without(method, tuple(ablations))
    return RowPlan(method, ablations=tuple(ablations), is_ours=True)


def _episode(table: TablePlan, row: RowPlan, task: str, *, is_first: bool) -> Episode:
    said: dict[str, Any] = {"row": row.key, "method": row.method, "ablations": row.ablations, "task": task}
    if task in table.moved:
        said |= {"moved": 1, "seed": table.moved[task]}
    return table.like.model_copy(update={**said, "sizes": table.like.sizes and is_first})
