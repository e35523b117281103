"""The demo as a newcomer runs it, on a real server, with no key."""

from __future__ import annotations

import re

import pytest

from scenecypher.cli import demo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError
from tests.scenecypher.cli.conftest import RunCommand


@pytest.mark.parametrize("packaged", [True, False], ids=["virtualhome", "small home"])
def test_the_demo_needs_no_key_and_says_so(
    command: RunCommand, store: SceneStore, monkeypatch: pytest.MonkeyPatch, *, packaged: bool
) -> None:
    if not packaged:
        monkeypatch.setattr("scenecypher.importers.virtualhome.packaged_scene", _missing)
    ran = command("demo")
    assert ran.code == 0, ran.err
    assert "scripted" in ran.out
    assert "refused: microwave_297 is closed" in ran.out
    assert ran.out.index("no label `Cup`") < ran.out.index("2 attempts"), "the refusal stands where it happened"
    assert "did you mean `.class = 'cup'`" in ran.out
    assert max(map(len, filter(is_rule, ran.out.splitlines()))) == 160
    assert "the scene is as it was" in ran.out
    assert ("a small home of our own" in ran.err) is not packaged
    before = store.as_of(demo.SCENE, 0)
    assert store.load(demo.SCENE).graph == before
    store.delete(demo.SCENE)


@pytest.mark.parametrize("packaged", [True, False], ids=["virtualhome", "small home"])
def test_the_cup_ends_in_one_room_and_the_suggested_question_has_an_answer(
    command: RunCommand, store: SceneStore, monkeypatch: pytest.MonkeyPatch, *, packaged: bool
) -> None:
    if not packaged:
        monkeypatch.setattr("scenecypher.importers.virtualhome.packaged_scene", _missing)
    ran = command("demo", "--keep")
    assert ran.code == 0, ran.err
    graph = store.load(demo.SCENE).graph
    room = next(x for x in graph.targets("microwave_297", "INSIDE") if graph.nodes[x].kind == "Place")
    assert set(graph.targets("cup_2004", "INSIDE")) == {"microwave_297", room}
    (question,) = re.findall(r'scenecypher ask demo "What is on the (.+)\?"', ran.out)
    surfaces = {node.id for node in graph.nodes.values() if node.class_ == question.replace(" ", "_")}
    assert [r for r in graph.relations if r.type == "ON" and r.target in surfaces]
    store.delete(demo.SCENE)


def is_rule(line: str) -> bool:
    return line.endswith("──")


def _missing(_: str) -> None:
    raise InputError("VirtualHome's public data is not installed")
