"""The experiment `babyai-slm`: SG2's figure 5, small models on NumQ&A, 20 trials.

`inspect eval evaluation/babyai_slm.py --model PROVIDER/NAME`, or `scenecypher eval babyai-slm`.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from inspect_ai import task

from scenecypher.evaluation.assignments import AssignmentCache
from scenecypher.evaluation.babyai import COLUMNS, common_episode
from scenecypher.evaluation.episodes import played
from scenecypher.evaluation.experiment import PAPER, Experiment, TablePlan, paper_rows, select_rows
from scenecypher.evaluation.options import Names, take_spread
from scenecypher.importers.datasets import dataset
from scenecypher.planner.sessions.recipe import SchemaScope

LEVEL: Final = "numqa"
TRIALS: Final = 20
ROWS: Final = paper_rows("sg2-5")


@task
@played
def babyai_slm(
    *,
    methods: Names = PAPER,
    limit: int = 0,
    seed: int | None = None,
    steps: int = 0,
    schema: SchemaScope | None = None,
) -> Experiment:
    """Plan the one table with `limit` instances (the paper has 20). Raises InputError."""
    tasks = take_spread(islice(dataset(LEVEL).tasks(), TRIALS), limit, seed)
    table = TablePlan(
        key="sg2-5",
        title=f"{dataset(LEVEL).title}, a small model",
        columns=COLUMNS,
        rows=ROWS,
        tasks=tuple(task.id for task in tasks),
        common=common_episode(LEVEL, steps=steps, schema=schema),
        published=("sg2", "5-slm"),
        settings="babyai-slm",
    )
    assignments = AssignmentCache(tasks)
    return select_rows(
        "babyai-slm", "BabyAI's questions, small models", [table], methods=methods, assignments=assignments
    )
