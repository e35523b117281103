"""Report of the experiment `questions`: right answers by kind and by data set, each with its interval."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.scorer import CORRECT

from scenecypher.evaluation import sample_errors
from scenecypher.evaluation.interval import wilson
from scenecypher.evaluation.question_set import DATA, KINDS, MEMORY, MEMORY_KINDS
from scenecypher.evaluation.replies import REFERENCE
from scenecypher.evaluation.sample_limit import count_wanted_samples

SCORER: Final = "execution_match"
FAILED: Final = "failed"


@dataclass(frozen=True, slots=True)
class ScoredQuestion:
    """Scored question; `outcome` is ``failed`` if there is no answer at all, which counts as wrong."""

    kind: str
    data: str
    right: bool
    exact: bool
    outcome: str
    attempts: int
    tokens: int
    source: str
    model: str
    error: str


@dataclass(frozen=True, slots=True)
class ReportLine:
    """Line of the report: `low` and `high` are Wilson's 95% interval; `exact` counts answers equal to gold."""

    name: str
    questions: int
    right: int
    low: float
    high: float
    exact: int
    refused: int
    failed: int
    attempts: float
    tokens: float


@dataclass(frozen=True, slots=True)
class QuestionReport:
    """Figures and provenance of a run; `error` is the most common error that ended a sample."""

    model: str
    replies: str
    date: str
    version: str
    settings: Mapping[str, Any]
    finished: bool
    wanted: int
    total: ReportLine
    kinds: tuple[ReportLine, ...]
    data: tuple[ReportLine, ...]
    tokens: int
    log: str
    error: str

    def document(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return asdict(self)


def make_report(log: EvalLog) -> QuestionReport:
    """Return the report of one run's log; an unfinished run has `finished` False and more `wanted` than scored."""
    scored = [_scored(sample) for sample in log.samples or ()]
    arguments = dict(log.eval.task_args)
    return QuestionReport(
        model=_model(log, scored),
        replies=_replies(arguments, scored),
        date=log.eval.created,
        version=str(log.eval.task_version),
        settings=arguments,
        finished=log.status == "success"
        and len(scored) >= count_wanted_samples(log)
        and not all(it.outcome == FAILED for it in scored),
        wanted=count_wanted_samples(log),
        total=_line("all", scored),
        kinds=_lines((*KINDS, *MEMORY_KINDS), scored, of=lambda one: one.kind),
        data=_lines((*DATA, MEMORY), scored, of=lambda one: one.data),
        tokens=sum(one.tokens for one in scored),
        log=log.location,
        error=sample_errors.most_common_error(one.error for one in scored),
    )


def _scored(sample: EvalSample) -> ScoredQuestion:
    """Return a sample's score; a sample without one is a counted failure."""
    score = (sample.scores or {}).get(SCORER)
    figures = (score.metadata if score else None) or {}
    return ScoredQuestion(
        kind=str(sample.metadata["kind"]),
        data=str(sample.metadata["data"]),
        right=score is not None and score.value == CORRECT,
        exact=bool(figures.get("exact")),
        outcome=str(figures.get("outcome", FAILED)),
        attempts=int(figures.get("attempts", 0)),
        tokens=int(figures.get("prompt_tokens", 0)) + int(figures.get("completion_tokens", 0)),
        source=str(figures.get("source", "")),
        model=str(figures.get("model", "")),
        error=sample.error.message if sample.error else "",
    )


def _lines(
    names: Iterable[str], scored: Sequence[ScoredQuestion], *, of: Callable[[ScoredQuestion], str]
) -> tuple[ReportLine, ...]:
    groups = ((name, [one for one in scored if of(one) == name]) for name in names)
    return tuple(_line(name, group) for name, group in groups if group)


def _line(name: str, group: Sequence[ScoredQuestion]) -> ReportLine:
    right, count = sum(one.right for one in group), len(group)
    low, high = wilson(right, count)
    return ReportLine(
        name=name,
        questions=count,
        right=right,
        low=low,
        high=high,
        exact=sum(one.exact for one in group),
        refused=sum(one.outcome == "refused" for one in group),
        failed=sum(one.outcome == FAILED for one in group),
        attempts=sum(one.attempts for one in group) / max(1, count),
        tokens=sum(one.tokens for one in group) / max(1, count),
    )


def _replies(arguments: Mapping[str, Any], scored: Sequence[ScoredQuestion]) -> str:
    """Return the sources of the replies: live, recorded, scripted, or the reference queries."""
    if arguments.get("replies") == REFERENCE:
        return REFERENCE
    return ", ".join(sorted({one.source for one in scored if one.source})) or "none"


def _model(log: EvalLog, scored: Sequence[ScoredQuestion]) -> str:
    """Return the model that was asked, or the models whose replies were recorded."""
    if any(one.source == "live" for one in scored):
        return log.eval.model
    return ", ".join(sorted({one.model for one in scored if one.source == "recorded"})) or "none"
