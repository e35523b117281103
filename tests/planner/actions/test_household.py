"""The actions of any home: effects, refusals, what files state and leave out, and random walks that keep their form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Final

import pytest

from scenecypher.db.condition import And, HasState, Id, Related, evaluate
from scenecypher.db.graph.delta import apply, invert
from scenecypher.db.graph.invariants import broken_rules
from scenecypher.db.graph.scene import Point, Properties, Relation, SceneGraph
from scenecypher.planner.actions.execution import Infeasible, bind_choices, repair_call, simulate
from scenecypher.planner.actions.operator import AGENT
from scenecypher.planner.actions.text import ActionCall, parse_action
from scenecypher.planner.methods.baselines.whole_plans import find_mistakes, read_domain, read_problem
from scenecypher.planner.methods.lookplangraph.lookplangraph import LookPlanGraphReply, action_call
from scenecypher.planner.prompts.layout import SceneLayout
from scenecypher.planner.prompts.texts import domain_text, examples
from scenecypher.planner.symbolic.engine import LAMA, TimeLimit, solve
from scenecypher.planner.symbolic.plan import PlanRequest, find_plan
from scenecypher.planner.vocabularies.household import CONTAINMENT, OPERATORS
from scenecypher.planner.vocabularies.household import VOCABULARY as HOUSEHOLD
from tests.planner.actions.household_worlds import ROBOT, ROOMLESS, SILENT, TWICE, node
from tests.planner.actions.worlds import edited
from tests.sampling import FULL

IN_KITCHEN: Final = ("go_to(kitchen)",)
TRAY_HELD: Final = (*IN_KITCHEN, "pick_up(tray)")


def after(graph: SceneGraph, actions: Sequence[str]) -> SceneGraph:
    for action in actions:
        call = parse_action(action)
        operator = OPERATORS[call.name]
        names = (parameter.name for parameter in operator.parameters)
        arguments = {AGENT: ROBOT, **dict(zip(names, call.arguments, strict=True))}
        graph = apply(graph, simulate(operator, graph, arguments, action=action))
    return graph


def relations(graph: SceneGraph, node_id: str) -> set[tuple[str, str]]:
    return {(it.type, it.target) for it in graph.outgoing.get(node_id, ())}


@pytest.mark.parametrize(
    ("before", "action", "gained", "lost"),
    [
        ((), "go_to(kitchen)", {(ROBOT, "INSIDE", "kitchen")}, {(ROBOT, "INSIDE", "hall")}),
        ((), "pick_up(key)", {(ROBOT, "HOLDS", "key")}, {("key", "INSIDE", "hall")}),
        (IN_KITCHEN, "pick_up(tray)", {(ROBOT, "HOLDS", "tray")}, {("tray", "ON", "table")}),
        (TRAY_HELD, "go_to(hall)", {(ROBOT, "INSIDE", "hall")}, {(ROBOT, "INSIDE", "kitchen")}),
        (TRAY_HELD, "put_on(tray, fridge)", {("tray", "ON", "fridge")}, {(ROBOT, "HOLDS", "tray")}),
        (TRAY_HELD, "put_in(tray, kitchen)", {("tray", "INSIDE", "kitchen")}, {(ROBOT, "HOLDS", "tray")}),
        (("pick_up(key)",), "hand_over(key, visitor)", {("visitor", "HOLDS", "key")}, {(ROBOT, "HOLDS", "key")}),
        (IN_KITCHEN, "look_at(table)", set(), set()),
    ],
)
def test_relations_changed_by_an_action(
    before: Sequence[str], action: str, gained: set[tuple[str, str, str]], lost: set[tuple[str, str, str]]
) -> None:
    graph = after(SILENT, before)
    done = after(graph, [action])
    assert done.relations - graph.relations == {Relation(*it) for it in gained}
    assert graph.relations - done.relations == {Relation(*it) for it in lost}
    assert done.nodes == graph.nodes


@pytest.mark.parametrize(
    ("action", "node_id", "states"),
    [
        ("open(fridge)", "fridge", ("open",)),
        ("switch_on(lamp)", "lamp", ("on",)),
    ],
)
def test_states_decide_what_can_be_opened_and_switched(action: str, node_id: str, states: tuple[str, ...]) -> None:
    graph = after(SILENT, IN_KITCHEN)
    done = after(graph, [action])
    assert done.nodes[node_id].states == states
    assert done.relations == graph.relations
    with pytest.raises(Infeasible, match="already"):
        after(done, [action])


@pytest.mark.parametrize(
    ("before", "action", "says", "repair"),
    [
        ((), "go_to(table)", "table is no room", None),
        ((), "pick_up(cup)", "cup is not in the agent's room", "go_to(kitchen)"),
        (IN_KITCHEN, "pick_up(apple)", "apple is inside fridge, which is closed", "open(fridge)"),
        (IN_KITCHEN, "pick_up(table)", "table can not be picked up", None),
        (TRAY_HELD, "pick_up(cup)", "robot holds tray, and has one hand", "put_on(tray, fridge)"),
        (TRAY_HELD, "pick_up(tray)", "robot holds tray already", None),
        (TRAY_HELD, "put_on(tray, cup)", "cup can not be something to put things on", None),
        (TRAY_HELD, "put_on(tray, tray)", "tray is in the hand itself", None),
        (TRAY_HELD, "put_in(tray, fridge)", "fridge is closed", "open(fridge)"),
        (TRAY_HELD, "put_on(tray, shelf)", "shelf is not in the agent's room", "go_to(hall)"),
        (IN_KITCHEN, "put_on(tray, fridge)", "robot does not hold tray", "pick_up(tray)"),
        (IN_KITCHEN, "open(table)", "table can not be opened", None),
        (IN_KITCHEN, "switch_off(lamp)", "lamp is off already", None),
        (IN_KITCHEN, "switch_on(table)", "table can not be switched on", None),
        (IN_KITCHEN, "look_at(fridge)", "fridge is closed", "open(fridge)"),
        (("pick_up(key)", *IN_KITCHEN), "hand_over(key, visitor)", "visitor is not in the agent's room", "go_to(hall)"),
        (("pick_up(key)",), "hand_over(key, robot)", "robot is no other agent", None),
        (("pick_up(key)",), "hand_over(key, jar)", "jar is no other agent", None),
        ((), "hand_over(key, visitor)", "robot does not hold key", "pick_up(key)"),
        (("pick_up(key)", "hand_over(key, visitor)"), "pick_up(key)", "visitor holds key", None),
    ],
)
def test_what_is_refused_and_what_repairs_it(before: Sequence[str], action: str, says: str, repair: str | None) -> None:
    graph = after(SILENT, before)
    with pytest.raises(Infeasible) as refused:
        after(graph, [action])
    assert says in str(refused.value)
    first = refused.value.unmet[0]
    repair_of = first.requirement.repair
    call = repair_call(repair_of, bind_choices(repair_of.choose, graph, first.bindings)) if repair_of else None
    assert (None if call is None else str(call)) == repair


def test_the_hand_of_another_agent_holds_one_thing() -> None:
    graph = edited(SILENT, add=[Relation("visitor", "HOLDS", "jar")], remove=[("jar", "ON", "shelf")])
    with pytest.raises(Infeasible, match="visitor holds jar, and has one hand"):
        after(graph, ["pick_up(key)", "hand_over(key, visitor)"])


def test_affordances_that_are_given_count() -> None:
    """Furniture that says what it bears bears nothing else, and what says that it can be picked up can be."""
    said = [node("table", "Asset", affordances="containers"), node("lamp", "Asset", affordances="grabbable")]
    graph = SceneGraph.of(
        [*(it for it in SILENT.nodes.values() if it.id not in {"table", "lamp"}), *said], SILENT.relations
    )
    after(graph, (*IN_KITCHEN, "pick_up(lamp)", "put_in(lamp, table)"))
    with pytest.raises(Infeasible, match="table can not be something to put things on"):
        after(graph, (*IN_KITCHEN, "pick_up(lamp)", "put_on(lamp, table)"))
    after(graph, ("pick_up(key)", *IN_KITCHEN, "put_on(key, tray)"))


def test_rooms_that_are_stated_besides_are_kept_true() -> None:
    graph = after(TWICE, TRAY_HELD)
    assert relations(graph, "tray") == {("INSIDE", "kitchen")}
    graph = after(graph, ["go_to(hall)"])
    assert relations(graph, "tray") == {("INSIDE", "hall")}
    assert relations(graph, "cup") == {("ON", "tray"), ("INSIDE", "hall")}
    graph = after(graph, ["put_on(tray, shelf)"])
    assert relations(graph, "tray") == {("ON", "shelf"), ("INSIDE", "hall")}


def test_without_rooms_everything_is_within_reach() -> None:
    graph = after(ROOMLESS, ("open(fridge)", "pick_up(apple)", "put_on(apple, table)"))
    assert relations(graph, "apple") == {("ON", "table")}


def test_what_is_picked_up_is_near_nothing_and_at_no_known_point() -> None:
    key = SILENT.nodes["key"]
    placed = type(key)(key.id, key.kind, key.name, key.class_, properties=Properties({"center": Point(1.0, 2.0, 0.0)}))
    near = [Relation("key", "CLOSE", "shelf"), Relation("shelf", "CLOSE", "key")]
    graph = SceneGraph.of([*(it for it in SILENT.nodes.values() if it != key), placed], SILENT.relations | {*near})
    done = after(graph, ["pick_up(key)"])
    assert not done.relations & {*near}
    assert "center" not in done.nodes["key"].properties


def test_the_room_is_the_innermost_place() -> None:
    """A building holds rooms, as in 3D scene graphs; its id would come first."""
    graph = SceneGraph.of(
        [*SILENT.nodes.values(), node("building", "Place")],
        SILENT.relations | {Relation(room, "INSIDE", "building") for room in ("kitchen", "hall")},
    )
    with pytest.raises(Infeasible) as refused:
        after(graph, ["pick_up(cup)"])
    assert refused.value.unmet[0].bindings["room"] == "kitchen"
    after(graph, (*IN_KITCHEN, "pick_up(cup)", "put_on(cup, fridge)"))


@pytest.mark.parametrize("seed", range(400 if FULL else 40))
@pytest.mark.parametrize("world", [SILENT, TWICE], ids=["silent", "twice"])
def test_random_walks_keep_the_form_of_the_file(world: SceneGraph, seed: int) -> None:
    """A thing stays in one place, a stated room stays the true one, and each step can be undone."""
    rng, graph, done = Random(seed), world, 0  # noqa: S311 - reproducible
    for _ in range(200):
        operator = rng.choice([*OPERATORS.values()])
        call = ActionCall(operator.name, tuple(rng.choice([*graph.nodes]) for _ in operator.parameters))
        names = (parameter.name for parameter in operator.parameters)
        arguments = {AGENT: ROBOT, **dict(zip(names, call.arguments, strict=True))}
        try:
            delta = simulate(operator, graph, arguments, action=str(call))
        except Infeasible:
            continue
        later = apply(graph, delta)
        assert apply(later, invert(delta)) == graph
        graph, done = later, done + 1
        rooms = SceneLayout(graph, "household")
        for thing in graph.by_kind["Object"]:
            above = [*graph.targets(thing, *CONTAINMENT), *graph.sources(thing, "HOLDS")]
            places = [it for it in above if graph.nodes[it].kind == "Place"]
            assert len(above) == 1 if world is SILENT else 1 <= len(above) <= 1 + len(places) <= 2
            assert not places or rooms.room_of(thing) == places[0]
        if world is SILENT:
            assert not [*broken_rules(graph, "grasif")]
    assert done > 3


def test_the_symbolic_planner_plans_in_a_silent_home() -> None:
    goal = And((Related(Id("apple"), "ON", Id("shelf")), HasState(Id("fridge"), "closed"), HasState(Id("lamp"), "on")))
    found = find_plan(PlanRequest(goal, "household"), SILENT)
    assert found.plan is not None, found.why
    assert evaluate(goal, after(SILENT, [str(call) for call in found.plan]), {})
    assert len(found.plan) == 7


def test_the_example_of_llm_p_is_solved_by_its_plan() -> None:
    """The domain for models: its example's problem has the plan that stands beside it."""
    example, domain = examples("problems", "household"), read_domain(domain_text("household"))
    problem = read_problem(example["pddl"])
    view = json.dumps(example["graph"])
    assert HOUSEHOLD.problems is not None
    assert not find_mistakes(problem, domain, view=view, forms=HOUSEHOLD.problems)
    found = solve(domain.text, problem.text(domain), TimeLimit(30), search=LAMA)
    places = HOUSEHOLD.problems.argument_places
    steps = [f"{name}({', '.join(arguments[it] for it in places[name])})" for name, *arguments in found.steps]
    assert steps == example["plan"]


def test_the_looks_of_lookplangraph_are_actions() -> None:
    for example in examples("lookplangraph", "household"):
        reply = LookPlanGraphReply.model_validate(example["reply"])
        assert action_call(reply.action, "household").name in OPERATORS
