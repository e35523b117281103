"""Idempotent actions in the database: one id is one action."""

import pytest

from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError
from scenecypher.planner.actions.simulator import Simulator
from tests.planner.actions.test_operators import put
from tests.planner.actions.worlds import HOME


def test_an_action_is_done_once_for_its_id_and_an_id_is_one_action(store: SceneStore) -> None:
    scene = put(store, HOME)
    simulator = Simulator(store, scene)
    first, *_ = [simulator.act_once(text, action_id="one") for text in ("grab(cup_30)", "grab(cup_30)", "grab(cup)")]
    with pytest.raises(InputError, match=r"'one' was used for grab\(cup_30\)"):
        simulator.act_once("walk(cup_30)", action_id="one")
    with pytest.raises(InputError, match=r"'one' was used for grab\(cup_30\)"):
        simulator.act_once("grab(plate_31)", action_id="one")
    assert [event.action for event in store.history(scene)] == [first.action]
