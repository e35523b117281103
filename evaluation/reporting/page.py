"""Report in a folder: one page in Markdown, one CSV file for each table, and the figures."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from scenecypher.errors import InputError
from scenecypher.evaluation.reporting.cells import (
    provenance_line,
    result_notes,
    table_csv,
    table_heading,
    text_rows,
    unfinished_warning,
)
from scenecypher.evaluation.reporting.figures import figure_files
from scenecypher.evaluation.reporting.result_files import FoundResults
from scenecypher.evaluation.result import ExperimentResult, Table
from scenecypher.files import write_files

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
    return markdown_table(heads, found, texts={"", "whose", "note"})


def _settings(table: Table) -> str:
    rows = ((it.name, it.value, it.source) for it in table.settings)
    return markdown_table(("setting", "value", "who says so"), rows, texts={"setting", "value", "who says so"})


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, texts: Collection[str]) -> str:
    """Return a Markdown table; columns whose heads are not in `texts` are aligned as numbers."""
    lines = (heads, ["---" if head in texts else "---:" for head in heads], *rows)
    cleaned = ([cell.replace("|", "\\|").replace("\n", " ") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cleaned)


PAGE: Final = "report.md"


def write_report(found: FoundResults, folder: Path) -> tuple[Path, ...]:
    """Write a report and return its files, the page first. Raises InputError if they can't be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: can't be written ({error.strerror}); choose another folder with --out") from error
    files, pictures = dict[Path, str | bytes](), list[list[str]]()
    for number, result in enumerate(found.results, start=1):
        stem = f"{number:02}-{_plain(result.experiment)}"
        files |= {folder / f"{stem}-{_plain(it.key)}.csv": table_csv(result, it) for it in result.all_tables}
        drawn = {folder / f"{stem}-{name}": picture for name, picture in figure_files(result)}
        pictures.append([file.name for file in drawn])
        files |= drawn
    page = {folder / PAGE: report_markdown(found, pictures)}
    write_files(files | page)
    return (*page, *files)


def _plain(name: str) -> str:
    """Return the name with characters replaced that are unsafe in file names."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:60]
