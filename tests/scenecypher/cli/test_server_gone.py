"""A server that goes away while a task is carried out: whole actions stay, and the error says what to do."""

from __future__ import annotations

import json

import pytest

from scenecypher.db.store.connection import Address
from scenecypher.db.store.scene_store import SceneStore
from tests.proxy import proxied
from tests.scenecypher.cli.conftest import RunCommand
from tests.scripted_model import ScriptedModel

WALK, GRAB = "walk(cup_2004)", "grab(cup_2004)"


def acting(action: str) -> str:
    return json.dumps({"reason": "so it is", "decision": "act", "question": None, "action": action})


def test_a_server_that_goes_away_in_the_middle_of_a_plan_leaves_whole_actions(
    command: RunCommand, home: str, store: SceneStore, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    with proxied(address) as (proxy, through):
        replies = iter([acting(WALK), acting(GRAB)])

        def script(_: object) -> str:
            reply = next(replies)
            if GRAB in reply:
                proxy.__exit__(None, None, None)
            return reply

        with ScriptedModel(script) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            monkeypatch.setenv("SCENECYPHER_MODEL", "scripted")
            monkeypatch.setenv("NEO4J_URI", through.uri)
            monkeypatch.setenv("SCENECYPHER_RETRY_S", "3")  # the rule is the same as for the default of 15 s
            ran = command("plan", home, "Take the cup.")
    assert ran.code == 2, ran
    assert "no answer from Neo4j" in ran.err
    assert [event.action for event in store.history(store.find(home))] == [WALK]
