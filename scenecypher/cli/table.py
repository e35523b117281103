"""Tables for people: columns fold between words, and become a list of records where the words do not fit."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from textwrap import wrap
from typing import Final, Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from scenecypher.cli.context import columns_set, output, tell

GAP: Final = 2
"""Blanks between two columns."""
NARROWEST: Final = 20
"""Columns that a record's text gets at least."""

Row = Sequence[str]


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
    width = _available()
    kept = list(range(len(columns))) if width is None else _fitting(columns, rows, width)
    if title:
        output().print(title, style="italic", markup=False)
    if columns and not kept:
        _print_records(columns, rows)
        return
    _print_columns([columns[n] for n in kept], [[row[n] for n in kept] for row in rows], styles=styles, width=width)
    left_out = [column.heading for number, column in enumerate(columns) if number not in kept]
    if left_out:
        tell(f"too narrow for: {', '.join(left_out)}; widen the terminal, or use --json")


def _available() -> int | None:
    """Return the columns that a line may have, None if nothing limits it."""
    return output().width if sys.stdout.isatty() or columns_set() else None


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
    for number, row in enumerate(rows):
        if number:
            out.print()
        for column, cell in zip(columns, row, strict=True):
            for line in _record_lines(column.heading, cell, indent=indent, width=out.width):
                out.print(Text(line), crop=False, no_wrap=True, overflow="ignore")


def _record_lines(heading: str, cell: str, *, indent: int, width: int) -> Iterator[str]:
    room = max(width - indent, NARROWEST)
    folded = [part for line in cell.split("\n") for part in _folded(line, room)] or [""]
    for number, part in enumerate(folded):
        lead = heading if number == 0 else ""
        yield f"{lead}{' ' * (indent - cell_len(lead))}{part}".rstrip()


def _folded(line: str, room: int) -> list[str]:
    return wrap(line, room, break_long_words=False, break_on_hyphens=False)


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
