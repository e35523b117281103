"""Result of the experiment `eai`: for each task and model our figure beside the published one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from inspect_ai.log import EvalLog

from scenecypher.evaluation.eai.published import published_figures, published_source
from scenecypher.evaluation.eai.recorded import SCORER
from scenecypher.evaluation.eai.recordings import PACKAGE, recordings_origin
from scenecypher.evaluation.eai.scoring import Figures, interrupted_judgement, model_figures
from scenecypher.evaluation.eai.task_table import EAI_TASKS, PLANNING, EaiTask
from scenecypher.evaluation.eai.transition import PLANNED
from scenecypher.evaluation.published import table_settings
from scenecypher.evaluation.result import Cell, Column, ExperimentResult, Interval, Row, Table, Trial
from scenecypher.evaluation.run_result import LoggedSample, Run, group_by, installed_packages

MISTAKES: Final = frozenset(name for task in EAI_TASKS.values() for name in task.tables.get("mistakes", ()))
PUBLISHED_SUFFIX: Final = ".published"
TOLERANCE: Final = 0.5
"""Percentage points within which a figure matches the published one."""


@dataclass(frozen=True, slots=True)
class ModelScores:
    """Figures of one model's outputs for one task."""

    model: str
    samples: Sequence[LoggedSample]
    figures: Figures


def eai_result(log: EvalLog) -> ExperimentResult:
    """Return the result of one run's log; an unfinished run is marked, and interrupted samples are failures."""
    run = Run.read(log, SCORER)
    wheel, plans = str(run.arguments.get("wheel") or ""), int(run.arguments.get("plans", PLANNED))
    by_task = group_by(run.samples, lambda one: one.metadata["task"])
    tables = [
        table for name in EAI_TASKS if name in by_task for table in _tables(EAI_TASKS[name], run, by_task[name], plans)
    ]
    is_whole = run.is_finished and not run.arguments.get("limit") and not run.limit_notes
    distances = _distance_notes(_unsampled(tables)) if is_whole else ()
    return run.result(
        "eai",
        "Embodied Agent Interface in VirtualHome: recorded outputs, published and re-scored",
        tables,
        map(_trial, run.samples),
        notes=(f"published: {published_source()}", *run.error_notes, *run.limit_notes, *distances),
        model=str(run.arguments.get("model") or "all that were recorded"),
        replies=("recorded",),
        temperature=None,
        packages=installed_packages() | {"recordings": recordings_origin(Path(wheel)) if wheel else PACKAGE},
        arguments={**run.arguments, "wheel": Path(wheel).name},
    )


def _tables(task: EaiTask, run: Run, samples: Sequence[LoggedSample], plans: int) -> Iterator[Table]:
    scored = list(_scores_by_model(task, samples, plans))
    for number, (name, names) in enumerate(task.tables.items()):
        found = scored[0].figures
        yield Table(
            key=f"{task.name}-{number + 1}",
            samples=task.name,
            title=f"{task.title}: {name}",
            columns=tuple(column for figure in names for column in _columns(task, figure, found[figure])),
            rows=tuple(_row(task, run, one, names) for one in scored),
            paper="Embodied Agent Interface",
            settings=table_settings("eai"),
            notes=(*_denominators(names, scored), *(_plan_sample_note(plans) if name == PLANNING else ())),
        )


def _plan_sample_note(plans: int) -> tuple[str, ...]:
    """Return a note if only some outputs were planned with, since published figures are of all."""
    if not plans:
        return ()
    return (f"planned with {plans} outputs a model; the published figures are of all of them (--plans 0)",)


def _scores_by_model(task: EaiTask, samples: Sequence[LoggedSample], plans: int) -> Iterator[ModelScores]:
    scorer, shown = task.make_scorer(plans or None), [name for names in task.tables.values() for name in names]
    for model, mine in sorted(group_by(samples, lambda one: one.metadata["model"]).items()):
        judged = [one.found or interrupted_judgement(scorer, one.metadata["task_id"]) for one in mine]
        yield ModelScores(model, mine, model_figures(scorer, judged, intervals=shown))


def _columns(task: EaiTask, name: str, cell: Cell) -> Iterator[Column]:
    better = "neither" if name in {*MISTAKES, "human", "broke_off"} else "higher"
    interval: Interval = "bootstrap" if cell.count is None else "wilson"
    yield Column(key=name, heading=name.replace("_", " "), unit="percent", better=better, interval=interval)
    if name in task.published:
        yield Column(key=name + PUBLISHED_SUFFIX, heading="published", unit="percent", better=better, second=True)


def _row(task: EaiTask, run: Run, one: ModelScores, names: Sequence[str]) -> Row:
    known = published_figures(one.model, task)
    cells: dict[str, Cell] = {}
    for name in names:
        cells[name] = one.figures[name]
        if name in task.published:
            cells[name + PUBLISHED_SUFFIX] = Cell(value=known.get(task.published[name]))
    untried = sum(id_.startswith(f"{task.name}/{one.model}/") for id_ in run.untried)
    row = Row(method=one.model, label=one.model, model=one.model, cells=cells)
    return run.row(row, one.samples, untried=untried)


def _denominators(names: Sequence[str], scored: Sequence[ModelScores]) -> Iterator[str]:
    """Yield a note with the denominators of figures: one number if it is the same for all models."""
    over: dict[str, list[str]] = {}
    for name in names:
        numbers = sorted({one.figures[name].n or 0 for one in scored})
        count = f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"
        over.setdefault(count, []).append(name.replace("_", " "))
    yield "of " + "; of ".join(f"{count}: {', '.join(names)}" for count, names in over.items())


def _unsampled(tables: Sequence[Table]) -> list[Table]:
    """Return the tables whose figures cover all outputs, as the published ones do."""
    return [table for table in tables if not any(note.startswith("planned with") for note in table.notes)]


def _distance_notes(tables: Sequence[Table]) -> Iterator[str]:
    """Yield notes with the distances from the published figures."""
    for table in tables:
        for column in table.columns:
            if column.key + PUBLISHED_SUFFIX in {other.key for other in table.columns}:
                yield from _distance(table, column)
    yield from _success_range_notes(tables)


def _distance(table: Table, column: Column) -> Iterator[str]:
    distances = [
        (abs(ours - theirs), row.method)
        for row in table.rows
        for ours, theirs in _compared_values(row, column.key, column.key)
    ]
    if distances:
        largest, model = max(distances)
        near, count = sum(gap <= TOLERANCE for gap, _ in distances), len(distances)
        yield (
            f"{table.title}, {column.heading}: within {TOLERANCE} points of the published figure for {near} of {count}"
            + (f"; most apart {largest:.1f} ({model})" if largest > TOLERANCE else "")
        )


def _success_range_notes(tables: Sequence[Table]) -> Iterator[str]:
    """Yield a note on whether published success lies between the smallest and the largest over goal orders."""
    for table in (one for one in tables if any(column.key == "success_least" for column in one.columns)):
        found = [
            least - TOLERANCE <= theirs <= most + TOLERANCE
            for row in table.rows
            for least, theirs in _compared_values(row, "success_least", "success_least")
            for most, _ in _compared_values(row, "success_most", "success_least")
        ]
        yield (
            f"{table.title}: published task success lies between ours over all goal orders, ± {TOLERANCE} points, "
            f"for {sum(found)} of {len(found)}"
        )


def _compared_values(row: Row, ours: str, theirs: str) -> Iterator[tuple[float, float]]:
    mine, other = row.cells[ours].value, row.cells[theirs + PUBLISHED_SUFFIX].value
    if isinstance(mine, float) and isinstance(other, float):
        yield mine, other


def _trial(one: LoggedSample) -> Trial:
    task, mistakes = EAI_TASKS[one.metadata["task"]], list(one.found.get("mistakes", ()))
    outcome, success = ("", False) if one.failed else task.outcome(one.found)
    return one.trial(
        table=task.name,
        id=one.metadata["task_id"],
        method=one.metadata["model"],
        outcome=outcome,
        success=success,
        actions=int(one.found.get("steps", 0)),
        mistakes={mistake: mistakes.count(mistake) for mistake in mistakes},
    )
