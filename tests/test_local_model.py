"""One real tiny model through the whole path: no quality is expected of it, only that nothing else breaks.

It writes no good Cypher and no good plan. What it says is read, refused or carried out, counted and paid for; the
scene stays as it was but for what was committed as actions, and undoing these brings it back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from uuid import uuid4

import pytest

from scenecypher.cli.app import run_command_line as command
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.connection import Address
from scenecypher.db.store.scene_store import SceneStore
from tests.local_model import tiny_model, why_none
from tests.planner.actions.grasif_worlds import home
from tests.scenes import delete_scenes

pytestmark = pytest.mark.timeout(600)

HOME = home()


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    reason = why_none()
    if reason and os.environ.get("CI"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    with tiny_model() as base_url:
        yield base_url


@pytest.fixture
def scene(served: str, store: SceneStore, address: Address, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A small home of the test's own, and the settings of a user whose model is the tiny one."""
    monkeypatch.setenv("NEO4J_URI", address.uri)
    monkeypatch.setenv("NEO4J_USERNAME", address.username)
    monkeypatch.setenv("NEO4J_PASSWORD", address.password)
    monkeypatch.setenv("NEO4J_DATABASE", address.database)
    monkeypatch.setenv("OPENAI_BASE_URL", served)
    monkeypatch.setenv("SCENECYPHER_MODEL", "smollm2")
    name = f"tiny-{uuid4().hex}"
    store.put(ImportedScene(name, HOME, "grasif"))
    yield name
    delete_scenes(store, name)


def test_a_question_is_asked_and_the_scene_is_as_it_was(
    scene: str, store: SceneStore, capsys: pytest.CaptureFixture[str]
) -> None:
    before = store.load(scene)
    code = command(["ask", scene, "How many cups are there?", "--examples", "0", "--attempts", "2", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert code in {0, 1}, "answered, or refused: never broken"
    assert found["source"] == "live"
    assert found["usage"]["prompt_tokens"] > 100
    assert 1 <= len(found["attempts"]) <= 2
    assert store.load(scene) == before, "graph and version"


@pytest.mark.parametrize("method", ["sayplan-lite", "react-alfworld"])
def test_a_task_is_tried_and_what_was_done_can_be_undone(
    method: str, scene: str, store: SceneStore, capsys: pytest.CaptureFixture[str]
) -> None:
    before = store.load(scene)
    limits = ["--max-steps", "1", "--max-tokens", "1000"]
    code = command(["plan", scene, "put the cup on the desk", "-m", method, *limits, "--json"])
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert code in {0, 1}, "reached, or not: never broken"
    end = events[-1]
    assert (end["event"], end["usage"]["prompt_tokens"] > 100) == ("finished", True), "it was asked, and it is paid for"
    after = store.load(scene)
    assert after.info.version - before.info.version == end["actions"], "nothing was changed but by actions"
    assert store.as_of(scene, before.info.version) == before.graph
    for _ in range(end["actions"]):
        store.undo(store.find(scene))
    assert store.load(scene).graph == HOME
