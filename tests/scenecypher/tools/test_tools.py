"""A home's tools for programs: definitions, calls, refusals in words, bounds, and the libraries that take them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

import scenecypher as sc
from scenecypher import tools
from scenecypher.db.graph.scene import Relation
from scenecypher.db.store.history import declare_time
from scenecypher.importers.homes import small_home
from scenecypher.tools import results
from scenecypher.tools.calling import arguments_schema, result_schema
from scenecypher.tools.table import TOOLS
from tests.planner.actions.worlds import HOME, ROBOT, edited
from tests.planner.test_session import says
from tests.scenecypher.cli.conftest import CommandResult, RunCommand, command
from tests.scripted_agent import CALLS, takes_the_cup
from tests.scripted_model import MODEL_NAME, Say, ScriptedModel

__all__ = ["CommandResult", "RunCommand", "command"]

CUPS = "MATCH (c:Object {class: 'cup'}) RETURN c.name"


@pytest.fixture(scope="module")
def db(address: Any) -> Iterator[sc.SceneDatabase]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("uri", "username", "password", "database"):
            patch.setenv(f"NEO4J_{name.upper()}", getattr(address, name))
        with sc.connect(tell=lambda _: None) as opened:
            yield opened


@pytest.fixture
def home(db: sc.SceneDatabase) -> Iterator[sc.Home]:
    home = db.import_scene(replace(small_home(), name=f"test/tools-{uuid4().hex[:10]}"))
    yield home
    db.delete(home.name)


def test_definitions_are_those_of_the_table_without_the_scene(home: sc.Home) -> None:
    defined = {it["function"]["name"]: it["function"] for it in tools.openai(home).definitions}
    assert [*defined] == [name for name in TOOLS if name != "list_scenes"]
    for name, found in defined.items():
        whole = arguments_schema(TOOLS[name])
        assert found["parameters"]["properties"] == {
            key: it for key, it in whole["properties"].items() if key != "scene"
        }
        assert found["parameters"]["additionalProperties"] is False
        assert "scene" not in found["parameters"]["required"]
        assert all("description" in it for it in found["parameters"]["properties"].values())
    reading = {it["function"]["name"] for it in tools.openai(home, read_only=True).definitions}
    assert {*defined} - reading == {"act", "undo", "observe", "plan"}


def test_an_empty_answer_says_what_matches_nothing(home: sc.Home) -> None:
    """A fault of this kind is silence: an agent that is told nothing concludes that there is no cup."""
    cypher = "MATCH (c:Object {class: 'Cup'}) RETURN c.name"
    (told,) = home.query(cypher).hints
    assert "did you mean 'cup'?" in told
    assert told in home.query(cypher)._repr_html_().replace("&#x27;", "'").replace("&gt;", ">")
    assert json.loads(tools.openai(home).call("query", json.dumps({"cypher": cypher})))["hints"] == [told]


def test_an_answer_with_rows_has_no_hints(home: sc.Home) -> None:
    assert home.query(CUPS).hints == ()
    assert home.query("MATCH (c:Object {class: 'cup'})-[:ON]->(p:Place) RETURN c").hints != ()


def test_schemas_say_what_results_have() -> None:
    for name, tool in TOOLS.items():
        assert result_schema(tool)["type"] == "object", name
        assert "title" not in json.dumps(result_schema(tool)), name


def test_a_model_that_calls_tools_is_told_refusals_and_gets_on(home: sc.Home) -> None:
    given = tools.openai(home)
    messages: list[dict[str, Any]] = []
    for name, arguments in CALLS:
        messages.append({"role": "tool", "content": given.call(name, json.dumps(arguments))})
    assert [it["content"].startswith("refused: ") for it in messages] == [False, True, False, False]
    assert [event.action for event in home.history()] == ["walk(cup_2004)", "grab(cup_2004)"]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("query", "{", "no JSON"),
        ("query", '{"cypher":' * 100_000, "no JSON"),
        ("query", "[1]", "no object"),
        ("query", '{"cypher": "RETURN 1", "limit": 3}', "limit: Extra inputs"),
        ("query", '{"cypher": 1}', "valid string"),
        ("query", '{"cypher": "RETURN 1", "scene": "x"}', "takes no scene"),
        ("quary", "{}", "did you mean 'query'"),
        ("list_scenes", "{}", "no tool"),
        ("history", '{"limit": 100000}', "200"),
        ("history", json.dumps({"after": 10**30}), "whole numbers go up to 9223372036854775807"),
        ("act", '{"action": "grab(cup_2004)", "expected_version": 9}', "version"),
        ("act", '{"action": "fly(cup_2004)"}', "fly"),
        ("undo", "{}", "undo"),
    ],
)
def test_what_can_not_be_done_is_said_in_words(home: sc.Home, name: str, arguments: str, words: str) -> None:
    answer = tools.openai(home).call(name, arguments)
    assert answer.startswith("refused: ")
    assert words in answer


def test_a_call_without_arguments_may_have_none(home: sc.Home) -> None:
    """Kind: some services send null there, which ended the agent with an error of Python."""
    given = tools.openai(home)
    assert given.call("actions", None) == given.call("actions", "{}") == given.call("actions", "")


def test_results_are_bounded_and_say_so(home: sc.Home, monkeypatch: pytest.MonkeyPatch) -> None:
    given = tools.openai(home)
    whole = given.call("tree", "{}")
    for name, value in {"TEXT_LENGTH": 300, "ROWS_LENGTH": 60, "CHANGES_SHOWN": 1, "SCENES_SHOWN": 1}.items():
        monkeypatch.setattr(results, name, value)
    short = given.call("tree", "{}")
    assert whole.startswith(short.partition("\n…")[0])
    left_off = int(short.rpartition("… and ")[2].split()[0])
    assert len(short.splitlines()) - 1 + left_off == len(whole.splitlines())
    rows = json.loads(given.call("query", json.dumps({"cypher": "MATCH (n:Object) RETURN n.name"})))
    count = len(home.query("MATCH (n:Object) RETURN n.name"))
    assert rows["truncated"] == f"the first {len(rows['rows'])} rows of {count}; ask for less"
    home.act("walk(cup_2004)")
    changed = json.loads(given.call("diff", '{"since": 0}'))
    assert (len(changed["changes"]), changed["more"]) == (1, len(home.at(0).diff(home)) - 1)


def test_the_changes_of_all_events_have_one_bound(home: sc.Home, monkeypatch: pytest.MonkeyPatch) -> None:
    given = tools.openai(home)
    for action in ("walk(cup_2004)", "grab(cup_2004)"):
        home.act(action)
    home.undo()
    home.redo()
    home.undo()

    def shown(**arguments: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(given.call("history", json.dumps(arguments)))["events"]
        return found

    whole = shown()
    lines = [line for it in whole[::-1] for line in it["changes"]]
    assert [it["undone"] for it in whole] == [False, True, True, False, False]
    assert [it["version"] for it in shown(after=1, limit=2)] == [2, 3]
    assert [it["undone"] for it in shown(after=1, limit=2)] == [True, True], "later undos count"
    for name, value in (("CHANGES_SHOWN", len(lines) - 1), ("TEXT_LENGTH", sum(map(len, lines)) - 1)):
        with monkeypatch.context() as patch:
            patch.setattr(results, name, value)
            short = shown()
        assert [line for it in short[::-1] for line in it["changes"]] == lines[:-1]
        assert [it["more"] for it in short] == [whole[0]["more"] + 1, *(it["more"] for it in whole[1:])]


def test_what_was_done_before_a_refusal_is_told(db: sc.SceneDatabase) -> None:
    """The book is fetched by rule; then a hand is needed for the fridge, and there is nowhere to put anything down."""
    held = edited(
        HOME,
        affordances={"table_20": ""},
        remove=[("plate_31", "ON", "table_20")],
        add=[Relation(ROBOT, "HOLDS_LH", "plate_31")],
    )
    home = db.import_scene(sc.ImportedScene(f"test/tools-{uuid4().hex[:10]}", held, "virtualhome"))
    answer = tools.openai(home).call("act", '{"action": "put_in(book_33, fridge_21)", "fix": true}')
    assert answer.startswith("refused: ")
    assert "before that was done: walk(book_33) (version 1), grab(book_33) (version 2)" in answer
    db.delete(home.name)


def test_history_tells_the_scenes_own_time_beside_the_servers(home: sc.Home, command: RunCommand) -> None:
    """A fault of this kind is one fact told otherwise at another door: the tool gave the scene's time alone."""
    home.act("walk(cup_2004)")
    declare_time(home._services.store.database, home.info, datetime(2026, 3, 9, 10, 46, tzinfo=UTC))
    home.act("grab(cup_2004)")
    events = json.loads(tools.openai(home).call("history", "{}"))["events"]
    printed = command("history", home.name, "--json").json
    for event, other in zip(events, printed, strict=True):
        times = [event["at"], event.get("scene_time")]
        assert [it and datetime.fromisoformat(it) for it in times] == [
            it and datetime.fromisoformat(it) for it in (other["at"], other["scene_time"])
        ]
    assert [event.get("scene_time") for event in events] == [None, "2026-03-09T10:46:00Z"]
    assert not events[1]["at"].startswith("2026-03-09"), "the server's own"


GRAB = says("act", "grab(cup_2004)")
ENDS = {
    "met": ([says("act", "walk(cup_2004)"), GRAB, says("done")], True, "done", ""),
    "not met": ([says("done")], False, "not_met", "character_65 is not holding cup_2004 in the right hand"),
    "met by another way": ([says("act", "walk(cup_2004)"), GRAB, says("give_up")], True, "given_up", ""),
}


@pytest.mark.parametrize(("script", "done", "outcome", "unmet"), ENDS.values(), ids=ENDS)
def test_the_end_of_a_plan_says_whether_its_goal_holds(
    home: sc.Home, monkeypatch: pytest.MonkeyPatch, *, script: list[str], done: bool, outcome: str, unmet: str
) -> None:
    """A fault of this kind takes a method's word for the goal, or drops what the scene says on the way to the tool."""
    wanted = {"goal": "character_65 HOLDS_RH cup_2004", "method": "stepwise"}
    with ScriptedModel(script) as server, monkeypatch.context() as patch:
        patch.setenv("OPENAI_BASE_URL", server.base_url)
        patch.setenv("SCENECYPHER_MODEL", MODEL_NAME)
        with sc.connect(tell=lambda _: None) as db:
            found = json.loads(tools.openai(db.home(home.name)).call("plan", json.dumps(wanted)))
    assert (found["done"], found["outcome"], found["goal"]) == (done, outcome, "not met" if unmet else "met")
    assert "; ".join(found["unmet"]) == unmet


def test_an_earlier_state_is_looked_at_by_the_front_door(db: sc.SceneDatabase, home: sc.Home) -> None:
    home.act("walk(cup_2004)")
    then = db.home_at(f"{home.name}@0")
    assert (then.name, then.info.version) == (home.name, 0)
    assert db.home_at(home.name).info.version == 1
    with pytest.raises(sc.SceneNotFound):
        db.home_at(f"{home.name}x@0")


def test_a_home_is_observed_by_what_was_seen(db: sc.SceneDatabase, home: sc.Home) -> None:
    given = tools.openai(home)
    seen = {"of": "nightstand_100", "things": [{"class": "mug", "support": {"relation": "ON"}}]}
    answer = json.loads(given.call("observe", json.dumps(seen)))
    assert answer["merged"]
    belief = db.home(answer["belief"])
    mug = next(node for node in belief.graph.nodes.values() if node.class_ == "mug")
    assert belief.graph.targets(mug.id, "ON") == ("nightstand_100",)
    assert home.info.version == 0
    again = json.loads(given.call("observe", json.dumps(seen)))
    assert again["version"] == answer["version"] or again["changes"]
    db.delete(belief.name)


def test_neo4j_graphrag_asks_a_home_and_calls_its_tools(home: sc.Home) -> None:
    pytest.importorskip("neo4j_graphrag", reason="neo4j-graphrag is not installed: pip install 'scenecypher[agents]'")
    from neo4j import GraphDatabase
    from neo4j_graphrag.llm import OpenAILLM
    from neo4j_graphrag.retrievers import ToolsRetriever

    from scenecypher.tools.graphrag import HomeRetriever, home_tools

    script = sc.Scripted([sc.ScriptedReply(("Which cups are there?",), f"```cypher\n{CUPS}\n```")])
    options = sc.AskOptions(verifier="off")
    found = HomeRetriever(home, model=script, options=options).search(query_text="Which cups are there?")
    assert {it.content for it in found.items} == {json.dumps({"c.name": name}) for (name,) in home.query(CUPS).rows}

    made = {it.get_name(): it for it in home_tools(home)}
    assert made["observe"].get_parameters()["required"] == ["of", "things"]
    address = home._services.store.database.address
    with ScriptedModel(takes_the_cup) as server, GraphDatabase.driver(address.uri) as driver:
        llm = OpenAILLM(MODEL_NAME, base_url=server.base_url, api_key="none", max_retries=0)
        result = ToolsRetriever(driver, llm, [*made.values()]).search(query_text="Take the cup.")
        asyncio.run(llm.aclose())
    assert [it.metadata["tool"] for it in result.items if it.metadata] == ["query"]
    assert "cup_2004" in str(result.items[0].content)
    refused = made["act"].execute(action="grab(cup_2004)", fix=None)
    assert refused.items[0].content.startswith("refused: ")


def test_the_script_of_the_pages_is_one_for_every_loop() -> None:
    offered = [{"function": {"name": "query", "parameters": {"properties": {}}}}]
    first = takes_the_cup({"messages": [], "tools": offered})
    assert isinstance(first, Say)
    assert "scene" not in first.message["tool_calls"][0]["function"]["arguments"]
