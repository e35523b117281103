"""Experiments with what people ask for in our homes: `goals`, and `unclear`, with a person who can be asked.

`goals` is what names of things and states alone don't say: `inspect eval evaluation/goals.py@goals --model
PROVIDER/NAME`, or `scenecypher eval goals`. `unclear` are instructions that leave open what is meant: scripted models
state goals and scripted people answer in `scenecypher eval unclear`; with a model of one's own (`inspect eval
evaluation/goals.py@unclear --model PROVIDER/NAME -T scripted=false`) only the people are scripted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from inspect_ai import task

from scenecypher.evaluation.episode import AssignmentCache, EpisodePlan
from scenecypher.evaluation.episodes import played
from scenecypher.evaluation.experiment import GOALS_FIRST, OURS, Experiment, TablePlan, select_rows
from scenecypher.evaluation.measures import COSTS
from scenecypher.evaluation.options import Names, select_names, take_of_each, take_spread
from scenecypher.evaluation.stated_tasks import GOAL_TASKS, UNCLEAR_TASKS, Player
from scenecypher.importers.homes import OURS as HOMES
from scenecypher.importers.homes import our_home
from scenecypher.importers.task import Task
from scenecypher.planner.sessions.method import AskingBack
from scenecypher.planner.worlds.perturbation import Perturbation

KINDS: Final = tuple(dict.fromkeys(it.kind for it in GOAL_TASKS))
COLUMNS: Final = ("success", "rounds", *COSTS)
UNCLEAR_KINDS: Final = tuple(dict.fromkeys(it.kind for it in UNCLEAR_TASKS.values()))
UNCLEAR_COLUMNS: Final = ("asked_unclear", "asked_clear", "questions", "done_unclear", "done_clear")
METHOD: Final = "goal-then-plan"
PAIRS: Final[tuple[tuple[Player, AskingBack, Player], ...]] = (
    *(("careful", "never", "careful"), ("careful", "unclear", "careful"), ("careful", "always", "careful")),
    *(("careful", "unclear", "careless"), ("careless", "never", "careful"), ("careless", "unclear", "careful")),
)
"""A table each: the model, when a person is asked, and the person; a model of one's own stands for the careful one."""


@task
@played
def goals(
    *, kinds: Names = "all", methods: Names = OURS, limit: int = 0, seed: int | None = None, steps: int = 0
) -> Experiment:
    """Plan the table of all goals, or of those of `kinds`. Raises InputError."""
    of = select_names("kind", kinds, KINDS)
    chosen = take_spread([it for it in GOAL_TASKS if it.kind in of], limit, seed)
    common, tasks = _common("goals", steps), tuple(it.id for it in chosen)
    table = TablePlan(
        "goals", "goals that people state", COLUMNS, (), tasks, common, settings="goals", ours=GOALS_FIRST[:1]
    )
    homes = {it.home: our_home(it.home)[0] for it in chosen}
    moved = {it.id: Perturbation((), it.moves(homes[it.home].graph)) for it in chosen if it.moved}
    assignments = _cache([it.task(homes[it.home]) for it in chosen], moved)
    return select_rows("goals", "Goals that people state", [table], methods=methods, assignments=assignments)


@task
@played
def unclear(
    *,
    kinds: Names = "all",
    methods: Names = METHOD,
    scripted: bool = True,
    limit: int = 0,
    seed: int | None = None,
    steps: int = 0,
) -> Experiment:
    """Plan a table for each pair of a model and a person, in tasks of some `kinds`. Raises InputError."""
    of = select_names("kind", kinds, UNCLEAR_KINDS)
    named = (it for it in UNCLEAR_TASKS.values() if it.kind in of)
    chosen = take_of_each(named, limit, seed, kind=lambda it: it.kind)

    def table(player: Player, asking: AskingBack, person: Player) -> TablePlan:
        name = f"unclear-{player or 'model'}-{asking}-{person}"
        title = f"{player or 'your'} model, {person} person, asked back: {asking}"
        common = _common(name, steps, player=player, person=person, asking=asking)
        return TablePlan(name, title, UNCLEAR_COLUMNS, (), tuple(it.id for it in chosen), common)

    pairs = (it for it in PAIRS if scripted or it[0] == "careful")
    tables = [table(model if scripted else "", asking, person) for model, asking, person in pairs]
    assignments = _cache([it.task() for it in chosen], {it.id: it.painting() for it in chosen if it.painted})
    title = "Instructions that leave open what is meant"
    return select_rows("unclear", title, tables, methods=methods, assignments=assignments)


def _common(group: str, steps: int, **own: Any) -> EpisodePlan:
    return EpisodePlan(group=group, belief=False, marking="gold", goal_graph=False, steps=steps or None, **own)


def _cache(tasks: Sequence[Task], changes: Mapping[str, Perturbation]) -> AssignmentCache:
    """Return the tasks in our homes; `changes` are made before a task begins, by its id."""
    scenes = {scene.name: scene for scene, _ in map(our_home, HOMES)}
    return AssignmentCache(tasks, scenes=lambda one: scenes[one.scene], plans={}, moved=changes)
