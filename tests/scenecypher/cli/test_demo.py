"""The demo as a newcomer runs it, on a real server, with no key."""

from __future__ import annotations

import pytest

from scenecypher.cli import demo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError
from tests.scenecypher.cli.conftest import Command


@pytest.mark.parametrize("packaged", [True, False], ids=["virtualhome", "small home"])
def test_the_demo_needs_no_key_and_says_so(
    command: Command, store: SceneStore, monkeypatch: pytest.MonkeyPatch, *, packaged: bool
) -> None:
    if not packaged:
        monkeypatch.setattr("scenecypher.importers.virtualhome.packaged_scene", _missing)
    ran = command("demo")
    assert ran.code == 0, ran.err
    assert "scripted" in ran.out
    assert "refused: microwave_297 is closed" in ran.out
    assert "did you mean `.class = 'cup'`" in ran.err
    assert "the scene is as it was" in ran.out
    assert ("a small home of our own" in ran.err) is not packaged
    before = store.as_of(demo.SCENE, 0)
    assert store.load(demo.SCENE).graph == before
    store.delete(demo.SCENE)


def _missing(_: str) -> None:
    raise InputError("VirtualHome's public data is not installed")
