"""Columns of the tables: figures of single samples, and their aggregation into cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from scenecypher.evaluation.episode import EpisodePlan, Trace
from scenecypher.evaluation.published import data_table
from scenecypher.evaluation.result import Cell, Column
from scenecypher.evaluation.run_result import mean_cell, share_cell
from scenecypher.evaluation.stated_tasks import CLEAR, UNCLEAR_TASKS

Figures: TypeAlias = Mapping[str, float]
"""Figures of one sample by name; figures that it can't have are left out."""

Aggregation: TypeAlias = Literal["share", "mean", "ratio"]
PRECISIONS: Final = ("app", "app_needed")
COSTS: Final = ("calls", "tokens", "rooms_changed")
"""Columns of what an episode took: replies, their tokens, and the agent's changes of rooms."""
OUTCOMES: Final = ("success", "success_skipping", "refused")
"""Columns of success where a whole solution is graded: all of it carried out; reached, what was refused being skipped;
and how many steps were refused."""
SHARES: Final = ("success", "done", "same", *PRECISIONS)


@dataclass(frozen=True, slots=True)
class Measure:
    """Column and its aggregation.

    Aggregates the figure `of` as the share of samples that have 1, as the mean, or as the ratio of its sum to that of
    the figure `by`; only over samples whose figure `where` is `equals`.
    """

    column: Column
    of: str
    how: Aggregation
    by: str = ""
    where: str = ""
    equals: float = 1


def figures(episode: EpisodePlan, trace: Trace | None) -> dict[str, float]:
    """Return the figures of one sample; a failed episode has the worst value of each share, and no costs.

    ``success`` is LookPlanGraph's: the goal is reached and no action was infeasible (section V). It is that of SG2 and
    SG-RwR, too, whose simulators stop at what can't be carried out; ``done`` considers the outcome only. ``app`` and
    ``tpa`` are as in LookPlanGraph's appendix B.
    """
    found = {"moved": float(bool(episode.moved))} | (dict.fromkeys(SHARES, 0.0) if trace is None else _played(trace))
    if episode.person:
        asked = 0 if trace is None else trace.questions
        is_clear = UNCLEAR_TASKS[episode.task].kind == CLEAR
        found |= {"unclear": float(not is_clear), "questions": float(asked), "asked": float(asked > 0)}
    return found if episode.goal_graph else {key: found[key] for key in found if key not in PRECISIONS}


def _played(trace: Trace) -> dict[str, float]:
    marks, tokens, actions = trace.marks, trace.prompt_tokens + trace.completion_tokens, len(trace.executed)
    is_feasible = not trace.infeasible
    success = marks.reached and is_feasible
    found = {
        "success": float(success),
        "done": float(marks.reached),
        "refused": float(trace.infeasible),
        "same": float(marks.same and is_feasible),
        "app": _share(marks.correct, marks.differing, otherwise=marks.reached),
        "app_needed": _share(marks.correct_needed, marks.needed, otherwise=marks.reached),
        "tokens": float(tokens),
        "actions": float(actions),
        "rounds": float(trace.steps),
        "calls": float(len(trace.rounds)),
    }
    if success and actions:
        found["tpa"] = tokens / actions
    if trace.rooms_changed is not None:
        found["rooms_changed"] = float(trace.rooms_changed)
    if trace.steps:
        found["round_tokens"] = tokens / trace.steps
    if trace.graph_tokens is not None and trace.cot_tokens is not None:
        found |= {"graph": float(trace.graph_tokens), "cot": float(trace.cot_tokens)}
    return found


def _share(correct: int, total: int, *, otherwise: bool) -> float:
    return correct / total if total else float(otherwise)


def measured_cell(measure: Measure, samples: Sequence[Figures]) -> Cell:
    """Return one cell over the samples of a row; n/a if none of them has the figure."""
    samples = [one for one in samples if not measure.where or one.get(measure.where, 0) == measure.equals]
    values = [one[measure.of] for one in samples if measure.of in one]
    match measure.how:
        case _ if not values:
            return Cell(value=None, n=0)
        case "share":
            return share_cell(round(sum(values)), len(values))
        case "mean":
            return mean_cell(values)
        case "ratio":
            under = sum(one[measure.by] for one in samples if measure.of in one)
            return Cell(value=sum(values) / under if under else None, n=len(values))


_KINDS: Final[Mapping[str, tuple[Aggregation, Mapping[str, Any]]]] = {
    "share": ("share", {"interval": "wilson"}),
    "mean": ("mean", {"interval": "bootstrap"}),
    "cost": ("mean", {"unit": "number", "better": "lower", "interval": "bootstrap"}),
    "ratio": ("ratio", {"unit": "number", "better": "lower"}),
}


def _measure(
    key: str, how: str, *, of: str, by: str = "", where: str = "", equals: float = 1, **column: Any
) -> Measure:
    aggregation, fields = _KINDS[how]
    return Measure(Column(key=key, **{**fields, **column}), of, aggregation, by, where, equals)


MEASURES: Final[Mapping[str, Measure]] = {key: _measure(key, **row) for key, row in data_table("measures").items()}
"""Columns by key; to add a column, add a row."""
