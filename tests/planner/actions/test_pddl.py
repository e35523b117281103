"""PDDL from operators: every plan is carried out by the operators themselves, and by MiniGrid."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
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
    PropertyEquals,
    Related,
    evaluate,
)
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.importers.datasets import DATASETS
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.minigrid import Executor
from scenecypher.planner.actions.operator import Assign, ForEach, Forget, When
from scenecypher.planner.actions.pddl import pddl_text, planning_problem
from scenecypher.planner.actions.pddl_bindings import GroundingScope
from scenecypher.planner.actions.pddl_effects import ConditionalEffect
from scenecypher.planner.actions.pddl_effort import Effort
from scenecypher.planner.actions.pddl_facts import ConditionReader, PossibleFacts
from scenecypher.planner.actions.pddl_formula import (
    FALSE,
    TRUE,
    GroundAtom,
    Literal,
    Threshold,
    at_least,
    cubes,
    negated,
)
from scenecypher.planner.actions.pddl_grounding import GroundAction, Grounding
from scenecypher.planner.actions.pddl_lifted import solve_text
from scenecypher.planner.actions.pddl_part import sought_for
from scenecypher.planner.actions.pddl_planner import PlanRequest, find_plan, shorten_plan
from scenecypher.planner.actions.pddl_relevance import goal_relevant, nearest
from scenecypher.planner.actions.pddl_required_actions import PlanningState, apply_call
from scenecypher.planner.actions.pddl_variables import atoms_of
from scenecypher.planner.actions.text import ActionCall, parse_action
from scenecypher.planner.vocabularies.grasif.operators import OPERATORS
from scenecypher.planner.vocabularies.registry import operators_of
from scenecypher.planner.vocabularies.virtualhome.operators import OPERATORS as VIRTUALHOME
from tests.planner.actions.flat import FLAT_ROWS
from tests.planner.actions.grasif_worlds import ROBOT, home, random_home
from tests.planner.actions.worlds import HOME as WALKED
from tests.planner.actions.worlds import ROBOT as WALKER
from tests.planner.actions.worlds import ROWS, Row, edited
from tests.sampling import sample

pytest.importorskip("unified_planning", reason="needs `pip install 'scenecypher[pddl]'`")
pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")

HOME: Final = home()


def planned_actions(graph: SceneGraph, goal: Condition, vocabulary: str = "grasif") -> list[str] | None:
    found = find_plan(PlanRequest(goal, vocabulary, timeout_s=60), lambda _wide: graph).plan
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
    found = find_plan(PlanRequest(goal, "grasif", timeout_s=60), lambda _wide: HOME)
    assert found.plan is None
    assert found.why == "the goal is about phone-1, sofa-1, which this scene does not have: is it the task's own?"
    nobody = find_plan(PlanRequest(AtLeast(9, "x", HasClass("x", "cup")), "grasif"), lambda _wide: HOME)
    assert nobody.why == "nothing that can be done makes the goal hold in this scene"
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


def shrunk(graph: SceneGraph, most: int) -> SceneGraph:
    """Return a random home with fewer things: containment chains of many things are too numerous to enumerate."""
    kept = [x for x in graph.nodes if x == ROBOT or x.startswith("room") or int(x.rpartition("-")[2]) < most]
    while loose := [x for x in kept if graph.nodes[x].kind != "Place" and not {*graph.targets(x)} & {*kept}]:
        kept = [x for x in kept if x not in loose]
    inside = (r for r in graph.relations if r.source in kept and r.target in kept)
    return SceneGraph.of((graph.nodes[x] for x in kept), inside)


@pytest.mark.parametrize(
    ("most", "seed"),
    [*((2, seed) for seed in range(8)), *(pytest.param(3, seed, marks=pytest.mark.slow) for seed in range(0, 40, 5))],
)
def test_unpruned_ground_actions_agree_with_the_operators(most: int, seed: int) -> None:
    """Without pruning, a ground action is applicable exactly if the operator is feasible."""
    rng = random.Random(seed)  # noqa: S311
    graph = shrunk(random_home(rng), most)
    facts = PossibleFacts(graph, "grasif")
    scope = GroundingScope(ROBOT, frozenset(), frozenset(), pruned=False)
    actions = Grounding(facts, OPERATORS, scope).actions()
    for _ in range(6):
        now = PossibleFacts(graph, "grasif").now
        possible = {a.call for a in actions if all((each.atom in now) is each.holds for each in a.precondition)}
        for call in {a.call for a in actions}:
            try:
                after = apply_call(call, graph, operators=OPERATORS, agent=ROBOT)
            except Infeasible:
                assert call not in possible, call
            else:
                assert call in possible or after == graph, call
        if not possible:
            return
        graph = apply_call(rng.choice(sorted(possible, key=str)), graph, operators=OPERATORS, agent=ROBOT)


def test_a_goal_with_many_parts_is_reached_stepwise() -> None:
    lying = (Related(Id(x), "ON", Id("desk-1")) for x in ("apple-1", "box-1", "cup-1"))
    goal = And((HasState(Id("fridge-1"), "closed"), HasState(Id("lamp-1"), "on"), *lying))
    effort = Effort(wide=False, nearest=True, stepwise=True)
    found = find_plan(PlanRequest(goal, "grasif", timeout_s=60), lambda _wide: HOME, efforts=(effort,))
    assert found.plan is not None, found.why
    assert evaluate(goal, PlanningState(HOME, ROBOT, OPERATORS).after(*found.plan).graph, {})


def test_required_actions_follow_the_goal() -> None:
    held = HeldBy(Id("pen-1"), Id(ROBOT))
    asked = PlanRequest(held, "grasif", timeout_s=60, required_actions=(("turnon", "turnoff"),))
    found = find_plan(asked, lambda _wide: HOME)
    assert list(map(str, found.plan or ())) == ["pick_up(pen-1)", "go_to(kitchen)", "turn_on(lamp-1)"]
    unreachable = replace(asked, goal=Not(held), required_actions=(("pickup",), ("sing",)))
    refused = find_plan(unreachable, lambda _wide: HOME)
    assert refused.plan is None
    assert "pickup, then sing" in refused.why


def test_several_plans_at_once_do_not_disturb_one_another() -> None:
    goals = [HeldBy(Id(x), Id(ROBOT)) for x in ("apple-1", "pen-1", "cup-1", "box-1")]
    with ThreadPoolExecutor(4) as pool:
        side_by_side = list(pool.map(lambda goal: planned_actions(HOME, goal), goals))
    assert side_by_side == [planned_actions(HOME, goal) for goal in goals]
    assert None not in side_by_side


def test_domain_and_problem_parse_back() -> None:
    from unified_planning.io import PDDLReader

    facts = PossibleFacts(HOME, "grasif")
    goal = Related(Id("pen-1"), "INSIDE", Id("box-1"))
    scope = GroundingScope(ROBOT, frozenset({("INSIDE", "pen-1", "box-1")}), frozenset())
    actions = Grounding(facts, OPERATORS, scope).actions()
    formula = ConditionReader(facts).read(goal, {})
    made = planning_problem(goal_relevant(actions, formula), formula, facts.now)
    domain, problem = pddl_text(made)
    read = PDDLReader().parse_problem_string(domain, problem)
    assert len(read.actions) == len(made.problem.actions) == len(made.calls) > 5
    assert "n_pen" in problem


def test_another_engine_runs_in_a_subprocess() -> None:
    question = PlanRequest(HeldBy(Id("pen-1"), Id(ROBOT)), "grasif", engine="fast-downward", timeout_s=60)
    found = find_plan(question, lambda _wide: HOME).plan
    assert found is not None
    assert list(map(str, found)) == ["pick_up(pen-1)"]


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
    monkeypatch.setattr("scenecypher.planner.actions.pddl_engine.GRACE_S", 0.5)
    assert solve_text(domain, problem, timeout_s=10).status == "unknown"
    assert not [it for it in Path("/proc").glob("[0-9]*/cmdline") if str(tmp_path).encode() in _read(it)]


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""  # it ended meanwhile


def test_thresholds_and_negation_of_formulas() -> None:
    a, b, c = (Literal((name, "x")) for name in "abc")
    two = at_least(2, (a, b, c))
    assert {frozenset({a, b}), frozenset({a, c}), frozenset({b, c})} == set(cubes(two, 10))
    assert isinstance(negated(two), Threshold)
    assert set(cubes(negated(two), 10)) == {frozenset({negated(x), negated(y)}) for x, y in ((a, b), (a, c), (b, c))}
    assert at_least(2, (a, TRUE, FALSE)) == a
    assert at_least(3, (a, b)) == FALSE


def test_search_terms_of_a_goal() -> None:
    goal = And((HasClass("x", "cup"), Not(Related("x", "ON", Id("table-1")))))
    sought = sought_for(goal)
    assert (sought.ids, sought.classes, sought.fillers) == (frozenset({"table-1"}), frozenset({"cup"}), False)
    assert sought_for(Related("x", "HOLDS_LH", Id("cup-1"))).fillers


def test_conditions_of_effects_count_in_costs() -> None:
    """Walking elsewhere moves held objects along at no extra cost, but only if they are held."""
    near, far = Literal(("CLOSE", "me", "box")), Literal(("HOLDS", "me", "box"))
    along = ConditionalEffect(frozenset({far}), frozenset({near.atom}), frozenset())
    there = ConditionalEffect(frozenset(), frozenset({near.atom}), frozenset())
    taken = ConditionalEffect(frozenset(), frozenset({far.atom}), frozenset())
    grab = GroundAction(ActionCall("grab", ("box",)), frozenset({near}), (taken,))
    walks = [GroundAction(ActionCall("walk", (name,)), frozenset(), (along,)) for name in ("a", "b", "c")]
    straight = GroundAction(ActionCall("walk", ("x",)), frozenset(), (there,))
    assert straight in nearest([*walks, straight, grab], near, set(), calls=1)


def test_needless_actions_are_removed_from_a_plan() -> None:
    words = ("go_to(kitchen)", "go_to(office)", "go_to(kitchen)", "turn_on(lamp-1)", "go_to(office)", "pick_up(pen-1)")
    calls = list(map(parse_action, words))
    found = shorten_plan(calls, HasState(Id("lamp-1"), "on"), HOME, operators=OPERATORS, agent=ROBOT)
    assert list(map(str, found)) == ["go_to(kitchen)", "turn_on(lamp-1)"]


# --- the data sets


@pytest.mark.parametrize("task_id", sample([f"{level}/{seed}" for level in ("trv1", "trv2") for seed in range(100)], 2))
def test_plans_for_babyai_are_carried_out_by_minigrid(task_id: str) -> None:
    pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[babyai]'`")
    from scenecypher.importers.babyai import level_instance

    level, seed = task_id.split("/")
    start = level_instance(level, int(seed))
    assert start.task is not None
    graph = start.scene.graph
    found = find_plan(PlanRequest(start.task.goal, "babyai", timeout_s=60), lambda _wide: graph).plan
    assert found is not None
    executor = Executor(start.env, start.things)
    assert [executor.do(call).fulfilled for call in found][-1]


BEHAVIOR: Final = sample(range(177), 3)


@pytest.mark.parametrize("number", BEHAVIOR)
def test_plans_for_behavior_reach_their_goals(number: int) -> None:
    pytest.importorskip("bddl", reason="needs `pip install 'scenecypher[behavior]'`")
    rows = DATASETS["behavior-1k"]
    task = list(rows.tasks())[number]
    graph = next(rows.scenes(task.id.removeprefix("behavior-1k/"))).graph
    found = find_plan(PlanRequest(task.goal, "grasif", timeout_s=60), lambda _wide: graph)
    if task.id.endswith("stacking_wood"):
        assert found.plan is None
        return
    assert found.plan is not None, found.why
    for call in found.plan:
        graph = apply_call(call, graph, operators=OPERATORS, agent=min(graph.by_kind["Agent"]))
    assert evaluate(task.goal, graph, {})


# --- effects


def possible_ends(
    actions: Iterable[GroundAction], call: ActionCall, now: set[GroundAtom]
) -> set[frozenset[GroundAtom]]:
    """Return the results of a call's applicable variants; additions win over removals, as in the operators."""
    found = set()
    for action in actions:
        if action.call == call and all((each.atom in now) is each.holds for each in action.precondition):
            took_place = [
                effect for effect in action.effects if all((each.atom in now) is each.holds for each in effect.when)
            ]
            gained = {atom for effect in took_place for atom in effect.gained}
            lost = {atom for effect in took_place for atom in effect.lost}
            found.add(frozenset((now - lost) | gained))
    return found


FACED: Final = Row("turn_to(table_20)", edited(WALKED, add=[Relation("cup_30", "FACING", WALKER)]), (), ())
"""A row with a relation to the agent that must remain: only those from it are removed."""


@pytest.mark.parametrize("row", [*ROWS, *FLAT_ROWS, FACED], ids=lambda row: str(row.action))
def test_ground_effects_are_those_of_the_operator(row: Row) -> None:
    """Ground effects equal the operator's: directed or mutual relations, removed states, choices and conditions."""
    call = parse_action(row.action)
    facts = PossibleFacts(row.graph, "virtualhome")
    scope = GroundingScope(WALKER, frozenset(), frozenset(), pruned=False)
    now = {*facts.now}
    actions = Grounding(facts, {call.name: VIRTUALHOME[call.name]}, scope).actions()
    end = PlanningState(row.graph, WALKER, VIRTUALHOME).after(call).graph
    ends = possible_ends(actions, call, now) or {frozenset(now)}
    assert ends == {frozenset(PossibleFacts(end, "virtualhome").now)}


@pytest.mark.parametrize("vocabulary", ["grasif", "virtualhome", "virtualhome_ext", "babyai"])
def test_no_action_requires_a_property_that_one_changes(vocabulary: str) -> None:
    """Properties are evaluated before grounding, so Assign and Forget change no ground fact."""
    operators = operators_of(vocabulary).values()
    changed = {
        effect.key
        for operator in operators
        for outer in operator.effects
        for effect in (outer, *(outer.effects if isinstance(outer, ForEach | When) else ()))
        if isinstance(effect, Assign | Forget)
    }
    required = {
        part.key
        for operator in operators
        for condition in (
            *(each.condition for each in operator.requires),
            *(one for choice in operator.choose for one in choice.among),
        )
        for part in atoms_of(condition)
        if isinstance(part, PropertyEquals)
    }
    assert not changed & required
    assert changed == {"grasif": {"seen"}, "babyai": {"center"}}.get(vocabulary, set())
