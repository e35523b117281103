"""The experiment `unclear`: instructions that leave open what is meant, in our homes, with a person who can be asked.

`scenecypher eval unclear`: scripted models state goals and scripted people answer. With a model of one's own
(`inspect eval evaluation/unclear.py --model PROVIDER/NAME -T scripted=false`) only the people are scripted.
"""

from __future__ import annotations

from typing import Final

from inspect_ai import task

from scenecypher.evaluation.assignments import AssignmentCache
from scenecypher.evaluation.episode import EpisodePlan
from scenecypher.evaluation.episodes import played
from scenecypher.evaluation.experiment import Experiment, TablePlan, select_rows
from scenecypher.evaluation.options import Names, select_names, take_of_each
from scenecypher.evaluation.unclear_tasks import UNCLEAR_TASKS, Player
from scenecypher.importers.homes import OURS, our_home
from scenecypher.planner.sessions.method import AskingBack

METHOD: Final = "goal-then-plan"
TITLE: Final = "Instructions that leave open what is meant"
COLUMNS: Final = ("asked_unclear", "asked_clear", "questions", "done_unclear", "done_clear")
KINDS: Final = tuple(dict.fromkeys(it.kind for it in UNCLEAR_TASKS.values()))
PAIRS: Final[tuple[tuple[Player, AskingBack, Player], ...]] = (
    *(("careful", "never", "careful"), ("careful", "unclear", "careful"), ("careful", "always", "careful")),
    *(("careful", "unclear", "careless"), ("careless", "never", "careful"), ("careless", "unclear", "careful")),
)
"""A table each: the model, when a person is asked, and the person; a model of one's own stands for the careful one."""


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
    of = select_names("kind", kinds, KINDS)
    named = (it for it in UNCLEAR_TASKS.values() if it.kind in of)
    chosen = take_of_each(named, limit, seed, kind=lambda it: it.kind)

    def table(player: Player, mode: AskingBack, person: Player) -> TablePlan:
        name = f"unclear-{player or 'model'}-{mode}-{person}"
        title = f"{player or 'your'} model, {person} person, asked back: {mode}"
        common = EpisodePlan(
            group=name,
            belief=False,
            marking="gold",
            goal_graph=False,
            steps=steps or None,
            player=player,
            person=person,
            asking=mode,
        )
        return TablePlan(name, title, COLUMNS, (), tuple(it.id for it in chosen), common)

    scenes = {scene.name: scene for scene, _ in map(our_home, OURS)}
    moved = {it.id: it.painting() for it in chosen if it.painted}
    cache = AssignmentCache((it.task() for it in chosen), scenes=lambda one: scenes[one.scene], plans={}, moved=moved)
    pairs = (it for it in PAIRS if scripted or it[0] == "careful")
    tables = [table(model if scripted else "", mode, person) for model, mode, person in pairs]
    return select_rows("unclear", TITLE, tables, methods=methods, assignments=cache)
