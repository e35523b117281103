"""Tables for people: columns fold or become records; and results of experiments, published rows below ours."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from textwrap import wrap
from typing import TYPE_CHECKING, Final, Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from scenecypher.cli.context import columns_set, output, say, tell

if TYPE_CHECKING:
    from scenecypher.evaluation.reporting.cells import TextRow
    from scenecypher.evaluation.result import ExperimentResult
    from scenecypher.evaluation.result import Table as ResultTable

GAP: Final = 2
"""Blanks between two columns."""
NARROWEST: Final = 20
"""Columns that a record's text gets at least."""
Row = Sequence[str]
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


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading; one that `may_go` is left out where the table would not fit otherwise."""

    heading: str
    justify: Literal["left", "right"] = "left"
    may_go: bool = False


def print_table(columns: Sequence[Column], rows: Sequence[Row], *, title: str = "", styles: Sequence[str] = ()) -> None:
    """Print `rows` on standard output without cutting or breaking a word: names are there to be typed again.

    In a file or a pipe without COLUMNS each row is one line, however long. Otherwise columns fold between words. If
    that is too wide, the columns that may go are left out, and standard error says so; if it is still too wide, each
    row is printed as a record, a line a cell. `styles` are those of the rows.
    """
    # nothing limits a file or a pipe
    width = output().width if sys.stdout.isatty() or columns_set() else None
    kept = list(range(len(columns))) if width is None else _fitting(columns, rows, width)
    if title:
        say(title, style="italic")
    if columns and not kept:
        _print_records(columns, rows)
        return
    _print_columns([columns[n] for n in kept], [[row[n] for n in kept] for row in rows], styles=styles, width=width)
    left_out = [column.heading for number, column in enumerate(columns) if number not in kept]
    if left_out:
        tell(f"too narrow for: {', '.join(left_out)}; widen the terminal, or use --json")


def _fitting(columns: Sequence[Column], rows: Sequence[Row], width: int) -> list[int]:
    """Return the numbers of the columns that fit side by side without breaking a word; none if they can't."""
    least = _widths(columns, rows, _longest_word)
    kept = list(range(len(columns)))
    for number in reversed(range(len(columns))):
        if _total([least[n] for n in kept]) > width and columns[number].may_go:
            kept.remove(number)
    return kept if _total([least[n] for n in kept]) <= width else []


def _print_columns(columns: Sequence[Column], rows: Sequence[Row], *, styles: Sequence[str], width: int | None) -> None:
    widths = _widths(columns, rows, _longest_line)
    if width is not None:
        widths = _folded_widths(widths, _widths(columns, rows, _longest_word), width)
    table = Table(box=None, pad_edge=False)
    for column, size in zip(columns, widths, strict=True):
        table.add_column(Text(column.heading), justify=column.justify, width=size)
    for row, style in zip_longest(rows, styles[: len(rows)]):
        table.add_row(*map(Text, row), style=style)
    out = output()
    out.width = max(out.width, _total(widths))
    out.print(table)


def _folded_widths(widths: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Narrow the widest columns, none below its longest word, until all fit into `width`."""
    folded = [max(low, min(size, width)) for size, low in zip(widths, least, strict=True)]
    while _total(folded) > width:
        widest = max(range(len(folded)), key=lambda n: (folded[n] > least[n], folded[n]))
        folded[widest] -= 1
    return folded


def _print_records(columns: Sequence[Column], rows: Sequence[Row]) -> None:
    """Print each row as lines of a heading and a cell, with an empty line between two rows."""
    out = output()
    indent = max(cell_len(column.heading) for column in columns) + GAP
    room = max(out.width - indent, NARROWEST)
    fold = partial(wrap, width=room, break_long_words=False, break_on_hyphens=False)
    for number, row in enumerate(rows):
        if number:
            out.print()
        for column, cell in zip(columns, row, strict=True):
            folded = [part for line in cell.split("\n") for part in fold(line)] or [""]
            for part, lead in zip_longest(folded, [column.heading], fillvalue=""):
                line = f"{lead}{' ' * (indent - cell_len(lead))}{part}".rstrip()
                out.print(Text(line), crop=False, no_wrap=True, overflow="ignore")


def _widths(columns: Sequence[Column], rows: Sequence[Row], measure: Callable[[str], int]) -> list[int]:
    """Return the largest measure of each column's texts, its heading among them."""
    texts = zip((column.heading for column in columns), *rows, strict=True)
    return [max(map(measure, column)) for column in texts]


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)


def _longest_line(text: str) -> int:
    return max(map(cell_len, text.split("\n")), default=0)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def show_result(result: ExperimentResult) -> None:
    """Print a result; an unfinished one begins with a warning."""
    from scenecypher.evaluation.reporting.cells import provenance_line, result_notes, unfinished_warning

    if warning := unfinished_warning(result):
        say(warning, style="bold red")
    say(provenance_line(result))
    for table in result.all_tables:
        _show_table(table)
    for note in result_notes(result):
        say(note, style="yellow")
    say(LEGEND, style="dim")
    if result.provenance.log:
        say(f"log: {result.provenance.log}", style="dim")


def _show_table(table: ResultTable) -> None:
    from scenecypher.evaluation.reporting.cells import table_heading, text_rows

    out, lines = output(), list(text_rows(table))
    heads = ("", "whose", *(each.heading for each in table.columns))
    rows = [(f"{it.name}: {it.note}" if it.note and _is_short(it) else it.name, it.origin, *it.cells) for it in lines]
    kept = _kept_columns(table, [heads, *rows])
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


def _kept_columns(table: ResultTable, lines: Sequence[Sequence[str]]) -> list[int]:
    """Return the columns that fit in `WIDTH`; other readings go first, then the last ones."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    widths[0] = min(widths[0], NAME_WIDTH)
    kept = list(range(len(widths)))
    numbered = [*enumerate(table.columns, NAMES)][::-1]
    for at, _ in sorted(numbered, key=lambda one: not one[1].second):
        if sum(widths[n] + GAP for n in kept) - GAP > WIDTH and len(kept) > NAMES + 1:
            kept.remove(at)
    return kept
