"""Which scenes a process keeps in memory: those in which it acts again before it has acted in many others."""

from __future__ import annotations

import pytest

from scenecypher.db.graph.delta import AddNode, Delta
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node
from scenecypher.db.store import replicas
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused
from tests.db.store.test_replica import FOOTPRINT, home, intent, refuse
from tests.db.store.test_store import fresh

COUNTED = 3
ROUNDS = 4
HOME = 6_000
"""Nodes and relations of one of VirtualHome's homes."""


def test_no_more_homes_are_counted_than_are_kept() -> None:
    assert replicas.SCENES_COUNTED * HOME <= replicas.TOTAL_MEMBERS


@pytest.mark.parametrize(("scenes", "kept"), [(COUNTED, COUNTED), (COUNTED + 1, 0)])
def test_scenes_visited_in_turn_are_kept_only_if_few(
    store: SceneStore, monkeypatch: pytest.MonkeyPatch, scenes: int, kept: int
) -> None:
    """A scene that is loaded for one action and evicted before the next costs twenty actions."""
    monkeypatch.setattr(replicas, "SCENES_COUNTED", COUNTED)
    monkeypatch.setattr(replicas, "COMMITS_BEFORE_LOADING", ROUNDS - 2)
    ours = SceneStore(store.database)
    infos = [_made(ours) for _ in range(scenes)]
    for info in infos * ROUNDS:
        with pytest.raises(ActionRefused):
            ours.act(info, FOOTPRINT, refuse, intent=intent())
    assert len(ours.replicas._kept) == kept


def test_a_scene_that_grows_is_measured_as_it_is(store: SceneStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit that is checked by what was so at loading: two scenes that grow beyond it are not both kept."""
    monkeypatch.setattr(replicas, "TOTAL_MEMBERS", 60)
    ours = SceneStore(store.database)
    infos = [_made(ours) for _ in range(2)]
    for number in range(30):
        for info in infos:
            node = Node(f"new-{number}", "Object", f"new-{number}", "new")
            ours.edit(info, lambda _, node=node: Delta.of([AddNode(node)]), intent=intent())  # type: ignore[misc]
    kept = ours.replicas._kept
    assert sum(len(it) for it in kept.values()) == kept.currsize <= 60
    assert len(kept) == 1


def _made(store: SceneStore) -> SceneInfo:
    name = fresh("visited")
    store.put(ImportedScene(name, home()))
    return store.find(name)
