"""A plan is ordered by rooms where its parts do not depend on each other, and never spoilt."""

from __future__ import annotations

from itertools import permutations

import pytest

from scenecypher.db.condition import And, Condition, HasState, Id, Related, evaluate
from scenecypher.planner.actions.text import ActionCall, parse_action
from scenecypher.planner.prompts.layout import SceneLayout
from scenecypher.planner.symbolic.plan import planning_state
from scenecypher.planner.symbolic.states import PlanningState, order_by_rooms
from tests.planner.actions.grasif_worlds import home


def begun() -> PlanningState:
    found = planning_state(home(), "grasif")
    assert found is not None
    return found


def rooms(plan: tuple[ActionCall, ...], state: PlanningState) -> list[str | None]:
    """Return the rooms in the order in which the agent is in them."""
    found = [SceneLayout(state.graph, "grasif").here]
    for call in plan:
        state = state.after(call)
        found.append(SceneLayout(state.graph, "grasif").here)
    return [room for number, room in enumerate(found) if number == 0 or found[number - 1] != room]


LIT = And((HasState(Id("lamp-1"), "on"), Related(Id("cup-1"), "ON", Id("desk-1")), HasState(Id("fridge-1"), "open")))
PARTS = (
    ("go_to(kitchen)", "turn_on(lamp-1)"),
    ("go_to(kitchen)", "pick_up(cup-1)", "go_to(office)", "put_on(desk-1)"),
    ("go_to(kitchen)", "open(fridge-1)"),
)


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_what_can_be_done_in_a_room_is_done_at_once(order: tuple[int, ...]) -> None:
    state, plan = begun(), tuple(parse_action(text) for number in order for text in PARTS[number])
    found = order_by_rooms(plan, LIT, state, "grasif")
    assert evaluate(LIT, state.after(*found).graph, {})
    assert rooms(found, state) == ["office", "kitchen", "office"]


def test_a_plan_that_needs_its_order_is_left() -> None:
    goal: Condition = Related(Id("cup-1"), "ON", Id("desk-1"))
    fetching = tuple(map(parse_action, PARTS[1]))
    assert order_by_rooms(fetching, goal, begun(), "grasif") == fetching
    assert order_by_rooms((), goal, begun(), "grasif") == ()
