"""LLM+P's domain of GraSIF, given back as a scene's own actions, plays the tasks of BEHAVIOR.

`pytest tests/planner/test_own_grasif.py -k planned -s` prints each plan's length and seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import as_file, files
from typing import Final

import pytest

from scenecypher.db.condition import Condition, HasState, Id, Related, evaluate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import Declared
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.vocabulary import with_own_actions
from scenecypher.importers import behavior, grasif
from scenecypher.importers.datasets import reference_plans
from scenecypher.importers.pddl.domain import read_domain
from scenecypher.importers.pddl.domain_data import SceneWords, declaration_of, read_mapping
from scenecypher.importers.pddl.syntax import PddlFile, read_pddl_file
from scenecypher.importers.task import Task
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.actions.text import ActionCall, parse_action
from scenecypher.planner.symbolic.plan import PlanRequest, export_pddl, find_plan
from scenecypher.planner.symbolic.states import PlanningState
from scenecypher.planner.vocabularies.own_actions import add_actions
from scenecypher.planner.vocabularies.vocabulary import operators_of
from tests.db.store.test_store import fresh
from tests.importers.pddl.instances import DATA
from tests.sampling import sample

pytest.importorskip("unified_planning")

CONTAINMENT: Final = ("INSIDE", "ON", "UNDER", "ATTACHED_TO")
TASKS: Final = {task.id: task for task in behavior.tasks()}
UNKNOWN: Final = ("sorting_books_on_shelf", "stacking_wood")
"""The tasks without a reference plan."""
OFFICE: Final = "sayplan-office"
CONTRADICTORY: Final = "stacking_wood"
"""Its goal can't hold: see the page of data sets."""
PLANNED: Final = sample([it for it in TASKS if it != CONTRADICTORY], 8)


def domain_file() -> PddlFile:
    with as_file(files("scenecypher.planner.vocabularies.grasif") / "domain.pddl") as path:
        return read_pddl_file(path, "domain")


SOURCE: Final = domain_file()
MAPPING: Final = read_mapping(DATA / "grasif.toml")


def at_the_start(task: Task, graph: SceneGraph | None = None) -> tuple[PlanningState, str]:
    """Return a task's scene with the actions of the domain, and the name of its vocabulary."""
    graph = next(behavior.scenes(task.id)).graph if graph is None else graph
    domain = read_domain(SOURCE, MAPPING, SceneWords.of(graph))
    vocabulary = with_own_actions("grasif", declaration_of(domain, SOURCE, Declared()).actions)
    return PlanningState(graph, min(graph.by_kind["Agent"]), operators_of(vocabulary)), vocabulary


def in_the_domain_s_arguments(step: str, graph: SceneGraph, agent: str) -> ActionCall:
    """Return a step of a reference plan, which names one node, with all arguments of the domain's action."""
    call = parse_action(step)
    (x,) = call.arguments
    (here,) = graph.targets(agent, "INSIDE")
    match call.name:
        case "go_to":
            return ActionCall("go_to", (here, x))
        case "pick_up":
            return ActionCall("pick_up", (x, *graph.targets(x, *CONTAINMENT), here))
        case "put_on" | "put_inside":
            return ActionCall(call.name, (*graph.targets(agent, "HOLDS"), x, here))
    return ActionCall(call.name, (x, here))


def states(task: Task) -> Iterator[PlanningState]:
    """Yield the states of a task's reference plan, each step accepted by the domain's actions."""
    state, _ = at_the_start(task)
    yield state
    for step in reference_plans()[f"behavior-1k/{task.id}"]:
        state = state.after(in_the_domain_s_arguments(step, state.graph, state.agent))
        yield state


def test_all_but_two_tasks_have_a_reference_plan() -> None:
    assert {it for it in TASKS if f"behavior-1k/{it}" not in reference_plans()} == set(UNKNOWN)


@pytest.mark.parametrize("task_id", sample([it for it in TASKS if it not in UNKNOWN], 40))
def test_each_step_of_a_reference_plan_is_accepted_and_the_goal_reached(task_id: str) -> None:
    *_, end = states(TASKS[task_id])
    assert evaluate(TASKS[task_id].goal, end.graph, {})


def test_a_step_too_early_is_refused_in_the_words_of_the_domain() -> None:
    state, _ = at_the_start(TASKS["bag_groceries"])
    with pytest.raises(Infeasible, match=r"\(agent-hold apple-1\) does not hold"):
        state.after(ActionCall("put_inside", ("apple-1", "sack-1", *state.graph.targets(state.agent, "INSIDE"))))


@pytest.mark.parametrize("task_id", PLANNED)
def test_a_task_is_planned(task_id: str) -> None:
    pytest.importorskip("up_fast_downward")
    state, vocabulary = at_the_start(TASKS[task_id])
    found = find_plan(PlanRequest(TASKS[task_id].goal, vocabulary, timeout_s=60), state.graph)
    sys.stdout.write(
        f"\n{task_id}: {len(state.graph.nodes)} nodes, {len(found.plan or ())} actions, {found.seconds:.1f} s"
    )
    assert found.plan, found.why
    assert evaluate(TASKS[task_id].goal, state.after(*found.plan).graph, {})


@pytest.mark.parametrize("task", sample([*grasif.tasks(None, OFFICE)], 2), ids=lambda it: it.id)
def test_in_an_office_of_200_nodes_what_the_goal_is_about_is_planned_on(task: Task) -> None:
    pytest.importorskip("up_fast_downward")
    state, vocabulary = at_the_start(task, grasif.scene(OFFICE).graph)
    found = find_plan(PlanRequest(task.goal, vocabulary, timeout_s=60), state.graph)
    assert found.plan, found.why
    assert found.nodes < len(state.graph.nodes)
    assert evaluate(task.goal, state.after(*found.plan).graph, {})


def test_that_there_is_no_plan_is_proven() -> None:
    pytest.importorskip("up_fast_downward")
    state, vocabulary = at_the_start(TASKS["bag_groceries"])
    under = "no action brings it about that apple-1 is under sack-1"
    whys: dict[Condition, str] = {
        Related(Id("apple-1"), "UNDER", Id("sack-1")): under,
        HasState(Id("apple-1"), "washed"): "no action makes apple-1 washed",
    }
    for goal, why in whys.items():
        found = find_plan(PlanRequest(goal, vocabulary, timeout_s=60), state.graph)
        assert (found.plan, found.why) == (None, why)


def test_the_actions_are_exported_as_pddl_that_grows_with_the_scene_only() -> None:
    state, vocabulary = at_the_start(TASKS["bag_groceries"])
    domain, problem = export_pddl(PlanRequest(TASKS["bag_groceries"].goal, vocabulary), state.graph)
    written = {it for it in state.operators if f"(:action {it}\n" in domain}
    assert written == {*state.operators} - {"turn_on", "turn_off"}, "the goal does not depend on these two"
    assert "(:derived (within ?x ?y)" in domain
    assert "(inside apple_1 sack_1)" not in domain, "one rule for all sacks"
    assert "(:goal (and (met) " in problem


def test_a_scene_of_the_database_gets_the_domain_and_is_planned_in(store: SceneStore) -> None:
    pytest.importorskip("up_fast_downward")
    task = TASKS["bringing_in_wood"]
    (scene,) = behavior.scenes(task.id)
    name = fresh("own grasif")
    store.put(replace(scene, name=name))
    with as_file(files("scenecypher.planner.vocabularies.grasif") / "domain.pddl") as path:
        info = add_actions(store, name, path, mapping=DATA / "grasif.toml").scene
    found = find_plan(PlanRequest(task.goal, info.vocabulary), store.now(info).graph)
    assert found.plan, found.why
    simulator = Simulator(store, info)
    for call in found.plan:
        list(simulator.act(str(call)))
    assert evaluate(task.goal, store.load(name).graph, {})
