"""`scenecypher plan` asks the person at the terminal what is meant: a numbered list, Enter for any, q to stop."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.scene_store import SceneStore
from tests.planner.methods.test_asking_back import FOUR, INTO_THE_BOX
from tests.scenecypher.cli.conftest import RunCommand, Serve
from tests.scenecypher.cli.test_rules import Terminal

SAID = "Put the cup into the box."


@pytest.fixture
def four(store: SceneStore, model: Serve) -> Iterator[str]:
    """Yield the name of a home with four cups; a scripted model states the goal."""
    name = f"test/four-{uuid4().hex[:8]}"
    store.put(ImportedScene(name, FOUR, "grasif"))
    model(lambda _: INTO_THE_BOX)
    yield name
    store.delete(name)


def test_the_person_at_the_terminal_chooses_by_number(
    four: str, command: RunCommand, store: SceneStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kind: the person stands by while one of four cups is taken by chance."""
    monkeypatch.setattr("sys.stdin", Terminal("nine\n3\n"))
    result = command("plan", four, SAID, "--method", "goal-then-plan")
    assert result.code == 0, result
    assert "Which cup is meant (1 of 4)?" in result.err
    assert "  3  cup-3: in kitchen, ontop table-1, dirty" in result.err
    assert "'nine' is none of these" in result.err
    assert "ask a person: Which cup is meant" in result.out
    assert store.load(four).graph.has("cup-3", "INSIDE", "box-1")


def test_q_stops_and_without_a_terminal_nobody_is_asked(
    four: str, command: RunCommand, store: SceneStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("q\n"))
    stopped = command("plan", four, SAID, "--method", "goal-then-plan")
    assert (stopped.code, "stopped where a person was asked" in stopped.out) == (1, True)
    assert store.find(four).version == 0
    monkeypatch.setattr("sys.stdin", Terminal("3\n"))
    never = command("plan", four, SAID, "--method", "goal-then-plan", "--ask-back", "never")
    assert (never.code, "Which cup" in never.err) == (0, False)
