"""Result of the experiment `ssc`: a row for each prompt and method, beside the paper's Tables 1 to 5."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from inspect_ai.log import EvalLog

from scenecypher.evaluation.derived import change_table
from scenecypher.evaluation.eai.live import PAPER
from scenecypher.evaluation.eai.scoring import OutputScorer, interrupted_judgement, percent_cell
from scenecypher.evaluation.eai.task_table import EAI_TASKS, EaiTask
from scenecypher.evaluation.published import data_columns, data_table, published_rows, table_settings
from scenecypher.evaluation.result import Cell, ExperimentResult, Row, Table, TableSetting, Trial
from scenecypher.evaluation.run_result import LoggedSample, Run, group_by
from scenecypher.evaluation.ssc.voting import SAMPLES, TEMPERATURE

SCORER: Final = "judged"
SAMPLED: Final = "temperature of samples"
GREEDY: Final = "temperature of greedy decoding"
TABLES: Final = data_table("ssc/tables")
CHANGES: Final[Mapping[str, tuple[str, Sequence[str]]]] = TABLES["changes"]
"""Titles and columns of the changes that the paper prints, by its tables."""
COLUMNS: Final = data_columns("ssc")
RowKey: TypeAlias = tuple[str, str, int]
"""Prompt, method, and number of replies that are voted on."""


def ssc_result(log: EvalLog) -> ExperimentResult:
    """Return the result of one run's log; failed samples are counted as failures."""
    run = Run.read(log, SCORER)
    task = EAI_TASKS[run.arguments.get("task_name", "goal")]
    paper, number, published = published_rows("ssc", task.name)
    methods = {one.metadata["method"] for one in run.samples}
    unused = GREEDY if "greedy" not in methods else "" if methods - {"greedy"} else SAMPLED
    asked = TableSetting(name="samples asked for", value=str(run.arguments.get("samples", "")))
    table = Table(
        key=task.name,
        title=task.title,
        columns=(*task.ssc_columns, *COLUMNS),
        rows=tuple(_rows(task, run)),
        published=published,
        paper=paper,
        paper_table=number,
        settings=(*(one for one in table_settings("ssc") if one.name != unused), asked),
        notes=tuple(TABLES["notes"]),
    )
    return run.result(
        "ssc",
        "Structured Self-Consistency on the Embodied Agent Interface's tasks",
        [table],
        [_trial(one, task) for one in run.samples],
        notes=(*run.error_notes, *run.limit_notes),
        derived=_changes(table),
        temperature=TEMPERATURE if methods - {"greedy"} else 0.0,
    )


def _changes(table: Table) -> Iterator[Table]:
    """Yield the tables of SSC's changes over greedy decoding, if both were run."""
    for number, (title, columns) in CHANGES.items():
        named = f"{table.title}: {title}"
        found = change_table(table, of="ssc", over="greedy", columns=columns, title=named, number=number)
        if found.columns and found.rows:
            yield found


def _row_key(one: LoggedSample) -> RowKey:
    return one.metadata["prompt"], one.metadata["method"], int(one.metadata.get("samples", SAMPLES))


def _rows(task: EaiTask, run: Run) -> Iterator[Row]:
    """Yield a row for each prompt, method and number of replies."""
    scorer = task.make_scorer()
    for key, group in group_by(run.samples, _row_key).items():
        form, method, size = key
        row = Row(
            method=method,
            label=f"{TABLES['prompts'].get(form, f'{form} prompt')}, {TABLES['methods'].get(method, method)}"
            + (f", N = {size}" if _is_swept(key) else ""),
            options=_options(key),
            kind="ours" if method not in PAPER or form != "eai" or _is_swept(key) else "paper",
            cells=_cells(task, scorer, group),
            note=TABLES["prompt_notes"].get(form, ""),
        )
        endings = (f"/{form}/{method}", f"/{form}/{method}-{size}")
        yield run.row(row, group, untried=sum(id_.endswith(endings) for id_ in run.untried))


def _is_swept(key: RowKey) -> bool:
    """Check that the row votes on another number of replies than the paper's."""
    return key[1] != "greedy" and key[2] != SAMPLES


def _options(key: RowKey) -> dict[str, str]:
    return {"prompt": key[0]} | ({"samples": str(key[2])} if _is_swept(key) else {})


def _cells(task: EaiTask, scorer: OutputScorer, group: Sequence[LoggedSample]) -> dict[str, Cell]:
    judged = [
        interrupted_judgement(scorer, one.metadata["task"]) if one.failed else one.found["judgement"] for one in group
    ]
    asked, tokens, count = _sum(group, "asked"), sum(one.tokens for one in group), len(group)
    return {
        **task.ssc_cells(scorer, judged),
        "svr": percent_cell(sum(bool(one.found.get("fits", one.value)) for one in group if not one.failed), count),
        "svr_samples": percent_cell(_sum(group, "valid"), asked),
        "asked": Cell(value=asked / count, n=count),
        "tokens": Cell(value=tokens / count, n=count),
        "tasks": Cell(value=count),
    }


def _sum(group: Sequence[LoggedSample], key: str) -> int:
    return sum(int(one.found.get(key, 0)) for one in group)


def _trial(one: LoggedSample, task: EaiTask) -> Trial:
    outcome, success = ("", False) if one.failed else task.outcome(one.found["judgement"])
    return one.trial(
        table=task.name,
        id=one.metadata["task"],
        method=one.metadata["method"],
        options=_options(_row_key(one)),
        outcome=outcome,
        success=success,
        figures={key: float(one.found[key]) for key in ("asked", "valid", "votes", "forms") if key in one.found},
    )
