"""BabyAI's operators compared with MiniGrid: same rooms, hand and doors after each action."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.scene import Properties, SceneGraph
from scenecypher.errors import ActionRefused
from scenecypher.importers.babyai import LevelInstance, level_instance
from scenecypher.importers.babyai_grid import AGENT, grid_scene_graph
from scenecypher.planner.actions.execution import Infeasible, simulate
from scenecypher.planner.actions.text import ActionCall, parse_action
from scenecypher.planner.vocabularies.babyai import COLORS, OPERATORS
from scenecypher.planner.worlds.minigrid import ACTIONS, Executor
from tests.sampling import sample

pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")

SEEDS: Final = sample(range(200), 20)


def simulated(graph: SceneGraph, call: ActionCall) -> SceneGraph:
    arguments = {AGENT: AGENT, "x": call.arguments[0]}
    return apply(graph, simulate(OPERATORS[call.name], graph, arguments, action=str(call)))


def without_centers(graph: SceneGraph) -> SceneGraph:
    """Return the graph without cells, which are MiniGrid's matter."""
    return SceneGraph.of(
        (
            type(node)(
                *(node.id, node.kind, node.name, node.class_, node.states, node.affordances),
                Properties({key: value for key, value in node.properties.items() if key != "center"}),
            )
            for node in graph.nodes.values()
        ),
        graph.relations,
    )


@pytest.mark.parametrize("level", ["trv1", "trv2"])
def test_operators_and_environment_agree_after_every_action(level: str) -> None:
    for seed in SEEDS:
        start = level_instance(level, seed)
        assert start.task is not None
        executor, graph = Executor(start.env, start.things), without_centers(start.scene.graph)
        for step in start.task.program:
            call = ActionCall(step.action, step.arguments)
            executor.do(call)
            graph = simulated(graph, call)
            assert graph == without_centers(grid_scene_graph(start.env, start.things)), (level, seed, step)


@pytest.mark.parametrize("level", ["trv1", "trv2"])
def test_actions_that_operators_refuse_change_nothing_in_minigrid(level: str) -> None:
    """Try each action on each node before each step: if ours refuses, MiniGrid's executor refuses and moves nothing."""
    refused = 0
    for seed in SEEDS:
        start = level_instance(level, seed)
        assert start.task is not None
        executor, graph = Executor(start.env, start.things), without_centers(start.scene.graph)
        for step in start.task.program:
            before = grid_scene_graph(start.env, start.things)
            for call in refusals(graph):
                with pytest.raises(ActionRefused):
                    executor.do(call)
                refused += 1
            assert grid_scene_graph(start.env, start.things) == before, (level, seed, step)
            executor.do(ActionCall(step.action, step.arguments))
            graph = simulated(graph, ActionCall(step.action, step.arguments))
    assert refused > 50 * len(SEEDS)


def refusals(graph: SceneGraph) -> Iterator[ActionCall]:
    for name in OPERATORS:
        for node_id in sorted(graph.nodes):
            try:
                simulated(graph, ActionCall(name, (node_id,)))
            except Infeasible:
                yield ActionCall(name, (node_id,))


@pytest.fixture(scope="module")
def start() -> LevelInstance:
    return level_instance("trv1", 3)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("pickup(door_1)", "green door (door_1) can not be lifted"),
        ("pickup(box_1)", "no open door leads to where blue box (box_1) is: open(door_1) first"),
        ("remove(box_1)", "no open door leads to where blue box (box_1) is: open(door_1) first"),
        ("open(key_1)", "key (key_1) is no door"),
        (
            "open(door_1)",
            "green door (door_1) is locked, and agent does not hold a key of its colour: pickup(key_1) first",
        ),
    ],
)
def test_a_refusal_names_the_broken_requirement(start: LevelInstance, action: str, words: str) -> None:
    with pytest.raises(Infeasible) as refused:
        simulated(start.scene.graph, parse_action(action))
    assert words in str(refused.value)


def test_only_the_key_of_its_colour_opens_a_door(start: LevelInstance) -> None:
    assert start.task is not None
    right = start.task.program[0].arguments[0]
    for key in start.scene.graph.by_class["key"]:
        graph = simulated(start.scene.graph, ActionCall("pickup", (key,)))
        if key == right:
            assert simulated(graph, ActionCall("open", ("door_1",))).nodes["door_1"].states == ("open",)
        else:
            with pytest.raises(Infeasible, match=r"does not hold a key of its colour: pickup\(key_1\) first"):
                simulated(graph, ActionCall("open", ("door_1",)))


def test_the_tables_equal_minigrids() -> None:
    from minigrid.core.constants import COLOR_NAMES

    assert set(COLORS) == set(COLOR_NAMES)
    assert set(OPERATORS) == set(ACTIONS)
