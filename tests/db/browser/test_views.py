"""The views for Neo4j Browser, run as Browser runs them: as text, by the real server, beside another scene."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, cast
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from scenecypher.db.browser.style import STYLE, connect_commands, grass
from scenecypher.db.browser.views import (
    FOLLOWING,
    VIEWS,
    ViewName,
    Wanted,
    browser_of,
    chosen_value,
    filled_in,
    find_present,
    name_literal,
    saved_queries,
    view_query,
)
from scenecypher.db.graph.delta import AddRelation, Delta, diff
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Properties, Relation, SceneGraph
from scenecypher.db.past import build_past
from scenecypher.db.schema import HOLDING, KINDS, PAST_KINDS, SHELL
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.runs import RunEnd, RunFacts, RunProgress, StepRow, add_steps, begin_run, this_process
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError
from scenecypher.importers.virtualhome import packaged_scene
from scenecypher.planner.worlds.belief import find_or_create_belief
from tests.db.past.test_build import OPEN, SHUT, TAKE, scene_with
from tests.db.store.test_store import fresh, small

HOSTILE: Final = (
    "it's",
    'say "x"',
    "a\\",
    "a\\'b",
    "\\u0027}) MATCH (m) DETACH DELETE m //",
    "\\\\u0027}) DETACH DELETE s //",
    "\\U00000027",
    "a&arg=MATCH (n) DETACH DELETE n",
    "a?arg=x#fragment",
    "a;MATCH (n) DETACH DELETE n;",
    "100% %27 + %2B",
    "// no comment /* nor this */",
    "$name `quoted` {braces}",
    ":play start",
    "עברית العربية 家 🏠",
    "'" * 100 + "\\" * 100,
)


@dataclass(frozen=True, slots=True)
class Shown:
    """What Browser would draw: nodes and relations by the server's ids; a relation as (id, type, id)."""

    nodes: dict[str, dict[str, Any]]
    arrows: dict[str, tuple[str, str, str]]
    rows: list[dict[str, Any]]

    @property
    def relations(self) -> set[tuple[str, str, str]]:
        return {*self.arrows.values()}

    def ids(self) -> set[str]:
        return {node["id"] for node in self.nodes.values()}


def run_as_browser(database: Database, text: str) -> Shown:
    """Run a query as Browser does and return what it draws, without parameters."""
    from neo4j.graph import Node, Path, Relationship

    nodes: dict[str, dict[str, Any]] = {}
    arrows: dict[str, tuple[str, str, str]] = {}

    def draw(value: object) -> None:
        match value:
            case Node():
                nodes[value.element_id] = {**value, "labels": {*value.labels}}
            case Relationship():
                ends = [it and it.get("id", it.get("number", it.get("version"))) for it in value.nodes]
                arrows[value.element_id] = (str(ends[0]), value.type, str(ends[1]))
            case Path():
                for part in (*value.nodes, *value.relationships):
                    draw(part)
            case _:
                pass

    found = database.rows(cast("Any", text), timeout_s=60)
    for record in found:
        for value in record.values():
            draw(value)
    return Shown(nodes, arrows, [record.data() for record in found])


def shown(store: SceneStore, name: str, view: ViewName, **wanted: Any) -> Shown:
    info = find_present(store.database, name)
    value = chosen_value(store.database, info, view, Wanted(**wanted))
    found = run_as_browser(store.database, view_query(view, info.name, value))
    assert all(node["scene"] == info.key for node in found.nodes.values()), "a node of another scene"
    return found


def tree_of(graph: SceneGraph) -> set[tuple[str, str, str]]:
    """Return the relations of a home at a glance, in plain Python: furniture before rooms, no walls, no CLOSE."""
    nodes = {it.id: it for it in graph.nodes.values() if it.class_.lower() not in SHELL}
    within = {(it.source, it.target) for it in graph.relations if it.type in {"INSIDE", "ON"}}
    found: set[tuple[str, str, str]] = set()
    for it in graph.relations:
        if it.source not in nodes or it.target not in nodes:
            continue
        if it.type in HOLDING or (
            it.type in {"BETWEEN", "CONNECTS"}
            and nodes[it.source].kind in {"Door", "Place", "Waypoint"}
            and nodes[it.target].kind in {"Place", "Waypoint"}
        ):
            found.add((it.source, it.type, it.target))
        elif (it.source, it.target) in within and it.type in {"INSIDE", "ON"}:
            above = {b for a, b in within if a == it.source and b in nodes and (b, a) not in within}
            furniture = {b for b in above if nodes[b].kind != "Place"}
            if it.target in (furniture or above):
                found.add((it.source, it.type, it.target))
    return found


@pytest.fixture(scope="module")
def homes(store: SceneStore) -> Iterator[dict[str, tuple[str, SceneGraph]]]:
    """Yield the demo's home, a BabyAI and a GraSIF scene as (name, graph), beside each other and another home."""
    from scenecypher.importers.babyai import level_instance
    from scenecypher.importers.behavior import scenes

    level = level_instance("trv1", 7).scene
    activity = next(scenes("clearing_table_after_snacks"))
    found = {}
    for sort, scene in {"virtualhome": packaged_scene("963_2"), "babyai": level, "grasif": activity}.items():
        found[sort] = (fresh(f"browser-{sort}"), scene.graph)
        store.put(replace(scene, name=found[sort][0]))
    yield found
    for name, _ in found.values():
        store.delete(name)


@pytest.mark.parametrize("sort", ["virtualhome", "babyai", "grasif"])
def test_the_overview_is_rooms_with_furniture_with_things(
    store: SceneStore, homes: dict[str, tuple[str, SceneGraph]], sort: str
) -> None:
    name, graph = homes[sort]
    found = shown(store, name, "overview")
    assert found.ids() == {it.id for it in graph.nodes.values() if it.class_.lower() not in SHELL}
    assert found.relations == tree_of(graph)
    assert found.relations


@pytest.mark.parametrize("sort", ["virtualhome", "babyai", "grasif"])
def test_a_room_is_what_is_in_it(store: SceneStore, homes: dict[str, tuple[str, SceneGraph]], sort: str) -> None:
    name, graph = homes[sort]
    whole, rooms = tree_of(graph), [it.id for it in graph.nodes.values() if it.kind == "Place"]
    for room in rooms[:2]:
        found = shown(store, name, "room", room=room)
        ids = {room, *inside(graph, room)}
        assert found.ids() == ids
        assert found.relations == {it for it in whole if {it[0], it[2]} <= ids and it[1] not in {"BETWEEN", "CONNECTS"}}
    assert len(shown(store, name, "room").ids()) > 0


def inside(graph: SceneGraph, room: str) -> set[str]:
    """Return all that is in or on a room, at any depth, without walls and what is on them alone."""
    found, before = set[str](), {room}
    while before:
        before = {it.source for it in graph.relations if it.type in {"INSIDE", "ON"} and it.target in before} - found
        found |= before
    return {it for it in found if graph.nodes[it].class_.lower() not in SHELL}


def test_the_robot_is_shown_with_its_place_and_what_it_holds(store: SceneStore) -> None:
    name = fresh("browser")
    store.put(ImportedScene(name, small()))
    info = store.find(name)
    store.commit(info, Delta.of([AddRelation(Relation("robot", "INSIDE", "kitchen"))]), actor="ann", action="enter")
    store.commit(info, TAKE, actor="robot", action="take")
    found = shown(store, name, "robot")
    assert found.ids() == {"robot", "kitchen", "cup"}
    assert found.relations == {("robot", "INSIDE", "kitchen"), ("robot", "HOLDS", "cup")}


def test_a_version_is_what_changed_and_who_did_it(store: SceneStore) -> None:
    info = scene_with(store, OPEN, TAKE)
    scene_with(store, OPEN, SHUT)
    found = shown(store, info.name, "version", version=1)
    events = [node for node in found.nodes.values() if "PastEvent" in node["labels"]]
    assert [(it["version"], it["actor"], it["action"]) for it in events] == [(1, "ann", "act 0")]
    assert {(it["state"], it["since"], it.get("until")) for it in found.nodes.values() if "state" in it} == {
        ("open", 1, None),
        ("closed", 0, 1),
    }
    assert {it["id"] for it in found.nodes.values() if "PastNode" in it["labels"]} == {"fridge"}
    latest = shown(store, info.name, "version")
    assert {it["version"] for it in latest.nodes.values() if "PastEvent" in it["labels"]} == {2}
    for version in (3, 99):
        with pytest.raises(InputError, match="no version"):
            shown(store, info.name, "version", version=version)
    with pytest.raises(InputError, match="nothing has changed"):
        shown(store, scene_with(store).name, "version")


def test_a_run_is_its_steps_and_the_events_they_led_to(store: SceneStore) -> None:
    one, other = scene_with(store, OPEN, TAKE), scene_with(store, OPEN, TAKE)
    numbers = [keep_run(store, it) for it in (one, other)]
    found = shown(store, one.name, "run", run=numbers[0])
    kinds = [sorted(it["labels"] - {"Past"})[0] for it in found.nodes.values()]
    assert sorted(kinds) == ["PastEvent", "PastNode", "Run", "Step", "Step"]
    assert found.relations >= {(str(numbers[0]), "HAS_STEP", "1"), ("2", "LED_TO", "1"), ("1", "CHANGED", "fridge")}
    with pytest.raises(InputError, match="was not in"):
        shown(store, one.name, "run", run=numbers[1])
    assert {it["number"] for it in shown(store, one.name, "run").nodes.values() if "Run" in it["labels"]} == {
        numbers[0]
    }
    why = shown(store, one.name, "version", version=1)
    assert {it.get("instruction") for it in why.nodes.values() if "Run" in it["labels"]} == {"open the fridge"}


def keep_run(store: SceneStore, info: SceneInfo) -> int:
    facts = RunFacts(info.key, info.name, "plan", "open the fridge", "m", "", "robot", 0, None, "{}")
    number = begin_run(store.database, facts, this_process())
    steps = [StepRow(1, {"kind": "proposed", "line": "{}"}), StepRow(2, {"kind": "acted", "version": 1, "line": "{}"})]
    add_steps(store.database, number, steps, RunProgress(2, 1, 0, 0), end=RunEnd("done"))
    return number


def test_a_belief_is_compared_with_its_world(store: SceneStore) -> None:
    info = scene_with(store)
    with pytest.raises(InputError, match="no belief"):
        shown(store, info.name, "belief")
    belief = find_or_create_belief(store, info)
    assert [(it["thing"], it["is"]) for it in rows_of(store, info.name)] == [("cup", "unseen")]
    unseen = store.load(belief.name).graph
    seen = [replace(it, properties=Properties()) if it.id == "cup" else it for it in unseen.nodes.values()]
    store.commit(belief, diff(unseen, SceneGraph.of(seen, unseen.relations)), actor="robot", action="look")
    assert [(it["thing"], it["is"], it["believed"]) for it in rows_of(store, info.name)] == [
        ("cup", "confirmed", ["fridge"])
    ]
    store.commit(info, TAKE, actor="ann", action="take")
    found = rows_of(store, belief.name)
    assert [(it["thing"], it["is"], it["believed"], it["really"]) for it in found] == [("cup", "moved", ["fridge"], [])]


def rows_of(store: SceneStore, name: str) -> list[dict[str, Any]]:
    return shown(store, name, "belief").rows


@pytest.mark.parametrize("dialect", ["CYPHER 5 ", "CYPHER 25 ", ""])
def test_a_hostile_name_is_only_a_name(database: Database, dialect: str) -> None:
    for name in HOSTILE:
        text = f"{dialect}RETURN {name_literal(name)} AS name"
        assert [row["name"] for row in run_as_browser(database, text).rows] == [name]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_whole_in_an_address(store: SceneStore, name: str) -> None:
    text = view_query("overview", name)
    url = filled_in("http://127.0.0.1:7474/browser/", uri="bolt://127.0.0.1:7687", username="neo4j", text=text)
    assert as_browser_reads(url) == text
    assert url.isascii()
    assert not re.search(r"[;\n]", url)
    assert run_as_browser(store.database, text).rows == []


def as_browser_reads(url: str) -> str:
    """Return what Browser puts into its editor: it looks for the argument in the decoded address."""
    found = re.search(r"[?&]arg=([^&#]*)", unquote(url.replace("+", " ")))
    assert found is not None
    return found[1]


def test_a_scene_of_a_hostile_name_is_shown(store: SceneStore) -> None:
    for stem in HOSTILE[:6]:
        name = fresh() + stem
        store.put(ImportedScene(name, small()))
        assert shown(store, name, "overview").ids() == {"kitchen", "robot", "fridge", "cup"}


@pytest.mark.parametrize(
    ("uri", "browser"),
    [
        ("bolt://localhost:7687", "http://localhost:7474/browser/"),
        ("neo4j+s://db.example.org", "https://db.example.org:7473/browser/"),
        ("bolt://[::1]:9999", "http://[::1]:7474/browser/"),
    ],
)
def test_the_address_of_a_server(uri: str, browser: str) -> None:
    assert browser_of(uri) == browser
    given = parse_qs(urlsplit(filled_in(browser, uri=uri, username="ann@home", database="homes")).query)
    assert given == {"dbms": [uri.replace("://", "://ann%40home@")], "db": ["homes"]}


def test_the_style_has_each_kind_after_the_labels_that_all_have() -> None:
    places = [*STYLE]
    for label, kinds in (("Entity", KINDS), ("Past", PAST_KINDS)):
        for kind in kinds:
            assert places.index(f"node.{label}") < places.index(f"node.{kind}")
            assert {"color", "caption", "diameter"} <= STYLE[f"node.{kind}"].keys()
    assert len({rule["color"] for name, rule in STYLE.items() if name.startswith("node.")}) == 14
    assert all(f"{selector} {{" in grass() for selector in STYLE)
    assert connect_commands().count(";") == 1


def test_the_saved_queries_run(store: SceneStore) -> None:
    info = scene_with(store, OPEN)
    keep_run(store, info)
    with zipfile.ZipFile(io.BytesIO(saved_queries(info.name))) as archive:
        texts = [archive.read(name).decode() for name in archive.namelist()]
    assert len(texts) == len({text.splitlines()[0] for text in texts}) == len(VIEWS) + len(FOLLOWING)
    assert all(text.startswith("// ") for text in texts)
    build_past(store.database, info)
    fill = {"SCENE": info.key, "NAME": "fridge"}
    filled = [re.sub("'(SCENE|NAME)'", lambda it: f"'{fill[it[1]]}'", text) for text in texts]
    found = {text.splitlines()[0]: run_as_browser(store.database, text).rows for text in filled}
    assert found["// " + next(iter(FOLLOWING))] == [{"scene": info.name, "role": "world", "version": 1}]
    today = next(rows for title, rows in found.items() if "node of today" in title)
    assert [(it["p"]["id"], it["n"]["id"]) for it in today] == [("fridge", "fridge")]
    assert all(found[f"// {VIEWS[view].question}"] for view in ("overview", "version", "run"))
