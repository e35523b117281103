"""Result of the experiments `questions` and `memory`: right answers by kind and by data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from inspect_ai.log import EvalLog
from inspect_ai.scorer import CORRECT

from scenecypher.evaluation.experiments import experiment_name
from scenecypher.evaluation.question_set import DATA, KINDS, MEMORY, MEMORY_KINDS
from scenecypher.evaluation.result import Cell, Column, ExperimentResult, Row, Table, TableSetting
from scenecypher.evaluation.run_result import LoggedSample, Run, share_cell

TABLE: Final = "questions"
SCORER: Final = "execution_match"
METHOD: Final = "text-to-cypher"
TITLES: Final = {"questions": "Questions about scene graphs", "memory": "Questions about what happened"}
"""Titles by experiment."""
COLUMNS: Final = (
    Column(key="right", heading="right", interval="wilson"),
    Column(key="exact", heading="exact", second=True),
    Column(key="questions", heading="n", unit="count", better="neither", second=True),
    Column(key="refused", heading="refused", unit="count", better="lower", second=True),
    Column(key="attempts", heading="attempts", unit="number", better="lower", second=True),
    Column(key="calls", heading="replies", unit="number", better="lower", second=True),
    Column(key="tokens", heading="tokens", unit="number", better="lower", second=True),
)
NOTE: Final = "An answer is right where some of its columns hold exactly the gold rows; intervals are Wilson's at 95%."
REFERENCES: Final = "The set's own reference queries were scored: this checks the set-up only, and measures no model."
GROUPS: Final = {"kind": (*KINDS, *MEMORY_KINDS), "data": (*DATA, MEMORY)}


def questions_result(log: EvalLog) -> ExperimentResult:
    """Return the result of one run's log; an unfinished run is marked as such."""
    run, name = Run.read(log, SCORER), experiment_name(log.eval.task)
    table = Table(
        key=TABLE,
        title="Questions",
        columns=COLUMNS,
        rows=tuple(_rows(run)),
        settings=tuple(
            TableSetting(name=name, value=str(value))
            for name, value in run.arguments.items()
            if name not in {"limit", "seed"} and value != ""
        ),
        notes=(NOTE,),
    )
    trials = [
        one.trial(
            table=TABLE,
            method=METHOD,
            options={"kind": str(one.metadata["kind"])},
            outcome=one.found.get("outcome", ""),
            success=one.value == CORRECT,
        )
        for one in run.samples
    ]
    notes = (*((REFERENCES,) if run.replies == ("reference",) else ()), *run.error_notes, *run.limit_notes)
    return run.result(name, TITLES[name], [table], trials, notes=notes)


def _rows(run: Run) -> Iterator[Row]:
    """Yield a row for each kind and each data set that has questions, then that of all."""
    for option, names in GROUPS.items():
        groups = {name: [one for one in run.samples if one.metadata[option] == name] for name in names}
        yield from (run.row(_row(group, {option: name}), group) for name, group in groups.items() if group)
    yield run.row(_row(run.samples, {}), run.samples)


def _row(group: Sequence[LoggedSample], options: dict[str, str]) -> Row:
    count, exact = len(group), sum(bool(one.found.get("exact")) for one in group)
    calls = [int(one.found["calls"]) for one in group if "calls" in one.found]  # earlier logs don't have them
    cells = {
        "right": share_cell(sum(one.value == CORRECT for one in group), count),
        "exact": Cell(value=exact / max(1, count), n=count, count=exact),
        "questions": Cell(value=count),
        "refused": Cell(value=sum(one.found.get("outcome") == "refused" for one in group)),
        "attempts": Cell(value=sum(int(one.found.get("attempts", 0)) for one in group) / max(1, count)),
        "calls": Cell(value=sum(calls) / len(calls) if calls else None),
        "tokens": Cell(value=sum(one.tokens for one in group) / max(1, count)),
    }
    return Row(method=METHOD, label="" if options else "all", options=options, cells=cells, kind="ours")
