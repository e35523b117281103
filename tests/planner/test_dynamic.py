"""LookPlanGraph with a truthful observer in changed worlds, compared with a plan made beforehand (section VI-B)."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from scenecypher.chat import OpenAIModel
from scenecypher.db.condition import conjuncts, explain
from scenecypher.db.gate import Gate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.condition_check import check_goal
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused
from scenecypher.importers import behavior
from scenecypher.importers.task import Task
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.perception.naming import known_node_reader
from scenecypher.planner.perception.vision import VisionObserver
from scenecypher.planner.sessions.budget import Budget
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from scenecypher.planner.symbolic.plan import PlanRequest, find_plan
from scenecypher.planner.worlds.belief import belief_name, find_or_create_belief
from scenecypher.planner.worlds.environment import Environment, ObservedWorld, SceneEnvironment
from scenecypher.planner.worlds.perturbation import perturb
from tests.careless_describer import CarelessDescriber, NodeCamera
from tests.oracle.lookplangraph import reply
from tests.oracle.play import Oracle
from tests.sampling import sample
from tests.scripted_model import MODEL_NAME, ScriptedModel

pytest.importorskip("unified_planning", reason="needs `pip install 'scenecypher[pddl]'`")


class ChangedWorld:
    """A world in which things were moved since its belief was created, and a task in it."""

    def __init__(self, store: SceneStore, task: Task, scene: ImportedScene, *, seed: int) -> None:
        self.store, self.task, self.before, name = store, task, scene, f"test/{uuid4().hex}"
        store.put(replace(scene, name=name))
        self.world = store.find(name)
        find_or_create_belief(store, self.world)
        self.found = perturb(scene.graph, vocabulary=scene.vocabulary, seed=seed, objects=1)
        store.commit(self.world, self.found.delta, actor="perturb", action="perturb", action_id=uuid4().hex)

    def by_plan(self) -> bool:
        """Return True if the plan for the former world succeeds in the present one."""
        made = find_plan(PlanRequest(self.task.goal, self.before.vocabulary), self.before.graph)
        assert made.plan is not None, made.why
        simulator = Simulator(self.store, self.world)
        try:
            for action in made.plan:
                list(simulator.act(str(action)))
        except ActionRefused:
            return False
        finally:
            met = check_goal(self.store, self.world, self.task.goal).holds
            self.store.reset(self.world, 1)
        return met

    def by_looking(self, eyes: Environment | None = None) -> bool:
        """Return True if LookPlanGraph succeeds, with an oracle program as its model; `eyes` may observe the world."""
        setting = SessionSetting(
            self.store,
            Gate(self.store.database),
            self.world,
            self.task.instruction,
            "lookplangraph",
            model=Oracle(reply),
            budget=Budget(self.task.budget * 3 + 80),
            world=eyes,
        )
        list(prepare_session(setting, recipe_named("lookplangraph")).run())
        return check_goal(self.store, self.world, self.task.goal).holds


@pytest.mark.parametrize("activity", sample(("bringing_newspaper_in", "dispose_of_a_pizza_box"), 1))
def test_who_looks_gets_there_where_the_plan_does_not(store: SceneStore, activity: str) -> None:
    (task,), (scene,) = behavior.tasks(activity), behavior.scenes(activity)
    words = "; ".join(explain(part, scene.graph, {}) for part in conjuncts(task.goal))
    world = ChangedWorld(store, replace(task, instruction=words), scene, seed=1)
    assert (world.by_plan(), world.by_looking()) == (False, True), world.found.moves


@pytest.mark.parametrize("activity", sample(("bringing_newspaper_in", "dispose_of_a_pizza_box"), 1))
def test_who_looks_with_a_careless_describer_gets_there_too(store: SceneStore, activity: str) -> None:
    (task,), (scene,) = behavior.tasks(activity), behavior.scenes(activity)
    words = "; ".join(explain(part, scene.graph, {}) for part in conjuncts(task.goal))
    world = ChangedWorld(store, replace(task, instruction=words), scene, seed=1)
    truth = SceneEnvironment(store, world.world, actor="lookplangraph")
    belief = store.find(belief_name(world.world.name))
    known = known_node_reader(lambda: store.load(belief.name).graph, vocabulary=belief.vocabulary)
    classes = [it.class_ for it in scene.graph.nodes.values() if it.kind == "Object"]
    describer = CarelessDescriber(lambda of: truth.observe(of, step=1), classes)
    with ScriptedModel(describer) as server, OpenAIModel(base_url=server.base_url, model=MODEL_NAME) as model:
        assert world.by_looking(ObservedWorld(truth, VisionObserver(model, NodeCamera(), known)))
    assert max(describer.looks.values()) > 2, "a look that shows nothing or a part is repeated"
    now, believed = store.load(world.world.name).graph, store.load(belief.name).graph
    objects = [it for it in believed.by_kind["Object"] if it in now]
    assert {*objects} == {*believed.by_kind["Object"]} == {*now.by_kind["Object"]}, "nothing is lost, nothing invented"
