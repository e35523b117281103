"""The experiment `goals`: what people ask for that names of things and states alone don't say, in our homes.

`inspect eval evaluation/goals.py --model PROVIDER/NAME`, or `scenecypher eval goals`.
"""

from __future__ import annotations

from typing import Final

from inspect_ai import task

from scenecypher.evaluation.assignments import AssignmentCache
from scenecypher.evaluation.episode import EpisodePlan
from scenecypher.evaluation.episodes import played
from scenecypher.evaluation.experiment import GOALS_FIRST, OURS, Experiment, TablePlan, select_rows
from scenecypher.evaluation.goal_tasks import GOAL_TASKS
from scenecypher.evaluation.measures import COSTS
from scenecypher.evaluation.options import Names, select_names, take_spread
from scenecypher.importers.homes import our_home
from scenecypher.planner.worlds.perturbation import Perturbation

COLUMNS: Final = ("success", "rounds", *COSTS)
KINDS: Final = tuple(dict.fromkeys(it.kind for it in GOAL_TASKS))


@task
@played
def goals(
    *, kinds: Names = "all", methods: Names = OURS, limit: int = 0, seed: int | None = None, steps: int = 0
) -> Experiment:
    """Plan the table of all goals, or of those of `kinds`. Raises InputError."""
    of = select_names("kind", kinds, KINDS)
    chosen = take_spread([it for it in GOAL_TASKS if it.kind in of], limit, seed)
    table = TablePlan(
        key="goals",
        title="goals that people state",
        columns=COLUMNS,
        rows=(),
        tasks=tuple(it.id for it in chosen),
        common=EpisodePlan(
            group="goals", belief=False, marking="gold", goal_graph=False, outcome_only=True, steps=steps or None
        ),
        settings="goals",
        ours=GOALS_FIRST[:1],
    )
    homes = {it.home: our_home(it.home)[0] for it in chosen}
    scenes = {scene.name: scene for scene in homes.values()}
    assignments = AssignmentCache(
        (it.task(homes[it.home]) for it in chosen),
        scenes=lambda one: scenes[one.scene],
        plans={},
        moved={it.id: Perturbation((), it.moves(homes[it.home].graph)) for it in chosen if it.moved},
    )
    return select_rows("goals", "Goals that people state", [table], methods=methods, assignments=assignments)
