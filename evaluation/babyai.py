"""The experiments `babyai`, SG2's tables 1 and 3 and SG-RwR's tables 1 and 3, and `babyai-slm`, SG2's figure 5.

`inspect eval evaluation/babyai.py@babyai --model PROVIDER/NAME`, or `scenecypher eval babyai`: NumQ&A, Trv-1, Trv-2.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from inspect_ai import task

from scenecypher.evaluation.episode import AssignmentCache, EpisodePlan
from scenecypher.evaluation.episodes import played
from scenecypher.evaluation.experiment import GOALS_FIRST, PAPER, Experiment, TablePlan, paper_rows, select_rows
from scenecypher.evaluation.measures import OUTCOMES, PartsPlan
from scenecypher.evaluation.options import Names, select_names, take_spread
from scenecypher.importers.datasets import dataset
from scenecypher.planner.sessions.recipe import SchemaScope

NUMQA: Final = "numqa"
LEVELS: Final = (NUMQA, "trv1", "trv2")
COSTS: Final = ("round_tokens", "rounds", "calls", "tokens", "rooms_changed", "graph", "cot")
COLUMNS: Final = (*OUTCOMES, *COSTS)
TRIALS: Final = 100
SLM_TRIALS: Final = 20

PARTS: Final = {name: paper_rows(name) for name in ("sg2-1", "sg2-3", "sg-rwr-1", "sg-rwr-3")}
"""The papers' tables with their rows."""
COMPARED: Final = ("sg2-1", "sg-rwr-1")
"""Tables that compare methods; the others compare the parts of one."""
DERIVED: Final = {
    "sg2-1-numqa": PartsPlan("figure 8", "sg2"),
    "sg2-1-trv1": PartsPlan("figure 8", "sg2"),
    "sg-rwr-1-numqa": PartsPlan("figure 7", "sg-rwr", "the agent that decides", faults="figure 8"),
    "sg-rwr-1-trv1": PartsPlan("figure 7", "sg-rwr", "the agent that decides"),
}
"""The papers' figures by tables."""


@task
@played
def babyai(
    *,
    data: Names = "all",
    tables: Names = "all",
    methods: Names = PAPER,
    limit: int = 0,
    seed: int | None = None,
    steps: int = 0,
    schema: SchemaScope | None = None,
) -> Experiment:
    """Plan the papers' `tables` for the levels `data`, with `limit` instances each.

    The papers have 100 instances. Raises InputError.
    """
    levels = select_names("level of this experiment", data, LEVELS)
    parts = select_names("table of this experiment", tables, tuple(PARTS))
    tasks = {level: take_spread(islice(dataset(level).tasks(), TRIALS), limit, seed) for level in levels}
    plans = [
        _table(part, level, tuple(task.id for task in tasks[level]), steps=steps, schema=schema)
        for part in parts
        for level in levels
    ]
    assignments = AssignmentCache(task for found in tasks.values() for task in found)
    return select_rows(
        "babyai", "BabyAI: questions and traversals in grid worlds", plans, methods=methods, assignments=assignments
    )


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
    """Plan the one table of small models with `limit` instances (the paper has 20). Raises InputError."""
    tasks = take_spread(islice(dataset(NUMQA).tasks(), SLM_TRIALS), limit, seed)
    table = TablePlan(
        key="sg2-5",
        title=f"{dataset(NUMQA).title}, a small model",
        columns=COLUMNS,
        rows=paper_rows("sg2-5"),
        tasks=tuple(task.id for task in tasks),
        common=_common_episode(NUMQA, steps=steps, schema=schema),
        published=("sg2", "5-slm"),
        settings="babyai-slm",
    )
    title, assignments = "BabyAI's questions, small models", AssignmentCache(tasks)
    return select_rows("babyai-slm", title, [table], methods=methods, assignments=assignments)


def _table(part: str, level: str, tasks: tuple[str, ...], *, steps: int, schema: SchemaScope | None) -> TablePlan:
    paper, _, number = part.rpartition("-")
    return TablePlan(
        key=f"{part}-{level}",
        title=dataset(level).title,
        columns=COLUMNS,
        rows=PARTS[part],
        tasks=tasks,
        common=_common_episode(level, steps=steps, schema=schema),
        published=(paper, f"{number}-{level}"),
        settings="babyai",
        ours=GOALS_FIRST if part in COMPARED else (),
        parts=DERIVED.get(f"{part}-{level}"),
    )


def _common_episode(level: str, *, steps: int, schema: SchemaScope | None) -> EpisodePlan:
    """Return the settings that all episodes of a level share."""
    marking = "answer" if level == NUMQA else "minigrid"
    return EpisodePlan(
        group=level, marking=marking, schema_scope=schema, ids_only=True, sizes=True, steps=steps or None
    )
