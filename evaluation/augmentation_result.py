"""Result of the experiment `augmentation`, beside LookPlanGraph's Table III if a model read the pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final, Literal

from inspect_ai.log import EvalLog, EvalSample

from scenecypher.evaluation import sample_errors
from scenecypher.evaluation.augmentation import SIMULATED, VERSION
from scenecypher.evaluation.augmentation_gold import SIMULATED_OBSERVER
from scenecypher.evaluation.interval import bootstrap, wilson
from scenecypher.evaluation.prompt_version import logged_prompt_version
from scenecypher.evaluation.published import published_rows, table_settings
from scenecypher.evaluation.replies import REFERENCE
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
    reply_sources,
)
from scenecypher.evaluation.sample_limit import count_wanted_samples, limit_notes

SCORER: Final = "subgraph_match"
TABLE: Final = "augmentation"
ALL: Final = "all"
FAILED: Final = "failed"
COLUMNS: Final = (
    Column(key="nodes", heading="F1N", interval="bootstrap"),
    Column(key="edges", heading="F1E", interval="bootstrap"),
    Column(key="exact", heading="Success", interval="wilson"),
    Column(key="kept", heading="Kept", interval="bootstrap"),
    Column(key="pictures", heading="n", unit="count", better="neither", second=True),
)
OTHER_PICTURES: Final = (
    "The published rows are of pictures from VirtualHome and OmniGibson, which are not public; these are others, "
    "and compare only in kind."
)
SIMULATED_NOTE: Final = (
    "A simulated observer: the gold subgraph with seeded mistakes, no picture and no model. It is no reading of Table "
    "III and stands beside no published figure."
)
REFERENCE_NOTE: Final = "The gold subgraphs themselves, told as a model would: it shows that all is in its place."


def augmentation_result(log: EvalLog) -> ExperimentResult:
    """Return the result of one run's log; samples that failed count as zeros."""
    arguments, trials = dict(log.eval.task_args), [_trial(sample) for sample in log.samples or ()]
    is_read = _is_read_by_model(log)
    paper, number, rows = published_rows("lookplangraph", "III") if is_read else ("", "", ())
    table = Table(
        key=TABLE,
        title="Graph augmentation",
        columns=COLUMNS,
        rows=tuple(_rows(trials, _label(log, arguments), kind="paper" if is_read else "ours")),
        published=rows,
        paper=paper,
        paper_table=number,
        settings=tuple(_settings(arguments)),
        notes=(OTHER_PICTURES,) if is_read else (),
    )
    return ExperimentResult(
        experiment=TABLE,
        title="Pictures read into subgraphs",
        finished=log.status == "success"
        and len(trials) >= count_wanted_samples(log)
        and not all(it.outcome == FAILED for it in trials),
        provenance=_provenance(log, arguments, trials),
        tables=(table,),
        samples=tuple(trials),
        notes=(*_notes(arguments), *_errors(log), *limit_notes(log)),
    )


def _trial(sample: EvalSample) -> Trial:
    """Return a sample as a trial; one without a score failed and is 0 in every figure."""
    score = (sample.scores or {}).get(SCORER)
    found: Mapping[str, Any] = (score.metadata if score else None) or {}
    figures = {name: float(found.get(name, 0)) for name in ("nodes", "edges", "exact")}
    if found.get("kept") is not None:
        figures["kept"] = float(found["kept"])
    return Trial(
        table=TABLE,
        id=str(sample.id),
        method=str(sample.metadata.get("set", ALL)),
        nodes=found.get("size"),
        outcome=str(found.get("outcome", FAILED)),
        success=bool(figures["exact"]),
        tokens=int(found.get("tokens", 0)),
        seconds=sample.total_time or 0.0,
        mistakes=found.get("slips", {}),
        figures=figures,
    )


def _rows(trials: Sequence[Trial], label: str, *, kind: Literal["paper", "ours"]) -> Iterator[Row]:
    sets = sorted({trial.method for trial in trials})
    for name in sets if len(sets) < 2 else (*(one for one in sets if one != ALL), ALL):
        group = [trial for trial in trials if name in {trial.method, ALL}]
        yield Row(
            method="two-stage",
            label=label,
            options={"pictures": name},
            kind=kind,
            cells=_cells(group),
            failed=sum(trial.outcome == FAILED for trial in group),
            note=_unreadable(group),
        )


def _cells(group: Sequence[Trial]) -> dict[str, Cell]:
    count, exact = len(group), sum(trial.success for trial in group)
    cells = {"pictures": Cell(value=count)}
    for name in ("nodes", "edges"):
        values = [trial.figures[name] for trial in group]
        low, high = bootstrap(values)
        cells[name] = Cell(value=sum(values) / count, n=count, low=low, high=high)
    if kept := [trial.figures["kept"] for trial in group if "kept" in trial.figures]:
        low, high = bootstrap(kept)
        cells["kept"] = Cell(value=sum(kept) / len(kept), n=len(kept), low=low, high=high)
    low, high = wilson(exact, count)
    return cells | {"exact": Cell(value=exact / count, n=count, low=low, high=high, count=exact)}


def _unreadable(group: Sequence[Trial]) -> str:
    count = sum(trial.outcome == "unreadable" for trial in group)
    return f"{count} of {len(group)} replies could not be read, and count as 0" if count else ""


def _settings(arguments: Mapping[str, Any]) -> Iterator[TableSetting]:
    yield from table_settings("lookplangraph-3")
    if arguments.get("replies") == SIMULATED:
        noise = ", ".join(f"{name} {arguments[name]}" for name in ("missed", "mislabelled", "undercounted"))
        yield TableSetting(name="noise", value=f"{noise}; seed {arguments['seed']}")


def _provenance(log: EvalLog, arguments: Mapping[str, Any], trials: Sequence[Trial]) -> Provenance:
    return Provenance(
        model=_model(log),
        replies=_replies(log, arguments),
        date=log.eval.created,
        version=str(VERSION),
        prompt_version=logged_prompt_version(log),
        seeds=(int(arguments["seed"]),) if arguments.get("replies") == SIMULATED else (),
        temperature=0.0,
        samples=len(trials),
        wanted=count_wanted_samples(log),
        tokens=sum(trial.tokens for trial in trials),
        log=log.location,
        packages={"inspect_ai": version("inspect_ai"), "scenecypher": version("scenecypher")},
        arguments=arguments,
    )


def _model(log: EvalLog) -> str:
    """Return the model that was asked, or the models whose replies were recorded."""
    if "live" in _sources(log):
        return log.eval.model
    return ", ".join(sorted(_metadata_values(log, "model"))) if "recorded" in _sources(log) else "none"


def _sources(log: EvalLog) -> set[str]:
    """Return the sources that replies actually came from."""
    return _metadata_values(log, "source")


def _metadata_values(log: EvalLog, what: str) -> set[str]:
    scores = [(sample.scores or {}).get(SCORER) for sample in log.samples or ()]
    return {str((score.metadata or {}).get(what, "")) for score in scores if score} - {""}


def _replies(log: EvalLog, arguments: Mapping[str, Any]) -> tuple[ReplySource, ...]:
    if arguments.get("replies") == REFERENCE:
        return ("reference",)
    return reply_sources(_sources(log))


def _is_read_by_model(log: EvalLog) -> bool:
    """Check that the scored subgraphs are a model's, live or recorded."""
    return bool(_sources(log) & {"live", "recorded"})


def _label(log: EvalLog, arguments: Mapping[str, Any]) -> str:
    if arguments.get("replies") == SIMULATED:
        return SIMULATED_OBSERVER
    return REFERENCE if arguments.get("replies") == REFERENCE else _model(log)


def _errors(log: EvalLog) -> tuple[str, ...]:
    found = sample_errors.most_common_error(sample.error.message for sample in log.samples or () if sample.error)
    return (found,) if found else ()


def _notes(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    found = {SIMULATED: SIMULATED_NOTE, REFERENCE: REFERENCE_NOTE}.get(str(arguments.get("replies")))
    return (found,) if found else ()
