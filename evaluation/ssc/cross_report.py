"""The result of votes across recorded models: each model, the vote, its variants, and whether it beats the best one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from evaluation.eai.live import VERSION, carried_out
from evaluation.eai.recordings import TaskName, origin, recordings
from evaluation.eai.scoring import scorer_of
from evaluation.eai.titles import COLUMNS, NAMES, TITLES, cells
from evaluation.interval import wilson
from evaluation.result import Cell, Column, Provenance, Result, Row, Setting, Table
from evaluation.ssc.cross_model import (
    RESAMPLES,
    SEED,
    SUBSETS,
    Comparison,
    Judged,
    Line,
    compared,
    early,
    filtered,
    judged_all,
    merged_line,
    singles,
    sweep,
    vote_judgements,
    voted,
)

FIGURES: Final[Mapping[TaskName, tuple[str, ...]]] = {
    "goal": ("f1", "strict_f1"),
    "action-sequencing": ("tsr", "esr"),
    "subgoal": ("tsr", "esr"),
    "transition": ("f1", "strict_f1"),
}
"""Cells in which the vote is compared with the best single model."""
SIMULATED: Final = frozenset({"action-sequencing", "subgoal"})
"""Tasks whose outputs the database carries out."""
COSTS: Final = (
    Column(key="svr", heading="SVR", unit="percent", interval="wilson"),
    Column(key="used", heading="outputs", unit="number", better="lower", second=True),
)
SETTINGS: Final = (
    Setting(name="order of votes", value="the models' names, so that a tie goes to the first by name"),
    Setting(name="interval of a difference", value=f"bootstrap over tasks, {RESAMPLES} resamples, seed {SEED}"),
    Setting(name="sweep", value=f"mean over {SUBSETS} seeded sets of so many models"),
)


def cross_result(tasks: Sequence[TaskName], wheel: Path, *, limit: int | None = None) -> Result:
    """Vote over all recorded models for each task, or its first so many. Raises InputError, ServiceError."""
    judged = [judged_all(task, scorer_of(task), recordings(task, wheel), limit=limit) for task in tasks]
    models = {model for one in judged for model in one.models}
    count = sum(len(one.ids) * len(one.models) for one in judged)
    return Result(
        experiment="ssc",
        title="Votes across recorded models (ours)",
        finished=True,
        provenance=Provenance(
            model=f"{len(models)} recorded models",
            replies=("recorded",),
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            version=str(VERSION),
            seeds=(SEED,),
            samples=count,
            wanted=count,
            packages={"eai-eval": version("eai-eval")},
            arguments={"recordings": origin(wheel), "tasks": list(tasks)},
        ),
        tables=tuple(cross_table(one) for one in judged),
    )


def cross_table(of: Judged) -> Table:
    """One task's table."""
    vote = vote_judgements(of)
    names = {key: NAMES[of.task][key][1] for key in FIGURES[of.task]}
    verdicts = [_verdict(key, compared(of, vote, name)) for key, name in names.items()]
    lines = [*singles(of), voted(of), *_variants(of)]
    return Table(
        key=f"cross-{of.task}",
        title=f"{TITLES[of.task]}: a vote across {len(of.models)} recorded models",
        columns=(*COLUMNS[of.task], *COSTS),
        rows=tuple(_row(of, line) for line in lines),
        settings=SETTINGS,
        notes=(*verdicts, *(_swept(of, key, name) for key, name in list(names.items())[:1])),
    )


def _variants(of: Judged) -> Iterator[Line]:
    yield early(of)
    yield merged_line(of)
    if of.task in SIMULATED:
        yield filtered(of, carried_out, name="vote, simulator filter")


def _row(of: Judged, line: Line) -> Row:
    low, high = wilson(line.valid, line.of)
    rate = Cell(value=100 * line.valid / max(1, line.of), n=line.of, low=100 * low, high=100 * high, count=line.valid)
    single = line.name in of.models
    return Row(
        method="recorded" if single else "cross-model",
        label=line.name,
        kind="ours",
        model=line.name if single else "",
        cells={**cells(of.task, list(line.figures.values())), "svr": rate, "used": Cell(value=line.used)},
    )


def _verdict(key: str, found: Comparison) -> str:
    return (
        f"{key}: the vote has {found.voted:.1f}, the best single model ({found.model}) {found.best:.1f}; "
        f"difference {found.voted - found.best:+.1f} ({found.low:+.1f} to {found.high:+.1f} at 95%): {found.verdict}"
    )


def _swept(of: Judged, key: str, figure: str) -> str:
    found = ", ".join(f"{size}: {value:.1f}" for size, value in sweep(of, figure))
    return f"{key} by the number of models that vote: {found}"
