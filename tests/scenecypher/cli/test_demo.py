"""The demo as a newcomer runs it, on a real server, with no key."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from scenecypher.cli import demo
from scenecypher.cli.demo import INSTRUCTION
from scenecypher.db.store.runs import latest_runs
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError
from tests.browser.served import served
from tests.planner.actions.test_operators import put
from tests.planner.actions.worlds import HOME
from tests.scenecypher.cli.conftest import RunCommand


@pytest.mark.parametrize("packaged", [True, False], ids=["virtualhome", "small home"])
def test_the_demo_needs_no_key_and_says_so(
    command: RunCommand, store: SceneStore, monkeypatch: pytest.MonkeyPatch, *, packaged: bool
) -> None:
    if not packaged:
        monkeypatch.setattr("scenecypher.importers.virtualhome.packaged_scene", _missing)
    ran = command("demo")
    assert ran.code == 0, ran.err
    assert "replayed, word for word, recorded on 2026-11-25 from a strong language model" in " ".join(ran.out.split())
    assert "refused: character_65 is not close to microwave_297" in ran.out
    assert "a model wrote this Cypher at an earlier time" in ran.out
    assert "scripted" not in ran.out
    assert "scenecypher ui demo" in ran.out, "it ends with the page of the home that it changed"
    run = next(iter(latest_runs(store.database, demo.SCENE)))
    assert (run.command, run.instruction) == ("plan", INSTRUCTION), "its plan is a run to look at"
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


def test_the_page_opens_on_the_home_that_is_named(store: SceneStore, user_env: dict[str, str], forks: Path) -> None:
    name = put(store, HOME).name
    with served(user_env, name, forks=forks) as page, urlopen(page.address) as answer:  # noqa: S310 - an address of this machine
        assert answer.headers["refresh"] == f"0; url=/home?{urlencode({'scene': name})}"
    with pytest.raises(AssertionError, match="no scene named 'nowhere'"), served(user_env, "nowhere", forks=forks):
        pass


def is_rule(line: str) -> bool:
    return line.endswith("──")


def _missing(_: str) -> None:
    raise InputError("VirtualHome's public data is not installed")
