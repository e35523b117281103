"""How a result looks in a terminal: its tables, the published rows below ours, and in red what is not finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenecypher.cli.context import output

if TYPE_CHECKING:
    from scenecypher.evaluation.result import ExperimentResult, Table

WIDEST = 1_000


def show_result(result: ExperimentResult) -> None:
    """Print a result. What did not finish says so first."""
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
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table as Rich

    from scenecypher.evaluation.reporting.cells import table_heading, text_rows

    out = output()
    shown = Rich(title=table_heading(table), title_justify="left", box=None, pad_edge=False)
    shown.add_column("", no_wrap=True)
    shown.add_column("whose", no_wrap=True)
    for column in table.columns:
        shown.add_column(column.heading, justify="right", no_wrap=True)
    for line in text_rows(table):
        name = f"{line.name}: {line.note}" if line.note else line.name
        shown.add_row(name, line.origin, *line.cells, style="dim" if line.origin == "published" else None)
    whole = Measurement.get(out, out.options.update(max_width=WIDEST), shown).maximum
    Console(highlight=False, width=max(out.width, whole)).print(shown, crop=False)
    for note in table.notes:
        out.print(note, style="dim", markup=False)
