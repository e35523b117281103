"""Result document of the experiment `questions`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import Final

from inspect_ai.log import EvalLog, EvalSample

from scenecypher.evaluation.prompt_version import logged_prompt_version
from scenecypher.evaluation.question_report import SCORER, QuestionReport, ReportLine, make_report
from scenecypher.evaluation.result import (
    Cell,
    Column,
    ExperimentResult,
    Provenance,
    Row,
    Table,
    TableSetting,
    Trial,
    reply_sources,
)
from scenecypher.evaluation.sample_limit import limit_notes

TABLE: Final = "questions"
BY_HEADING: Final = (
    Column(key="right", heading="right", interval="wilson"),
    Column(key="exact", heading="exact", second=True),
    Column(key="questions", heading="n", unit="count", better="neither", second=True),
    Column(key="refused", heading="refused", unit="count", better="lower", second=True),
    Column(key="attempts", heading="attempts", unit="number", better="lower", second=True),
    Column(key="tokens", heading="tokens", unit="number", better="lower", second=True),
)
NOTE: Final = "An answer is right where some of its columns hold exactly the gold rows; intervals are Wilson's at 95%."
REFERENCES: Final = "The set's own reference queries were scored: it shows that all is in its place, and nothing else."


def questions_result(log: EvalLog) -> ExperimentResult:
    """Return the result of one run's log; an unfinished run is marked as such."""
    report = make_report(log)
    return ExperimentResult(
        experiment=TABLE,
        title="Questions about scene graphs",
        finished=report.finished,
        provenance=_provenance(report, log),
        tables=(_table(report),),
        samples=tuple(_trial(sample) for sample in log.samples or ()),
        notes=(*((REFERENCES,) if report.replies == "reference" else ()), *limit_notes(log)),
    )


def _table(report: QuestionReport) -> Table:
    rows = (_row(kind, line) for kind, line in _lines(report))
    settings = tuple(
        TableSetting(name=name, value=str(value)) for name, value in report.settings.items() if value != ""
    )
    notes = (NOTE, report.error) if report.error else (NOTE,)
    return Table(key=TABLE, title="Questions", columns=BY_HEADING, rows=tuple(rows), settings=settings, notes=notes)


def _lines(report: QuestionReport) -> Iterator[tuple[str, ReportLine]]:
    yield from (("kind", line) for line in report.kinds)
    yield from (("data", line) for line in report.data)
    yield "", report.total


def _row(kind: str, line: ReportLine) -> Row:
    count = max(1, line.questions)
    cells = {
        "right": Cell(value=line.right / count, n=line.questions, low=line.low, high=line.high, count=line.right),
        "exact": Cell(value=line.exact / count, n=line.questions, count=line.exact),
        "questions": Cell(value=line.questions),
        "refused": Cell(value=line.refused),
        "attempts": Cell(value=line.attempts),
        "tokens": Cell(value=line.tokens),
    }
    options = {kind: line.name} if kind else {}
    return Row(
        method="text-to-cypher",
        label="" if kind else "all",
        options=options,
        cells=cells,
        kind="ours",
        failed=line.failed,
    )


def _trial(sample: EvalSample) -> Trial:
    score = (sample.scores or {}).get(SCORER)
    figures = (score.metadata if score else None) or {}
    return Trial(
        table=TABLE,
        id=str(sample.id),
        method="text-to-cypher",
        options={"kind": str(sample.metadata["kind"])},
        outcome=str(figures.get("outcome", "failed")),
        success=score is not None and score.value == "C",
        tokens=int(figures.get("prompt_tokens", 0)) + int(figures.get("completion_tokens", 0)),
        seconds=sample.total_time or 0.0,
    )


def _provenance(report: QuestionReport, log: EvalLog) -> Provenance:
    return Provenance(
        model=report.model,
        replies=reply_sources(report.replies.split(", ")),
        date=report.date,
        version=report.version,
        prompt_version=logged_prompt_version(log),
        temperature=0.0,
        samples=report.total.questions,
        wanted=report.wanted,
        tokens=report.tokens,
        log=log.location,
        packages={"inspect_ai": version("inspect_ai"), "scenecypher": version("scenecypher")},
        arguments=dict(report.settings),
    )
