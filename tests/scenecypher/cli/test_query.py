"""`scenecypher query`: the gate at the command line, for one query and for many."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from scenecypher.cli.query import run_one, run_queries
from scenecypher.db.gate import Gate
from scenecypher.db.gate.judge import OPERATORS
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ServiceError
from scenecypher.retriever.retrieval import SceneReader
from tests.proxy import proxied
from tests.scenecypher.cli.conftest import RunCommand

ROUND_TRIPS = 5
"""Find the scene, plan the query, see its version, run it, and see the version again."""
CUPS = "MATCH (c:Object {class: 'cup'}) RETURN c.name AS cup, c.states AS states ORDER BY cup"


@pytest.fixture(scope="module")
def scene(store: SceneStore) -> str:
    name = f"test/queried-{uuid4().hex[:10]}"
    graph = SceneGraph.of(
        [
            Node("kitchen", "Place", "kitchen", "kitchen"),
            Node("cup_1", "Object", "a [red]cup[/]", "cup", ("dirty",)),
            Node("cup_2", "Object", "plain cup", "cup"),
        ],
        [Relation("cup_1", "INSIDE", "kitchen")],
    )
    store.put(ImportedScene(name, graph))
    return name


def test_rows_are_a_table(scene: str, command: RunCommand) -> None:
    ran = command("query", scene, CUPS)
    assert ran.code == 0
    header, first, second, last = [line.rstrip() for line in ran.out.splitlines()]
    assert header.split() == ["cup", "states"]
    assert first == 'a [red]cup[/]  ["dirty"]', "text is printed as it is"
    assert second.startswith("plain cup")
    assert last.startswith("2 rows at version 0")


def test_a_query_takes_few_round_trips_and_looks_at_no_index(
    command: RunCommand, scene: str, address: Address, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with proxied(address) as (proxy, through):
        with Database(through) as database:
            database.reach()
        greeting, proxy.round_trips = proxy.round_trips, 0
        monkeypatch.setenv("NEO4J_URI", through.uri)
        with caplog.at_level(logging.DEBUG, logger="neo4j.io"):
            assert command("query", scene, CUPS).code == 0
    sent = [record.getMessage() for record in caplog.records if "C: RUN" in record.getMessage()]
    assert proxy.round_trips - greeting == len(sent), "no transaction that is begun and committed apart"
    assert len(sent) <= ROUND_TRIPS
    assert [text for text in sent if "SHOW" in text] == []


def test_rows_are_json(scene: str, command: RunCommand) -> None:
    ran = command("query", scene, CUPS, "--json")
    assert ran.code == 0
    assert ran.json == {
        "ok": True,
        "columns": ["cup", "states"],
        "rows": [["a [red]cup[/]", ["dirty"]], ["plain cup", []]],
        "truncated": None,
        "version": 0,
    }


def test_an_empty_answer_says_what_matches_nothing(scene: str, command: RunCommand, tmp_path: Path) -> None:
    """A fault of this kind is silence: no rows and no word for a class of another case."""
    wrong, hint = CUPS.replace("'cup'", "'Cup'"), "no (:Object) has class 'Cup' (did you mean 'cup'?)"
    ran = command("query", scene, wrong)
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == f"hint: {hint}"
    ran = command("query", scene, f"Cypher: {wrong}", "--json")
    assert ran.code == 0
    assert ran.json["hints"] == [hint]
    (tmp_path / "queries.jsonl").write_text(json.dumps({"cypher": f"```cypher\n{wrong}\n```"}))
    ran = command("query", scene, "--file", str(tmp_path / "queries.jsonl"))
    assert ran.code == 0
    assert ran.json["hints"] == [hint]
    assert command("query", scene, f"```\n{wrong}\n```", "--explain").code == 0


def test_a_refusal_exits_with_1_and_says_what_to_do(scene: str, command: RunCommand) -> None:
    said = command("query", scene, "MATCH (c:Cup) RETURN c.name")
    assert said.code == 1
    assert said.out == ""
    assert "refused: no label `Cup`" in said.err
    assert "'cup'" in said.err


def test_a_refusal_as_json_exits_with_1_too(scene: str, command: RunCommand) -> None:
    ran = command("query", scene, "MATCH (n) DETACH DELETE n", "--json")
    assert ran.code == 1
    document = ran.json
    assert (document["ok"], document["code"]) == (False, "write")
    assert ran.err == f"refused: {document['message']}\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("{scene}", "--json"), "give either CYPHER or --file"),
        (("{scene}", CUPS, "--query-timeout", "soon", "--json"), "--query-timeout"),
        (("{scene}@0@0", CUPS, "--json"), "earlier state"),
        (("{scene}", "--file", "/proc/self/mem", "--json"), "/proc/self/mem"),
    ],
)
def test_a_command_line_that_can_not_be_used_is_told_as_json_too(
    scene: str, command: RunCommand, arguments: tuple[str, ...], says: str
) -> None:
    ran = command("query", *(it.replace("{scene}", scene) for it in arguments))
    assert (ran.code, ran.json["ok"], ran.json["code"]) == (2, False, "input")
    assert says in ran.json["message"]


def test_an_error_of_the_operating_system_is_told_as_json_too(
    command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEO4J_URI", "")
    monkeypatch.setenv("SCENECYPHER_HOME", "/dev/null/x")
    ran = command("scenes", "list", "--json")
    assert (ran.code, ran.json["code"]) == (2, "input")
    assert "correct the path" in ran.json["message"]


def test_truncation_is_told(scene: str, command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCENECYPHER_QUERY_ROWS", "1")
    ran = command("query", scene, CUPS)
    assert (ran.code, "the first 1 rows; there are more" in ran.out) == (0, True)
    ran = command("query", scene, CUPS, "--json")
    assert ran.code == 0
    assert ran.json["truncated"]


def test_explain_shows_the_text_and_the_plan(scene: str, command: RunCommand) -> None:
    ran = command("query", scene, CUPS, "--explain")
    assert ran.code == 0
    out = ran.out
    assert "scene: $__scene" in out
    assert "NodeIndexSeek" in out
    ran = command("query", scene, CUPS, "--explain", "--json")
    assert ran.code == 0
    assert ran.json["plan"]["operator"] == "ProduceResults"


def test_explain_of_an_unread_query_says_why(scene: str, command: RunCommand) -> None:
    ran = command("query", scene, "MATCH (c:Cup) RETURN c.name", "--explain")
    assert ran.code == 1
    out = ran.out
    assert "refused (label): no label `Cup`" in out
    assert "at:   Cup" in out
    assert "hint: objects have `class`: did you mean `.class = 'cup'`?" in out
    ran = command("query", scene, "MATCH (c:Cup) RETURN c.name", "--explain", "--json")
    assert ran.code == 1
    told = ran.json
    assert (told["ok"], told["code"], told["piece"], told["text"], told["plan"]) == (False, "label", "Cup", None, None)


def test_explain_of_a_query_with_a_bad_plan_shows_text_and_plan(
    scene: str, command: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(OPERATORS, "NodeIndexSeek")
    ran = command("query", scene, CUPS, "--explain", "--json")
    assert ran.code == 1
    told = ran.json
    assert (told["ok"], told["code"], told["plan"]["operator"]) == (False, "plan", "ProduceResults")
    assert told["parameters"] == {"__p0": "cup"}
    ran = command("query", scene, CUPS, "--explain")
    assert ran.code == 1
    out = ran.out
    assert "refused (plan): the server would read more than this scene to answer the query (NodeIndexSeek)" in out
    assert "scene: $__scene" in out
    assert "NodeIndexSeek" in out


def test_many_queries_are_a_line_each(scene: str, command: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "queries.jsonl"
    queries = [CUPS, "MATCH (n) SET n.name = 'x'", "RETURN 1 + 1 AS two"]
    file.write_text("".join(json.dumps({"cypher": query, "note": "kept out"}) + "\n\n" for query in queries))
    ran = command("query", scene, "--file", str(file), "--json")
    assert ran.code == 0
    first, second, third = (json.loads(line) for line in ran.out.splitlines())
    assert [result["ok"] for result in (first, second, third)] == [True, False, True]
    assert second["code"] == "write"
    assert third["rows"] == [[2]]


def test_one_that_the_service_fails_does_not_stop_the_others(
    store: SceneStore, scene: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reader = SceneReader(Gate(store.database), Enumerator(store.replicas), store.find(scene))

    def status(name: str) -> None:
        text = "MATCH (s:Scene {key: $key}) SET s.status = $status"
        store.database.execute(text, {"key": reader.scene.key, "status": name}, timeout_s=30)

    def queries() -> Iterator[str]:
        for name in ("ready", "retired", "ready"):
            status(name)
            yield "MATCH (c:Object) RETURN count(c) AS n"

    run_queries(reader, queries())
    first, second, third = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (first["rows"], second["ok"], second["code"], third["rows"]) == ([[2]], False, "service", [[2]])
    assert "open it again by name" in second["message"]
    status("retired")
    for as_json in (False, True):
        with pytest.raises(ServiceError, match="open it again by name"):
            run_one(reader, "MATCH (c:Object) RETURN count(c) AS n", as_json=as_json)
    status("ready")


def test_queries_may_come_from_a_pipe(scene: str, command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO('{"cypher": "RETURN 1 AS one"}\n'))
    ran = command("query", scene, "--file", "-")
    assert ran.code == 0
    assert ran.json["rows"] == [[1]]


def test_bad_lines_are_all_told_before_anything_runs(scene: str, command: RunCommand, tmp_path: Path) -> None:
    file = tmp_path / "queries.jsonl"
    file.write_text('{"cypher": "RETURN 1"}\n{"cypher"\n[]\n{"cypher": 3}\n' + "[" * 100_000)
    said = command("query", scene, "--file", str(file))
    assert said.code == 2
    assert said.out == ""
    assert [f": line {number}: " in said.err for number in range(1, 6)] == [False, *[True] * 4]


def test_a_file_of_queries_may_begin_with_a_byte_order_mark(scene: str, command: RunCommand, tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"cypher": "RETURN 1 AS one"}\r\n', encoding="utf-8-sig")
    assert command("query", scene, "--file", str(tmp_path / "queries.jsonl")).json["rows"] == [[1]]
    said = command("query", scene, "--file", str(tmp_path / "none.jsonl"))
    assert said.err == f"error: {tmp_path}/none.jsonl: No such file or directory; give a readable file of JSON lines\n"


@pytest.mark.parametrize(
    "arguments", [[], ["RETURN 1", "--file", "x.jsonl"], ["--file", "no such file"], ["--file", "x", "--explain"]]
)
def test_bad_use_exits_with_2(command: RunCommand, scene: str, arguments: list[str]) -> None:
    assert command("query", scene, *arguments).code == 2
