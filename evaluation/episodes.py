"""Inspect task and result of experiments in which methods play; a sample is one task, one method and its options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import wraps
from inspect import Signature, signature
from threading import Lock
from typing import Any, Final, Protocol, cast

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, grouped, stderr
from inspect_ai.solver import TaskState

from scenecypher.chat.model import Model
from scenecypher.errors import InputError
from scenecypher.evaluation.attempts import measured_task
from scenecypher.evaluation.episode import EpisodePlan, Trace
from scenecypher.evaluation.experiment import Experiment, RowPlan, TablePlan
from scenecypher.evaluation.measures import MEASURES, figures, measured_cell, part_figures, part_tables
from scenecypher.evaluation.playing import play
from scenecypher.evaluation.published import published_rows
from scenecypher.evaluation.replies import LIVE, REFERENCE, ModelSource, prompt_version
from scenecypher.evaluation.reporting.cells import N
from scenecypher.evaluation.result import Cell, Column, ExperimentResult, Row, Table, Trial
from scenecypher.evaluation.run_result import LoggedSample, Run, group_by, most_common_error
from scenecypher.evaluation.world_pool import WorldPool
from scenecypher.planner.methods import recipe_named

VERSION: Final = 4
"""Version of tasks, play and scoring; results of different versions are not comparable."""
EPISODE: Final = "episode"
TRACE: Final = "trace"
SCORER: Final = "plan_execution"


class PlayedTask(Protocol):
    """Inspect task of an experiment, with the function that plans it."""

    plan: Callable[..., Experiment]

    def __call__(self, *, replies: str = LIVE, record: str = "", **options: Any) -> Task:
        """Return the task."""
        ...


def played(plan: Callable[..., Experiment]) -> PlayedTask:
    """Return the Inspect task, for `@task`, that plays what `plan` plans: its arguments, `replies` and `record`."""

    @wraps(plan)
    def make(*, replies: str = LIVE, record: str = "", **options: Any) -> Task:
        source = ModelSource.open(replies, record=record)
        return episodes_task(plan(**options), source)

    own, more = (signature(each).parameters.values() for each in (plan, PlayedTask.__call__))
    given = [one for one in (*own, *more) if one.name not in {"self", "options"}]
    make.__dict__.update(plan=plan, __signature__=Signature(given))
    return cast("PlayedTask", make)


def episodes_task(experiment: Experiment, replies: ModelSource) -> Task:
    """Return the task whose samples are the experiment's episodes; each is independent of the others.

    Episodes with a person run one at a time, whatever the number of parallel samples. Raises InputError if no episode
    can be played.
    """
    samples = [_sample(one, experiment.assignments.aim(one)) for one in experiment.episodes()]
    if not samples:
        raise InputError(
            f"{experiment.name}: none of the chosen rows can be played; "
            "name a model with --model, or choose other rows with --method"
        )
    worlds, person = WorldPool(), Lock()

    def work(state: TaskState, model: Model) -> dict[str, Any]:
        episode = _episode(state)
        with person if episode.eyes == "person" else nullcontext():
            trace = play(worlds, experiment.assignments, episode, model=model)
        state.output.completion = trace.answer or "\n".join(trace.executed)
        return trace.model_dump(mode="json")

    def sources(state: TaskState) -> ModelSource:
        episode = _episode(state)
        asks = (recipe_named(episode.method).model and not episode.player) or episode.eyes == "person"
        return replies if asks else ModelSource(REFERENCE)

    return measured_task(
        experiment.name,
        samples,
        work=work,
        judge=_plan_execution,
        found=TRACE,
        scored=SCORER,
        metrics=[accuracy(), stderr(), grouped(accuracy(), "row", all=False)],
        version=VERSION,
        prompts=prompt_version(),
        replies=sources,
    )


def _plan_execution(state: TaskState, found: dict[str, Any]) -> Score:
    """Score an episode's success as its paper defines it; all figures are in the score's metadata."""
    episode, trace = _episode(state), Trace.model_validate(found)
    counted = figures(episode, trace)
    return Score(
        value=CORRECT if counted[success_figure(episode)] else INCORRECT,
        answer=trace.answer or "\n".join(trace.executed),
        explanation=f"{trace.outcome}: {trace.reason}",
        metadata={"figures": counted},
    )


def success_figure(episode: EpisodePlan) -> str:
    """Return the name of the figure that decides success.

    A plan with infeasible actions is no success, unless a person judges.
    """
    return "done" if episode.marking == "person" else "success"


def _episode(state: TaskState) -> EpisodePlan:
    return EpisodePlan.model_validate(state.metadata[EPISODE])


def _sample(episode: EpisodePlan, aim: str) -> Sample:
    return Sample(
        id=episode.id,
        input=f"{episode.task} by {episode.row}",
        target=aim,
        metadata={"row": f"{episode.group}/{episode.row}", EPISODE: episode.model_dump(mode="json")},
    )


SIZES: Final = ("graph", "cot")
COUNT: Final = Column(key=N, heading="n", unit="count", better="neither", second=True)


@dataclass(frozen=True, slots=True)
class PlayedSample:
    """Sample of a log with its episode and its figures; `trace` is None if it ended in an error."""

    logged: LoggedSample
    episode: EpisodePlan
    trace: Trace | None
    figures: dict[str, float] = field(default_factory=dict)

    @property
    def row(self) -> tuple[str, str]:
        """Group and key of its row."""
        return self.episode.group, self.episode.row


def episodes_result(log: EvalLog, experiment: Experiment) -> ExperimentResult:
    """Return the result of a run; unfinished runs and failed samples are marked as such."""
    run = Run.read(log, SCORER, stored=TRACE)
    tried = _with_sizes([_played_sample(sample) for sample in run.samples])
    rows = group_by(tried, lambda one: one.row)
    tables = [_table(plan, rows, experiment, run) for plan in experiment.tables]
    return run.result(
        experiment.name,
        experiment.title,
        tables,
        map(_trial, tried),
        derived=_derived(experiment.tables, tables, rows),
        notes=run.limit_notes,
        seeds=tuple(sorted({one.episode.seed for one in tried})),
        arguments={name: value for name, value in run.arguments.items() if value not in ("", 0, None)},
    )


def played_result(task: Any) -> Callable[[EvalLog], ExperimentResult]:
    """Return the function from a log of a `played` task to its result, planned again from the arguments in the log."""

    def result(log: EvalLog) -> ExperimentResult:
        options = {key: value for key, value in log.eval.task_args.items() if key not in {"replies", "record"}}
        return episodes_result(log, task.plan(**options))

    return result


def _played_sample(sample: LoggedSample) -> PlayedSample:
    """Return a sample of the log; without a score it is a failure."""
    episode = EpisodePlan.model_validate(sample.metadata[EPISODE])
    trace = None if sample.failed else Trace.model_validate(sample.found)
    return PlayedSample(sample, episode, trace, figures(episode, trace))


def _with_sizes(tried: Sequence[PlayedSample]) -> Sequence[PlayedSample]:
    """Copy the scene's token counts, which are measured in one row only, to all rows of the same task."""
    known = {one.episode.task: one.figures for one in tried if "graph" in one.figures}
    for one in tried:
        sizes = known.get(one.episode.task, {})
        one.figures.update({name: sizes[name] for name in SIZES if name in sizes and one.trace is not None})
    return tried


def _derived(
    plans: Sequence[TablePlan], tables: Sequence[Table], rows: Mapping[tuple[str, str], Sequence[PlayedSample]]
) -> Iterator[Table]:
    """Yield the tables of parts that the plans ask for."""
    for plan, table in zip(plans, tables, strict=True):
        if plan.parts is not None:
            samples = {
                key: [one.figures | part_figures(one.trace) for one in own if one.trace is not None]
                for (group, key), own in rows.items()
                if group == plan.group
            }
            yield from part_tables(table, plan.parts, samples)


def _table(
    plan: TablePlan, rows: Mapping[tuple[str, str], Sequence[PlayedSample]], experiment: Experiment, run: Run
) -> Table:
    name, key = plan.published
    paper, number, published = published_rows(name, key) if name else ("", "", ())
    has_model = any(recipe_named(one.episode.method).model for group in rows.values() for one in group)
    found = [(row, rows.get((plan.group, row.key), ())) for row in plan.rows]
    errors = ((row.key, most_common_error([one.logged for one in own])) for row, own in found)
    return Table(
        key=plan.key,
        samples=plan.group,
        title=plan.title,
        columns=(*(MEASURES[column].column for column in plan.columns), COUNT),
        rows=tuple(_row(plan, row, own, experiment, run, has_model=has_model) for row, own in found),
        published=published,
        paper=paper,
        paper_table=number,
        settings=run.settings(plan.settings) if plan.settings else (),
        notes=(*plan.notes, *(f"{key}: {error}" for key, error in errors if error)),
    )


def _row(
    plan: TablePlan, row: RowPlan, own: Sequence[PlayedSample], experiment: Experiment, run: Run, *, has_model: bool
) -> Row:
    """Return a row of the run, also one that it did not come to, or without cells with the reason."""
    found, recipe = [one.figures for one in own], recipe_named(row.method).without(row.method, row.ablations)
    scope = (plan.common.schema_scope or recipe.schema) if recipe.sees_schema else recipe.schema
    is_named = recipe.sees_schema and (scope != recipe.schema or scope == "environment")
    cells = {key: measured_cell(MEASURES[key], found) for key in plan.columns} | {N: Cell(value=len(own))}
    made = Row(
        method=row.method,
        label=row.label or row.key,
        options=_options(row.ablations) | dict(row.options) | ({"schema": str(scope)} if is_named else {}),
        kind="ours" if row.is_ours or scope != recipe.schema else "paper",
        cells=cells if own else {},
    )
    untried = sum(id_.startswith(f"{plan.group}/{row.key}/") for id_ in run.untried)
    if own or untried:
        return run.row(made, [one.logged for one in own], untried=untried)
    needs_model = recipe_named(row.method).model and not has_model
    reason = row.absent or ("needs a model" if needs_model else "not run")
    is_run = (plan.group, row.key) in experiment.run
    return made.model_copy(update={"note": "not chosen" if is_run else reason})


def _options(ablations: Sequence[str]) -> dict[str, str]:
    return {"ablation": ", ".join(ablations)} if ablations else {}


def _trial(one: PlayedSample) -> Trial:
    episode, trace = one.episode, one.trace
    moved = {"moved": "yes"} if episode.moved else {}
    played: dict[str, Any] = {}
    if trace is not None:
        played = {
            "nodes": trace.nodes,
            "outcome": trace.outcome,
            "success": bool(one.figures[success_figure(episode)]),
            "actions": len(trace.executed),
            "mistakes": trace.mistakes,
            "seconds": trace.seconds,
        }
    return one.logged.trial(
        table=episode.group,
        method=episode.row,
        id=episode.task,
        options=_options(episode.ablations) | moved,
        figures=one.figures,
        **played,
    )
