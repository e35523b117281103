"""Tidy data of a table, one row a figure: what its CSV file holds, and its bars are drawn from."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from io import StringIO

from scenecypher.evaluation.reporting.cells import row_name, row_origin
from scenecypher.evaluation.result import ExperimentResult, Row, Table


@dataclass(frozen=True, slots=True)
class TidyFigure:
    """One figure: its table, its row, its column, and its value with its interval; `second` is another reading."""

    experiment: str
    table: str
    whose: str
    method: str
    label: str
    model: str
    options: str
    column: str
    heading: str
    unit: str
    second: bool
    value: float | str | None
    low: float | None
    high: float | None
    count: int | None
    n: int | None
    failed: int
    note: str
    finished: str
    replies: str
    date: str


def tidy_figures(result: ExperimentResult, table: Table) -> Iterator[TidyFigure]:
    """Yield a table's figures, ours before the published ones."""
    published = ((row, "published") for row in table.published)
    for row, origin in (*((row, row_origin(row)) for row in table.rows), *published):
        yield from _figures(result, table, row, origin)


def table_csv(result: ExperimentResult, table: Table) -> str:
    """Return a table as CSV, one line for each figure."""
    text = StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(TidyFigure)], lineterminator="\n")
    writer.writeheader()
    writer.writerows([asdict(figure) for figure in tidy_figures(result, table)])
    return text.getvalue()


def _figures(result: ExperimentResult, table: Table, row: Row, origin: str) -> Iterator[TidyFigure]:
    for column in (it for it in table.columns if it.key in row.cells):
        cell = row.cells[column.key]
        yield TidyFigure(
            experiment=result.experiment,
            table=table.key,
            whose=origin,
            method=row.method,
            label=row_name(row),
            model=row.model,
            options=" ".join(f"{name}={value}" for name, value in row.options.items()),
            column=column.key,
            heading=column.heading,
            unit=column.unit,
            second=column.second,
            value=cell.value,
            low=cell.low,
            high=cell.high,
            count=cell.count,
            n=cell.n,
            failed=row.failed,
            note=row.note,
            finished="yes" if result.finished else "NOT FINISHED",
            replies=" ".join(result.provenance.replies),
            date=result.provenance.date,
        )
