"""Result of a run of episodes, made from its log and its experiment: tables, published rows and provenance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from typing import Any, Final

from inspect_ai.log import EvalLog, EvalSample

from scenecypher.evaluation import sample_errors
from scenecypher.evaluation.episode import EpisodePlan, Trace
from scenecypher.evaluation.episodes import EPISODE, SCORER, TRACE, success_figure
from scenecypher.evaluation.experiment import Experiment, RowPlan, TablePlan
from scenecypher.evaluation.measures import MEASURES, figures, measured_cell
from scenecypher.evaluation.prompt_version import logged_prompt_version
from scenecypher.evaluation.published import published_rows, table_settings
from scenecypher.evaluation.reporting.cells import N
from scenecypher.evaluation.result import (
    Cell,
    Column,
    ExperimentResult,
    Provenance,
    ReplySource,
    Row,
    Table,
    Trial,
    reply_sources,
)
from scenecypher.evaluation.sample_limit import count_wanted_samples, limit_notes
from scenecypher.planner.methods import recipe_named

ORACLE: Final = "oracle/"
PACKAGES: Final = ("inspect-ai", "openai", "neo4j")
SIZES: Final = ("graph", "cot")
COUNT: Final = Column(key=N, heading="n", unit="count", better="neither", second=True)


@dataclass(frozen=True, slots=True)
class PlayedSample:
    """Sample of a log; `trace` is None if it ended in an error, whose message is `error`."""

    episode: EpisodePlan
    trace: Trace | None
    figures: dict[str, float] = field(default_factory=dict)
    error: str = ""


def episodes_result(log: EvalLog, experiment: Experiment) -> ExperimentResult:
    """Return the result of a run; unfinished runs and failed samples are marked as such."""
    tried = _with_sizes([_played_sample(sample) for sample in log.samples or ()])
    return ExperimentResult(
        experiment=experiment.name,
        title=experiment.title,
        finished=log.status == "success"
        and len(tried) >= count_wanted_samples(log)
        and not sample_errors.has_failed_row(_rows_of(tried)),
        provenance=_provenance(log, tried),
        tables=tuple(_table(plan, tried, experiment) for plan in experiment.tables),
        samples=tuple(map(_trial, tried)),
        notes=limit_notes(log),
    )


def experiment_from_log(log: EvalLog) -> Experiment:
    """Plan a log's experiment again, from the arguments in the log. Raises InputError."""
    module: Any = import_module(f"scenecypher.evaluation.{log.eval.task.rpartition('/')[2].replace('-', '_')}")
    options = {key: value for key, value in log.eval.task_args.items() if key not in {"replies", "record"}}
    experiment: Experiment = module.plan_experiment(**options)
    return experiment


def _rows_of(tried: Iterable[PlayedSample]) -> Iterator[tuple[tuple[str, str], bool]]:
    """Yield each sample's row, and whether an error ended the sample."""
    return (((one.episode.group, one.episode.row), one.trace is None) for one in tried)


def _played_sample(sample: EvalSample) -> PlayedSample:
    """Return a sample of the log; without a score it is a failure."""
    episode = EpisodePlan.model_validate(sample.metadata[EPISODE])
    is_scored = sample.error is None and SCORER in (sample.scores or {})
    trace = Trace.model_validate(sample.metadata[TRACE]) if is_scored else None
    error = sample.error.message if sample.error else ""
    return PlayedSample(episode, trace, figures(episode, trace), error)


def _with_sizes(tried: Sequence[PlayedSample]) -> list[PlayedSample]:
    """Copy the scene's token counts, which are measured in one row only, to all rows of the same task."""
    known = {one.episode.task: one.figures for one in tried if "graph" in one.figures}
    for one in tried:
        sizes = known.get(one.episode.task, {})
        one.figures.update({name: sizes[name] for name in SIZES if name in sizes and one.trace is not None})
    return list(tried)


def _table(plan: TablePlan, tried: Sequence[PlayedSample], experiment: Experiment) -> Table:
    name, key = plan.published
    paper, number, rows = published_rows(name, key) if name else ("", "", ())
    return Table(
        key=plan.key,
        samples=plan.group,
        title=plan.title,
        columns=(*(MEASURES[column].column for column in plan.columns), COUNT),
        rows=tuple(_row(plan, row, tried, is_run=(plan.group, row.key) in experiment.run) for row in plan.rows),
        published=rows,
        paper=paper,
        paper_table=number,
        settings=table_settings(plan.settings) if plan.settings else (),
        notes=(*plan.notes, *_errors(plan, tried)),
    )


def _errors(plan: TablePlan, tried: Sequence[PlayedSample]) -> Iterator[str]:
    for row in plan.rows:
        mine = (one.error for one in tried if (one.episode.group, one.episode.row) == (plan.group, row.key))
        if found := sample_errors.most_common_error(mine):
            yield f"{row.key}: {found}"


def _row(plan: TablePlan, row: RowPlan, tried: Sequence[PlayedSample], *, is_run: bool) -> Row:
    own = [one for one in tried if (one.episode.group, one.episode.row) == (plan.group, row.key)]
    found = [one.figures for one in own]
    return Row(
        method=row.method,
        label=row.label or row.key,
        options=_options(row.ablations) | dict(row.options),
        kind="ours" if row.is_ours else "paper",
        cells={key: measured_cell(MEASURES[key], found) for key in plan.columns} | {N: Cell(value=len(own))}
        if own
        else {},
        failed=sum(one.trace is None for one in own),
        note="" if own else _absence(row, is_run=is_run, has_model=_has_model(tried)),
    )


def _options(ablations: Sequence[str]) -> dict[str, str]:
    return {"ablation": ", ".join(ablations)} if ablations else {}


def _absence(row: RowPlan, *, is_run: bool, has_model: bool) -> str:
    if is_run:
        return "not tried: the run did not come to it"
    if row.absent:
        return row.absent
    return "needs a model" if recipe_named(row.method).model and not has_model else "not run"


def _has_model(tried: Iterable[PlayedSample]) -> bool:
    return any(recipe_named(one.episode.method).model for one in tried)


def _trial(one: PlayedSample) -> Trial:
    episode, trace = one.episode, one.trace
    moved = {"moved": "yes"} if episode.moved else {}
    fields = {
        "table": episode.group,
        "id": episode.task,
        "method": episode.row,
        "options": _options(episode.ablations) | moved,
    }
    if trace is None:
        return Trial.model_validate({**fields, "outcome": "failed", "figures": one.figures})
    return Trial.model_validate(
        {
            **fields,
            "nodes": trace.nodes,
            "outcome": trace.outcome,
            "success": bool(one.figures[success_figure(episode)]),
            "actions": len(trace.executed),
            "tokens": trace.prompt_tokens + trace.completion_tokens,
            "seconds": trace.seconds,
            "mistakes": trace.mistakes,
            "figures": one.figures,
        }
    )


def _provenance(log: EvalLog, tried: Sequence[PlayedSample]) -> Provenance:
    replies = _replies(log, tried)
    return Provenance(
        model=_model(log, tried, replies),
        replies=replies,
        date=log.eval.created,
        version=str(log.eval.task_version),
        prompt_version=logged_prompt_version(log),
        seeds=tuple(sorted({one.episode.seed for one in tried})),
        temperature=0.0,
        samples=len(tried),
        wanted=count_wanted_samples(log),
        tokens=sum(one.trace.prompt_tokens + one.trace.completion_tokens for one in tried if one.trace),
        log=log.location,
        packages={name: version(name) for name in PACKAGES},
        arguments=_plain(log.eval.task_args),
    )


def _model(log: EvalLog, tried: Iterable[PlayedSample], replies: Sequence[ReplySource]) -> str:
    """Return the model that was asked, or the models whose replies were recorded."""
    if {"live", "oracle"} & {*replies}:
        return log.eval.model
    recorded = {name for one in tried if one.trace and "recorded" in one.trace.sources for name in one.trace.models}
    return ", ".join(sorted(recorded)) or "none"


def _replies(log: EvalLog, tried: Iterable[PlayedSample]) -> tuple[ReplySource, ...]:
    """Return the sources that the replies actually came from."""
    sources = {source for one in tried if one.trace for source in one.trace.sources}
    if sources and log.eval.model.startswith(ORACLE):
        return ("oracle",)
    return reply_sources(sources)


def _plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value not in ("", 0, None)}
