"""Plans keep the rules of the house: they go around them, mend what they may, and name the rule that forbids a goal."""

from __future__ import annotations

import random

import pytest

from scenecypher.db.condition import Condition, evaluate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.rules import NO_RULES, Rules
from scenecypher.planner.sessions.goal_words import GoalParser
from scenecypher.planner.symbolic.expressions import TRUE
from scenecypher.planner.symbolic.plan import PlanRequest, find_plan, planning_state
from scenecypher.planner.symbolic.reachable import unreachable_part
from scenecypher.planner.symbolic.write import write_problem
from scenecypher.planner.vocabularies.vocabulary import operators_of
from tests.db.test_rules import TEXTS, random_change
from tests.planner.rules.homes import HOME, NO_KNIFE, NO_METAL, moved, rule, rules, with_states
from tests.planner.symbolic.semantics import Semantics


def goal(text: str, graph: SceneGraph = HOME) -> Condition:
    return GoalParser(graph, "household").read(text)


def planned(
    text: str, known: Rules, graph: SceneGraph = HOME, *, timeout_s: float = 30.0
) -> tuple[list[str] | None, str]:
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    found = find_plan(PlanRequest(goal(text, graph), "household", timeout_s=timeout_s, rules=known), graph)
    if found.plan is not None:
        state = planning_state(graph, "household", known)
        assert state is not None
        assert evaluate(goal(text, graph), state.after(*found.plan).graph, {})
    return None if found.plan is None else list(map(str, found.plan)), found.why


def test_a_plan_switches_off_what_must_not_run_first() -> None:
    """Planned into a refusal: the plan put the fork into the microwave that was on."""
    on = with_states(HOME, microwave_1="open on")
    free, _ = planned("fork-1 INSIDE microwave-1", NO_RULES, on)
    kept, _ = planned("fork-1 INSIDE microwave-1", rules(NO_METAL), on)
    assert free is not None
    assert kept is not None
    assert "switch_off(microwave-1)" not in free
    assert kept.index("switch_off(microwave-1)") < kept.index("put_in(fork-1, microwave-1)")


def test_a_needed_condition_is_brought_about_first() -> None:
    on = with_states(HOME, stove_1="on")
    kept, _ = planned("microwave-1 is on", rules("switch_on(microwave) only when stove is off"), on)
    assert kept is not None
    assert kept.index("switch_off(stove-1)") < kept.index("switch_on(microwave-1)")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("knife-1 ON crib-1", NO_KNIFE),
        ("microwave-1 is on; fork-1 INSIDE microwave-1", NO_METAL),
        ("microwave-1 is open", "open(microwave) only when microwave is on and microwave is off"),
    ],
)
def test_an_impossible_goal_names_the_rule_that_forbids_it(text: str, words: str) -> None:
    """Unexplained: a goal that only a rule forbids was told as if nothing could bring it about."""
    plan, why = planned(text, rules("never plate ON stove", words), timeout_s=3)
    assert plan is None
    assert f"the rule rule-2 forbids it: {words}" in why


def test_what_is_broken_already_does_not_stop_planning_and_is_not_made_worse() -> None:
    broken = moved(with_states(HOME, microwave_1="open on"), "fork-1", "INSIDE", "microwave-1")
    assert planned("stove-1 is on", rules(NO_METAL), broken)[0] is not None
    kept, _ = planned("fork-2 INSIDE microwave-1", rules(NO_METAL), broken)
    assert kept is not None
    assert kept.index("switch_off(microwave-1)") < kept.index("put_in(fork-2, microwave-1)")


@pytest.mark.parametrize("number", range(25))
def test_a_rule_has_the_same_value_in_memory_and_in_a_problem(number: int) -> None:
    """Planned by another meaning: what is refused in memory and what a plan excludes are one."""
    seed, graph = random.Random(number), HOME  # noqa: S311 - a seeded walk
    for _ in range(4):
        graph = random_change(graph, seed)
        for text in TEXTS:
            condition = rule(text).condition
            written = write_problem({}, graph, "robot", condition)
            told = Semantics(written.domain, written.problem)
            holds = not written.is_hopeless and told.world(told.start).holds(told.goal, {})
            assert holds is evaluate(condition, graph, {}), text


def test_a_problem_excludes_states_that_break_a_rule() -> None:
    """Every action and the goal have what is kept as a condition, where the goal's actions can break it."""
    kept = rule(NO_METAL).condition
    wanted = goal("fork-1 INSIDE microwave-1")
    operators = operators_of("household")
    free = Semantics(*texts(write_problem(operators, HOME, "robot", wanted)))
    told = Semantics(*texts(write_problem(operators, HOME, "robot", wanted, never=[kept])))
    assert TRUE not in (free.goal, told.goal)
    both = moved(with_states(HOME, microwave_1="closed on"), "fork-1", "INSIDE", "microwave-1")
    for graph, holds in ((HOME, True), (both, False)):
        start = Semantics(*texts(write_problem(operators, graph, "robot", wanted, never=[kept]))).start
        world = told.world(start)
        possible = [name for name, (ends, needed, _) in told.actions.items() if _some(world, needed, ends)]
        assert bool(possible) is holds


def texts(problem: object) -> tuple[str, str]:
    return problem.domain, problem.problem  # type: ignore[attr-defined]


def _some(world: object, needed: object, ends: object) -> bool:
    return next(world.solutions(needed, {}), None) is not None  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("aim", "words"),
    [
        ("fork-1 INSIDE microwave-1", "never microwave is open"),
        ("knife-1 ON crib-1", NO_KNIFE),
        ("knife-1 ON crib-1", "never knife is held"),
        ("microwave-1 is on", "switch_on(microwave) only once stove is open"),
    ],
)
def test_a_goal_that_a_rule_makes_impossible_takes_no_engine(aim: str, words: str) -> None:
    """Searched in vain for 30 s: what no plan may bring about was nothing to what asks what can be brought about."""
    known = rules("never plate ON stove", words)
    plan, why = planned(aim, known)
    assert plan is None
    assert f"the rule rule-2 forbids it: {words}" in why
    state = planning_state(HOME, "household", known)
    assert state is not None
    assert unreachable_part(goal(aim), state) == goal(aim), "told before the engine is asked"


def test_what_a_rule_excludes_is_impossible_only_where_it_is_not_so_already() -> None:
    known, opened = rules("never microwave is open"), with_states(HOME, microwave_1="open off")
    plan, why = planned("fork-1 INSIDE microwave-1", known, opened)
    assert plan is not None, why
    assert planned("fork-1 INSIDE microwave-2", known, opened)[0] is None
