"""A goal that names a state alone is planned with the things that give it, such as appliances."""

from __future__ import annotations

import pytest

from scenecypher.db.condition import And, HasState, Id, Not, evaluate
from scenecypher.importers.homes import our_home
from scenecypher.planner.actions.operator import Become, conditional_effects, giving_classes
from scenecypher.planner.symbolic.parts import sought_for
from scenecypher.planner.symbolic.plan import PlanRequest, find_plan, planning_state
from scenecypher.planner.vocabularies.virtualhome.operators import HEATERS, WASHERS
from scenecypher.planner.vocabularies.vocabulary import operators_of

OPERATORS = operators_of("virtualhome_ext")


def test_what_gives_a_state_is_read_from_the_effects() -> None:
    assert giving_classes(HasState("x", "washed"), OPERATORS) == {*WASHERS}
    assert giving_classes(Not(HasState("x", "heated")), OPERATORS) == {*HEATERS}
    assert giving_classes(HasState("x", "open"), OPERATORS) == frozenset()
    assert sought_for(HasState(Id("cup_1"), "washed"), OPERATORS).classes == {*WASHERS}
    assert sought_for(HasState(Id("cup_1"), "washed")).classes == frozenset()
    effects = conditional_effects(OPERATORS["switch_on"].effects)
    under = {it.state: (*bound, *conditions) for it, bound, conditions in effects if isinstance(it, Become)}
    assert under["on"] == (), "switching on gives it whatever else holds"
    assert len(under["washed"]) == 2, "in a washer, and to what is in it"


@pytest.mark.parametrize(("thing", "state"), [("plate", "washed"), ("breadslice", "heated")])
def test_a_thing_is_washed_or_heated_though_no_appliance_is_named(thing: str, state: str) -> None:
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    scene, _ = our_home("apartment")
    goal = And((HasState(Id(scene.graph.by_class[thing][0]), state),))
    found = find_plan(PlanRequest(goal, scene.vocabulary), scene.graph)
    state_now = planning_state(scene.graph, scene.vocabulary)
    assert found.plan is not None, found.why
    assert state_now is not None
    assert evaluate(goal, state_now.after(*found.plan).graph, {})
