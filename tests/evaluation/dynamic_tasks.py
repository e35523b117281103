"""`python -m tests.evaluation.dynamic_tasks`: generate the tasks of the experiment `dynamic`, in some minutes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from random import Random
from typing import Final

from scenecypher.db.condition import evaluate
from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.errors import InputError
from scenecypher.evaluation.dynamic import load_dynamic_scene
from scenecypher.evaluation.marking import marking_scheme
from scenecypher.evaluation.published import FOLDER
from scenecypher.evaluation.stated_tasks import (
    ID_PREFIX,
    DynamicTask,
    dynamic_tasks,
    to_task,
)
from scenecypher.importers.datasets import reference_plans
from scenecypher.importers.homes import OURS, goal_from_facts, our_home
from scenecypher.planner.symbolic.reference import final_graph
from scenecypher.planner.worlds.perturbation import draw_things, movable_things, perturb

TASKS: Final = 50
MAX_SEEDS: Final = 600
"""Seeds tried to find one that moves a thing that the task needs."""

FOOD: Final = ("breadslice", "plum", "cereal", "chips", "milk", "apple", "bananas", "cupcake", "salmon")
HOT: Final = (*FOOD[:2], "salmon", "juice", "cheese", *FOOD[4:8], "bowl", "mug")
DISHES: Final = ("bowl", "plate", "mug", "wineglass", "cutleryknife", "cutleryfork", "fryingpan", "pot")
WORDS: Final = {
    "fridge": ("Put the {} into the fridge.", FOOD),
    "microwave": ("Heat the {} in the microwave.", HOT),
    "dishwasher": ("Wash the {} in the dishwasher.", DISHES),
}
STATE: Final = {"microwave": "HEATED", "dishwasher": "WASHED"}


def _generate() -> Iterator[DynamicTask]:
    """Generate all lines; every second task of a kind gets a seed."""
    for lines in (_home_tasks(), _behavior_tasks()):
        yield from _with_seeds(lines, wanted=TASKS)


def _with_seeds(lines: Iterable[DynamicTask], *, wanted: int) -> Iterator[DynamicTask]:
    """Yield the first `wanted` lines, half of them with a seed.

    A line whose things can't be moved counts in the half without.
    """
    moved = unmoved = 0
    for line in lines:
        seed = _seed(line) if moved < wanted // 2 and moved <= unmoved else None
        if seed is None and unmoved == wanted - wanted // 2:
            seed = _seed(line)
            if seed is None:
                continue
        moved, unmoved = (moved + 1, unmoved) if seed is not None else (moved, unmoved + 1)
        yield line.model_copy(update={"seed": seed})
        if moved + unmoved == wanted:
            return


def _home_tasks() -> Iterator[DynamicTask]:
    for category, (words, classes) in WORDS.items():
        for home in OURS:
            for things in ((it,) for it in classes):
                yield from _home_task(home, category, words, things)
    for home in OURS:  # two things at once, for a total of 50
        yield from _home_task(home, "dishwasher", WORDS["dishwasher"][0], ("plate", "mug"))


def _home_task(home: str, category: str, words: str, things: Sequence[str]) -> Iterator[DynamicTask]:
    """Yield the task if the home has such things and they are not there yet."""
    scene, _ = our_home(home)
    if not all(it in scene.graph.by_class for it in things):
        return
    facts = [f"{it} INSIDE {category}" for it in things]
    facts += [f"{it} {STATE[category]}" for it in things if category in STATE]
    goal = goal_from_facts(facts, scene.graph)
    current = scene.graph.targets(scene.graph.by_class[things[0]][0], "INSIDE")
    if evaluate(goal, scene.graph, {}) or {*current} & {*scene.graph.by_class[category]}:
        return
    plan = [*_plan(scene.graph, category, things)]
    if not evaluate(goal, final_graph(plan, scene.graph, scene.vocabulary), {}):
        raise InputError(f"the plan for {facts} in {home} does not reach its goal: {plan}; correct it")
    yield DynamicTask.model_validate(
        {
            "id": f"{ID_PREFIX}/{home}/{category}/{'-'.join(things)}",
            "category": category,
            "seed": None,
            "home": home,
            "instruction": words.format(" and the ".join(things)),
            "goal": facts,
            "plan": plan,
        }
    )


def _plan(graph: SceneGraph, category: str, things: Sequence[str]) -> Iterator[str]:
    """Yield a plan: fetch each thing, put it into the appliance, then switch the appliance on if the task needs it."""
    (appliance,), is_open = graph.by_class[category], False
    for thing in (graph.by_class[it][0] for it in things):
        for container in graph.targets(thing, "INSIDE"):
            if "closed" in graph.nodes[container].states:
                yield from (f"walk({container})", f"open({container})")
        yield from (f"walk({thing})", f"grab({thing})", f"walk({appliance})")
        if not is_open and "closed" in graph.nodes[appliance].states:
            yield f"open({appliance})"
        is_open = True
        yield f"put_in({thing}, {appliance})"
    if category in STATE:
        yield from (f"close({appliance})", f"switch_on({appliance})")


def _behavior_tasks() -> Iterator[DynamicTask]:
    """Yield all activities that have a plan, in an order that spreads the first ones over the alphabet."""
    ids = [id_ for id_ in reference_plans() if id_.startswith("behavior-1k/")]
    for first in range(3):
        for id_ in ids[first::3]:
            yield DynamicTask(id=id_, category="behavior", seed=None)


def _seed(line: DynamicTask) -> int | None:
    """Return the first seed that moves a thing that the task needs without achieving the task, else None."""
    given = to_task(line)
    scene = load_dynamic_scene(given)
    end = final_graph(line.plan or reference_plans()[line.id], scene.graph, scene.vocabulary)
    needed = marking_scheme(given.goal, scene.graph, end, vocabulary=scene.vocabulary).needed
    things = movable_things(scene.graph, vocabulary=scene.vocabulary)
    if not needed & {*things}:
        return None
    for seed in islice(count(), MAX_SEEDS):
        if draw_things(things, Random(seed), 1)[0] not in needed:  # noqa: S311 - reproducible, no secret
            continue
        found = perturb(scene.graph, vocabulary=scene.vocabulary, seed=seed, objects=1)
        if not evaluate(given.goal, apply(scene.graph, found.delta), {}):
            return seed
    return None


def main() -> None:
    """Write the file."""
    lines = (line.model_dump_json(exclude_defaults=True) for line in _generate())
    file = Path(str(FOLDER / "dynamic.jsonl"))
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    sys.stderr.write(f"{file}: {json.dumps(_counts())}\n")


def _counts() -> dict[str, int]:
    lines = dynamic_tasks()
    return {"tasks": len(lines), "moved": sum(line.seed is not None for line in lines)}


if __name__ == "__main__":
    main()
