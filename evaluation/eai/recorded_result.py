"""Result of the experiment `eai`: for each task and model our figure beside the published one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from inspect_ai.log import EvalLog, EvalSample

from scenecypher.evaluation import sample_errors
from scenecypher.evaluation.eai.action_sequencing import meets_all_goals
from scenecypher.evaluation.eai.goal_interpretation import KINDS
from scenecypher.evaluation.eai.published import published_figures, published_source
from scenecypher.evaluation.eai.recorded import SCORER, VERSION, make_recorded_scorer
from scenecypher.evaluation.eai.recordings import PACKAGE, TASKS, TaskName, recordings_origin
from scenecypher.evaluation.eai.scoring import Figure, Judgement, OutputScorer, interrupted_judgement
from scenecypher.evaluation.eai.titles import TITLES
from scenecypher.evaluation.eai.transition import CATEGORIES, PLANNED
from scenecypher.evaluation.published import table_settings
from scenecypher.evaluation.result import Cell, Column, ExperimentResult, Interval, Provenance, Row, Table, Trial
from scenecypher.evaluation.sample_limit import count_wanted_samples, limit_notes

CLASSES: Final = (
    *("parsing", "hallucination", "arguments", "wrong_order", "missing_step"),
    *("affordance", "unseen_object", "additional_step"),
)
PLANNING: Final = "planner success"
PARTS: Final[Mapping[TaskName, Mapping[str, tuple[str, ...]]]] = {
    "action-sequencing": {
        "executed and successful": (
            *("executed", "success_least", "success_most", "corrected_least", "corrected_most", "human", "broke_off"),
        ),
        "mistakes": CLASSES,
        "goals met": (
            *("state_goals", "relation_goals", "action_goals_least", "action_goals_most", "goals_least", "goals_most"),
        ),
    },
    "subgoal": {
        "executed and successful": ("executed", "success", "broke_off"),
        "mistakes": tuple(name for name in CLASSES if name != "unseen_object"),
        "goals met": ("state_goals", "relation_goals", "action_goals", "goals"),
    },
    "goal": {
        "in all": ("all_precision", "all_recall", "all_f1", "unparsed", "unknown_objects", "strict_f1"),
        "by kind": tuple(f"{kind}_{part}" for kind in KINDS for part in ("precision", "recall", "f1")),
    },
    "transition": {
        "in all": ("p", "r", "f1", "unparsed", "strict_f1"),
        "precision": tuple(f"{category}.p" for category in CATEGORIES),
        "recall": tuple(f"{category}.r" for category in CATEGORIES),
        "F1": tuple(f"{category}.f1" for category in CATEGORIES),
        PLANNING: ("planner", *(f"planner.{category}" for category in CATEGORIES), "strict_planner"),
    },
}
"""Tables of a task: title and figures."""
PUBLISHED_SUFFIX: Final = ".published"
FAILED: Final = "failed"
TOLERANCE: Final = 0.5
"""Percentage points within which a figure matches the published one."""
PACKAGES: Final = ("eai-eval", "inspect_ai", "neo4j", "scenecypher")


@dataclass(frozen=True, slots=True)
class ModelScores:
    """Figures of one model's outputs for one task."""

    model: str
    failed: int
    figures: Mapping[str, Figure]


def eai_result(log: EvalLog) -> ExperimentResult:
    """Return the result of one run's log; an unfinished run is marked, and interrupted samples are failures."""
    samples, arguments = list(log.samples or ()), dict(log.eval.task_args)
    plans = int(arguments.get("plans", PLANNED))
    tables = [table for task in TASKS for table in _tables(task, samples, plans)]
    trials = tuple(map(_trial, samples))
    finished = log.status == "success" and len(samples) >= count_wanted_samples(log) and not _has_failed_row(trials)
    is_whole = finished and not arguments.get("limit") and not limit_notes(log)
    return ExperimentResult(
        experiment="eai",
        title="Embodied Agent Interface in VirtualHome: recorded outputs, published and re-scored",
        finished=finished,
        provenance=_provenance(log, arguments, samples),
        tables=tuple(tables),
        samples=trials,
        notes=(
            f"published: {published_source()}",
            *_errors(samples),
            *limit_notes(log),
            *(_distance_notes(_unsampled(tables)) if is_whole else ()),
        ),
    )


def _has_failed_row(trials: Sequence[Trial]) -> bool:
    return sample_errors.has_failed_row(((one.table, one.method), one.outcome == FAILED) for one in trials)


def _errors(samples: Sequence[EvalSample]) -> tuple[str, ...]:
    found = sample_errors.most_common_error(sample.error.message for sample in samples if sample.error)
    return (found,) if found else ()


def _tables(task: TaskName, samples: Sequence[EvalSample], plans: int) -> Iterator[Table]:
    mine = [sample for sample in samples if sample.metadata["task"] == task]
    if not mine:
        return
    scorer = make_recorded_scorer(task, plans)
    scored = list(_scores_by_model(scorer, mine))
    for number, (name, figures) in enumerate(PARTS[task].items()):
        named = [scored[0].figures[figure] for figure in figures if figure in scored[0].figures]
        yield Table(
            key=f"{task}-{number + 1}",
            samples=task,
            title=f"{TITLES[task]}: {name}",
            columns=tuple(column for figure in named for column in _columns(figure)),
            rows=tuple(_row(task, one, named) for one in scored),
            paper="Embodied Agent Interface",
            settings=table_settings("eai"),
            notes=(*_denominators(named, scored), *(_plan_sample_note(plans) if name == PLANNING else ())),
        )


def _plan_sample_note(plans: int) -> tuple[str, ...]:
    """Return a note if only some outputs were planned with, since published figures are of all."""
    if not plans:
        return ()
    return (f"planned with {plans} outputs a model; the published figures are of all of them (--plans 0)",)


def _scores_by_model(scorer: OutputScorer, samples: Sequence[EvalSample]) -> Iterator[ModelScores]:
    by_model: dict[str, list[EvalSample]] = {}
    for sample in samples:
        by_model.setdefault(sample.metadata["model"], []).append(sample)
    for model, mine in sorted(by_model.items()):
        judged = [_judgement(one) for one in mine]
        pairs = zip(judged, mine, strict=True)
        figures = scorer.figures(
            [found or interrupted_judgement(scorer, one.metadata["task_id"]) for found, one in pairs]
        )
        yield ModelScores(model, judged.count(None), {figure.name: figure for figure in figures})


def _judgement(sample: EvalSample) -> Judgement | None:
    score = (sample.scores or {}).get(SCORER)
    judged: Judgement | None = score.metadata if score and sample.error is None else None
    return judged


def _columns(figure: Figure) -> Iterator[Column]:
    better = "neither" if figure.name in {*CLASSES, "human", "broke_off"} else "higher"
    interval: Interval = "wilson" if figure.bootstrap_interval is None else "bootstrap"
    heading = figure.name.replace("_", " ")
    yield Column(key=figure.name, heading=heading, unit="percent", better=better, interval=interval)
    if figure.published:
        yield Column(
            key=figure.name + PUBLISHED_SUFFIX, heading="published", unit="percent", better=better, second=True
        )


def _row(task: TaskName, one: ModelScores, named: Sequence[Figure]) -> Row:
    known = published_figures(one.model, task)
    cells: dict[str, Cell] = {}
    for name in (figure.name for figure in named):
        figure = one.figures[name].with_interval()
        cells[name] = Cell(value=figure.percent, n=figure.of, low=figure.low, high=figure.high, count=figure.hits)
        if figure.published:
            cells[name + PUBLISHED_SUFFIX] = Cell(value=known.get(figure.published))
    return Row(method=one.model, label=one.model, model=one.model, cells=cells, failed=one.failed)


def _denominators(named: Sequence[Figure], scored: Sequence[ModelScores]) -> Iterator[str]:
    """Yield a note with the denominators of figures: one number if it is the same for all models."""
    over: dict[str, list[str]] = {}
    for figure in named:
        numbers = sorted({one.figures[figure.name].of for one in scored})
        count = f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"
        over.setdefault(count, []).append(figure.name.replace("_", " "))
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


def _trial(sample: EvalSample) -> Trial:
    judged = _judgement(sample)
    found: Mapping[str, Any] = judged or {}
    mistakes = found.get("mistakes", ())
    outcome, success = (FAILED, False) if judged is None else outcome_of(sample.metadata["task"], judged)
    return Trial(
        table=sample.metadata["task"],
        id=sample.metadata["task_id"],
        method=sample.metadata["model"],
        outcome=outcome,
        success=success,
        actions=int(found.get("steps", 0)),
        seconds=sample.total_time or 0.0,
        mistakes={mistake: list(mistakes).count(mistake) for mistake in set(mistakes)},
    )


def outcome_of(task: TaskName, found: Judgement) -> tuple[str, bool]:
    """Return an output's outcome, and whether it succeeded by the best order of goals, with no goal wrong or missed."""
    match task:
        case "action-sequencing":
            done = meets_all_goals(found, 1)
            return ("goal_missed" if found["outcome"] == "executed" and not done else found["outcome"]), done
        case "subgoal":
            return found["outcome"], found["outcome"] == "correct"
        case "goal":
            exact = found["parsed"] and not any(sum(found[f"strict_{kind}"][1:]) for kind in KINDS)
            return ("inexact" if found["parsed"] else "unread"), exact
        case "transition":
            ended = "not planned" if found["plan"] is None else "no plan"
            return (ended if found["parsed"] else "unread"), bool(found["plan"])


def _provenance(log: EvalLog, arguments: Mapping[str, Any], samples: Sequence[EvalSample]) -> Provenance:
    wheel = str(arguments.get("wheel") or "")
    return Provenance(
        model=str(arguments.get("model") or "all that were recorded"),
        replies=("recorded",),
        date=log.eval.created,
        version=str(VERSION),
        samples=len(samples),
        wanted=count_wanted_samples(log),
        log=log.location,
        packages={
            **{name: _version(name) for name in PACKAGES},
            "recordings": recordings_origin(Path(wheel)) if wheel else PACKAGE,
        },
        arguments={**arguments, "wheel": Path(wheel).name},
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
