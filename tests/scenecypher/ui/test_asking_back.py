"""The page asks the person who looks at a run, by buttons, and has a button for an undo that breaks a rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from uuid import uuid4

import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient

import scenecypher as sc
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.connection import Address
from scenecypher.planner.rules.house import add_rule
from tests.planner.methods.test_asking_back import FOUR, INTO_THE_BOX
from tests.scenecypher.ui.test_server import client, home, shown
from tests.waiting import until

__all__ = ["client", "home"]

MODEL = sc.Scripted([sc.ScriptedReply((), INTO_THE_BOX)])


@pytest.fixture(scope="module")
def db(address: Address) -> Iterator[sc.SceneDatabase]:
    settings = sc.Settings(
        neo4j_uri=address.uri, neo4j_username=address.username, neo4j_password=SecretStr(address.password)
    )
    with sc.connect(settings, model=MODEL, tell=lambda _: None) as opened:
        opened.store.prepare()
        yield opened


@pytest.fixture
def four(db: sc.SceneDatabase) -> Iterator[sc.Home]:
    four = db.import_scene(ImportedScene(f"test/four-{uuid4().hex[:8]}", FOUR, "grasif"))
    yield four
    db.delete(four.name)


def begun(client: TestClient, scene: str, **form: str) -> str:
    """Start a plan on the page; return its run's number once it asks."""
    posted = client.post("/plan", data={"scene": scene, **form}, follow_redirects=False)
    number = posted.headers["location"].rpartition("=")[2]
    until(lambda: "/run/answer" in client.get(f"/run/film?number={number}").text)
    return number


def ended(client: TestClient, number: str) -> str:
    until(lambda: "event: end" in client.get("/run/steps", params={"number": number}).text)
    return shown(client, "/run/film", number=number)


def test_a_plan_asks_by_buttons_and_goes_on_with_the_answer(client: TestClient, four: sc.Home) -> None:
    """Kind: a plan on the page waits for an answer that nobody can give there."""
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    number = begun(client, four.name, text="Put the cup into the box.", method="goal-then-plan")
    film = shown(client, "/run/film", number=number)
    assert '<button name="answer" value="cup-3: in kitchen, ontop table-1, dirty">' in film
    assert '<button name="answer" value="">any of them</button>' in film
    answer = {"number": number, "question": "Which cup is meant (1 of 4)?"}
    assert client.post("/run/answer", data={**answer, "answer": "the moon"}).status_code == 400
    assert client.post("/run/answer", data={**answer, "question": "?", "answer": ""}).status_code == 400
    client.post("/run/answer", data={**answer, "answer": "cup-3: in kitchen, ontop table-1, dirty"})
    assert "/run/answer" not in ended(client, number)
    assert four.graph.has("cup-3", "INSIDE", "box-1")
    assert client.post("/run/answer", data={**answer, "answer": ""}).status_code == 400


def test_a_plan_that_is_stopped_while_it_asks_is_stopped(client: TestClient, four: sc.Home) -> None:
    number = begun(client, four.name, text="Put the cup into the box.", method="goal-then-plan")
    client.post("/run/stop", data={"number": number})
    assert "stopped" in ended(client, number)
    assert four.info.version == 0


def test_a_rule_has_the_person_at_the_page_asked_in_a_plan(
    client: TestClient, db: sc.SceneDatabase, home: sc.Home
) -> None:
    """Kind: a rule that asks is as good as one that forbids wherever a plan acts."""
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    add_rule(db.store, home.name, "ask before pick_up(cup)", name="cups")
    number = begun(client, home.name, text="cup INSIDE fridge", goal="1", method="symbolic")
    (question,) = re.findall(r'name="question" value="([^"]*)"', shown(client, "/run/film", number=number))
    assert "the rule cups has a person asked" in question
    client.post("/run/answer", data={"number": number, "question": question, "answer": "do it"})
    ended(client, number)
    assert {it.approved_by for it in home.history() if it.action == "pick_up(cup)"} == {"person"}


def test_an_undo_that_breaks_a_rule_has_a_button_to_approve(
    client: TestClient, db: sc.SceneDatabase, home: sc.Home
) -> None:
    """Kind: at the terminal a person may approve an undo that breaks a rule, at the page it was refused for good."""
    home.act("pick_up(key)")
    place = next(iter(home.at(0).graph.targets("key", "ON", "INSIDE")))
    relation = "ON" if home.at(0).graph.has("key", "ON", place) else "INSIDE"
    add_rule(db.store, home.name, f"never key {relation} {place}", name="place")
    refused = client.post("/undo", data={"scene": home.name, "revert": "undo"})
    assert (refused.status_code, "I approve: undo it" in refused.text) == (409, True)
    done = client.post("/undo", data={"scene": home.name, "revert": "undo", "approved": "1"})
    assert (done.status_code, home.history()[-1].approved_by) == (200, "person")
