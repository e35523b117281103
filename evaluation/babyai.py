"""The experiment `babyai`: NumQ&A, Trv-1 and Trv-2, of SG2's tables 1 and 3 and SG-RwR's tables 1 and 3.

`inspect eval evaluation/babyai.py --model PROVIDER/NAME`, or `scenecypher eval babyai`.
"""

from __future__ import annotations

from typing import Final

from inspect_ai import Task, task

from scenecypher.evaluation.book import Book, of_dataset
from scenecypher.evaluation.episode import Episode
from scenecypher.evaluation.episodes import episodes_task
from scenecypher.evaluation.experiment import PAPER, Experiment, RowPlan, TablePlan, planned
from scenecypher.evaluation.options import Names, chosen, first
from scenecypher.evaluation.replies import LIVE, Replies
from scenecypher.importers.datasets import dataset

LEVELS: Final = ("numqa", "trv1", "trv2")
COSTS: Final = ("round_tokens", "rounds", "calls", "tokens", "graph", "cot")
COLUMNS: Final = ("success", "success_clean", *COSTS)
TRIALS: Final = 100

PROMPTED: Final = (
    RowPlan("zero-shot", "ZeroShot"),
    RowPlan("0-cot", "0-CoT"),
    RowPlan("ltm", "LTM"),
    RowPlan("cot", "CoT"),
    RowPlan("bag", "BAG"),
    RowPlan("algorithm", "Alg"),
)
SG2: Final = (*PROMPTED, RowPlan("sayplan", "SayPlan"), RowPlan("react-sg2", "ReAct"), RowPlan("sg2", "SG2"))
SG2_REACT: Final = (
    RowPlan("react-limit", "ReAct-limit"),
    RowPlan("react-sg2", "ReAct"),
    RowPlan("sg2-limit", "SG2-limit"),
    RowPlan("sg2", "SG2"),
)
RWR: Final = (
    *PROMPTED,
    RowPlan("react-rwr", "ReAct"),
    RowPlan("sayplan", "SayPlan"),
    RowPlan("sg-rwr", "SG-RwR"),
    RowPlan("sg-rwr-fs", "SG-RwR (FS)"),
    RowPlan("sg-rwr-alg", "SG-RwR (Alg)"),
)
RWR_PARTS: Final = (
    RowPlan("single-coder", "SingleCoder"),
    RowPlan("rwr-text", "RwR_Text"),
    RowPlan("sg-rwr", "RwR"),
)
PARTS: Final = {"sg2-1": SG2, "sg2-3": SG2_REACT, "sg-rwr-1": RWR, "sg-rwr-3": RWR_PARTS}
"""The papers' tables, each with its rows."""


@task
def babyai(
    *,
    data: Names = "all",
    tables: Names = "all",
    methods: Names = PAPER,
    limit: int = 0,
    steps: int = 0,
    replies: str = LIVE,
    record: str = "",
) -> Task:
    """BabyAI's questions and traversals; the arguments are those of `scenecypher eval babyai`."""
    replied = Replies(replies, record=record)
    return episodes_task(experiment(data=data, tables=tables, methods=methods, limit=limit, steps=steps), replied)


def experiment(
    *, data: Names = "all", tables: Names = "all", methods: Names = PAPER, limit: int = 0, steps: int = 0
) -> Experiment:
    """The levels `data` in the papers' `tables`, `limit` instances each (the papers': 100). Raises InputError."""
    levels = chosen("level of this experiment", data, LEVELS)
    parts = chosen("table of this experiment", tables, tuple(PARTS))
    tasks = {level: first(dataset(level).tasks(), limit or TRIALS) for level in levels}
    made = [
        _table(part, level, tuple(task.id for task in tasks[level]), steps=steps) for part in parts for level in levels
    ]
    book = Book((task for found in tasks.values() for task in found), scenes=of_dataset)
    return planned("babyai", "BabyAI: questions and traversals in grid worlds", made, methods=methods, book=book)


def _table(part: str, level: str, tasks: tuple[str, ...], *, steps: int) -> TablePlan:
    paper, _, number = part.rpartition("-")
    return TablePlan(
        key=f"{part}-{level}",
        title=dataset(level).title,
        columns=COLUMNS,
        rows=PARTS[part],
        tasks=tasks,
        like=like(level, steps=steps),
        published=(paper, f"{number}-{level}"),
        settings="babyai",
    )


def like(level: str, *, steps: int) -> Episode:
    """What the episodes of a level have in common."""
    marking = "answer" if level == "numqa" else "minigrid"
    return Episode(group=level, marking=marking, outcome_only=True, sizes=True, steps=steps or None)
