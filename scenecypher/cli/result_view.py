"""Results of experiments in a terminal: tables with published rows below ours, unfinished ones marked in red."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenecypher.cli.context import output
from scenecypher.cli.table import Column, print_table

if TYPE_CHECKING:
    from scenecypher.evaluation.result import Result, Table


def show_result(result: Result) -> None:
    """Print a result; an unfinished one begins with a warning."""
    from scenecypher.evaluation.reporting.cells import notes, origin, unfinished

    out = output()
    if warning := unfinished(result):
        out.print(warning, style="bold red", markup=False)
    out.print(origin(result), markup=False)
    for table in result.tables:
        _show_table(table)
    for note in notes(result):
        out.print(note, style="yellow", markup=False)
    if result.provenance.log:
        out.print(f"log: {result.provenance.log}", style="dim", markup=False)


def _show_table(table: Table) -> None:
    from scenecypher.evaluation.reporting.cells import heading, lines

    out = output()
    columns = (Column(""), Column("whose"), *(Column(each.heading, justify="right") for each in table.columns))
    rows = [(f"{it.name}: {it.note}" if it.note else it.name, it.whose, *it.cells) for it in lines(table)]
    styles = ["dim" if it.whose == "published" else "" for it in lines(table)]
    print_table(columns, rows, title=heading(table), styles=styles)
    for note in table.notes:
        out.print(note, style="dim", markup=False)
