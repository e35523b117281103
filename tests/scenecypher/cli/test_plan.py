"""Planning and the demo on the command line, with a scripted model behind real HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from db.store import SceneStore
from tests.scenecypher.cli.conftest import Command
from tests.scripted_model import ScriptedModel

WALK, GRAB = "walk(cup_2004)", "grab(cup_2004)"


def decision(kind: str, text: str | None = None) -> str:
    field = {"act": "action", "ask": "question"}.get(kind)
    reply: dict[str, str | None] = {"reason": "so it is", "decision": kind, "question": None, "action": None}
    return json.dumps(reply | ({field: text} if field else {}))


def test_a_task_is_carried_out_and_logged(
    command: Command, home: str, store: SceneStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = [
        decision("ask", "Which cup is on something?"),
        "```cypher\nMATCH (c {class: 'cup'})-[:ON]->() RETURN c.id\n```",
        decision("act", GRAB),
        decision("act", WALK),
        decision("act", GRAB),
        decision("done"),
    ]
    log = tmp_path / "log.jsonl"
    with ScriptedModel(script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("SCENECYPHER_MODEL", "scripted")
        ran = command("plan", home, "Take the cup.", "--no-fix", "--log", str(log))
    assert ran.code == 0, ran
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [event["event"] for event in events] == [
        *("asked", "retrieved"),
        *("proposed", "refused"),
        *("proposed", "acted"),
        *("proposed", "acted"),
        "finished",
    ]
    assert "cup_2004" in events[1]["answer"]
    assert [event.action for event in store.history(store.find(home))] == [WALK, GRAB]
    assert "refused" in ran.out


def test_three_refusals_in_a_row_end_it(command: Command, home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedModel([decision("act", GRAB)] * 5) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("SCENECYPHER_MODEL", "scripted")
        ran = command("plan", home, "Take the cup.", "--no-fix", "--json")
    assert ran.code == 1
    end = json.loads(ran.out.splitlines()[-1])
    assert (end["event"], end["outcome"], end["steps"]) == ("finished", "infeasible", 3)


def test_the_demo_needs_no_key_and_says_so(command: Command, store: SceneStore) -> None:
    ran = command("demo")
    assert ran.code == 0, ran.err
    assert "scripted" in ran.out
    assert "refused: microwave_297 is closed" in ran.out
    assert "did you mean `.class = 'cup'`" in ran.err
    assert "the scene is as it was" in ran.out
    before = store.as_of("demo", 0)
    assert store.load("demo").graph == before
    store.delete("demo")
