"""VirtualHome's operators compared with its own engine: same verdict, same mistake, same graph, step by step."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from scenecypher.db.schema import REMEMBERED
from scenecypher.importers.virtualhome import program_files
from scenecypher.importers.virtualhome_format import document_of
from scenecypher.planner.vocabularies.virtualhome.operators import OPERATORS
from scenecypher.planner.vocabularies.virtualhome.terms import BODY_PARTS, KNIVES
from tests.planner.actions.differential import SideBySide, home, proposal, random_walk, totals
from tests.planner.actions.evolving_graph import NAMES, UNSUPPORTED, VERBS
from tests.planner.actions.randomized import randomized
from tests.sampling import sample

LINE: Final = re.compile(r"\[(\w+)\]((?:\s*<[^>]+>\s*\([\d.]+\))*)")
OBJECT: Final = re.compile(r"<([^>]+)>\s*\((?:\d+\.)?(\d+)\)")
TASKS: Final = sorted(program_files())
STEPS: Final = 30
PARTS: Final = 37
"""Each part has fourteen homes."""


def recorded(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if found := LINE.match(line.strip()):
            objects = OBJECT.findall(found[2])
            yield found[1].upper(), tuple(f"{name}_{number}" for name, number in objects)


def replay(task_id: str) -> SideBySide:
    """Replay a recorded program on both sides; the engine decides which steps are feasible."""
    run = SideBySide(home(task_id))
    for verb, arguments in recorded(program_files()[task_id]):
        if verb not in UNSUPPORTED:
            run.step(NAMES["LOOKAT" if verb == "LOOKAT_MEDIUM" else verb], arguments)
    return run


def walk_recorded_home(task_id: str, *, steps: int = STEPS) -> SideBySide:
    run = SideBySide(home(task_id))
    random_walk(run, random.Random(task_id), steps=steps)  # noqa: S311
    return run


def walk_randomized_home(task_id: str, *, steps: int = STEPS) -> SideBySide:
    """Do the same from a randomized home."""
    rng = random.Random(f"{task_id}, unsettled")  # noqa: S311
    run = SideBySide(randomized(rng, home(task_id)))
    random_walk(run, rng, steps=steps)
    return run


@pytest.mark.parametrize("task_id", sample(TASKS, 12))
def test_recorded_programs_agree_with_the_engine(task_id: str) -> None:
    assert replay(task_id).steps


@pytest.mark.parametrize("task_id", TASKS[::104])
def test_random_actions_agree_with_the_engine(task_id: str) -> None:
    steps = walk_recorded_home(task_id).steps + walk_randomized_home(task_id).steps
    feasible = sum(number for (_, verdict), number in steps.items() if verdict == "feasible")
    assert STEPS / 5 < feasible < STEPS * 9 / 5


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_random_walks_in_every_home_agree_with_the_engine(part: int) -> None:
    tasks = TASKS[part::PARTS]
    counted = totals(walk(task_id) for walk in (walk_recorded_home, walk_randomized_home) for task_id in tasks)
    assert sum(counted.values()) == 2 * STEPS * len(tasks)
    verdicts = {verdict for _, verdict in counted}
    assert verdicts == {"feasible", "wrong_order", "missing_step", "affordance", "unseen_object", "additional_step"}


def test_the_tables_cover_the_engine() -> None:
    from virtualhome_eval.simulation.evolving_graph.execution import ScriptExecutor
    from virtualhome_eval.simulation.evolving_graph.scripts import Action

    assert {action.name for action in ScriptExecutor._action_executors} == {*NAMES}
    assert {action.name for action in Action} - {*NAMES} == {*UNSUPPORTED}
    assert {*OPERATORS} == {*VERBS}
    for name, operator in OPERATORS.items():
        assert len(operator.parameters) == Action[VERBS[name]].value[1], name


@pytest.mark.parametrize("task_id", sample(TASKS, 3))
def test_class_lists_cover_the_engines_conditions(task_id: str) -> None:
    nodes = home(task_id).nodes.values()
    assert {node.class_ for node in nodes if "body_part" in node.affordances} <= {*BODY_PARTS}
    assert {node.class_ for node in nodes if "knife" in node.class_} <= {*KNIVES}


@pytest.mark.parametrize("task_id", TASKS[::173])
def test_contents_of_a_held_container_agree_with_the_engine(task_id: str) -> None:
    run = SideBySide(home(task_id))
    movable = [n for n in run.graph.nodes.values() if "grabbable" in n.affordances]
    box = next(n.id for n in movable if "can_open" in n.affordances)
    thing = next(n.id for n in movable if "can_open" not in n.affordances and n.class_ != "water")
    opened = [("walk", (box,)), ("open", (box,)), ("walk", (thing,)), ("grab", (thing,)), ("walk", (box,))]
    carried = [("grab", (box,)), ("put_in", (thing, box)), ("walk", (box,)), ("walk", (thing,)), ("grab", (thing,))]
    for action, arguments in opened + carried:
        run.step(action, arguments)


def test_a_home_with_a_held_object_is_written_as_by_the_engine() -> None:
    run = SideBySide(home(TASKS[0]))
    thing = next(n.id for n in run.graph.nodes.values() if "grabbable" in n.affordances and n.class_ != "water")
    for action in ("walk", "grab"):
        run.step(action, (thing,))
    assert run.graph.targets(thing, *REMEMBERED) != ()
    written = {edge["relation_type"] for edge in document_of(run.graph)["edges"]}
    assert written == {edge["relation_type"] for edge in run.engine.history[-1]["edges"]}


def test_every_action_is_proposed() -> None:
    rng, graph = random.Random(0), home(TASKS[0])  # noqa: S311
    assert {proposal(rng, graph)[0] for _ in range(1_000)} == {*OPERATORS}
