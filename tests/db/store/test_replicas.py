"""Which scenes a process keeps in memory."""

from __future__ import annotations

import pytest

from scenecypher.db.graph.delta import AddNode, Delta
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node
from scenecypher.db.store import replicas
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from tests.db.store.test_replica import home, intent
from tests.db.store.test_store import fresh


def test_a_scene_that_grows_is_measured_as_it_is(store: SceneStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that is checked by what was so at loading: two scenes that grow beyond it are not both kept."""
    monkeypatch.setattr(replicas, "TOTAL_MEMBERS", 60)
    ours = SceneStore(store.database)
    infos = [_made(ours) for _ in range(2)]
    for number in range(30):
        for info in infos:
            node = Node(f"new-{number}", "Object", f"new-{number}", "new")
            ours.change(info, lambda _, node=node: Delta.of([AddNode(node)]), intent=intent())  # type: ignore[misc]
    kept = ours.replicas._kept
    assert sum(len(it) for it in kept.values()) == kept.currsize <= 60
    assert len(kept) == 1


def _made(store: SceneStore) -> SceneInfo:
    name = fresh("visited")
    store.put(ImportedScene(name, home()))
    return store.find(name)
