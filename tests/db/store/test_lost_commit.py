"""A COMMIT whose answer is lost: the change is applied once, and its version is returned."""

from __future__ import annotations

from typing import get_args

import pytest

from scenecypher.db.graph.delta import ChangeList, Delta
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.scene_store import SceneStore
from tests.db.store.test_store import fresh, small
from tests.proxy import Lost, proxied

SOILED = Delta.of([ChangeList("cup", "states", ("dirty",), ())])
CLEANED = Delta.of([ChangeList("cup", "states", (), ("dirty",))])


@pytest.mark.parametrize("lost", get_args(Lost))
@pytest.mark.parametrize("times", [1, 2])
def test_a_commit_without_answer_is_repeated_and_applied_once(
    store: SceneStore, address: Address, lost: Lost, times: int
) -> None:
    name = fresh("lost")
    store.put(ImportedScene(name, small()))
    with proxied(address) as (proxy, through), Database(through) as database:
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
