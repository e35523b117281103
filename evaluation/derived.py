"""Tables derived from those of a run: changes of a method over a baseline, and tokens by iteration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from scenecypher.evaluation.episode import Trace
from scenecypher.evaluation.result import Cell, Column, Row, Table
from scenecypher.evaluation.run_result import mean_cell, share_cell
from scenecypher.importers.babyai import ANSWER_FAULTS

Samples: TypeAlias = Sequence[Mapping[str, float]]
"""Figures by name of each sample of a row."""
Counted: TypeAlias = Literal["all agents", "the agent that decides"]

MAX_ITERATIONS: Final = 12
"""Iterations that have a column; later ones are few samples' own."""
ITERATION: Final[Mapping[Counted, str]] = {"all agents": "iteration", "the agent that decides": "own_iteration"}
"""Names of the figures of a sample, before their numbers."""
FAULT: Final = "fault: "
"""Beginning of the name of the figure of a wrong answer's kind."""
REFERENCES: Final = (("rounds", "rounds"), ("graph", "graph's tokens"), ("cot", "CoT's tokens"))


@dataclass(frozen=True, slots=True)
class PartsPlan:
    """Tables of parts: `tokens` of each iteration of `method`, and `faults` of all rows, each a paper's figure."""

    tokens: str
    method: str
    counted: Counted = "all agents"
    faults: str = ""


def change_table(table: Table, *, of: str, over: str, columns: Sequence[str], title: str, number: str) -> Table:
    """Return the relative changes of the method `of` over the method `over`, in the rows that differ in nothing else.

    `number` is the published table's.
    """
    chosen = [column for column in table.columns if column.key in columns]
    return Table(
        key=f"{table.key}-changes-{number}",
        samples=table.samples or table.key,
        title=title,
        columns=tuple(
            Column(key=it.key, heading=it.heading, unit="change", better=it.better, second=it.second) for it in chosen
        ),
        rows=tuple(_changed_rows(table.rows, of, over, columns)),
        published=tuple(_changed_rows(table.published, of, over, columns)),
        paper=table.paper,
        paper_table=number,
    )


def _changed_rows(rows: Sequence[Row], of: str, over: str, columns: Sequence[str]) -> Iterator[Row]:
    before = {_way(row): row for row in rows if row.method == over}
    for row in (row for row in rows if row.method == of and _way(row) in before):
        base = before[_way(row)]
        pairs = {key: (base.cells[key], row.cells[key]) for key in columns if key in base.cells and key in row.cells}
        cells = {key: Cell(value=_change(*pair), n=pair[1].n) for key, pair in pairs.items()}
        yield row.model_copy(update={"cells": cells})


def _way(row: Row) -> tuple[str, str]:
    return row.model, row.options.get("prompt", "")


def _change(before: Cell, after: Cell) -> float | None:
    """Return the relative change in percent; n/a from nothing."""
    if not isinstance(before.value, float) or not isinstance(after.value, float) or not before.value:
        return None
    return 100 * (after.value - before.value) / before.value


def part_figures(trace: Trace) -> dict[str, float]:
    """Return the figures of a sample that derived tables have: tokens of each iteration, and what went wrong."""
    tokens = {
        f"{name}_{number}": float(count)
        for number, pair in enumerate(trace.iterations[:MAX_ITERATIONS], 1)
        for name, count in zip(ITERATION.values(), pair, strict=True)
    }
    return tokens | ({FAULT + trace.fault: 1.0} if trace.fault else {})


def part_tables(table: Table, plan: PartsPlan, samples: Mapping[str, Samples]) -> Iterator[Table]:
    """Yield the tables of a plan for which a row was played; `samples` are those of each method."""
    played = [row for row in table.rows if row.cells and samples.get(row.method)]
    yield from (_iteration_table(table, row, plan, samples[row.method]) for row in played if row.method == plan.method)
    if plan.faults and played:
        yield _fault_table(table, played, plan.faults, samples)


def _iteration_table(table: Table, row: Row, plan: PartsPlan, samples: Samples) -> Table:
    """Return the mean tokens of each iteration, over the samples that have it."""
    name = ITERATION[plan.counted]
    numbers = [n for n in range(1, MAX_ITERATIONS + 1) if any(f"{name}_{n}" in one for one in samples)]
    heads = {**dict(REFERENCES), **{f"{name}_{n}": str(n) for n in numbers}}
    return Table(
        key=f"{table.key}-iterations",
        samples=table.samples,
        title=f"{table.title}: tokens of each iteration, {plan.counted}",
        columns=tuple(
            Column(key=key, heading=head, unit="number", better="neither", interval="bootstrap")
            for key, head in heads.items()
        ),
        rows=(
            row.model_copy(
                update={"cells": {key: mean_cell([one[key] for one in samples if key in one]) for key in heads}}
            ),
        ),
        paper=table.paper,
        paper_table=plan.tokens,
        notes=("the mean over the samples that have the iteration; the paper prints no numbers",),
    )


def _fault_table(table: Table, played: Sequence[Row], figure: str, samples: Mapping[str, Samples]) -> Table:
    """Return the shares of wrong answers by the sub-task that explains them, of each row."""

    def fault_cells(of: Samples) -> dict[str, Cell]:
        return {kind: share_cell(sum(FAULT + kind in one for one in of), len(of)) for kind in ANSWER_FAULTS}

    return Table(
        key=f"{table.key}-faults",
        samples=table.samples,
        title=f"{table.title}: wrong answers by the sub-task that explains them",
        columns=tuple(Column(key=kind, heading=kind, better="lower", interval="wilson") for kind in ANSWER_FAULTS),
        rows=tuple(row.model_copy(update={"cells": fault_cells(samples[row.method])}) for row in played),
        paper=table.paper,
        paper_table=figure,
        notes=("the paper shows two examples in words, and counts nothing",),
    )
