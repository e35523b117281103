"""Result of the experiment `augmentation`, beside LookPlanGraph's Table III if a model read the pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from inspect_ai.log import EvalLog

from scenecypher.evaluation.augmentation import SIMULATED
from scenecypher.evaluation.augmentation_gold import SIMULATED_OBSERVER
from scenecypher.evaluation.published import published_rows
from scenecypher.evaluation.replies import REFERENCE
from scenecypher.evaluation.result import Cell, Column, ExperimentResult, Row, Table, TableSetting, Trial
from scenecypher.evaluation.run_result import LoggedSample, Run, mean_cell, share_cell

SCORER: Final = "subgraph_match"
TABLE: Final = "augmentation"
ALL: Final = "all"
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
REFERENCE_NOTE: Final = (
    "The gold subgraphs themselves, told as a model would: this checks the set-up only, and measures no model."
)


def augmentation_result(log: EvalLog) -> ExperimentResult:
    """Return the result of one run's log; samples that failed count as zeros."""
    run = Run.read(log, SCORER)
    arguments, source = run.arguments, str(run.arguments.get("replies"))
    is_read = bool(run.sources & {"live", "recorded"})
    paper, number, rows = published_rows("lookplangraph", "III") if is_read else ("", "", ())
    label = {SIMULATED: SIMULATED_OBSERVER, REFERENCE: REFERENCE}.get(source, run.model)
    table = Table(
        key=TABLE,
        title="Graph augmentation",
        columns=COLUMNS,
        rows=tuple(_rows(run, label, kind="paper" if is_read else "ours")),
        published=rows,
        paper=paper,
        paper_table=number,
        settings=(*run.settings("lookplangraph-3"), *_settings(arguments)),
        notes=(OTHER_PICTURES,) if is_read else (),
    )
    notes = {SIMULATED: (SIMULATED_NOTE,), REFERENCE: (REFERENCE_NOTE,)}.get(source, ())
    return run.result(
        TABLE,
        "Pictures read into subgraphs",
        [table],
        map(_trial, run.samples),
        notes=(*notes, *run.error_notes, *run.limit_notes),
        seeds=(_observer_seed(arguments),) if source == SIMULATED else (),
    )


def _trial(one: LoggedSample) -> Trial:
    """Return a sample as a trial; one without a score failed and is 0 in every figure."""
    found = one.found
    figures = {name: float(found.get(name, 0)) for name in ("nodes", "edges", "exact")}
    if found.get("kept") is not None:
        figures["kept"] = float(found["kept"])
    return one.trial(
        table=TABLE,
        method=_set(one),
        nodes=found.get("size"),
        outcome=str(found.get("outcome", "")),
        success=bool(figures["exact"]),
        mistakes=found.get("slips", {}),
        figures=figures,
    )


def _rows(run: Run, label: str, *, kind: Literal["paper", "ours"]) -> Iterator[Row]:
    sets = sorted({_set(one) for one in run.samples})
    for name in sets if len(sets) < 2 else (*(one for one in sets if one != ALL), ALL):
        group = [one for one in run.samples if name in {_set(one), ALL}]
        trials, options = [_trial(one) for one in group], {"pictures": name}
        cells, note = _cells(trials), _unreadable(trials)
        yield run.row(Row(method="two-stage", label=label, options=options, kind=kind, cells=cells, note=note), group)


def _set(one: LoggedSample) -> str:
    return str(one.metadata.get("set", ALL))


def _cells(group: Sequence[Trial]) -> dict[str, Cell]:
    figures = {name: [it.figures[name] for it in group if name in it.figures] for name in ("nodes", "edges", "kept")}
    means = {name: mean_cell(values) for name, values in figures.items() if values}
    exact = share_cell(sum(trial.success for trial in group), len(group))
    return {**means, "pictures": Cell(value=len(group)), "exact": exact}


def _unreadable(group: Sequence[Trial]) -> str:
    count = sum(trial.outcome == "unreadable" for trial in group)
    return f"{count} of {len(group)} replies could not be read, and count as 0" if count else ""


def _settings(arguments: Mapping[str, Any]) -> Iterator[TableSetting]:
    if arguments.get("replies") == SIMULATED:
        noise = ", ".join(f"{name} {arguments[name]}" for name in ("missed", "mislabelled", "undercounted"))
        yield TableSetting(name="noise", value=f"{noise}; seed {_observer_seed(arguments)}")


def _observer_seed(arguments: Mapping[str, Any]) -> int:
    """Return the seed of the simulated observer; older logs call it `seed`."""
    return int(arguments.get("simulated", arguments.get("seed")))
