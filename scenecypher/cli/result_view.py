"""Results of experiments in a terminal: tables with published rows below ours, unfinished ones marked in red."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from scenecypher.cli.context import output
from scenecypher.cli.table import GAP, Column, print_table

if TYPE_CHECKING:
    from scenecypher.evaluation.reporting.cells import TextRow
    from scenecypher.evaluation.result import ExperimentResult, Table

WIDTH: Final = 120
"""Columns of a terminal that a table takes at most."""
NAME_WIDTH: Final = 50
"""Columns of a row's name with its note; a longer one is folded."""
NOTE_WIDTH: Final = 40
"""Columns of a note beside the name; a longer one stands below the table."""
NAMES: Final = 2
"""Columns of names, before those of figures."""
LEGEND: Final = (
    "measured: the paper's rows, run here; ours: additions; published: the paper's figures; in brackets: "
    "95% intervals; n/a: undefined, such as the interval of one sample"
)


def show_result(result: ExperimentResult) -> None:
    """Print a result; an unfinished one begins with a warning."""
    from scenecypher.evaluation.reporting.cells import provenance_line, result_notes, unfinished_warning

    out = output()
    if warning := unfinished_warning(result):
        out.print(warning, style="bold red", markup=False)
    out.print(provenance_line(result), markup=False)
    for table in result.all_tables:
        _show_table(table)
    for note in result_notes(result):
        out.print(note, style="yellow", markup=False)
    out.print(LEGEND, style="dim", markup=False)
    if result.provenance.log:
        out.print(f"log: {result.provenance.log}", style="dim", markup=False)


def _show_table(table: Table) -> None:
    from scenecypher.evaluation.reporting.cells import table_heading, text_rows

    out, lines = output(), list(text_rows(table))
    heads = ("", "whose", *(each.heading for each in table.columns))
    rows = [(f"{it.name}: {it.note}" if it.note and _is_short(it) else it.name, it.origin, *it.cells) for it in lines]
    kept = _fitting(table, [heads, *rows])
    columns = [Column(heads[at], justify="left" if at < NAMES else "right") for at in kept]
    styles = ["dim" if it.origin == "published" else "" for it in lines]
    print_table(columns, [[row[at] for at in kept] for row in rows], title=table_heading(table), styles=styles)
    if left_out := dict.fromkeys(head for at, head in enumerate(heads) if at not in kept):
        out.print(f"in --json, CSV and the page: {', '.join(left_out)}", style="dim", markup=False)
    long_notes = [f"{it.name}: {it.note}" for it in lines if not _is_short(it)]
    for note in (*long_notes, *table.notes):
        out.print(note, style="dim", markup=False)


def _is_short(row: TextRow) -> bool:
    return len(row.note) <= NOTE_WIDTH


def _fitting(table: Table, lines: Sequence[Sequence[str]]) -> list[int]:
    """Return the columns that fit in `WIDTH`; other readings go first, then the last ones."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    widths[0] = min(widths[0], NAME_WIDTH)
    kept = list(range(len(widths)))
    numbered = [*enumerate(table.columns, NAMES)][::-1]
    for at, _ in sorted(numbered, key=lambda one: not one[1].second):
        if sum(widths[n] + GAP for n in kept) - GAP > WIDTH and len(kept) > NAMES + 1:
            kept.remove(at)
    return kept
