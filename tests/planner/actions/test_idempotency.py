"""Idempotent actions in the database: one id is one action."""

import re

import pytest

from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.scene_store import COMMIT_TRIES, SceneStore
from scenecypher.errors import CommitUnknown, InputError
from scenecypher.planner.actions.simulator import Simulator
from tests.planner.actions.grasif_worlds import home as grasif_home
from tests.planner.actions.test_operators import put
from tests.planner.actions.worlds import FAR, HOME, edited
from tests.proxy import proxied


def test_an_action_is_done_once_for_its_id_and_an_id_is_one_action(store: SceneStore) -> None:
    scene = put(store, HOME)
    simulator = Simulator(store, scene)
    first, *_ = [simulator.act_once(text, action_id="one") for text in ("grab(cup_30)", "grab(cup_30)", "grab(cup)")]
    with pytest.raises(InputError, match=r"'one' was used for grab\(cup_30\)"):
        simulator.act_once("walk(cup_30)", action_id="one")
    with pytest.raises(InputError, match=r"'one' was used for grab\(cup_30\)"):
        simulator.act_once("grab(plate_31)", action_id="one")
    assert [event.action for event in store.history(scene)] == [first.action]


def test_an_action_is_repeated_by_its_id_with_all_that_it_needed(store: SceneStore) -> None:
    scene = put(store, edited(HOME, remove=FAR))
    *inserted, first = Simulator(store, scene, fix=True).act("grab(cup_30)", action_id="one")
    assert inserted
    *before, again = Simulator(store, scene, fix=True).act("grab(cup)", action_id="one")
    assert (before, again) == (inserted, first), "also what was inserted is told again, by ids of its own"
    assert [it.action_id for it in before] == [it.action_id for it in inserted]
    with pytest.raises(InputError, match=r"'one' was used for grab\(cup_30\)"):
        list(Simulator(store, scene).act("walk(cup_30)", action_id="one"))
    assert store.find(scene.name).version == first.version


def test_a_macro_is_repeated_by_its_id(store: SceneStore) -> None:
    scene = put(store, grasif_home(), vocabulary="grasif")
    first = [*Simulator(store, scene, fix=True).act("rearrange(cup-1, ontop, desk-1)", action_id="one")]
    assert [*Simulator(store, scene, fix=True).act("rearrange(cup-1, ontop, desk-1)", action_id="one")] == first
    assert store.load(scene.name).graph.targets("cup-1", "ON") == ("desk-1",)


@pytest.mark.parametrize("bad", ["", "x" * 201, "a\nb"])
def test_an_id_that_can_not_be_stored_is_refused(store: SceneStore, bad: str) -> None:
    with pytest.raises(InputError, match="can't be an action's id"):
        list(Simulator(store, put(store, HOME)).act("grab(cup_30)", action_id=bad))


def test_a_commit_without_answer_says_how_to_repeat_it(store: SceneStore, address: Address) -> None:
    scene = put(store, HOME)
    with proxied(address) as (proxy, through), Database(through) as database:
        proxy.lose("request", times=COMMIT_TRIES)
        with pytest.raises(CommitUnknown) as raised:
            list(Simulator(SceneStore(database), scene).act("grab(cup_30)"))
    found = re.search(r"--action-id (\w+)", str(raised.value))
    assert found is not None
    assert store.find(scene.name).version == 0
    for _ in range(2):
        (step,) = Simulator(store, scene).act("grab(cup_30)", action_id=found[1])
        assert step.version == 1
