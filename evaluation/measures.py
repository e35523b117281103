"""Columns of the tables: figures of samples and their aggregation into cells, and tables derived from those of a run.

Derived are the changes of a method over a baseline, tokens by iteration, and wrong answers by sub-task.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from scenecypher.evaluation.episode import EpisodePlan, Trace
from scenecypher.evaluation.published import data_table
from scenecypher.evaluation.result import Cell, Column, Row, Table
from scenecypher.evaluation.run_result import mean_cell, share_cell
from scenecypher.evaluation.stated_tasks import CLEAR, UNCLEAR_TASKS
from scenecypher.importers.babyai import ANSWER_FAULTS

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


Samples: TypeAlias = Sequence[Mapping[str, float]]
"""Figures by name of each sample of a row."""
Counted: TypeAlias = Literal["all agents", "the agent that decides"]

MAX_ITERATIONS: Final = 12
"""Iterations that have a column; later ones are few samples' own."""
ITERATION: Final[Mapping[Counted, str]] = {"all agents": "iteration", "the agent that decides": "own_iteration"}
"""Names of the figures of a sample, before their numbers."""
FAULT: Final = "fault: "
"""Beginning of the name of the figure of a wrong answer's kind."""
REFERENCES: Final = (("rounds", "rounds"), ("graph", "graph's tokens"), ("cot", "CoT's tokens"))


@dataclass(frozen=True, slots=True)
class PartsPlan:
    """Tables of parts: `tokens` of each iteration of `method`, and `faults` of all rows, each a paper's figure."""

    tokens: str
    method: str
    counted: Counted = "all agents"
    faults: str = ""


def change_table(table: Table, *, of: str, over: str, columns: Sequence[str], title: str, number: str) -> Table:
    """Return the relative changes of the method `of` over the method `over`, in the rows that differ in nothing else.

    `number` is the published table's.
    """
    chosen = [column for column in table.columns if column.key in columns]
    return Table(
        key=f"{table.key}-changes-{number}",
        samples=table.samples or table.key,
        title=title,
        columns=tuple(
            Column(key=it.key, heading=it.heading, unit="change", better=it.better, second=it.second) for it in chosen
        ),
        rows=tuple(_changed_rows(table.rows, of, over, columns)),
        published=tuple(_changed_rows(table.published, of, over, columns)),
        paper=table.paper,
        paper_table=number,
    )


def _changed_rows(rows: Sequence[Row], of: str, over: str, columns: Sequence[str]) -> Iterator[Row]:
    before = {_way(row): row for row in rows if row.method == over}
    for row in (row for row in rows if row.method == of and _way(row) in before):
        base = before[_way(row)]
        pairs = {key: (base.cells[key], row.cells[key]) for key in columns if key in base.cells and key in row.cells}
        cells = {key: Cell(value=_change(*pair), n=pair[1].n) for key, pair in pairs.items()}
        yield row.model_copy(update={"cells": cells})


def _way(row: Row) -> tuple[str, str]:
    return row.model, row.options.get("prompt", "")


def _change(before: Cell, after: Cell) -> float | None:
    """Return the relative change in percent; n/a from nothing."""
    if not isinstance(before.value, float) or not isinstance(after.value, float) or not before.value:
        return None
    return 100 * (after.value - before.value) / before.value


def part_figures(trace: Trace) -> dict[str, float]:
    """Return the figures of a sample that derived tables have: tokens of each iteration, and what went wrong."""
    tokens = {
        f"{name}_{number}": float(count)
        for number, pair in enumerate(trace.iterations[:MAX_ITERATIONS], 1)
        for name, count in zip(ITERATION.values(), pair, strict=True)
    }
    return tokens | ({FAULT + trace.fault: 1.0} if trace.fault else {})


def part_tables(table: Table, plan: PartsPlan, samples: Mapping[str, Samples]) -> Iterator[Table]:
    """Yield the tables of a plan for which a row was played; `samples` are those of each method."""
    played = [row for row in table.rows if row.cells and samples.get(row.method)]
    yield from (_iteration_table(table, row, plan, samples[row.method]) for row in played if row.method == plan.method)
    if plan.faults and played:
        yield _fault_table(table, played, plan.faults, samples)


def _iteration_table(table: Table, row: Row, plan: PartsPlan, samples: Samples) -> Table:
    """Return the mean tokens of each iteration, over the samples that have it."""
    name = ITERATION[plan.counted]
    numbers = [n for n in range(1, MAX_ITERATIONS + 1) if any(f"{name}_{n}" in one for one in samples)]
    heads = {**dict(REFERENCES), **{f"{name}_{n}": str(n) for n in numbers}}
    return Table(
        key=f"{table.key}-iterations",
        samples=table.samples,
        title=f"{table.title}: tokens of each iteration, {plan.counted}",
        columns=tuple(
            Column(key=key, heading=head, unit="number", better="neither", interval="bootstrap")
            for key, head in heads.items()
        ),
        rows=(
            row.model_copy(
                update={"cells": {key: mean_cell([one[key] for one in samples if key in one]) for key in heads}}
            ),
        ),
        paper=table.paper,
        paper_table=plan.tokens,
        notes=("the mean over the samples that have the iteration; the paper prints no numbers",),
    )


def _fault_table(table: Table, played: Sequence[Row], figure: str, samples: Mapping[str, Samples]) -> Table:
    """Return the shares of wrong answers by the sub-task that explains them, of each row."""

    def fault_cells(of: Samples) -> dict[str, Cell]:
        return {kind: share_cell(sum(FAULT + kind in one for one in of), len(of)) for kind in ANSWER_FAULTS}

    return Table(
        key=f"{table.key}-faults",
        samples=table.samples,
        title=f"{table.title}: wrong answers by the sub-task that explains them",
        columns=tuple(Column(key=kind, heading=kind, better="lower", interval="wilson") for kind in ANSWER_FAULTS),
        rows=tuple(row.model_copy(update={"cells": fault_cells(samples[row.method])}) for row in played),
        paper=table.paper,
        paper_table=figure,
        notes=("the paper shows two examples in words, and counts nothing",),
    )
