"""Result of votes across recorded models: each model, the vote, its variants, and comparisons with the best model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scenecypher.errors import InputError
from scenecypher.evaluation.eai.live import VERSION, was_executed
from scenecypher.evaluation.eai.recorded import VERSION as RECORDED_VERSION
from scenecypher.evaluation.eai.recordings import read_recordings, recordings_origin, sha256_of
from scenecypher.evaluation.eai.scoring import Judgement, percent_cell
from scenecypher.evaluation.eai.task_table import EaiTask
from scenecypher.evaluation.eai.transition import PLANNED
from scenecypher.evaluation.options import check_ids, take_spread
from scenecypher.evaluation.result import Cell, Column, ExperimentResult, Provenance, Row, Table, TableSetting
from scenecypher.evaluation.run_result import installed_packages
from scenecypher.evaluation.ssc.cross_model import (
    RESAMPLES,
    SEED,
    SUBSETS,
    Candidate,
    Comparison,
    JudgedOutputs,
    best_single,
    compare_with_best,
    judge_outputs,
    merge_across_models,
    single_models,
    sweep,
    vote_across_models,
    vote_on_executable,
    vote_with_early_stop,
)

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

LOG_HINT: Final = "give a log of `eval eai --recorded`"
AS_PUBLISHED: Final = "as_published"
"""Name of the scorer in that log."""
COSTS: Final = (
    Column(key="svr", heading="SVR", unit="percent", interval="wilson"),
    Column(key="used", heading="outputs", unit="number", better="lower", second=True),
)
SETTINGS: Final = (
    TableSetting(name="order of votes", value="the models' names, so that a tie goes to the first by name"),
    TableSetting(
        name="interval of a difference",
        value=f"bootstrap over tasks, {RESAMPLES} resamples, seed {SEED}; the best single model is chosen in each",
    ),
    TableSetting(name="sweep", value=f"mean over {SUBSETS} seeded sets of so many models"),
)


def cross_result(
    tasks: Sequence[EaiTask],
    wheel: Path,
    *,
    limit: int = 0,
    seed: int | None = None,
    ids: Sequence[str] = (),
    log: Path | None = None,
    tell: Callable[[str], None],
) -> ExperimentResult:
    """Vote over all recorded models for each task, or for a part of it: `ids`, or by `limit` and `seed`.

    `log` is of a run of the experiment `eai`; its judgements are not computed again. `tell` gets a line for each step
    that takes time. Raises InputError, ServiceError.
    """
    scorers = {task.name: task.make_scorer(PLANNED) for task in tasks}
    check_ids(ids, [one for scorer in scorers.values() for one in scorer.task_ids()])
    known = _known_judgements(log, wheel, tell=tell)
    judged: list[JudgedOutputs] = []
    tables: list[Table] = []
    for task in tasks:
        scorer, recorded = scorers[task.name], read_recordings(task.name, wheel)
        chosen = [one for one in take_spread(scorer.task_ids(), limit, seed) if not ids or one in ids]
        if not chosen or not recorded:
            continue
        tell(f"{task.title}: scoring what all models wrote…")
        found = judge_outputs(task, scorer, recorded, ids=chosen, known=known.get(task.name, {}))
        tell(f"{task.title}: voting, and comparing with the best model in {RESAMPLES} resamples…")
        judged.append(found)
        tables.append(cross_table(found))
    if not judged:
        raise InputError(f"{wheel} has no outputs for {', '.join(scorers)}; give another file with --recordings WHEEL")
    models = {model for one in judged for model in one.models}
    count = sum(len(one.ids) * len(one.models) for one in judged)
    return ExperimentResult(
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
            packages=installed_packages(),
            arguments={
                "recordings": recordings_origin(wheel),
                "tasks": [task.name for task in tasks],
                "limit": limit,
                "seed": seed,
                "sample_ids": [*ids],
            },
        ),
        tables=tuple(tables),
        notes=(f"LIMITED: only {len(ids)} tasks were chosen; figures of all differ.",) if ids else (),
    )


def _known_judgements(
    log: Path | None, wheel: Path, *, tell: Callable[[str], None]
) -> Mapping[str, Mapping[tuple[str, str], Judgement]]:
    if log is None:
        return {}
    tell(f"reading {log.name}…")
    return read_judgements(log, wheel)


def read_judgements(log: Path, wheel: Path) -> Mapping[str, Mapping[tuple[str, str], Judgement]]:
    """Return the judgements of this wheel in a log of `eai`, by task, then by model and id. Raises InputError."""
    from inspect_ai.log import read_eval_log

    try:
        read = read_eval_log(str(log))
    except (OSError, ValueError) as error:
        raise InputError(f"{log}: is not a readable log ({error}); {LOG_HINT}") from error
    _check_log(read, log, wheel)
    found: dict[str, dict[tuple[str, str], Judgement]] = {}
    for sample in read.samples or []:
        metadata, score = sample.metadata, (sample.scores or {}).get(AS_PUBLISHED)
        if score is not None and score.metadata:
            found.setdefault(metadata["task"], {})[metadata["model"], metadata["task_id"]] = score.metadata
    return found


def _check_log(read: EvalLog, log: Path, wheel: Path) -> None:
    name, version = (read.eval.task_registry_name or read.eval.task).rpartition("/")[2], read.eval.task_version
    if name != "eai" or version != RECORDED_VERSION:
        raise InputError(
            f"{log}: is of {name!r}, version {version}, not of eai, version {RECORDED_VERSION}; {LOG_HINT}"
        )
    used = Path(str(read.eval.task_args.get("wheel") or wheel))
    if used.resolve() != wheel.resolve() and (not used.is_file() or sha256_of(used) != sha256_of(wheel)):
        raise InputError(f"{log}: scored another file of recordings ({used.name}); give that one with --recordings")


def cross_table(of: JudgedOutputs) -> Table:
    """Return one task's table; early stop is not compared, since it changes no answer."""
    figures = [(key, of.task.columns[key][1]) for key in of.task.compared]
    vote, quick, others = vote_across_models(of), vote_with_early_stop(of), list(_variants(of))
    lines = [*single_models(of), vote, quick, *others]
    best = {key: best_single(of, name) for key, name in figures}
    verdicts = [_verdict_note(key, compare_with_best(of, line, best[key])) for line in (vote, *others) for key in best]
    return Table(
        key=f"cross-{of.task.name}",
        title=f"{of.task.title}: votes across {len(of.models)} recorded models",
        columns=(*of.task.ssc_columns, *COSTS),
        rows=tuple(_row(of, line) for line in lines),
        settings=SETTINGS,
        notes=(*verdicts, _sweep_note(of, *figures[0])),
    )


def _variants(of: JudgedOutputs) -> Iterator[Candidate]:
    yield merge_across_models(of)
    if of.task.is_simulated:
        yield vote_on_executable(of, was_executed, name="vote, simulator filter")


def _row(of: JudgedOutputs, line: Candidate) -> Row:
    costs = {"svr": percent_cell(line.valid, line.of), "used": Cell(value=line.used)}
    single = line.name in of.models
    return Row(
        method="recorded" if single else "cross-model",
        label=line.name,
        kind="ours",
        model=line.name if single else "",
        cells=of.task.ssc_cells(of.scorer, line.judged) | costs,
    )


def _verdict_note(key: str, found: Comparison) -> str:
    return (
        f"{key}: {found.line} has {found.voted:.1f}, the best single model ({found.model}) {found.best:.1f}; "
        f"difference {found.voted - found.best:+.1f} ({found.low:+.1f} to {found.high:+.1f} at 95%): {found.verdict}"
    )


def _sweep_note(of: JudgedOutputs, key: str, figure: str) -> str:
    found = ", ".join(f"{size}: {value:.1f}" for size, value in sweep(of, figure))
    return f"{key} by the number of models that vote: {found}"
