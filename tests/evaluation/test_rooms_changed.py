"""Changes of rooms are counted from the changes of the scene."""

from __future__ import annotations

from scenecypher.db.graph.delta import Delta, diff
from scenecypher.evaluation import household
from scenecypher.evaluation.playing import count_rooms_changed
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.prompts.layout import SceneLayout
from scenecypher.planner.symbolic.plan import planning_state


def test_entering_another_room_is_counted_and_staying_is_not() -> None:
    made = household.household.plan(methods="zero-shot", limit=1)
    given = made.assignments.of(next(made.episodes()))
    here = SceneLayout(given.initial, given.scene.vocabulary).here
    first, second = sorted({*given.initial.by_kind["Place"]} - {here})[:2]
    state = planning_state(given.initial, given.scene.vocabulary)
    assert state is not None
    deltas = list[Delta]()
    for room in (first, second, second, first):
        after = state.after(parse_action(f"walk({room})"))
        deltas.append(diff(state.graph, after.graph))
        state = after
    assert [count_rooms_changed(given, deltas[:count]) for count in range(5)] == [0, 1, 2, 2, 3]
