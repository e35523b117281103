"""Plans for goals: every one is carried out by the operators themselves, and by MiniGrid."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from scenecypher.db.condition import (
    And,
    AtLeast,
    Condition,
    Exactly,
    HasClass,
    HasState,
    HeldBy,
    Id,
    Not,
    Or,
    Related,
    evaluate,
)
from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.importers.datasets import DATASETS
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.symbolic.engine import TimeLimit, solve
from scenecypher.planner.symbolic.parts import sought_for
from scenecypher.planner.symbolic.plan import PlanRequest, find_plan, shorten_plan
from scenecypher.planner.symbolic.states import PlanningState, apply_call
from scenecypher.planner.vocabularies.grasif import OPERATORS
from scenecypher.planner.worlds.minigrid import Executor
from tests.planner.actions.grasif_worlds import ROBOT, home
from tests.sampling import sample

pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")

HOME: Final = home()


def planned_actions(graph: SceneGraph, goal: Condition, vocabulary: str = "grasif") -> list[str] | None:
    found = find_plan(PlanRequest(goal, vocabulary, timeout_s=60), graph).plan
    return None if found is None else list(map(str, found))


@pytest.mark.parametrize(
    ("goal", "actions"),
    [
        (HasState(Id("lamp-1"), "on"), 2),
        (Related(Id("pen-1"), "INSIDE", Id("box-1")), 5),
        (And((HeldBy(Id("apple-1"), Id(ROBOT)), HasState(Id("fridge-1"), "closed"))), 5),
        (Or((HeldBy(Id("pen-1"), Id(ROBOT)), HeldBy(Id("apple-1"), Id(ROBOT)))), 1),
        (Not(HasState(Id("fridge-1"), "closed")), 2),
        (Related(Id("apple-1"), "INSIDE", Id("box-1")), 0),
        (AtLeast(2, "x", And((Related("x", "ON", Id("desk-1")), Not(HasClass("x", "pen"))))), 9),
        (Exactly(0, "x", Related("x", "ON", Id("desk-1"))), 1),
    ],
)
def test_a_goal_is_reached_in_few_actions(goal: Condition, actions: int) -> None:
    found = planned_actions(HOME, goal)
    assert found is not None
    assert len(found) <= actions, found


def test_an_unachievable_goal_has_no_plan() -> None:
    assert planned_actions(HOME, Related(Id("table-1"), "INSIDE", Id("fridge-1"))) is None


def test_a_goal_about_missing_nodes_is_reported_at_once() -> None:
    goal = And((HasState(Id("lamp-1"), "on"), Related(Id("phone-1"), "ON", Id("sofa-1"))))
    found = find_plan(PlanRequest(goal, "grasif", timeout_s=60), HOME)
    assert found.plan is None
    assert found.why == "the goal is about phone-1, sofa-1, which this scene does not have: is it the task's own?"
    nobody = find_plan(PlanRequest(AtLeast(9, "x", HasClass("x", "cup")), "grasif"), HOME)
    assert nobody.why == "no action brings it about that there are at least 9 cups"
    denied = Not(Related(Id("phone-1"), "ON", Id("table-1")))
    assert planned_actions(HOME, And((denied, HasState(Id("lamp-1"), "on")))), "what is not there is not on the table"


def test_a_closed_box_inside_a_closed_fridge_is_opened_from_outside_in() -> None:
    found = planned_actions(HOME, HeldBy(Id("apple-1"), Id(ROBOT)))
    assert found == ["go_to(kitchen)", "open(fridge-1)", "open(box-1)", "pick_up(apple-1)"]


def test_contents_move_with_their_container() -> None:
    goal = And((Related(Id("box-1"), "ON", Id("desk-1")), Related(Id("apple-1"), "INSIDE", Id("box-1"))))
    found = planned_actions(HOME, goal)
    assert found is not None
    assert "pick_up(apple-1)" not in found


def test_required_actions_follow_the_goal() -> None:
    held = HeldBy(Id("pen-1"), Id(ROBOT))
    asked = PlanRequest(held, "grasif", timeout_s=60, required_actions=(("turnon", "turnoff"),))
    found = find_plan(asked, HOME)
    assert list(map(str, found.plan or ())) == ["pick_up(pen-1)", "go_to(kitchen)", "turn_on(lamp-1)"]
    unreachable = replace(asked, goal=Not(held), required_actions=(("pickup",), ("sing",)))
    refused = find_plan(unreachable, HOME)
    assert refused.plan is None
    assert "pickup, then sing" in refused.why


def test_several_plans_at_once_do_not_disturb_one_another() -> None:
    goals = [HeldBy(Id(x), Id(ROBOT)) for x in ("apple-1", "pen-1", "cup-1", "box-1")]
    with ThreadPoolExecutor(4) as pool:
        side_by_side = list(pool.map(lambda goal: planned_actions(HOME, goal), goals))
    assert side_by_side == [planned_actions(HOME, goal) for goal in goals]
    assert None not in side_by_side


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes as Linux lists them")
def test_an_engine_that_takes_too_long_leaves_nothing_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = range(6)
    parameters = " ".join(f"?x{n} - thing" for n in range(7))
    precondition = " ".join(f"(p ?x{n} ?x{n + 1})" for n in steps)
    things = [f"o{n}" for n in range(25)]
    pairs = " ".join(f"(p {x} {y})" for x in things for y in things if x != y)
    domain = f"""(define (domain hard) (:requirements :strips :typing) (:types thing)
        (:predicates (p ?a - thing ?b - thing) (q ?a - thing ?b - thing))
        (:action go :parameters ({parameters}) :precondition (and {precondition}) :effect (q ?x0 ?x6)))"""
    problem = f"""(define (problem hard) (:domain hard) (:objects {" ".join(things)} - thing)
        (:init {pairs}) (:goal (q o0 o0)))"""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("scenecypher.planner.symbolic.engine.GRACE_S", 0.5)
    assert solve(domain, problem, TimeLimit(10)).status == "unknown"
    assert not [it for it in Path("/proc").glob("[0-9]*/cmdline") if str(tmp_path).encode() in _read(it)]


def test_what_is_no_pddl_is_refused_with_the_engines_words() -> None:
    """Kind: a text that the engine does not take counts as one that it had no time for."""
    domain = "(define (domain d) (:predicates (a)) (:action b :parameters () :precondition (zz) :effect (a)))"
    found = solve(domain, "(define (problem p) (:domain d) (:init) (:goal (a)))", TimeLimit(20))
    assert found.status == "unknown"
    assert "zz" in found.why


def test_of_a_scene_too_large_to_be_written_it_is_told_how_much_was_planned_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kind: a part is taken for the whole."""
    monkeypatch.setattr("scenecypher.planner.symbolic.plan.MAX_WRITTEN_NODES", 20)
    crumbs = [Node(f"crumb-{n}", "Object", f"crumb-{n}", "crumb", (), ("pick_up",)) for n in range(60)]
    graph = SceneGraph.of((*HOME.nodes.values(), *crumbs), HOME.relations)
    both = And((Related(Id("agent"), "HOLDS", Id("cup-1")), Related(Id("agent"), "HOLDS", Id("pen-1"))))
    found = find_plan(PlanRequest(both, "grasif"), graph)
    assert found.plan is None
    assert found.nodes < len(graph.nodes)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""  # it ended meanwhile


def test_search_terms_of_a_goal() -> None:
    goal = And((HasClass("x", "cup"), Not(Related("x", "ON", Id("table-1")))))
    sought = sought_for(goal)
    assert (sought.ids, sought.classes, sought.fillers) == (frozenset({"table-1"}), frozenset({"cup"}), False)
    assert sought_for(Related("x", "HOLDS_LH", Id("cup-1"))).fillers


def test_needless_actions_are_removed_from_a_plan() -> None:
    words = ("go_to(kitchen)", "go_to(office)", "go_to(kitchen)", "turn_on(lamp-1)", "go_to(office)", "pick_up(pen-1)")
    calls = list(map(parse_action, words))
    found = shorten_plan(calls, HasState(Id("lamp-1"), "on"), PlanningState(HOME, ROBOT, OPERATORS))
    assert list(map(str, found)) == ["go_to(kitchen)", "turn_on(lamp-1)"]


# --- the data sets


@pytest.mark.parametrize("task_id", sample([f"{level}/{seed}" for level in ("trv1", "trv2") for seed in range(100)], 2))
def test_plans_for_babyai_are_carried_out_by_minigrid(task_id: str) -> None:
    pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")
    from scenecypher.importers.babyai import level_instance

    level, seed = task_id.split("/")
    start = level_instance(level, int(seed))
    assert start.task is not None
    graph = start.scene.graph
    found = find_plan(PlanRequest(start.task.goal, "babyai", timeout_s=60), graph).plan
    assert found is not None
    executor = Executor(start.env, start.things)
    assert [executor.do(call).fulfilled for call in found][-1]


BEHAVIOR: Final = sample(range(177), 3)


@pytest.mark.parametrize("number", BEHAVIOR)
def test_plans_for_behavior_reach_their_goals(number: int) -> None:
    rows = DATASETS["behavior-1k"]
    task = list(rows.tasks())[number]
    graph = next(rows.scenes(task.id.removeprefix("behavior-1k/"))).graph
    found = find_plan(PlanRequest(task.goal, "grasif", timeout_s=60), graph)
    if task.id.endswith("stacking_wood"):
        assert found.plan is None
        return
    assert found.plan is not None, found.why
    for call in found.plan:
        graph = apply_call(call, graph, operators=OPERATORS, agent=min(graph.by_kind["Agent"]))
    assert evaluate(task.goal, graph, {})
