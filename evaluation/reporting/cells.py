"""Table of a result as rows of text, and as tidy data, one row a figure: ours first, then the published ones."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from io import StringIO
from typing import Final, NamedTuple

from scenecypher.evaluation.result import Cell, Column, ExperimentResult, Row, Table, Unit

EMPTY_CELL: Final = ""
NOT_AVAILABLE: Final = "n/a"
N: Final = "n"
"""Key of the column with the number of samples of a row."""
LARGE: Final = 100
"""Numbers from here on are shown without decimals."""
FORMATS: Final[Mapping[Unit, str]] = {
    "share": "{:.2f}",
    "percent": "{:.1f}",
    "count": "{:,.0f}",
    "number": "{:,.0f}",
    "change": "{:+.1f}%",
}


class TextRow(NamedTuple):
    """Row of text: its origin, its name, its cells and its note."""

    origin: str
    name: str
    cells: tuple[str, ...]
    note: str


def text_rows(table: Table) -> Iterator[TextRow]:
    """Yield all rows of a table, with cells in the order of its columns."""
    for row, origin in _rows(table):
        cells = tuple(_format_with_count(row, column) for column in table.columns)
        failed = f"{row.failed} failed" if row.failed else ""
        retried = f"{row.retried} more attempts" if row.retried else ""
        yield TextRow(origin, row_name(row), cells, "; ".join(filter(None, (row.note, failed, retried))))


def row_origin(row: Row) -> str:
    """Return the origin of our row: ``measured`` if the paper has it, ``ours`` if not; or why it has no cells."""
    if not row.cells:
        return "not finished" if row.lost else "not run"
    return "measured" if row.kind == "paper" else "ours"


def row_name(row: Row) -> str:
    """Return a row's name: the paper's label, else the method, with the model and options that it does not mention."""
    called = row.label or row.method
    unnamed = {name: value for name, value in row.options.items() if value.replace("-", " ") not in called.casefold()}
    options = ", ".join(f"{name} {value}" for name, value in unnamed.items())
    is_redundant = row.model.casefold() in called.casefold() or called.casefold() in row.model.casefold()
    model = "" if is_redundant else f", {row.model}"
    return f"{called}{model} ({options})" if options else called + model


def format_cell(column: Column, cell: Cell | None) -> str:
    """Return a figure with its interval, n/a for what is undefined; published cells, which have no `n`, have none."""
    match cell:
        case None:
            return EMPTY_CELL
        case Cell(value=float(value), low=float(low), high=float(high)):
            return f"{format_number(column, value)} [{format_number(column, low)}, {format_number(column, high)}]"
        case Cell(value=float(value), n=int()) if column.interval != "none":
            return f"{format_number(column, value)} [{NOT_AVAILABLE}]"
        case Cell(value=float(value)):
            return format_number(column, value)
        case Cell(value=str(value)):
            return value
        case _:
            return NOT_AVAILABLE


def format_number(column: Column, value: float) -> str:
    """Return a figure in its column's unit."""
    if column.unit == "number" and abs(value) < LARGE:
        return f"{value:.2f}"
    return FORMATS[column.unit].format(value)


def unfinished_warning(result: ExperimentResult) -> str:
    """Return the warning for an unfinished run, to be shown prominently; empty for a finished one."""
    if result.finished:
        return ""
    of = result.provenance
    heading = "STOPPED by a person" if of.status == "cancelled" else "NOT FINISHED"
    played = f"{of.samples - of.failed:,} of {of.wanted:,} samples were played"
    return f"{heading}: {played}; rows that lack any have no figures"


def limited_warning(result: ExperimentResult) -> str:
    """Return the warning for a run limited to a part of its samples; empty for a complete one."""
    given = result.provenance.arguments
    if not given.get("limit"):
        return ""
    seed = "" if given.get("seed") is None else f" --seed {given['seed']}"
    return f"LIMITED: only some of the tasks were chosen (--limit {given['limit']}{seed}); figures of all differ."


def result_notes(result: ExperimentResult) -> tuple[str, ...]:
    """Return the notes of a result, a limit first."""
    return tuple(filter(None, (limited_warning(result), *result.notes)))


def table_heading(table: Table) -> str:
    """Return a table's title with the published table beside it."""
    is_named = table.paper_table.startswith(("section", "figure"))
    number = table.paper_table if is_named else f"Table {table.paper_table}"
    reference = f" ({table.paper}, {number})" if table.paper and table.paper_table else ""
    return f"{table.title}{reference}"


def provenance_line(result: ExperimentResult) -> str:
    """Return the provenance of a result in one line."""
    provenance = result.provenance
    parts = (
        f"replies: {', '.join(provenance.replies)}",
        f"model: {provenance.model}",
        provenance.date,
        f"version {provenance.version}",
        f"prompts {provenance.prompt_version}" if provenance.prompt_version else "",
        f"seeds {', '.join(map(str, provenance.seeds))}" if provenance.seeds else "",
        "" if provenance.temperature is None else f"temperature {provenance.temperature:g}",
        f"{provenance.samples:,} of {provenance.wanted:,} samples",
        f"{provenance.tokens:,} tokens",
    )
    return "; ".join(filter(None, parts))


def _format_with_count(row: Row, column: Column) -> str:
    """Return a figure, with its number of samples if that differs from the row's."""
    text, cell, whole = format_cell(column, row.cells.get(column.key)), row.cells.get(column.key), row.cells.get(N)
    return f"{text} of {cell.n}" if cell and whole and cell.n and cell.n != whole.value else text


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
    for row, origin in _rows(table):
        whole = {
            "experiment": result.experiment,
            "table": table.key,
            "whose": origin,
            "label": row_name(row),
            "options": " ".join(f"{name}={value}" for name, value in row.options.items()),
            "finished": "yes" if result.finished else "NOT FINISHED",
            "replies": " ".join(result.provenance.replies),
            "date": result.provenance.date,
            **row.model_dump(include={"method", "model", "failed", "note"}),
        }
        for column in (it for it in table.columns if it.key in row.cells):
            own = column.model_dump(include={"heading", "unit", "second"}) | row.cells[column.key].model_dump()
            yield TidyFigure(column=column.key, **whole, **own)


def table_csv(result: ExperimentResult, table: Table) -> str:
    """Return a table as CSV, one line for each figure."""
    text = StringIO()
    heads = [it.name for it in fields(TidyFigure)]
    csv.writer(text, lineterminator="\n").writerows([heads, *(astuple(it) for it in tidy_figures(result, table))])
    return text.getvalue()


def _rows(table: Table) -> Iterator[tuple[Row, str]]:
    """Yield all rows with their origins, ours before the published ones."""
    yield from ((row, row_origin(row)) for row in table.rows)
    yield from ((row, "published") for row in table.published)
