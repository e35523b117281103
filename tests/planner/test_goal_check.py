"""Goals of all data sets by the compiled query on a real server: false at the start, true at the source's end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from uuid import uuid4

import pytest

from scenecypher.db.condition import And, HasState, Id, Not, Related, evaluate, unmet_parts
from scenecypher.db.graph.delta import AddRelation, ChangeList, Delta
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store import publish
from scenecypher.db.store.catalog import SceneInfo, lookup_scene
from scenecypher.db.store.condition_check import check_goal
from scenecypher.db.store.history import Event
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import SceneReplaced
from scenecypher.importers.datasets import DATASETS
from scenecypher.importers.task import ActionGoal, ProgramStep, Task
from scenecypher.importers.virtualhome import packaged_pairs, tasks
from scenecypher.planner.actions.simulator import history_text
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.sessions.goal_check import check_task, executed_steps, missing_goals
from tests.sampling import FULL, sample

GRAPH_GOALS = [task for task in tasks() if task.has_graph_goal]
GOALS_WITH_FINAL_GRAPH = 306
A_FEW = 1


@pytest.fixture(scope="module")
def home(store: SceneStore) -> Iterator[str]:
    """The name of one scene for all recorded homes, since consecutive ones often differ little."""
    yield from scene_name(store)


@pytest.fixture
def name(store: SceneStore) -> Iterator[str]:
    """A scene name for a single test."""
    yield from scene_name(store)


def scene_name(store: SceneStore) -> Iterator[str]:
    """Yield a scene name; drop its scene at the end."""
    chosen = f"test/goal-{uuid4().hex[:10]}"
    yield chosen
    if info := lookup_scene(store.database, chosen):
        publish.delete_generation(store.database, info.key)


def put(store: SceneStore, name: str, graph: SceneGraph) -> SceneInfo:
    store.put(ImportedScene(name, graph, "virtualhome"))
    return store.find(name)


def test_the_graph_goals_are_counted() -> None:
    assert len(GRAPH_GOALS) == GOALS_WITH_FINAL_GRAPH


@pytest.mark.parametrize("task", sample(GRAPH_GOALS, 3), ids=lambda task: task.id)
def test_a_recorded_goal_is_false_before_and_true_after(store: SceneStore, home: str, task: Task) -> None:
    (pair,) = packaged_pairs(task.id)
    info = put(store, home, pair.initial.graph)
    before = check_goal(store, info, task.goal)
    assert not before.holds
    assert before.missing == unmet_parts(task.goal, pair.initial.graph, {})
    assert before.missing
    after = check_goal(store, put(store, home, pair.final.graph), task.goal)
    assert (after.holds, after.missing) == (True, ())
    assert evaluate(task.goal, pair.final.graph, {})


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_graph_goal_is_false_at_the_start(store: SceneStore, name: str, dataset: str) -> None:
    row = DATASETS[dataset]
    found: Counter[str] = Counter()
    for task in islice(row.tasks(), None if FULL else A_FEW):
        found[task.goal_kind] += 1
        graph = next(row.scenes(task.id.removeprefix(f"{dataset}/"))).graph
        assert evaluate(task.goal, graph, {}) is not task.has_graph_goal, task.id
        if task.has_graph_goal:
            info = put(store, name, graph)
            assert not check_goal(store, info, task.goal).holds, task.id
    assert found.total() >= A_FEW


HOME = SceneGraph.of(
    [
        Node("room", "Place", "room", "room"),
        Node("cup", "Object", "cup", "cup", ("dirty",)),
        Node("robot", "Agent", "robot", "robot"),
    ],
    [Relation("cup", "INSIDE", "room"), Relation("robot", "INSIDE", "room")],
)
WASH = Task(
    id="t/1",
    instruction="Wash the cup and hold it.",
    scene="",
    goal=And((HasState(Id("cup"), "clean"), Related(Id("robot"), "HOLDS", Id("cup")))),
    action_goals=(("grab",), ("wash", "rinse")),
    budget=5,
    source="",
)


def test_what_is_missing_is_said_and_actions_count_only_while_they_hold(store: SceneStore, name: str) -> None:
    info = put(store, name, HOME)
    found = check_task(store, info, WASH)
    assert not found.met
    assert found.goal.missing == ("the cup is not clean", "the robot is not holding the cup")
    assert found.missing_actions == WASH.action_goals
    cleaned = Delta.of([ChangeList("cup", "states", ("clean",), ("dirty",))])
    held = Delta.of([AddRelation(Relation("robot", "HOLDS", "cup"))])
    store.commit(info, cleaned, actor="t", action="rinse(cup)")
    store.commit(info, held, actor="t", action="grab(cup)")
    found = check_task(store, info, WASH)
    assert found.goal.holds
    assert not found.met
    assert found.missing_actions == (("wash", "rinse"),), "it was rinsed before it was grabbed"
    store.undo(info, version=1)
    store.commit(info, cleaned, actor="t", action="rinse(cup)")
    assert check_task(store, info, WASH).met
    store.undo(info)
    assert check_task(store, info, WASH).steps == (ProgramStep("grab", ("cup",)),)


def test_a_condition_is_judged_in_its_own_scene_and_generation(store: SceneStore, name: str) -> None:
    info = put(store, name, HOME)
    dirty = HasState(Id("cup"), "dirty")
    assert check_goal(store, info, dirty).holds
    assert check_goal(store, info, Not(dirty)).missing == ("the cup is dirty",)
    store.delete(name)
    with pytest.raises(SceneReplaced):
        check_goal(store, info, dirty)
    publish.delete_generation(store.database, info.key)


@pytest.mark.parametrize(
    ("steps", "goals", "left"),
    [
        (("grab",), (("grab",), ("wash",)), (("wash",),)),
        (("wash", "grab"), (("grab",), ("wash",)), (("wash",),)),
        ((), (("grab",),), (("grab",),)),
        (("a", "b"), (("a",), ("b", "c")), ()),
        ((), (), ()),
    ],
)
def test_the_first_goal_that_is_not_met_and_all_after_it_are_missing(
    steps: tuple[str, ...], goals: tuple[ActionGoal, ...], left: tuple[ActionGoal, ...]
) -> None:
    assert missing_goals(tuple(map(ProgramStep, steps)), goals) == left


def test_only_actions_are_steps(store: SceneStore, name: str) -> None:
    info = put(store, name, HOME)
    store.put(replace(ImportedScene(name, HOME, "virtualhome"), graph=SceneGraph.of([*HOME.nodes.values()])))
    log: list[Event] = store.history(info)
    assert [event.action for event in log] == ["import"]
    assert executed_steps(log) == ()
    store.commit(info, Delta.of([ChangeList("cup", "states", ("on",))]), actor="t", action="switch_on(cup)")
    on = ProgramStep("switchon", ("cup",))
    assert executed_steps(store.history(info)) == (on,)
    inserted = history_text(ActionCall("switch_off", ("cup",)), "it is on")
    store.commit(info, Delta.of([ChangeList("cup", "states", (), ("on",))]), actor="t", action=inserted)
    assert executed_steps(store.history(info)) == (on, ProgramStep("switchoff", ("cup",))), (
        "what a rule inserted was done too"
    )
