"""Leaderboard: a table for each experiment, of models and methods, from the results of finished runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final, TypeAlias

from scenecypher.evaluation.reporting.cells import format_cell, result_notes, row_name, unfinished_warning
from scenecypher.evaluation.reporting.page import markdown_table
from scenecypher.evaluation.reporting.result_files import FoundResults
from scenecypher.evaluation.result import Cell, Column, ExperimentResult, Row, Table
from scenecypher.planner.methods import METHODS

MADE: Final = (
    "Generated: `scenecypher eval leaderboard docs/leaderboard > docs/leaderboard.md`. Any folder of results, or of "
    "Inspect's logs, can stand in its place ([how](experiments.md#leaderboard))."
)
LEGEND: Final = (
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
    parts = ["# Leaderboard", MADE, LEGEND]
    for experiment in dict.fromkeys(one.experiment for one in finished):
        parts += _section([one for one in finished if one.experiment == experiment])
    if left_out := [*_left_out(found)]:
        parts += ["## Left out", "\n".join(f"- {words}" for words in left_out)]
    return "\n\n".join(parts) + "\n"


def _left_out(found: FoundResults) -> Iterator[str]:
    for result in found.results:
        if warning := unfinished_warning(result):
            yield f"`{result.experiment}`, {result.provenance.model}, {result.provenance.date}: {warning}"
    yield from found.without


def _section(results: Sequence[ExperimentResult]) -> Iterator[str]:
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
