"""Report in a folder: one page, one CSV file for each table, and the figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from scenecypher.errors import InputError
from scenecypher.evaluation.reporting.figures import figure_files
from scenecypher.evaluation.reporting.page import report_markdown
from scenecypher.evaluation.reporting.result_files import FoundResults
from scenecypher.evaluation.reporting.tidy import table_csv
from scenecypher.files import write_files

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
