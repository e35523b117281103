"""A COMMIT whose answer is lost: the change is applied once, and its version is returned."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import get_args

import pytest

from scenecypher.db.graph.delta import ChangeList, Delta
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Intent, SceneVersion
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.replicas import TRIES
from scenecypher.db.store.scene_store import SceneStore
from tests.db.store.test_store import fresh, small
from tests.proxy import Lost, proxied
from tests.sampling import FULL

COMMITS_THROUGH_DOUBLING = 40 if FULL else 20
SHARE_DOUBLED = 0.1

STATEMENT = b"AS unchanged"
"""In the one statement that writes a change."""
SOILED = Delta.of([ChangeList("cup", "states", ("dirty",), ())])
CLEANED = Delta.of([ChangeList("cup", "states", (), ("dirty",))])


@pytest.mark.parametrize("lost", get_args(Lost))
@pytest.mark.parametrize("times", [1, 2])
def test_a_commit_without_answer_is_repeated_and_applied_once(
    store: SceneStore, address: Address, lost: Lost, times: int
) -> None:
    name = fresh("lost")
    store.put(ImportedScene(name, small()))
    with proxied(address, STATEMENT) as (proxy, through), Database(through) as database:
        shaky = SceneStore(database)
        info = shaky.find(name)
        assert shaky.commit(info, SOILED, actor="t", action="soil").version == 1
        proxy.lose(lost, times=times)
        done = shaky.commit(info, CLEANED, actor="t", action="clean")
        # A lost answer is noticed at the second try, which has nothing left to commit.
        assert proxy.lost == (times if lost == "request" else 1)
    assert done.version == 2
    assert [event.action for event in store.history(info)] == ["soil", "clean"]
    assert store.load(name).graph == small()


@pytest.mark.parametrize("lost", get_args(Lost))
@pytest.mark.parametrize("times", [1, 2])
def test_a_commit_under_the_lock_without_answer_is_applied_once(
    store: SceneStore, address: Address, lost: Lost, times: int
) -> None:
    """Others come first at each try without the lock, so that the change is decided and written under it."""
    name = fresh("locked")
    store.put(ImportedScene(name, small()))
    others = [SOILED, CLEANED] * TRIES

    def decide(at: SceneVersion) -> Delta:
        if len(others) > TRIES:
            store.commit(info, others.pop(0), actor="other", action="come first")
        return SOILED if not at.graph.nodes["cup"].states else CLEANED

    with proxied(address) as (proxy, through), Database(through) as database:
        shaky = SceneStore(database)
        info = shaky.find(name)
        shaky.now(info)
        proxy.lose(lost, times=times)
        done = shaky.change(info, decide, intent=Intent("t", "toggle", "one"))
        assert proxy.lost == (times if lost == "request" else 1)
    assert done.version == TRIES + 1
    assert [event.action for event in store.history(info)] == ["come first"] * TRIES + ["toggle"]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("way", ["known before", "decided"])
def test_an_answer_to_another_question_acknowledges_nothing(
    store: SceneStore, address: Address, seed: int, way: str
) -> None:
    """A word that is believed because it came next: a link that sends bytes twice shifts all answers by one."""
    name, doubled = fresh("doubled"), Random(seed)  # noqa: S311  no secret
    store.put(ImportedScene(name, small()))
    info = store.find(name)
    asked = [(f"act-{number}", SOILED if number % 2 == 0 else CLEANED) for number in range(COMMITS_THROUGH_DOUBLING)]
    said: dict[str, int] = {}
    while len(said) < len(asked):
        with proxied(address) as (proxy, through), Database(through, connect_timeout_s=2, retry_s=0) as database:
            write = _writer(SceneStore(database, commit_timeout_s=5), info, way)
            proxy.doubles = lambda: doubled.random() < SHARE_DOUBLED
            try:
                for action_id, delta in asked[len(said) :]:
                    said[action_id] = write(delta, action_id)
            except Exception:  # noqa: BLE001  whatever it is, it acknowledges nothing: ask again
                action_id, delta = asked[len(said)]
                said[action_id] = store.commit(info, delta, actor="t", action=action_id, action_id=action_id).version
    assert {it.action_id: it.version for it in store.history(info)} == said


def _writer(store: SceneStore, info: SceneInfo, way: str) -> Callable[[Delta, str], int]:
    """Return a function that commits a Delta under an action id, and returns the version that it is told."""

    def write(delta: Delta, action_id: str) -> int:
        intent = Intent("t", action_id, action_id)
        if way == "decided":
            return store.change(info, lambda _: delta, intent=intent).version
        return store.commit(info, delta, actor="t", action=action_id, action_id=action_id).version

    return write
