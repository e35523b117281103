"""The page on the real database: homes are found, seen, asked, changed, undone and copied, by the front door."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from typing import Any
from urllib.parse import quote_plus
from uuid import uuid4

import pytest
from anyio.to_thread import current_default_thread_limiter
from pydantic import SecretStr
from starlette.testclient import TestClient

import scenecypher as sc
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.connection import Address, Database
from scenecypher.planner.rules.house import add_rule
from scenecypher.planner.worlds.belief import find_or_create_belief
from scenecypher.retriever.retrieval import NOTICES
from scenecypher.ui import pages
from scenecypher.ui.guard import Guard
from scenecypher.ui.server import application
from scenecypher.ui.views import STATES
from tests.planner.actions.household_worlds import SILENT
from tests.waiting import locked, until

HOST = "127.0.0.1:8766"
OPENS_A_CUP = sc.ScriptedReply((), '{"reason": "", "decision": "act", "question": null, "action": "open(cup)"}')
GIVES_UP = sc.ScriptedReply(("refused",), '{"reason": "no", "decision": "give_up", "question": null, "action": null}')


QUESTION = "Where is the cup?"
CYPHER = "MATCH (c:Object {class: 'cup'})-[:ON]->(t) RETURN c.id AS cup, t.name AS place"
SCRIPT = sc.Scripted(
    [
        sc.ScriptedReply((QUESTION,), f"```cypher\n{CYPHER}\n```", system=("You write Cypher",)),
        sc.ScriptedReply((), "The cup is on the tray."),
    ]
)


@pytest.fixture(scope="module")
def db(address: Address) -> Iterator[sc.SceneDatabase]:
    settings = sc.Settings(
        neo4j_uri=address.uri, neo4j_username=address.username, neo4j_password=SecretStr(address.password)
    )
    with sc.connect(settings, model=SCRIPT, tell=lambda _: None) as opened:
        opened.store.prepare()
        yield opened


@pytest.fixture
def home(db: sc.SceneDatabase) -> Iterator[sc.Home]:
    home = db.import_scene(ImportedScene(f"test/ui-{uuid4().hex[:8]}", SILENT, "household"))
    yield home
    db.delete(home.name)


def client_of(db: sc.SceneDatabase, *, read_only: bool = False, library: str = "") -> TestClient:
    guard = Guard(application(db, read_only=read_only, library=library), host=HOST, token="t")
    client = TestClient(guard, base_url=f"http://{HOST}", headers={"origin": f"http://{HOST}"})
    client.get("/?token=t")
    return client


@pytest.fixture
def client(db: sc.SceneDatabase) -> TestClient:
    return client_of(db)


def shown(client: TestClient, path: str, **query: str | int) -> str:
    answer = client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return unescape(answer.text)


def test_homes_are_listed_and_found_by_name(client: TestClient, home: sc.Home) -> None:
    home.act("pick_up(key)")
    page = shown(client, "/", q=home.name.upper())
    assert "pick_up(key)" in page
    assert shown(client, "/", q="no-such-home").count("No scene has") == 1
    (link,) = re.findall(r'href="(/home[^"]*)"', page)
    assert "kitchen" in client.get(link).text


def test_the_list_of_homes_takes_as_many_statements_for_many_homes_as_for_few(
    client: TestClient, home: sc.Home, db: sc.SceneDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()

    def counting(verb: Any) -> Any:
        def counted(self: Database, what: Any, *more: Any, **options: Any) -> Any:
            asked.append(str(what))
            return verb(self, what, *more, **options)

        return counted

    for name in ("rows", "row", "transaction"):
        monkeypatch.setattr(Database, name, counting(getattr(Database, name)))
    home.act("pick_up(key)")
    copies = [db.store.copy(home.name, f"{home.name}-{number}").name for number in range(3)]
    for name in copies:
        db.home(name).act("go_to(kitchen)")
    counts = dict[str, int]()
    for wanted in (f"{home.name}-0", home.name):
        asked.clear()
        page = shown(client, "/", q=wanted)
        counts[wanted] = len(asked)
    assert page.count("go_to(kitchen)") == len(copies)
    assert page.count("pick_up(key)") == 1
    assert len({*counts.values()}) == 1
    for name in copies:
        db.delete(name)


def test_what_is_searched_or_marked_is_shown_also_where_rooms_are_closed(
    client: TestClient, home: sc.Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "OPEN_NODES", 1)
    closed = shown(client, "/home", scene=home.name)
    assert "apple" not in closed
    assert closed.count("data-load") == 2
    found = shown(client, "/home", scene=home.name, text="APPL")
    assert re.search(r'class="object found"[^>]*data-words="apple', found)
    assert found.count("data-load") == 1
    assert "No node has" in shown(client, "/home", scene=home.name, text="no such thing")


def test_a_version_marks_what_it_changed_and_names_who_did_it(client: TestClient, home: sc.Home) -> None:
    home.act("pick_up(key)")
    home.act("go_to(kitchen)")
    page = shown(client, "/home", scene=home.name, version=1)
    assert re.search(r'class="object changed"[^>]*data-words="key', page)
    assert "Version 1" in page
    assert "pick_up(key)</b> by" in page
    assert "changed" not in shown(client, "/home", scene=home.name, version=0).replace(".changed", "")
    assert shown(client, "/home", scene=home.name, version=2) != page


def test_a_node_tells_its_relations_and_its_history(client: TestClient, home: sc.Home) -> None:
    home.act("pick_up(key)")
    page = shown(client, "/node", scene=home.name, id="key")
    assert "HOLDS" in page
    assert "pick_up(key)" in page
    assert "Nothing since the import" in shown(client, "/node", scene=home.name, id="jar")


def test_a_room_comes_as_a_part(client: TestClient, home: sc.Home) -> None:
    part = shown(client, "/room", scene=home.name, id="kitchen")
    assert "fridge" in part
    assert "<html" not in part
    assert client.get("/room", params={"scene": home.name, "id": "cellar"}).status_code == 409


def test_an_action_is_carried_out_or_refused_in_the_words_of_the_command_line(
    client: TestClient, home: sc.Home
) -> None:
    done = client.post("/act", data={"scene": home.name, "text": "pick_up(key)"}, follow_redirects=False)
    assert (done.status_code, home.info.version) == (303, 1)
    assert "version=1" in done.headers["location"]
    with pytest.raises(sc.ActionRefused) as refusal:
        home.act("put_in(key, fridge)")
    refused = client.post("/act", data={"scene": home.name, "text": "put_in(key, fridge)"})
    assert (refused.status_code, home.info.version) == (409, 1)
    assert str(refusal.value) in unescape(refused.text)
    fixed = client.post("/act", data={"scene": home.name, "text": "put_in(key, fridge)", "fix": "1"})
    assert fixed.status_code == 200
    assert home.info.version > 2
    assert client.post("/act", data={"scene": home.name, "text": " "}).status_code == 400


def test_a_rule_that_asks_asks_the_person_at_the_page(client: TestClient, home: sc.Home, db: sc.SceneDatabase) -> None:
    add_rule(db.store, home.name, "ask before pick_up(key)", name="keys")
    form = {"scene": home.name, "text": "pick_up(key)"}
    asked = client.post("/act", data=form)
    assert (asked.status_code, "I approve" in asked.text, home.info.version) == (409, True, 1)
    assert client.post("/act", data={**form, "approved": "another"}).status_code == 409
    question = "pick_up(key): the rule keys has a person asked: ask before pick_up(key)"
    assert f'name="approved" value="{question}"' in asked.text
    done = client.post("/act", data={**form, "approved": question})
    assert (done.status_code, home.info.version) == (200, 2)
    assert home.history()[-1].approved_by == "person"


def test_undo_redo_and_a_copy(client: TestClient, home: sc.Home, db: sc.SceneDatabase) -> None:
    home.act("pick_up(key)")
    form = {"scene": home.name}
    client.post("/undo", data=form)
    client.post("/redo", data=form)
    assert [event.kind for event in home.history()] == ["act", "undo", "redo"]
    copy = f"{home.name}-copy"
    answer = client.post("/fork", data={**form, "version": "3", "name": copy})
    assert (answer.status_code, db.home(copy).graph) == (200, home.graph)
    assert client.post("/fork", data={**form, "version": "3", "name": copy}).status_code == 400
    db.delete(copy)


def test_a_copy_of_an_earlier_version_is_as_the_home_was(
    client: TestClient, home: sc.Home, db: sc.SceneDatabase
) -> None:
    before = home.graph
    home.act("pick_up(key)")
    copy = f"{home.name}-then"
    answer = client.post("/fork", data={"scene": home.name, "version": "0", "name": copy})
    assert (answer.status_code, db.home(copy).graph) == (200, before)
    db.delete(copy)


def test_an_answer_has_its_rows_its_cypher_and_its_nodes(client: TestClient, home: sc.Home) -> None:
    page = unescape(client.post("/ask", data={"scene": home.name, "text": QUESTION}).text)
    assert "The cup is on the tray." in page
    assert CYPHER in page
    assert NOTICES["scripted"] in page
    marked = re.findall(r'found" data-words="(\w+)', page)
    assert {"cup", "tray"} <= {*marked}


def test_a_run_is_a_film_with_its_refusal_shown_in_the_home(client: TestClient, home: sc.Home) -> None:
    home.plan(goal="cup INSIDE fridge", method="symbolic")
    home.ask(QUESTION)
    (asked, planned) = re.findall(r'href="/run\?number=(\d+)"', shown(client, "/runs", scene=home.name))
    film = shown(client, "/run", number=planned)
    assert re.search(r"put_in\(cup, ?fridge\)", film)
    version = home.info.version
    assert f"version={version}&" in film
    question = shown(client, "/run", number=f"{asked},{planned}")
    assert CYPHER in question
    assert question.count("<section") == 2
    assert client.get("/run/film", params={"number": planned}).text in client.get(f"/run?number={planned}").text
    assert "<button>Pause" not in film, "its process is over"
    for control in ("pause", "step", "go", "stop"):
        assert client.post(f"/run/{control}", data={"number": planned}).status_code == 400
    live = client.get("/run/steps", params={"number": planned})
    assert live.headers["content-type"].startswith("text/event-stream")
    assert live.text.count("event: end") == 1, "a run that has ended is told of once"
    assert client.get("/run", params={"number": 10**9}).status_code == 400
    assert client.get("/run", params={"number": "x"}).status_code == 400


def test_a_plan_is_started_paced_and_shown(client: TestClient, home: sc.Home) -> None:
    form = {"scene": home.name, "text": "cup INSIDE fridge", "goal": "1", "method": "symbolic", "paused": "1"}
    begun = client.post("/plan", data=form, follow_redirects=False)
    address = begun.headers["location"]
    run = {"number": address.rpartition("=")[2]}
    assert "paused" in client.get(address).text
    assert client.post("/plan", data=form).status_code == 400, "one plan at a time in a home"
    client.post("/act", data={"scene": home.name, "text": "go_to(kitchen)", "run": run["number"]})
    client.post("/run/go", data=run)
    told = [it for it in client.get("/run/steps", params=run).text.splitlines() if it]
    assert told[-3].endswith(":done")
    assert told[-2:] == ["event: end", "data: "]
    assert (home.history()[0].actor, home.graph.targets("cup", "INSIDE")) == ("person", ("fridge",))


@pytest.mark.parametrize("given", [{"text": " "}, {"text": "x", "method": "magic"}, {"text": "cup ON", "goal": "1"}])
def test_a_plan_that_can_not_begin_is_told(client: TestClient, home: sc.Home, given: dict[str, str]) -> None:
    answer = client.post("/plan", data={"scene": home.name, "method": "symbolic", **given})
    assert (answer.status_code, 'role="alert"' in answer.text) == (400, True)


def test_relations_are_drawn_where_the_library_is(db: sc.SceneDatabase, home: sc.Home, client: TestClient) -> None:
    with_library = client_of(db, library="'use strict';")
    page = with_library.get("/node", params={"scene": home.name, "id": "cup"}).text
    assert "data-drawing" in page
    assert with_library.get("/static/cytoscape.js").text == "'use strict';"
    assert "data-drawing" not in shown(client, "/node", scene=home.name, id="cup")


def test_cypher_runs_through_the_gate(client: TestClient, home: sc.Home) -> None:
    rows = client.post("/query", data={"scene": home.name, "cypher": CYPHER})
    assert "<td>tray</td>" in rows.text
    empty = client.post(
        "/query",
        data={
            "scene": home.name,
            "cypher": CYPHER.replace("'cup'", "'Cup'"),
        },
    )
    assert "no (:Object) has class 'Cup' (did you mean 'cup'?)" in unescape(empty.text), "no silence"
    refused = client.post("/query", data={"scene": home.name, "cypher": "MATCH (n) DETACH DELETE n"})
    assert refused.status_code == 409
    assert "MATCH (n) DETACH DELETE n</textarea>" in refused.text, "what was typed stays"
    assert home.info.version == 0


def test_the_line_of_versions_has_who_did_what_the_runs_and_what_was_refused(client: TestClient, home: sc.Home) -> None:
    home.act("pick_up(key)", actor="Ben")
    home.plan("Open the cup.", model=sc.Scripted([GIVES_UP, OPENS_A_CUP]), method="stepwise", fix=False)
    home.plan(goal="cup INSIDE fridge", method="symbolic")
    line = client.get("/timeline", params={"scene": home.name}).json()
    assert [it[0] for it in line["events"]] == [*range(1, home.info.version + 1)]
    assert line["events"][0][1:3] == ["Ben", "pick_up(key)"]
    (planned, gave_up) = line["runs"]
    assert (planned[2], planned[3:], gave_up[3:]) == ("done", [1, home.info.version], [1, 1])
    ((version, words, run, frame),) = line["refused"]
    assert (version, run) == (1, gave_up[0])
    assert words.startswith("open(cup)")
    then = shown(client, "/home", scene=home.name, version=version, run=run, frame=frame)
    assert "open(cup)</b> was refused" in then


def test_a_page_that_has_a_version_gets_only_what_differs_in_another(client: TestClient, home: sc.Home) -> None:
    home.act("go_to(kitchen)")
    home.act("open(fridge)")
    where: dict[str, str | int] = {"scene": home.name, "changed": 1}
    whole = client.get("/map", params={**where, "version": 0}).json()
    opened = client.get("/map", params={**where, "version": 2, "since": 1}).json()
    assert (opened["since"], opened["version"], opened["without"]) == (1, 2, [])
    assert [(it[0], it[5]) for it in opened["shapes"]] == [("fridge", ["open"])]
    assert opened["marks"] == {"fridge": "changed"}
    back = client.get("/map", params={**where, "version": 0, "since": 2}).json()
    assert "robot" in back["without"]
    assert {it[0]: it for it in back["shapes"]}.items() <= {it[0]: it for it in whole["shapes"]}.items()
    again = client.get("/map", params={**where, "version": 0, "since": 0}).json()
    assert "since" not in again
    assert len(again["shapes"]) == len(whole["shapes"])


def test_the_map_has_a_version_with_what_it_changed_and_what_the_robot_believes(
    client: TestClient, home: sc.Home, db: sc.SceneDatabase
) -> None:
    find_or_create_belief(db.store, home.info)
    home.act("pick_up(key)")
    where: dict[str, str | int] = {"scene": home.name, "version": 1, "changed": 1}
    drawing = client.get("/map", params=where).json()
    assert drawing["marks"] == {"key": "changed", "robot": "changed"}
    assert drawing["event"] == "pick_up(key) by person"
    assert "belief" not in drawing
    believed = client.get("/map", params={**where, "belief": 1}).json()["belief"]
    key = next(it for it in believed if it[0] == "key")
    assert key[2:5] == ["moved", "held or nowhere; not seen yet", ["hall"]] or key[2] == "confirmed"
    assert {it[2] for it in believed} <= {*STATES}


def test_a_home_has_a_picture_in_the_list(client: TestClient, home: sc.Home) -> None:
    assert f"/thumbnail?scene={quote_plus(home.name)}" in shown(client, "/", q=home.name)
    picture = client.get("/thumbnail", params={"scene": home.name})
    assert picture.headers["content-type"] == "image/svg+xml"
    assert picture.text.count("<rect") == len(home.graph.nodes)


def test_a_new_version_is_told_to_who_looks(db: sc.SceneDatabase, home: sc.Home) -> None:
    app, asked = application(db), list[int]()

    def is_ending() -> bool:
        asked.append(home.info.version)
        return asked.count(1) > 2

    app.state.is_ending = is_ending
    with TestClient(app) as client, ThreadPoolExecutor(1) as pool:
        told = pool.submit(client.get, "/live", params={"scene": home.name})
        until(lambda: len(asked) > 1, within_s=20)
        home.act("pick_up(key)")
        assert told.result(timeout=60).text == "data: 0\n\ndata: 1\n\n"


def test_a_file_is_imported_or_refused_in_words(client: TestClient, db: sc.SceneDatabase) -> None:
    name = f"{uuid4().hex[:8]}.json"
    scene = {"nodes": [{"id": "hall", "kind": "room"}], "links": []}
    answer = client.post("/import", params={"name": f"../../{name}"}, content=json.dumps(scene))
    assert (answer.status_code, answer.text) == (200, f"/home?scene=networkx%2F{name.removesuffix('.json')}")
    db.delete(f"networkx/{name.removesuffix('.json')}")
    for odd in ("a\0b.json", "\N{GRINNING FACE}" * 99 + ".json"):
        assert client.post("/import", params={"name": odd}, content="{").status_code == 400, (
            "no file of that name is made"
        )
    refused = client.post("/import", params={"name": "broken.json"}, content='{"nodes": [')
    assert (refused.status_code, refused.text.startswith("broken.json: line 1, column 12")) == (400, True)
    assert client_of(db, read_only=True).post("/import", content="{}").status_code == 404


def test_a_page_for_looking_changes_nothing(db: sc.SceneDatabase, home: sc.Home) -> None:
    client = client_of(db, read_only=True)
    assert 'action="/act"' not in shown(client, "/home", scene=home.name)
    for path in ("/act", "/undo", "/redo", "/fork", "/plan", "/run/pause", "/run/step", "/run/go", "/run/stop"):
        answer = client.post(path, data={"scene": home.name, "text": "pick_up(key)", "name": "x"})
        assert (answer.status_code, "--read-only" in answer.text) == (409, True)
    assert home.info.version == 0


@pytest.mark.parametrize(
    ("path", "status", "told"),
    [
        ("/home?scene=nowhere-at-all", 404, "nowhere-at-all"),
        ("/home", 400, "'scene' is empty"),
        ("/home?scene={home}&version=99", 400, "versions 0 to 0"),
        ("/home?scene={home}&version=-1", 400, "no whole number"),
        ("/home?scene={home}&version=1e9", 400, "no whole number"),
        ("/node?scene={home}&id=ghost", 409, "no node 'ghost'"),
        ("/nothing", 404, "no such page"),
    ],
)
def test_a_wrong_address_is_told(client: TestClient, home: sc.Home, path: str, status: int, told: str) -> None:
    answer = client.get(path.replace("{home}", home.name))
    assert (answer.status_code, told in unescape(answer.text)) == (status, True)


def test_a_form_that_is_too_long_or_no_text_is_refused(client: TestClient) -> None:
    assert client.post("/act", content=b"action=" + b"x" * 200_000).status_code == 413
    assert client.post("/act", content=b"action=%ff").status_code == 400


def test_a_killed_database_is_told_in_words(home: sc.Home) -> None:
    settings = sc.Settings(neo4j_uri="bolt://127.0.0.1:1", neo4j_password=SecretStr("x"), retry_s=0)
    database = Database(Address("bolt://127.0.0.1:1", "neo4j", "x"), retry_s=0.1)
    with sc.SceneDatabase(database, settings) as gone:
        answer = client_of(gone).get("/home", params={"scene": home.name})
    assert answer.status_code == 400
    assert "127.0.0.1:1" in answer.text


def test_what_an_answer_waits_for_is_told_while_it_is_under_way(
    db: sc.SceneDatabase, home: sc.Home, address: Address
) -> None:
    """A wait without words: an answer that takes long left its page with nothing to show until it was there.

    What is waited for is told though the waiting answer has the only thread.
    """

    def limit_threads() -> None:
        current_default_thread_limiter().total_tokens = 1

    with client_of(db) as client, ThreadPoolExecutor(1) as pool:
        assert client.portal is not None
        client.portal.call(limit_threads)
        assert client.get("/waiting").text == ""
        with locked(address, home.info.key):
            acted = pool.submit(client.post, "/act", data={"scene": home.name, "text": "pick_up(key)"})
            until(lambda: client.get("/waiting").text == "Working…", within_s=20)
            until(lambda: client.get("/waiting").text == "Waiting for the database…", within_s=20)
            assert not acted.done()
        assert acted.result(timeout=60).status_code == 200
        assert client.get("/waiting").text == ""
        client.cookies.clear()
        assert client.get("/waiting").status_code == 403
