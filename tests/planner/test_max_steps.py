"""A plan that the limit of decisions can't hold is told before anything of it is done."""

from __future__ import annotations

import pytest

from scenecypher.db.condition import HeldBy, Id
from scenecypher.db.gate import Gate
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.sessions.budget import Budget
from scenecypher.planner.sessions.events import Finished
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from tests.planner.actions.grasif_worlds import ROBOT, home
from tests.planner.actions.test_operators import put

pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")

GOAL = HeldBy(Id("apple-1"), Id(ROBOT))
ACTIONS = 4


@pytest.mark.parametrize(("limit", "actions"), [(ACTIONS, 0), (ACTIONS + 1, ACTIONS)])
def test_a_plan_of_known_length_is_not_begun_if_the_limit_cannot_hold_it(
    store: SceneStore, limit: int, actions: int
) -> None:
    """Kind: a session stops in the middle of a plan whose length was known at its beginning."""
    scene = put(store, home(), vocabulary="grasif")
    setting = SessionSetting(store, Gate(store.database), scene, "", "symbolic", goal=GOAL, budget=Budget(limit))
    *_, end = prepare_session(setting, recipe_named("symbolic")).run()
    assert isinstance(end, Finished)
    assert end.actions == actions
    if not actions:
        assert "the plan takes 4 actions, and the limit of 4 steps leaves 3" in end.reason
        assert "raise the limit to 5 (`plan --max-steps`)" in end.reason
