"""LookPlanGraph with a truthful observer in changed worlds, compared with a plan made beforehand (section VI-B)."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from scenecypher.db.condition import conjuncts, explain
from scenecypher.db.gate import Gate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.condition_check import check_goal
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused
from scenecypher.importers import behavior
from scenecypher.importers.task import Task
from scenecypher.planner.actions.pddl_planner import PlanRequest, find_plan
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.belief import find_or_create_belief
from scenecypher.planner.budget import Budget
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.perturbation import perturb
from scenecypher.planner.staging import SessionSetting, prepare_session
from tests.oracle.lookplangraph import reply
from tests.oracle.play import Oracle
from tests.sampling import sample

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
        made = find_plan(PlanRequest(self.task.goal, self.before.vocabulary), lambda _wide: self.before.graph)
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

    def by_looking(self) -> bool:
        """Return True if LookPlanGraph succeeds, with an oracle program as its model."""
        setting = SessionSetting(
            self.store,
            Gate(self.store.database),
            self.world,
            self.task.instruction,
            "lookplangraph",
            model=Oracle(reply),
            budget=Budget(self.task.budget * 3 + 80),
        )
        list(prepare_session(setting, recipe_named("lookplangraph")).run())
        return check_goal(self.store, self.world, self.task.goal).holds


@pytest.mark.parametrize("activity", sample(("bringing_newspaper_in", "dispose_of_a_pizza_box"), 1))
def test_who_looks_gets_there_where_the_plan_does_not(store: SceneStore, activity: str) -> None:
    (task,), (scene,) = behavior.tasks(activity), behavior.scenes(activity)
    words = "; ".join(explain(part, scene.graph, {}) for part in conjuncts(task.goal))
    world = ChangedWorld(store, replace(task, instruction=words), scene, seed=1)
    assert (world.by_plan(), world.by_looking()) == (False, True), world.found.moves
