"""Goals about an earlier version: where a thing was before it was moved, and the states that it had."""

from __future__ import annotations

from typing import Final

import pytest

from scenecypher.db.condition import Condition, HasState, Id, Not, Related, conjuncts
from scenecypher.db.gate import Gate
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.sessions.events import Finished
from scenecypher.planner.sessions.goal_words import read_goal_in
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from tests.planner.actions.grasif_worlds import home
from tests.planner.actions.test_operators import put

BORROWED: Final = ("go_to(kitchen)", "pick_up(cup-1)", "go_to(office)", "put_on(desk-1)")


def after(store: SceneStore, *actions: str) -> SceneInfo:
    """Return a home in which a person has done something."""
    scene = put(store, home(), vocabulary="grasif")
    simulator = Simulator(store, scene, actor="person", fix=False)
    for action in actions:
        assert [*simulator.act(action)]
    return simulator.scene


def planned(store: SceneStore, scene: SceneInfo, goal: Condition) -> Finished:
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    setting = SessionSetting(store, Gate(store.database), store.find(scene.name), "", "symbolic", goal=goal)
    *_, end = prepare_session(setting, recipe_named("symbolic")).run()
    assert isinstance(end, Finished)
    return end


def test_a_thing_is_put_back_where_it_was_before_it_was_moved(store: SceneStore) -> None:
    """Kind: a goal can't say "put it back", although the history knows where that is."""
    scene = after(store, *BORROWED)
    end = planned(store, scene, read_goal_in(store, scene, "cup-1 is back"))
    assert (end.outcome, end.goal) == ("done", "met"), end.reason
    assert store.load(scene.name).graph.has("cup-1", "ON", "table-1")


@pytest.mark.parametrize(
    ("actions", "goal", "says"),
    [
        (BORROWED, "cup-1 is back", {"ON table-1"}),
        (BORROWED[:2], "cup-1 is back", {"ON table-1"}),
        ((*BORROWED, "pick_up(cup-1)"), "cup-1 is back", {"ON desk-1"}),
        (("go_to(kitchen)", "turn_on(lamp-1)"), "lamp-1 is as before", {"off", "not on"}),
    ],
)
def test_what_was_earlier_is_read_from_the_history(
    store: SceneStore, actions: tuple[str, ...], goal: str, says: set[str]
) -> None:
    scene = after(store, *actions)
    assert {_words(it) for it in conjuncts(read_goal_in(store, scene, goal))} == says


def test_what_is_undone_never_was(store: SceneStore) -> None:
    scene = after(store, *BORROWED, "pick_up(cup-1)", "go_to(kitchen)", "put_on(table-1)")
    for _ in range(3):
        store.undo(scene)
    assert {_words(it) for it in conjuncts(read_goal_in(store, scene, "cup-1 is back"))} == {"ON table-1"}


def _words(condition: Condition) -> str:
    match condition:
        case Not(part):
            return f"not {_words(part)}"
        case HasState(_, state):
            return state
        case Related(_, type_, Id(target)):
            return f"{type_} {target}"
    raise AssertionError(condition)
