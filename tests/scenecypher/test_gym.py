"""Homes as Gymnasium environments: its own checker, both worlds alike, masks that are true, forks, killed workers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv

from scenecypher.db.condition import HeldBy, Id
from scenecypher.db.graph.live import LiveGraph
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.connection import Address
from scenecypher.db.store.lease import acquire
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused, InputError, RejectedError, UnknownReference
from scenecypher.gym import MAX_SEEN, HomeEnv
from scenecypher.importers import datasets
from scenecypher.planner.actions.action_mask import ActionMask
from scenecypher.planner.symbolic.parts import calls_for
from scenecypher.planner.vocabularies.vocabulary import operators_of
from scenecypher.planner.worlds.episode_worlds import MemorySimulator
from scenecypher.settings import Settings
from tests.planner.actions.grasif_worlds import ROBOT, home
from tests.planner.actions.test_operators import put

HELD = HeldBy(Id("cup-1"), Id(ROBOT))
NAME = "scenecypher.gym:scenecypher/Home-v0"
ROOT = Path(__file__).parents[2]

MakeEnv = Callable[..., HomeEnv]


@pytest.fixture
def settings(address: Address) -> Settings:
    return Settings(neo4j_uri=address.uri, neo4j_username=address.username, neo4j_password=address.password)


@pytest.fixture
def scene(store: SceneStore) -> str:
    return put(store, home(), vocabulary="grasif").name


@pytest.fixture
def make(scene: str, settings: Settings) -> Iterator[MakeEnv]:
    """Make environments of the small home, to take the cup; they are closed at the end."""
    made: list[HomeEnv] = []

    def make_one(**options: Any) -> HomeEnv:
        given: dict[str, Any] = {"scene": scene, "goal": HELD, "instruction": "Take the cup.", "settings": settings}
        env = HomeEnv(**given | options)
        made.append(env)
        return env

    yield make_one
    for env in made:
        env.close()


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize(("observation", "actions"), [("text", "text"), ("graph", "list")])
@pytest.mark.filterwarnings("ignore:.*not having a spec.*")
def test_gymnasium_s_own_checker_finds_nothing(
    make: MakeEnv, observation: str, actions: str, *, in_memory: bool
) -> None:
    env = make(observation=observation, actions=actions, in_memory=in_memory, moved=1, max_steps=5)
    check_env(env)


def test_it_is_made_by_its_name_without_a_database() -> None:
    env = gymnasium.make(NAME, task="homes/apartment/watch_tv", in_memory=True, actions="list")
    check_env(env.unwrapped)
    assert str(env.reset()[0]).startswith("Instruction: Watch TV: turn the television on.")


def test_an_episode_ends_with_its_reward_where_the_goal_holds(make: MakeEnv) -> None:
    env = make()
    first, _ = env.reset()
    assert str(first).startswith("Instruction: Take the cup.")
    assert "pick_up(x)" in str(first)
    refused, reward, terminated, truncated, info = env.step("pick_up(cup-1)")
    assert str(refused).startswith("refused: ")
    assert (reward, terminated, truncated, info["carried_out"]) == (0.0, False, False, [])
    env.step("go_to(kitchen)")
    told, reward, terminated, truncated, info = env.step("pick_up(cup-1)")
    assert (told, reward, terminated, truncated) == ("carried out: pick_up(cup-1)", 1.0, True, False)
    assert env.render() == told


@pytest.mark.parametrize("fix", [False, True])
def test_both_worlds_give_the_same_episode(make: MakeEnv, *, fix: bool) -> None:
    both = [
        make(in_memory=it, fix=fix, actions="list", shaping=0.5, goal="cup-1 ON desk-1; fridge-1 is open", moved=1)
        for it in (True, False)
    ]
    assert both[0].calls == both[1].calls
    for seed in (3, 4):
        chance, numbers = np.random.default_rng(seed), len(both[0].calls)
        starts = [str(env.reset(seed=seed)) for env in both]
        assert starts[0] == starts[1]
        for action in chance.integers(numbers, size=20):
            one, other = (str(env.step(action)) for env in both)
            assert one == other
    texts = ("wink(cup-1)", "open(fridge)", "open(Fridge)", "grab(", "go_to(cup)")
    assert [str(both[0].step(text)) for text in texts] == [str(both[1].step(text)) for text in texts]


def test_the_mask_is_what_the_simulator_would_carry_out() -> None:
    for task_id in ("homes/apartment/watch_tv", "behavior-1k/assembling_gift_baskets", "trv1/0"):
        of, task = datasets.task(task_id)
        scene = next(iter(of.scenes(task_id.removeprefix(f"{of.name}/"))))
        env = HomeEnv(task=task_id, in_memory=True, actions="list")
        _, info = env.reset(seed=5)
        assert len(env.calls) == len(info["action_mask"])
        operators, agent = operators_of(scene.vocabulary), min(scene.graph.by_kind["Agent"])
        calls = calls_for(task.goal, scene.graph, operators, agent=agent, most=4_096)
        assert calls is not None
        mask, graph, chance = ActionMask(calls, operators), LiveGraph(scene.graph), np.random.default_rng(5)
        for _ in range(3):
            allowed = mask.of(graph, agent)
            now = SceneGraph.of(graph.nodes.values(), graph.in_order())
            assert allowed.tolist() == [is_carried_out(env, now, str(call)) for call in calls]
            action = int(chance.choice(np.flatnonzero(allowed)))
            simulator = MemorySimulator(env._episode.scene, now)
            graph.apply([*simulator.act(str(calls[action]))][-1].delta)


def is_carried_out(env: HomeEnv, graph: SceneGraph, action: str) -> bool:
    try:
        return bool([*MemorySimulator(env._episode.scene, graph).act(action)])
    except RejectedError:
        return False


def test_an_observation_as_a_graph_shows_what_an_action_did(make: MakeEnv) -> None:
    env = make(observation="graph", actions="list", goal="fridge-1 is open", fix=True, in_memory=True)
    before, _ = env.reset()
    after = env.step(env.calls.index("open(fridge-1)"))[0]
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    fridge, opened = env.nodes.index("fridge-1"), env.states.index("open")
    assert (before["states"][fridge, opened], after["states"][fridge, opened]) == (0, 1)
    inside = env.relation_types.index("INSIDE"), env.nodes.index(ROBOT)
    rooms = [env.nodes[int(np.flatnonzero(it["relations"][inside])[0])] for it in (before, after)]
    assert rooms == ["office", "kitchen"]


def test_shaping_pays_for_each_part_of_the_goal_and_takes_it_back(make: MakeEnv) -> None:
    env = make(goal="fridge-1 is open; lamp-1 is on", fix=True, shaping=0.5, in_memory=True)
    env.reset()
    actions = ("open(fridge-1)", "close(fridge-1)", "open(fridge-1)", "turn_on(lamp-1)")
    assert [env.step(action)[1] for action in actions] == [0.25, -0.25, 0.25, 1.25]


def test_a_reset_takes_all_back_and_the_scene_itself_is_never_changed(
    make: MakeEnv, store: SceneStore, scene: str
) -> None:
    env = make(fix=True)
    for _ in range(2):
        env.reset()
        assert env.step("pick_up(cup-1)")[4]["carried_out"] == ["go_to(kitchen)", "pick_up(cup-1)"]
    env.close()
    assert store.find(scene).version == 0
    with store.lease(scene) as copy:
        assert copy.version > 0, "the copy of the environment"
        assert store.load(copy.name).graph == home()


def test_steps_are_counted_and_done_ends(make: MakeEnv) -> None:
    env = make(in_memory=True, max_steps=5)
    env.reset()
    assert [env.step("wink(cup-1)")[3] for _ in range(5)] == [False, False, False, False, True]
    env.reset()
    assert env.step(f"done({ROBOT})")[1:4] == (0.0, True, False)


def test_a_seed_decides_where_things_are_found(make: MakeEnv) -> None:
    env = make(in_memory=True, moved=2, observation="graph")
    one, other, again = (str(env.reset(seed=seed)[0]) for seed in (1, 2, 1))
    assert one == again != other


def test_texts_stay_in_their_space(make: MakeEnv) -> None:
    env = make(in_memory=True)
    env.reset()
    observation = env.step("pick_up(☕" + "x" * 9_000)[0]
    assert env.observation_space.contains(observation)
    assert len(str(observation)) <= MAX_SEEN


def test_a_name_that_an_observation_escapes_can_be_acted_on_as_it_stands_there(
    store: SceneStore, make: MakeEnv
) -> None:
    spot = Node("plätzchen ☕😀-1", "Object", "plätzchen ☕😀-1", "plätzchen", affordances=("pick_up",))
    graph = SceneGraph.of([*home().nodes.values(), spot], [*home().relations, Relation(spot.id, "ON", "table-1")])
    goal = HeldBy(Id(spot.id), Id(ROBOT))
    name = put(store, graph, vocabulary="grasif").name
    env = make(scene=name, goal=goal, instruction=f"Take {spot.id}.")
    escaped = str(env.reset()[0]).partition("Take ")[2].partition(".")[0]
    assert escaped != spot.id
    action = f'pick_up("{escaped}")'
    assert env.action_space.contains(action)
    env.step("go_to(kitchen)")
    assert env.step(action)[:3] == (f"carried out: pick_up({escaped})", 1.0, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give a scene"),
        ({"scene": "s", "task": "eai/3_1", "goal": "a is on"}, "either a task"),
        ({"scene": "s", "observation": "picture"}, "text or graph"),
        ({"scene": "s", "max_steps": 0}, "at least 1"),
    ],
)
def test_what_can_not_be_played_is_refused_before_anything_is_read(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        HomeEnv(**options)


def test_a_scene_or_a_goal_that_is_not_there_is_named(make: MakeEnv, settings: Settings) -> None:
    with pytest.raises(InputError, match="no scene named 'nowhere'"):
        HomeEnv("nowhere", goal="a is on", settings=settings).reset()
    with pytest.raises(UnknownReference, match="'teapot'"):
        make(goal="teapot ON desk-1").reset()
    with pytest.raises(InputError, match="does not have: is it the task's own"):
        make(goal=None, task="homes/apartment/watch_tv").reset()
    with pytest.raises(InputError, match="reset the environment first"):
        make().step("pick_up(cup-1)")


def test_workers_of_a_vector_environment_play_on_copies_of_their_own(scene: str, settings: Settings) -> None:
    """The connection is opened in the worker: the parent, which has one open, is forked."""
    parent = HomeEnv(scene, goal=HELD, actions="list", settings=settings)
    parent.reset()
    one = partial(HomeEnv, scene, goal=HELD, actions="list", observation="graph", settings=settings, fix=True)
    workers = AsyncVectorEnv([one] * 2)
    try:
        _, info = workers.reset(seed=1)
        assert info["action_mask"].shape == (2, len(parent.calls))
        pick, go = parent.calls.index("pick_up(cup-1)"), parent.calls.index("go_to(office)")
        _, rewards, terminated, _, _ = workers.step(np.array([pick, go]))
        assert (rewards.tolist(), terminated.tolist()) == ([1.0, 0.0], [True, False])
        assert parent.step(pick)[4]["reasons"], "the robot is in the office, in this copy"
    finally:
        workers.close()
        parent.close()


FORKED = """
import os, sys
from scenecypher.gym import HomeEnv
env = HomeEnv(sys.argv[1], goal="cup-1 ON desk-1", fix=True)
env.reset()
if (child := os.fork()) == 0:
    env.reset()
    os._exit(len(env.step("pick_up(cup-1)")[4]["carried_out"]))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 2
print(*env.step("pick_up(cup-1)")[4]["carried_out"])
env.close()
"""


def test_an_environment_survives_a_fork(scene: str, user_env: dict[str, str]) -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED, scene],
        cwd=ROOT,
        env=user_env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.stdout.split(), ended.returncode) == (["go_to(kitchen)", "pick_up(cup-1)"], 0), ended.stderr


KILLED = """
import os, signal, sys
from scenecypher.gym import HomeEnv
env = HomeEnv(sys.argv[1], goal="cup-1 ON desk-1", fix=True)
env.reset()
env.step("pick_up(cup-1)")
print(os.getpid(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_copy_of_a_killed_worker_comes_back_at_once(
    scene: str, store: SceneStore, user_env: dict[str, str]
) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, scene], cwd=ROOT, env=user_env, capture_output=True, text=True, check=False
    )
    assert ended.returncode < 0, ended.stderr
    origin = f"{store.find(scene).key}@0"
    find = "MATCH (s:Scene {copied_from: $origin}) RETURN collect(s.key) AS keys"
    (killed,) = store.database.rows(find, {"origin": origin})[0]["keys"]
    with store.lease(scene) as copy:
        assert copy.key == killed
        assert store.load(copy.name).graph == home()
        assert acquire(store.database, origin, timeout_s=30) is None, "this process lives, and holds it"


def test_the_example_plays_a_random_and_a_symbolic_policy() -> None:
    played = subprocess.run(
        [sys.executable, ROOT / "examples/play_home.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    by_chance, by_plan = played.stdout.splitlines()
    assert by_chance.startswith("random    return 0 after ")
    assert by_plan == "symbolic  return 1 after 2 actions: walk(tv_98), switch_on(tv_98)"


def test_what_was_done_before_a_refusal_stays_and_is_told(make: MakeEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    env = make(in_memory=True, fix=True)
    env.reset()
    world = env._current()
    act = world.act

    def refused_later(text: str) -> Iterator[Any]:
        yield from act("go_to(kitchen)")
        raise ActionRefused(text, ["it is stuck"])

    monkeypatch.setattr(world, "act", refused_later, raising=False)
    seen, _, _, _, info = env.step("pick_up(cup-1)")
    assert info["carried_out"] == ["go_to(kitchen)"]
    assert "refused: it is stuck; before that was done: go_to(kitchen)" in str(seen)


def test_an_observation_tells_all_actions_and_says_where_it_is_cut() -> None:
    """What is limited is told: a text was cut without a word."""
    env = HomeEnv(task="eai/963_2", in_memory=True)
    first = str(env.reset()[0])
    assert all(f"\n{name}(" in first for name in ("push", "pull", "move"))
    long = HomeEnv(task="eai/963_2", in_memory=True, instruction="Take the cup, é. " * 4_000)
    cut, _ = long.reset()
    assert long.observation_space.contains(cut)
    assert "\n... cut: it had " in str(cut)[-60:]


@pytest.mark.parametrize("moved", [0, 3])
def test_shaping_sums_up_to_what_was_asked_for_in_each_episode(*, moved: int) -> None:
    """A measure is taken where its episode begins, not at the first use: what had been done by then was not counted."""
    env = HomeEnv(task="eai/12_2", in_memory=True, fix=True, shaping=2.0, moved=moved)
    for seed in (1, 2):
        env.reset(seed=seed)
        _, reward, is_met, _, info = env.step("touch(cat_1000)")
        assert (reward, is_met) == (3.0, True), info


@pytest.mark.parametrize("action", [-1, 1_000_000, np.int64(-1)])
def test_a_number_of_no_action_does_none(action: int) -> None:
    """A number from outside is checked for its range: -1 did the last action of the list."""
    env = HomeEnv(task="homes/apartment/watch_tv", in_memory=True, actions="list")
    env.reset()
    with pytest.raises(InputError, match=f"there is no action {action}; they are numbered from 0 to "):
        env.step(action)


@pytest.mark.parametrize("mode", ["human", "rgb_array", ""])
def test_a_way_to_render_that_there_is_not_is_refused(mode: str) -> None:
    """A choice from outside is checked against what there is."""
    with pytest.raises(InputError, match="render_mode is 'ansi', for texts, or None"):
        HomeEnv(task="homes/apartment/watch_tv", render_mode=mode)
    assert HomeEnv(task="homes/apartment/watch_tv", render_mode=None).render_mode is None
