"""Results of experiments in a terminal: tables with published rows below ours, unfinished ones marked in red."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenecypher.cli.context import output
from scenecypher.cli.table import Column, print_table

if TYPE_CHECKING:
    from scenecypher.evaluation.result import ExperimentResult, Table


def show_result(result: ExperimentResult) -> None:
    """Print a result; an unfinished one begins with a warning."""
    from scenecypher.evaluation.reporting.cells import provenance_line, result_notes, unfinished_warning

    out = output()
    if warning := unfinished_warning(result):
        out.print(warning, style="bold red", markup=False)
    out.print(provenance_line(result), markup=False)
    for table in result.tables:
        _show_table(table)
    for note in result_notes(result):
        out.print(note, style="yellow", markup=False)
    if result.provenance.log:
        out.print(f"log: {result.provenance.log}", style="dim", markup=False)


def _show_table(table: Table) -> None:
    from scenecypher.evaluation.reporting.cells import table_heading, text_rows

    out = output()
    columns = (Column(""), Column("whose"), *(Column(each.heading, justify="right") for each in table.columns))
    rows = [(f"{it.name}: {it.note}" if it.note else it.name, it.origin, *it.cells) for it in text_rows(table)]
    styles = ["dim" if it.origin == "published" else "" for it in text_rows(table)]
    print_table(columns, rows, title=table_heading(table), styles=styles)
    for note in table.notes:
        out.print(note, style="dim", markup=False)
