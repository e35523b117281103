"""A scene as a Gymnasium environment, on a real server: its own checker, a task done, a reset."""

from __future__ import annotations

import pytest
from gymnasium.utils.env_checker import check_env

from scenecypher.db.condition import HeldBy, Id
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.gym import MAX_CHARACTERS, SceneEnv
from tests.planner.actions.grasif_worlds import ROBOT, home
from tests.planner.actions.test_operators import put

HELD = HeldBy(Id("cup-1"), Id(ROBOT))


@pytest.fixture
def env(store: SceneStore) -> SceneEnv:
    return SceneEnv(store, put(store, home(), vocabulary="grasif"), goal=HELD, instruction="Take the cup.", max_steps=5)


@pytest.mark.filterwarnings("ignore:.*not having a spec.*")
def test_gymnasium_s_own_checker_finds_nothing(env: SceneEnv) -> None:
    check_env(env)


def test_an_episode_ends_with_its_reward_where_the_goal_holds(env: SceneEnv) -> None:
    first, _ = env.reset()
    assert first.startswith("Instruction: Take the cup.")
    assert "pick_up(x)" in first
    refused, reward, terminated, truncated, info = env.step("pick_up(cup-1)")
    assert refused.startswith("refused: ")
    assert (reward, terminated, truncated, info["carried_out"]) == (0.0, False, False, [])
    env.step("go_to(kitchen)")
    told, reward, terminated, truncated, info = env.step("pick_up(cup-1)")
    assert (told, reward, terminated, truncated) == ("carried out: pick_up(cup-1)", 1.0, True, False)
    assert env.render() == told


def test_a_reset_takes_all_back(store: SceneStore) -> None:
    scene = put(store, home(), vocabulary="grasif")
    env = SceneEnv(store, scene, goal=HELD, fix=True)
    env.reset()
    assert env.step("pick_up(cup-1)")[4]["carried_out"] == ["go_to(kitchen)", "pick_up(cup-1)"]
    env.reset()
    assert store.load(scene.name).graph == home()


def test_steps_are_counted_and_done_ends(env: SceneEnv) -> None:
    env.reset()
    assert [env.step("wink(cup-1)")[3] for _ in range(5)] == [False, False, False, False, True]
    env.reset()
    assert env.step(f"done({ROBOT})")[1:4] == (0.0, True, False)


def test_texts_stay_in_their_space(env: SceneEnv) -> None:
    env.reset()
    observation = env.step("pick_up(☕" + "x" * 9_000)[0]
    assert env.observation_space.contains(observation)
    assert len(observation) <= MAX_CHARACTERS


def test_a_name_that_an_observation_escapes_can_be_acted_on_as_it_stands_there(store: SceneStore) -> None:
    spot = Node("plätzchen ☕😀-1", "Object", "plätzchen ☕😀-1", "plätzchen", affordances=("pick_up",))
    graph = SceneGraph.of([*home().nodes.values(), spot], [*home().relations, Relation(spot.id, "ON", "table-1")])
    goal = HeldBy(Id(spot.id), Id(ROBOT))
    env = SceneEnv(store, put(store, graph, vocabulary="grasif"), goal=goal, instruction=f"Take {spot.id}.")
    escaped = env.reset()[0].partition("Take ")[2].partition(".")[0]
    assert escaped != spot.id
    action = f'pick_up("{escaped}")'
    assert env.action_space.contains(action)
    env.step("go_to(kitchen)")
    assert env.step(action)[:3] == (f"carried out: pick_up({escaped})", 1.0, True)
