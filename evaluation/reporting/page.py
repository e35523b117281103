"""Results and their pages: a report in a folder, with a CSV file for each table and the figures, and a leaderboard.

Results are searched for in what a user names: documents, Inspect's logs, and folders of both. The leaderboard has a
table for each experiment, of models and methods, from the results of finished runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias
from zipfile import BadZipFile

from scenecypher.errors import InputError
from scenecypher.evaluation.reporting.cells import (
    format_cell,
    provenance_line,
    result_notes,
    row_name,
    table_csv,
    table_heading,
    text_rows,
    unfinished_warning,
)
from scenecypher.evaluation.reporting.figures import figure_files
from scenecypher.evaluation.result import (
    SUFFIX,
    Cell,
    Column,
    ExperimentResult,
    Row,
    Table,
    read_result,
    result_path,
    results_folder,
)
from scenecypher.files import write_files
from scenecypher.planner.methods import METHODS

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

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


MADE: Final = (
    "Generated: `scenecypher eval leaderboard docs/leaderboard > docs/leaderboard.md`. Any folder of results, or of "
    "Inspect's logs, can stand in its place ([how](experiments.md#leaderboard))."
)
BOARD_LEGEND: Final = (
    "Each row is one finished run of a method with a model. In brackets: 95% intervals. `prompts` is the version of "
    "our prompts (`none`: no prompt is ours) and, after the slash, that of scoring: rows that differ in it are not "
    "comparable. `tokens` (of prompts and replies), `calls` (replies that the model gave) and `rooms changed` are "
    "means a task. Rows with a "
    "`--limit` stand below those of all tasks, and are not comparable with them. `replies` is where the replies came "
    "from: `live` ones are a model's, asked in that run, and `recorded` ones a model's, asked before. `scripted`, "
    "`oracle` and `reference` replies are those of programs or of the set itself: they check the set-up only, "
    "and measure no model. A run that lost samples is not finished, and has no row."
)
COSTS: Final = ("tokens", "calls", "rooms_changed")
"""Keys of the columns of costs that are shown if a row has them, in this order."""
HEADS: Final = ("tasks", "method", "model", "figure", "n", *COSTS, "prompts", "replies", "date", "note")
OPTIONAL: Final = frozenset({*COSTS, "note"})
TEXTS: Final = frozenset({"tasks", "method", "model", "prompts", "replies", "date", "note"})


Entry: TypeAlias = tuple[tuple[int, bool, float], dict[str, str]]
"""Row of the leaderboard: its rank among the rows of its tasks, and its cells by head."""


def leaderboard_markdown(found: FoundResults) -> str:
    """Return the page; unfinished runs are named at its end, without figures."""
    finished = [one for one in found.results if one.finished]
    parts = ["# Leaderboard", MADE, BOARD_LEGEND]
    for experiment in dict.fromkeys(one.experiment for one in finished):
        parts += _ranking([one for one in finished if one.experiment == experiment])
    unfinished = ((one, unfinished_warning(one)) for one in found.results)
    named = [f"`{it.experiment}`, {it.provenance.model}, {it.provenance.date}: {why}" for it, why in unfinished if why]
    if left_out := [*named, *found.without]:
        parts += ["## Left out", "\n".join(f"- {words}" for words in left_out)]
    return "\n\n".join(parts) + "\n"


def _ranking(results: Sequence[ExperimentResult]) -> Iterator[str]:
    tables = list(dict.fromkeys(table.key for result in results for table in result.tables))
    entries = [entry for result in results for entry in _entries(result, tables)]
    yield f"## {results[0].title}"
    heads = [head for head in HEADS if head not in OPTIONAL or any(cells[head] for _, cells in entries)]
    lines = [[cells[head] for head in heads] for _, cells in sorted(entries, key=itemgetter(0))]
    named = {head: head.replace("_", " ") for head in heads}
    yield markdown_table([*named.values()], lines, texts=TEXTS)


def _entries(result: ExperimentResult, tables: Sequence[str]) -> Iterator[Entry]:
    """Yield a row for each row with figures, ranked by the first column; tables of the same samples share rows."""
    known = set[tuple[str, ...]]()
    for table in result.tables:
        column = next(one for one in table.columns if not one.second)
        for row in _whole_rows(table):
            name = (table.samples or table.key, column.key, row_name(row))
            if (cell := row.cells.get(column.key)) and name not in known:
                known.add(name)
                value = cell.value if isinstance(cell.value, float) else 0.0
                rank = (tables.index(table.key), bool(_limit(result)), -value if column.better == "higher" else value)
                yield rank, _cells(result, table, row, column, cell)


def _limit(result: ExperimentResult) -> str:
    """Return which part of the samples was wanted; empty if all were."""
    limit = result.provenance.arguments.get("limit")
    is_part = any(note.startswith("LIMITED") for note in result_notes(result))
    return f"--limit {limit}" if limit else f"{result.provenance.samples} samples" if is_part else ""


def _whole_rows(table: Table) -> Sequence[Row]:
    """Return the rows of whole sets: those of a question's kind, and of one set of pictures, are parts of them."""
    by_data = [row for row in table.rows if "data" in row.options]
    return by_data or [row for row in table.rows if row.options.get("pictures", "all") == "all"]


def _cells(result: ExperimentResult, table: Table, row: Row, column: Column, cell: Cell) -> dict[str, str]:
    origin = result.provenance
    costs = {one.key: format_cell(one, row.cells.get(one.key)) for one in table.columns if one.key in COSTS}
    version = "" if row.options.get("prompt") == "eai" else origin.prompt_version
    asks_model = row.method not in METHODS or METHODS[row.method].model
    notes = (_limit(result), f"{row.failed} failed" if row.failed else "", row.note)
    return {
        **dict.fromkeys(HEADS, ""),
        **costs,
        "tasks": table.title,
        "method": row_name(row.model_copy(update={"model": ""})),
        "model": (row.model or origin.model) if asks_model else "none",
        "figure": f"{column.heading} {format_cell(column, cell)}",
        "n": "" if cell.n is None else f"{cell.n:,}",
        "prompts": f"{version or 'none'} / {origin.version}",
        "replies": ", ".join(origin.replies) if asks_model else "none",
        "date": origin.date[:10],
        "note": "; ".join(filter(None, notes)),
    }


ResultOf: TypeAlias = "Callable[[EvalLog], ExperimentResult]"
"""Function that returns the result of a log; it raises InputError for a log of no known experiment."""
LOG: Final = ".eval"


@dataclass(frozen=True, slots=True)
class FoundResults:
    """Results, the oldest first, and messages about the logs that have none."""

    results: tuple[ExperimentResult, ...]
    without: tuple[str, ...] = ()


def find_results(named: Sequence[Path], result_of: ResultOf) -> FoundResults:
    """Return all results in `named` files and folders. Raises InputError if there are none."""
    files = list(dict.fromkeys(file for path in named for file in _files(path)))
    results, without = list[ExperimentResult](), list[str]()
    for file in files:
        found = read_result(file) if file.name.endswith(SUFFIX) else _from_log(file, result_of)
        if isinstance(found, str):
            without.append(found)
        else:
            results.append(found)
    if not results:
        why = "\n".join(without) or f"no *{SUFFIX} or *{LOG} in {', '.join(map(str, named))}"
        raise InputError(f"{why}; name the folder that `scenecypher eval` was given as --log-dir (./logs)")
    ordered = sorted(results, key=lambda one: (one.provenance.date, one.experiment))
    return FoundResults(tuple(_latest(ordered)), tuple(without))


def _latest(results: Sequence[ExperimentResult]) -> Iterator[ExperimentResult]:
    """Yield the results in order; of a run and those that resumed it the last one."""
    last = {one.provenance.run: one for one in results if one.provenance.run}
    yield from (one for one in results if one is last.get(one.provenance.run, one))


def _files(path: Path) -> Iterator[Path]:
    """Yield results, and logs without one; of a folder of logs also the results in the folder beside it."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder; give a result, a log, or a folder of them")
    folders = [each for each in (path, results_folder(path)) if each.is_dir()]
    for file in [it for each in folders for it in sorted(each.iterdir())] if path.is_dir() else (path,):
        if file.name.endswith(LOG) and result_path(str(file)).exists():
            yield result_path(str(file))
        elif file.name.endswith((SUFFIX, LOG)):
            yield file
        elif not path.is_dir():
            raise InputError(f"{path}: neither a result (*{SUFFIX}) nor a log (*{LOG}); give one of these, or a folder")


def _from_log(file: Path, result_of: ResultOf) -> ExperimentResult | str:
    """Return the result of a log, or why there is none."""
    from inspect_ai.log import read_eval_log

    try:
        log = read_eval_log(str(file))
    except (BadZipFile, OSError, ValueError, KeyError) as error:
        return f"{file}: can't be read as a log: {error}"
    try:
        return result_of(log)
    except InputError as error:
        return f"{file}: {log.eval.task} can't be recomputed: {error}"
