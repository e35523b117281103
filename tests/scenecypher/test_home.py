"""The front door at work: one import, a home that is queried, asked, acted in, undone and planned in."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, LiteralString
from uuid import uuid4

import pytest

import scenecypher as sc
from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.importers import grasif, networkx_json, virtualhome
from scenecypher.importers.homes import small_home
from scenecypher.planner.sessions.budget import Budget
from tests.rooms import ROOT

CUP = "MATCH (c:Object {class: 'cup'}) WHERE NOT (c)-[:INSIDE]->(:Asset) RETURN c.name AS cup"
WHERE = "Which room is the cup in?"


def decision(step: int, kind: str, action: str | None, reason: str) -> sc.ScriptedReply:
    reply = {"reason": reason, "decision": kind, "question": None, "action": action}
    return sc.ScriptedReply((f"Step {step}: decide.",), json.dumps(reply))


SCRIPT = sc.Scripted(
    [
        sc.ScriptedReply((WHERE,), f"```cypher\n{CUP}\n```"),
    ]
)


@pytest.fixture
def db(user_env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[sc.SceneDatabase]:
    """The front door to the throw-away server, as a user opens it: settings come from the environment."""
    for name, value in user_env.items():
        if name.startswith("NEO4J_"):
            monkeypatch.setenv(name, value)
    with sc.connect(tell=lambda _: None) as opened:
        yield opened


@pytest.fixture
def home(db: sc.SceneDatabase) -> Iterator[sc.Home]:
    home = db.import_scene(small_home(), name=f"test/door-{uuid4().hex[:10]}")
    yield home
    db.delete(home.name)


def test_what_is_only_read_of_the_past_is_not_copied(db: sc.SceneDatabase, home: sc.Home) -> None:
    """A getter that writes: a copy in the database is for queries alone."""
    then, key = home.at(0), home.info.key
    copies: LiteralString = "MATCH (s:Scene) WHERE s.past = $past RETURN count(s) AS number"

    def number() -> int:
        given = {"past": f"{key}@0"}
        return int(db.store.database.rows(copies, given)[0]["number"])

    assert (then.schema, then.tree(), number()) == (home.schema, home.tree(), 0)
    then.query(CUP)
    assert number() == 1


def test_a_closed_database_is_freed(user_env: dict[str, str], home: sc.Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of the process that keeps what holds its keys: closed front doors stayed alive, each with its scenes."""
    for name, value in user_env.items():
        if name.startswith("NEO4J_"):
            monkeypatch.setenv(name, value)
    alive = []
    for _ in range(2):
        with sc.connect(tell=lambda _: None, model=SCRIPT) as opened:
            there = opened.home(home.name)
            there.ask(WHERE)
            there.query(CUP)
        alive.append(weakref.ref(opened))
        del opened, there
    gc.collect()
    assert [it() for it in alive] == [None] * 2


def cup_of(home: sc.Home) -> str:
    found = home.query(CUP)
    return str(found.rows[0][0])


def test_importing_the_package_is_cheap_and_loads_neither_driver_nor_model_client() -> None:
    code = (
        "import resource, sys, scenecypher; "
        "print(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]), *({'neo4j', 'openai', 'pydantic'} & {*sys.modules}))"
    )
    bare = "import resource; print(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))"
    seconds, *heavy = run(code).split()
    assert heavy == []
    assert float(seconds) - float(run(bare)) < 0.1


def test_a_home_shows_its_tree_as_the_command_line_does(home: sc.Home) -> None:
    cup = home.graph.nodes[cup_of(home)]
    lines = home.tree().splitlines()
    assert [line for line in lines if cup.name in line]
    room = next(node for node in home.graph.nodes.values() if node.kind == "Place")
    assert home.tree(room.id).splitlines()[0].startswith(room.name)
    assert len(home.tree(everything=True).splitlines()) == len(home.graph.nodes)
    with pytest.raises(sc.UnknownReference, match="no 'cellar'"):
        home.tree("cellar")


def test_a_query_has_columns_rows_and_a_version(home: sc.Home) -> None:
    found = home.query(CUP)
    assert found.columns == ("cup",)
    assert found.rows == tuple(found)
    assert len(found) == 1
    assert (found.truncated, found.version) == (None, 0)
    with pytest.raises(sc.QueryRefused, match="Cup"):
        home.query("MATCH (c:Cup) RETURN c")


def test_acting_undoing_and_the_history(home: sc.Home) -> None:
    cup = cup_of(home)
    before = home.graph
    with pytest.raises(sc.ActionRefused):
        home.act(f"grab({cup})")
    assert home.graph == before
    (walked,) = home.act(f"walk({cup})")
    steps = home.act(f"grab({cup})", expected_version=walked.version)
    assert [event.action for event in home.history()] == [walked.action, steps[-1].action]
    with pytest.raises(sc.ConflictError):
        home.act(f"put_back({cup})", expected_version=0)
    assert home.undo().version == 3
    assert home.redo().version == 4
    assert home.history(after=3)[0].kind == "redo"
    home.undo(to=0)
    assert home.graph == before
    with pytest.raises(sc.RejectedError):
        home.undo()


@pytest.mark.parametrize("door", ["act", "act_steps", "plan", "plan_events"])
def test_an_option_that_there_is_not_is_refused_before_anything_is_done(home: sc.Home, door: str) -> None:
    """Kind: a misspelt option is left out of account, so that the action is done without it."""
    begun = home.info.version
    wrong: dict[str, Any] = {"fixx": True}
    with pytest.raises(sc.InputError, match=r"no option 'fixx' \(did you mean 'fix'\?\)"):
        getattr(home, door)("walk(cup_2004)", **wrong)
    assert home.info.version == begun


def test_an_empty_instruction_is_refused(home: sc.Home) -> None:
    with pytest.raises(sc.InputError, match="INSTRUCTION is empty"):
        home.plan(" ", model=sc.Scripted([]))


def test_what_an_action_needs_is_done_first_on_request(home: sc.Home) -> None:
    cup = cup_of(home)
    *first, asked = home.act(f"grab({cup})", fix=True)
    assert [step.because is not None for step in first] == [True] * len(first) != []
    assert asked.because is None


def test_an_earlier_version_and_what_changed_since(home: sc.Home) -> None:
    at_first = home.at(0)
    home.act(f"walk({cup_of(home)})")
    changes = at_first.diff(home)
    assert changes
    assert apply(at_first.graph, changes) == home.graph
    assert home.diff(at_first.graph) == home.diff(at_first)
    with pytest.raises(sc.InputError):
        home.at(7)


def test_asking_and_planning_take_any_model(home: sc.Home) -> None:
    cup = cup_of(home)
    found = home.ask(WHERE, model=SCRIPT)
    assert (found.outcome, found.rows) == ("answered", ((cup,),))
    script = sc.Scripted(
        [
            decision(1, "act", f"walk({cup})", "Go there."),
            decision(2, "act", f"grab({cup})", "Take it."),
            decision(3, "done", None, "the cup is held"),
        ]
    )
    done = home.plan("Take the cup.", model=script, budget=sc.Budget(5))
    assert done.is_done
    assert len(done.actions) == 2
    home.undo(to=0)
    events = home.plan_events("Take the cup.", model=script, method="stepwise")
    assert [type(event).__name__ for event in events][-1] == "Finished"
    with pytest.raises(sc.InputError, match="either an instruction"):
        home.plan()
    with pytest.raises(sc.InputError, match="either an instruction"):
        home.plan("Take the cup.", goal=f"{cup} is dirty")
    with pytest.raises(sc.InputError, match="did you mean"):
        home.plan("Take the cup.", model=script, method="stepwize")


def test_the_model_of_the_connection_is_used_and_a_missing_one_is_told(
    db: sc.SceneDatabase, home: sc.Home, user_env: dict[str, str]
) -> None:
    with pytest.raises(sc.ModelUnavailable, match="OPENAI_API_KEY"):
        home.ask(WHERE)
    with sc.connect(db.settings, model=SCRIPT, tell=lambda _: None) as other:
        assert other.home(home.name).ask(WHERE).outcome == "answered"


def test_a_home_of_a_closed_connection_says_so(db: sc.SceneDatabase, home: sc.Home) -> None:
    with sc.connect(db.settings, tell=lambda _: None) as other:
        closed = other.home(home.name)
    for call in (lambda: closed.query(CUP), lambda: closed.act("walk(cup_30)"), lambda: closed.info):
        with pytest.raises(sc.InputError, match="this connection is closed"):
            call()


def test_the_schema_is_what_a_model_is_shown(home: sc.Home) -> None:
    assert "cup" in home.schema


@pytest.mark.parametrize(
    ("write", "read_back"),
    [
        (virtualhome.to_document, "virtualhome"),
        (networkx_json.to_document, "networkx"),
    ],
)
def test_a_file_is_imported_by_its_content(
    db: sc.SceneDatabase, tmp_path: Path, write: Callable[[sc.ImportedScene], dict[str, object]], read_back: str
) -> None:
    scene = small_home()
    file = tmp_path / f"door-{uuid4().hex[:10]}.json"
    file.write_text(json.dumps(write(scene)), encoding="utf-8")
    home = db.import_file(file)
    try:
        assert home.name == f"{read_back}/{file.stem}"
        assert {*home.graph.nodes} == {*scene.graph.nodes}
        assert db.import_file(file, file_format=read_back).name == home.name
    finally:
        db.delete(home.name)


def test_documents_and_apartments_are_recognized(tmp_path: Path) -> None:
    from scenecypher.db.graph.scene_document import scene_document
    from scenecypher.importers.detect import read_any

    file = tmp_path / "mine.json"
    file.write_text(json.dumps(scene_document(small_home())), encoding="utf-8")
    assert read_any(file) == small_home()
    assert read_any(file, name="other").name == "other"
    apartment = read_any(ROOT / "tests/data/dsg/apartment_dsg.json")
    assert apartment.name == "dsg/apartment_dsg"
    office = tmp_path / "office.json"
    rooms = {"nodes": {"rooms": [{"name": "hall"}], "asset": [], "objects": [], "agent": None}}
    rooms["nodes"]["agent"] = {"name": "robot", "location": "hall"}  # type: ignore[assignment]
    office.write_text(json.dumps(rooms), encoding="utf-8")
    assert read_any(office).name == f"{grasif.NAME_PREFIX}office"


@pytest.mark.parametrize(
    ("text", "told"),
    [("{}", "of no format that is known"), ("[1]", "of no format that is known"), ("{", "no valid JSON")],
)
def test_a_file_of_no_format_is_refused_by_name(db: sc.SceneDatabase, tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "odd.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(sc.DocumentError, match=told):
        db.import_file(file)
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(sc.InputError, match="did you mean 'networkx'"):
        db.import_file(file, file_format="networx")


def test_a_graph_of_networkx_becomes_a_home(db: sc.SceneDatabase) -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.MultiDiGraph()
    graph.add_node("kitchen", kind="Place")
    graph.add_node("table", kind="Asset")
    graph.add_node("mug", kind="Object", states=["dirty"])
    graph.add_edge("table", "kitchen", relation="INSIDE")
    graph.add_edge("mug", "table", relation="ON")
    name = f"test/networkx-{uuid4().hex[:10]}"
    home = db.import_networkx(graph, name=name)
    try:
        assert home.query("MATCH (m:Object)-[:ON]->(t) RETURN m.name, t.name").rows == (("mug", "table"),)
        assert home.info.vocabulary == "household"
        assert "mug" in home._repr_html_()
    finally:
        db.delete(name)


def test_an_agent_and_a_vocabulary_at_import_a_goal_and_a_second_import(db: sc.SceneDatabase) -> None:
    networkx = pytest.importorskip("networkx")
    pytest.importorskip("up_fast_downward")
    graph = networkx.MultiDiGraph()
    for room in ("kitchen", "hall"):
        graph.add_node(room, kind="Place")
    graph.add_node("table", kind="Asset", affordances=["put_on"])
    graph.add_node("shelf", kind="Asset", affordances=["put_on"])
    graph.add_node("mug", kind="Object", affordances=["pick_up"])
    for source, type_, target in (("table", "INSIDE", "kitchen"), ("shelf", "INSIDE", "hall"), ("mug", "ON", "table")):
        graph.add_edge(source, target, relation=type_)
    name = f"test/networkx-{uuid4().hex[:10]}"
    home = db.import_networkx(graph, name=name, vocabulary="grasif", agent="robot", room="hall")
    wrong: dict[str, Any] = {"replaces": True}
    try:
        assert (home.info.vocabulary, home.graph.targets("robot")) == ("grasif", ("hall",))
        done = home.plan(goal="mug ON shelf", method="symbolic")
        assert done.is_done
        assert home.graph.targets("mug", "ON") == ("shelf",)
        again = db.import_networkx(graph, name=name)
        assert (again.info.vocabulary, again.graph.targets("robot")) == ("grasif", ("hall",)), "the agent stays"
        assert again.graph.targets("mug", "ON") == ("table",), "a second import brings things back"
        home.act("pick_up(mug)", fix=True)
        assert db.import_networkx(graph, name=name).graph.targets("robot", "HOLDS") == ()
        assert db.import_networkx(graph, name=name, vocabulary="household").info.vocabulary == "household"
        with pytest.raises(sc.InputError, match="unknown"):
            db.import_networkx(graph, name=name, vocabulary="unknown")
        with pytest.raises(sc.InputError, match="no room"):
            db.import_networkx(graph, name=name, agent="robby", room="cellar")
        with pytest.raises(sc.InputError, match="no option 'replaces'"):
            db.import_networkx(graph, name=name, **wrong)
    finally:
        db.delete(name)


def test_a_scene_that_is_not_there_is_told_with_the_nearest_names(db: sc.SceneDatabase, home: sc.Home) -> None:
    with pytest.raises(sc.SceneNotFound, match="did you mean"):
        db.home(home.name[:-1])
    with pytest.raises(sc.InputError, match="half a character"):
        db.home("half\ud800word")
    assert home.name in {scene.name for scene in db.scenes()}


def test_a_notebook_shows_a_home_as_rooms_and_an_answer_as_a_table(home: sc.Home) -> None:
    page = home._repr_html_()
    room = next(node.name for node in home.graph.nodes.values() if node.kind == "Place")
    assert page.index(home.name) < page.index(room)
    assert page.count("<details>") == page.count("</details>") > 0
    table = home.query(CUP)._repr_html_()
    assert "<th>cup</th>" in table
    assert "<p>1 row</p>" in table


def test_text_of_a_scene_is_shown_as_text_in_a_notebook(db: sc.SceneDatabase) -> None:
    hostile = "<script>alert(1)</script>"
    graph = sc.SceneGraph.of([sc.Node("a", "Place", hostile, hostile, states=("<b>",))], [])
    home = db.import_scene(sc.ImportedScene(f"test/hostile-{uuid4().hex[:10]}", graph))
    try:
        shown = home._repr_html_() + home.at(0)._repr_html_() + home.query("MATCH (n) RETURN n.name")._repr_html_()
        assert "<script>" not in shown
        assert "<b>" not in shown.replace("<p><b>", "")
        assert "&lt;script&gt;" in shown
    finally:
        db.delete(home.name)


def test_things_inside_each_other_are_shown_once() -> None:
    from scenecypher.readable import home_html

    nodes = [sc.Node(word, "Object", word, word) for word in ("one", "two", "three")]
    around = [sc.Relation("one", "INSIDE", "two"), sc.Relation("two", "ON", "three"), sc.Relation("three", "ON", "one")]
    page = home_html("x", sc.SceneGraph.of(nodes, [*around, sc.Relation("two", "INSIDE", "two")]))
    assert page.count("<svg") == 1
    page = page.partition("</svg>")[2]
    assert [page.count(node.name) for node in nodes] == [1, 1, 1]


def test_an_unknown_recorded_home_is_refused(db: sc.SceneDatabase) -> None:
    with pytest.raises(sc.InputError, match="no_such_home"):
        db.import_virtualhome("no_such_home")


def run(code: str) -> str:
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return ended.stdout


def test_a_plan_without_a_model_may_be_longer_than_a_models_decisions(
    db: sc.SceneDatabase,
) -> None:
    """As without `--max-steps`: more lamps than that are switched on, each by an action."""
    pytest.importorskip("up_fast_downward")
    number = Budget().steps + 1
    lamps = [Node(f"lamp_{n}", "Asset", f"lamp_{n}", "lamp", ("off",), ("turn_on", "turn_off")) for n in range(number)]
    nodes = (Node("hall", "Place", "hall", "hall"), Node("robot", "Agent", "robot", "robot"), *lamps)
    graph = SceneGraph.of(nodes, [Relation(it.id, "INSIDE", "hall") for it in nodes[1:]])
    home = db.import_scene(ImportedScene(f"test/lamps-{uuid4().hex[:10]}", graph, vocabulary="grasif"))
    goal = "; ".join(f"{it.id} is on" for it in lamps)
    done = home.plan(goal=goal, method="symbolic")
    assert (done.is_done, done.end.reason) == (True, "the goal holds")
    assert len(done.actions) >= number
