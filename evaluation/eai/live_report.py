"""Result of the experiment `ssc`: a row for each prompt and method, beside the paper's Tables 1 to 5."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

from inspect_ai.log import EvalLog, EvalSample

from scenecypher.evaluation import sample_errors
from scenecypher.evaluation.eai.live import VERSION, make_live_scorer
from scenecypher.evaluation.eai.recorded_result import FAILED, outcome_of
from scenecypher.evaluation.eai.recordings import TaskName
from scenecypher.evaluation.eai.scoring import Figure, OutputScorer, interrupted_judgement, share_figure
from scenecypher.evaluation.eai.titles import COLUMNS, SVR, TITLES, figure_cells
from scenecypher.evaluation.prompt_version import logged_prompt_version
from scenecypher.evaluation.published import published_rows, table_settings
from scenecypher.evaluation.result import (
    Cell,
    Column,
    ExperimentResult,
    Provenance,
    ReplySource,
    Row,
    Table,
    TableSetting,
    Trial,
)
from scenecypher.evaluation.sample_limit import count_wanted_samples, limit_notes
from scenecypher.evaluation.ssc.methods import OURS
from scenecypher.evaluation.ssc.voting import SAMPLES, TEMPERATURE

SCORER: Final = "judged"
NOTES: Final = (
    "SVR: of the outputs that were given, how many fit the schema; SVR of samples: of all replies that were asked for.",
    "The paper says 338 tasks each. Its figures of action sequencing are k/305, but those of OpenPangu with SSC k/270.",
    "Its section 4.1 says that SSC changes no prompt, section 4.5 that it comes with structured ones: hence four rows.",
)
LABELS: Final[Mapping[str, str]] = {
    "greedy": "greedy",
    "ssc": "SSC",
    "ssc-merge": "merged part by part",
    "ssc-early": "SSC, early stop",
    "ssc-filter": "SSC, simulator filter",
}


@dataclass(frozen=True, slots=True)
class _LoggedSample:
    """Sample of the log; `logged` is empty if it failed; `size` is the number of replies that its row votes on."""

    task_id: str
    form: str
    method: str
    size: int
    logged: Mapping[str, Any]
    seconds: float
    error: str


def ssc_result(log: EvalLog) -> ExperimentResult:
    """Return the result of one run's log; failed samples are counted as failures."""
    arguments = dict(log.eval.task_args)
    task: TaskName = arguments.get("task_name", "goal")
    samples = [_sample(one) for one in log.samples or ()]
    trials = tuple(_trial(one, task) for one in samples)
    rows = ((_row_key(one), not one.logged) for one in samples)
    return ExperimentResult(
        experiment="ssc",
        title="Structured Self-Consistency on the Embodied Agent Interface's tasks",
        finished=log.status == "success"
        and len(samples) >= count_wanted_samples(log)
        and not sample_errors.has_failed_row(rows),
        provenance=_provenance(log, arguments, samples),
        tables=(_table(task, samples, arguments),),
        samples=trials,
        notes=(*_errors(samples), *limit_notes(log)),
    )


def _table(task: TaskName, samples: Sequence[_LoggedSample], arguments: Mapping[str, Any]) -> Table:
    paper, number, rows = published_rows("ssc", task)
    asked = TableSetting(name="samples asked for", value=str(arguments.get("samples", "")))
    return Table(
        key=task,
        title=TITLES[task],
        columns=(*COLUMNS[task], *SVR, *_COSTS),
        rows=tuple(_rows(task, samples)),
        published=rows,
        paper=paper,
        paper_table=number,
        settings=(*table_settings("ssc"), asked),
        notes=NOTES,
    )


_COSTS: Final = (
    Column(key="asked", heading="replies", unit="number", better="lower", second=True),
    Column(key="tokens", heading="tokens", unit="number", better="lower", second=True),
    Column(key="tasks", heading="n", unit="count", better="neither", second=True),
)


def _errors(samples: Sequence[_LoggedSample]) -> tuple[str, ...]:
    found = sample_errors.most_common_error(one.error for one in samples)
    return (found,) if found else ()


def _row_key(one: _LoggedSample) -> tuple[str, str, int]:
    return one.form, one.method, one.size


def _rows(task: TaskName, samples: Sequence[_LoggedSample]) -> Iterator[Row]:
    """Yield a row for each prompt, method and number of replies."""
    scorer = make_live_scorer(task)
    groups: dict[tuple[str, str, int], list[_LoggedSample]] = {}
    for sample in samples:
        groups.setdefault(_row_key(sample), []).append(sample)
    for (form, method, size), group in groups.items():
        yield Row(
            method=method,
            label=f"{form} prompt, {LABELS[method]}" + (f", N = {size}" if _is_swept(group[0]) else ""),
            options=_options(group[0]),
            kind="ours" if method in OURS or _is_swept(group[0]) else "paper",
            cells=_cells(task, scorer, group),
            failed=sum(not one.logged for one in group),
        )


def _is_swept(one: _LoggedSample) -> bool:
    """Check that the sample votes on another number of replies than the paper's."""
    return one.method != "greedy" and one.size != SAMPLES


def _options(one: _LoggedSample) -> dict[str, str]:
    return {"prompt": one.form} | ({"samples": str(one.size)} if _is_swept(one) else {})


def _cells(task: TaskName, scorer: OutputScorer, group: Sequence[_LoggedSample]) -> dict[str, Cell]:
    figures = scorer.figures(
        [one.logged["judgement"] if one.logged else interrupted_judgement(scorer, one.task_id) for one in group]
    )
    asked, valid = _sum(group, "asked"), _sum(group, "valid")
    given = sum(bool(one.logged) and one.logged["svr"] for one in group)
    rates: list[Figure] = [share_figure("svr", given, of=len(group)), share_figure("svr_samples", valid, of=asked)]
    means = {name: Cell(value=_sum(group, name) / len(group), n=len(group)) for name in ("asked", "tokens")}
    return {
        **figure_cells(task, figures),
        **{one.name: _percent(one) for one in rates},
        **means,
        "tasks": Cell(value=len(group)),
    }


def _percent(one: Figure) -> Cell:
    return Cell(value=one.percent, n=one.of, low=one.low, high=one.high, count=one.hits)


def _sum(group: Sequence[_LoggedSample], key: str) -> int:
    return sum(int(one.logged.get(key, 0)) for one in group)


def _sample(sample: EvalSample) -> _LoggedSample:
    score = (sample.scores or {}).get(SCORER)
    logged = dict((score.metadata if score else None) or {})
    if logged and score is not None:
        logged["svr"] = bool(score.value)
    metadata, error = sample.metadata, sample.error.message if sample.error else ""
    return _LoggedSample(
        task_id=metadata["task"],
        form=metadata["prompt"],
        method=metadata["method"],
        size=int(metadata.get("samples", SAMPLES)),
        logged=logged,
        seconds=sample.total_time or 0.0,
        error=error,
    )


def _trial(one: _LoggedSample, task: TaskName) -> Trial:
    outcome, success = outcome_of(task, one.logged["judgement"]) if one.logged else (FAILED, False)
    return Trial(
        table=task,
        id=one.task_id,
        method=one.method,
        options=_options(one),
        outcome=outcome,
        success=success,
        tokens=int(one.logged.get("tokens", 0)),
        seconds=one.seconds,
        figures={key: float(one.logged[key]) for key in ("asked", "valid", "votes", "forms") if key in one.logged},
    )


def _provenance(log: EvalLog, arguments: Mapping[str, Any], samples: Sequence[_LoggedSample]) -> Provenance:
    sources: list[ReplySource] = sorted({one.logged["source"] for one in samples if one.logged.get("source")})
    recorded = {one.logged.get("model", "") for one in samples if one.logged.get("source") == "recorded"} - {""}
    return Provenance(
        model=", ".join(sorted(recorded)) or log.eval.model,
        replies=tuple(sources) or ("none",),
        date=log.eval.created,
        version=str(VERSION),
        prompt_version=logged_prompt_version(log),
        temperature=TEMPERATURE,
        samples=len(samples),
        wanted=count_wanted_samples(log),
        tokens=_sum(samples, "tokens"),
        log=log.location,
        packages={"inspect-ai": version("inspect-ai"), "eai-eval": version("eai-eval")},
        arguments=arguments,
    )
