"""Tasks of several goals at once in our homes, with two things moved that they need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from random import Random
from typing import Final

from scenecypher.db.condition import And, Id, Related, conjuncts
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.evaluation.household import bundled_homes
from scenecypher.importers.homes import our_home
from scenecypher.importers.task import Task
from scenecypher.planner.symbolic.parts import sought_for
from scenecypher.planner.worlds.perturbation import draw_things, movable_things, perturb

GOALS: Final = 3
"""Tasks of a home that are joined."""
MOVED: Final = 2
"""Things that are moved, or fewer if the goals are about fewer."""


@dataclass(frozen=True, slots=True)
class JoinedTask:
    """A task, the number of things that are moved before it begins, and the seed that chooses them."""

    task: Task
    moved: int
    seed: int


@cache
def tasks() -> tuple[JoinedTask, ...]:
    """Return a task for each test task of our homes: its goal and those of the next two, in a circle."""
    return tuple(
        _joined(home.name, [home.tasks[(first + more) % len(home.tasks)] for more in range(GOALS)])
        for home in bundled_homes()
        for first in range(len(home.tasks))
    )


def scene(task: Task) -> ImportedScene:
    """Return the scene of one of these tasks."""
    return our_home(task.scene.removeprefix("homes/"))[0]


def _joined(home: str, parts: list[Task]) -> JoinedTask:
    goal = And(tuple(fact for part in parts for fact in conjuncts(part.goal)))
    names = "+".join(part.id.rpartition("/")[2] for part in parts)
    budget = sum(part.budget for part in parts)
    task = replace(parts[0], id=f"several/{home}/{names}", goal=goal, budget=budget)
    found = our_home(home)[0]
    movable = movable_things(found.graph, vocabulary=found.vocabulary)
    needed = sought_for(goal).ids & {*movable}
    wanted = min(MOVED, len(needed))
    draws = ((seed, {*draw_things(movable, Random(seed), wanted)}) for seed in count())  # noqa: S311 - reproducible
    fitting = (seed for seed, moved in draws if moved <= needed)
    seed = next(it for it in fitting if not _meets_a_part(goal, found, seed=it, wanted=wanted))
    return JoinedTask(task, wanted, seed)


def _meets_a_part(goal: And, home: ImportedScene, *, seed: int, wanted: int) -> bool:
    """Check if a move brings a thing where the goal wants it."""
    moves = perturb(home.graph, vocabulary=home.vocabulary, seed=seed, objects=wanted).moves
    return any(Related(Id(it.thing), it.type, Id(it.target)) in goal.parts for it in moves)
