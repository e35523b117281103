"""Report in a folder: one page, one CSV file for each table, and the figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from scenecypher.errors import InputError
from scenecypher.evaluation.reporting.figures import write_figures
from scenecypher.evaluation.reporting.page import report_markdown, table_csv
from scenecypher.evaluation.reporting.result_files import FoundResults
from scenecypher.evaluation.result import ExperimentResult

PAGE: Final = "report.md"


def write_report(found: FoundResults, folder: Path) -> tuple[Path, ...]:
    """Write a report and return its files, the page first. Raises InputError if they can't be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tuple(_write(found, folder))
    except OSError as error:
        raise InputError(f"{folder}: can't be written ({error.strerror}); choose another folder with --out") from error


def _write(found: FoundResults, folder: Path) -> list[Path]:
    files, pictures = list[Path](), list[list[str]]()
    for number, result in enumerate(found.results, start=1):
        stem = f"{number:02}-{_plain(result.experiment)}"
        files += _sheets(result, folder, stem)
        drawn = write_figures(result, folder, stem)
        pictures.append([file.name for file in drawn])
        files += drawn
    page = folder / PAGE
    page.write_text(report_markdown(found, pictures), encoding="utf-8")
    return [page, *files]


def _sheets(result: ExperimentResult, folder: Path, stem: str) -> list[Path]:
    files = []
    for table in result.tables:
        file = folder / f"{stem}-{_plain(table.key)}.csv"
        file.write_text(table_csv(result, table), encoding="utf-8")
        files.append(file)
    return files


def _plain(name: str) -> str:
    """Return the name with characters replaced that are unsafe in file names."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name)[:60]
