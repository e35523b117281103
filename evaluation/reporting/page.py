"""Report page in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from scenecypher.evaluation.reporting.cells import (
    provenance_line,
    result_notes,
    table_heading,
    text_rows,
    unfinished_warning,
)
from scenecypher.evaluation.reporting.result_files import FoundResults
from scenecypher.evaluation.result import ExperimentResult, Table

LEGEND: Final = (
    "`measured` are rows that the paper has, run here; `ours` are additions of ours; `published` is what the paper "
    "prints, `?` where its text can't be read. In brackets: 95% intervals. Samples that failed count as failures."
)


def report_markdown(found: FoundResults, pictures: Sequence[Sequence[str]]) -> str:
    """Return the page; `pictures` are the names of each result's figures, in the same folder."""
    parts = ["# Results", *(f"> **{warning}**" for warning in warnings(found)), LEGEND]
    for result, files in zip(found.results, pictures, strict=True):
        parts += _section(result, files)
    return "\n\n".join(parts) + "\n"


def warnings(found: FoundResults) -> Iterator[str]:
    """Yield the warnings to be shown prominently: unfinished runs, and logs without results."""
    for result in found.results:
        if warning := unfinished_warning(result):
            yield f"{result.title}, {result.provenance.date}: {warning}"
    yield from (f"LEFT OUT: {words}" for words in found.without)


def _section(result: ExperimentResult, files: Sequence[str]) -> Iterator[str]:
    yield f"## {result.title}"
    if warning := unfinished_warning(result):
        yield f"> **{warning}**"
    yield f"`{result.experiment}`: {provenance_line(result)}"
    yield from result_notes(result)
    for table in result.all_tables:
        yield f"### {table_heading(table)}"
        yield _table(table)
        yield from table.notes
        if table.settings:
            yield _settings(table)
    yield from (f"![{file}]({file})" for file in files)


def _table(table: Table) -> str:
    heads = ("", "whose", *(column.heading for column in table.columns), "note")
    found = [(line.name, line.origin, *line.cells, line.note) for line in text_rows(table)]
    if not any(line[-1] for line in found):
        heads, found = heads[:-1], [line[:-1] for line in found]
    rule = ("---", "---", *("---:" for _ in table.columns), "---")[: len(heads)]
    return "\n".join(markdown_row(cells) for cells in (heads, rule, *found))


def _settings(table: Table) -> str:
    rows = (("setting", "value", "who says so"), ("---", "---", "---"))
    return "\n".join(
        markdown_row(cells) for cells in (*rows, *((it.name, it.value, it.source) for it in table.settings))
    )


def markdown_row(cells: Sequence[str]) -> str:
    """Return a line of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
