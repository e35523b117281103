"""Plans derived from the imported graph alone, carried out in MiniGrid's own steps."""

from __future__ import annotations

from typing import Final

import pytest

from scenecypher.db.condition import evaluate
from scenecypher.errors import ActionRefused
from scenecypher.importers.babyai import LevelInstance, level_instance
from scenecypher.importers.babyai_grid import grid_scene_graph
from scenecypher.importers.task import ProgramStep, Task
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.worlds.minigrid import ActionResult, Executor

pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")

TRAVERSALS: Final = ("trv1", "trv2")
SEEDS: Final = range(200)
SAMPLE: Final = SEEDS[::10]


def started_episode(level: str, seed: int) -> tuple[LevelInstance, Task, Executor]:
    start = level_instance(level, seed)
    assert start.task is not None
    return start, start.task, Executor(start.env, start.things)


def call(step: ProgramStep) -> ActionCall:
    return ActionCall(step.action, step.arguments)


def assert_plan_succeeds(level: str, seed: int) -> None:
    """Assert that the plan succeeds in the papers' order: the key first, held until the door is open."""
    start, task, executor = started_episode(level, seed)
    assert [step.action for step in task.program][:3] == ["pickup", "remove", "open"]
    key = start.things[task.program[0].arguments[0]]
    for step in task.program[:-1]:
        assert not executor.do(call(step)).fulfilled
        assert start.env.carrying is key, (level, seed, step)
    assert executor.do(call(task.program[-1])).fulfilled
    assert evaluate(task.goal, grid_scene_graph(start.env, start.things), {})
    assert start.env.step_count < start.env.max_steps


@pytest.mark.parametrize("level", TRAVERSALS)
def test_a_plan_from_the_graph_succeeds(level: str) -> None:
    for seed in SAMPLE:
        assert_plan_succeeds(level, seed)


@pytest.mark.slow
@pytest.mark.parametrize("level", TRAVERSALS)
def test_two_hundred_plans_succeed(level: str) -> None:
    for seed in SEEDS:
        assert_plan_succeeds(level, seed)


def refusal(level: str, seed: int, *, wrong_key: bool = False, leave_out: str = "") -> str:
    """Return the refusal of a faulty plan; empty if it succeeds nevertheless."""
    start, task, executor = started_episode(level, seed)
    right = task.program[0].arguments[0]
    wrong = next(one for one in start.scene.graph.by_class["key"] if one != right)
    try:
        for step in task.program:
            if str(step) != leave_out:
                executor.do(
                    ActionCall(step.action, (wrong,)) if wrong_key and step.arguments == (right,) else call(step)
                )
    except ActionRefused as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("level", TRAVERSALS)
def test_the_wrong_key_opens_nothing(level: str) -> None:
    for seed in SAMPLE:
        assert "door_1 is locked, and a " in refusal(level, seed, wrong_key=True)


@pytest.mark.parametrize("level", TRAVERSALS)
def test_a_plan_without_the_removal_fails(level: str) -> None:
    for seed in SAMPLE:
        blocker = next(step for step in episode_program(level, seed) if step.action == "remove")
        assert "open(door_1): no way leads to door_1" in refusal(level, seed, leave_out=str(blocker))


def test_in_the_second_level_the_obstacle_behind_the_door_must_be_removed() -> None:
    for seed in SAMPLE:
        *_, behind, box = episode_program("trv2", seed)
        assert f"{box}: no way leads to {box.arguments[0]}" in refusal("trv2", seed, leave_out=str(behind))


def episode_program(level: str, seed: int) -> tuple[ProgramStep, ...]:
    return started_episode(level, seed)[1].program


def test_a_held_key_is_put_down_before_another_pickup() -> None:
    start, task, executor = started_episode("trv1", 3)
    first, second = start.scene.graph.by_class["key"]
    executor.do(ActionCall("pickup", (first,)))
    executor.do(ActionCall("pickup", (second,)))
    graph = grid_scene_graph(start.env, start.things)
    assert graph.targets("agent", "HOLDS") == (second,)
    assert graph.targets(first, "INSIDE") == ("room_1",)
    assert task.goal is not None


def test_a_graph_read_during_an_episode_keeps_its_ids() -> None:
    start, _, executor = started_episode("trv1", 3)
    before = start.scene.graph
    executor.do(ActionCall("remove", ("ball_1",)))
    after = grid_scene_graph(start.env, start.things)
    assert after.nodes.keys() == before.nodes.keys()
    changed = {node_id for node_id in after.nodes if after.nodes[node_id] != before.nodes[node_id]}
    assert changed == {"ball_1", "agent"}
    assert after.relations == before.relations


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (ActionCall("fly", ("key_1",)), "choose one of pickup(node), remove(node), open(node)"),
        (ActionCall("open", ("door_1", "key_1")), "choose one of"),
        (ActionCall("pickup", ("kay_1",)), "no thing has the id 'kay_1' (did you mean 'key_1'"),
        (ActionCall("pickup", ("door_1",)), "door_1 can not be lifted; choose a key, a ball or a box"),
        (ActionCall("open", ("key_1",)), "key_1 is no door; choose a door"),
        (ActionCall("open", ("door_1",)), "no way leads to door_1; remove what is in the way, or open a door"),
        (ActionCall("pickup", ("box_1",)), "no way leads to box_1"),
    ],
)
def test_an_infeasible_action_is_refused_and_changes_nothing(call: ActionCall, words: str) -> None:
    start, _, executor = started_episode("trv1", 3)
    with pytest.raises(ActionRefused) as refused:
        executor.do(call)
    assert words in str(refused.value)
    assert grid_scene_graph(start.env, start.things) == start.scene.graph


def test_an_episode_that_has_ended_takes_no_more_actions() -> None:
    _, task, executor = started_episode("trv1", 3)
    last = [executor.do(call(step)) for step in task.program][-1]
    assert last == ActionResult(last.steps, fulfilled=True)
    with pytest.raises(ActionRefused, match=r"the episode ended after .* steps; begin another"):
        executor.do(ActionCall("pickup", ("ball_1",)))


def test_steps_are_counted_as_the_environment_counts_them() -> None:
    start, task, executor = started_episode("trv2", 3)
    assert sum(executor.do(call(step)).steps for step in task.program) == start.env.step_count
