"""The fixed graph API, compared with plain Python over the same scene graph, on every vocabulary."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.db.gate import Gate, Limits
from scenecypher.db.gate.scope import scope
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.schema import Declared, vocabulary_of
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.enumerations import literal
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import QueryRefused, RejectedError, ReplyRejected, UnknownReference
from scenecypher.importers.babyai import read_level
from scenecypher.importers.grasif import scene as office
from scenecypher.importers.homes import small_home
from scenecypher.retriever.collapsed import collapse
from scenecypher.retriever.graph_api import CALL_SETS, CALLS, GraphApi, run_call
from scenecypher.retriever.retrieval import SceneReader
from tests.retriever.conftest import home, put_home

WORLDS: dict[str, Callable[[], ImportedScene]] = {
    "virtualhome": lambda: ImportedScene("home", home(), vocabulary="virtualhome"),
    "small home": small_home,
    "grasif": lambda: office("sayplan-office"),
    "babyai": lambda: read_level("trv1", 3),
}


@pytest.fixture(scope="module")
def worlds(store: SceneStore) -> dict[str, tuple[ImportedScene, SceneInfo]]:
    put: dict[str, tuple[ImportedScene, SceneInfo]] = {}
    for name, make in WORLDS.items():
        made = make()
        stored = ImportedScene(f"test/api-{uuid4().hex[:10]}", made.graph, made.vocabulary, declared=made.declared)
        store.put(stored)
        put[name] = stored, store.find(stored.name)
    return put


@pytest.fixture
def api(store: SceneStore, gate: Gate, scene: SceneInfo) -> GraphApi:
    return GraphApi(SceneReader(gate, Enumerator(store.replicas), scene))


def of(store: SceneStore, scene: SceneInfo, gate: Gate) -> GraphApi:
    return GraphApi(SceneReader(gate, Enumerator(store.replicas), scene))


@pytest.mark.parametrize("world", WORLDS)
def test_the_calls_agree_with_the_scene_graph(store: SceneStore, gate: Gate, worlds: Any, world: str) -> None:
    made, scene = worlds[world]
    graph, api = made.graph, of(store, scene, gate)
    links = sorted([one.source, one.type, one.target] for one in graph.relations)
    assert api.get_nodes() == sorted(graph.nodes)
    assert api.get_links() == links
    for node in sorted(graph.nodes)[:3]:
        mine = [link for link in links if node in (link[0], link[2])]
        near = sorted({end for link in mine for end in (link[0], link[2])} - {node})
        near = sorted({*near, *(node for link in mine if link[0] == link[2])})
        assert api.get_neighbors(node) == near
        attrs = api.get_attrs(node)
        assert (attrs["kind"], attrs["id"], attrs["class"]) == (graph.nodes[node].kind, node, graph.nodes[node].class_)
        assert "scene" not in attrs
        expanded = api.expand(node)
        assert expanded == {"node": attrs, "links": mine, "neighbors": [api.get_attrs(other) for other in near]}
        assert json.dumps(expanded) == json.dumps(api.expand(node))


def test_a_unique_name_or_class_identifies_a_node(api: GraphApi) -> None:
    assert api.get_attrs("plate")["id"] == "id-7012"
    assert api.get_attrs("fridge_7004")["id"] == "id-7004"
    assert api.get_neighbors("plate_7012") == api.get_neighbors("id-7012")


UNKNOWN = {
    "id-7019": "did you mean 'id-701",
    "frige": "did you mean 'fridge'",
    "cup": "can mean several things: id-7010, id-7011",
    "": "there is no",
    "x" * 10_000: "there is no",
    "a'}) DETACH DELETE n //": "there is no",
    "\\": "there is no",
    "'\\u0027": "there is no",
    "\ud800": "there is no",
}


@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize("name_of_call", [name for name, one in CALLS.items() if one.takes_node])
def test_an_unknown_node_is_refused_with_the_nearest(api: GraphApi, name: str, name_of_call: str) -> None:
    with pytest.raises(RejectedError) as refused:
        run_call(api, name_of_call, {"node_id": name})
    assert UNKNOWN[name] in str(refused.value)
    assert len(str(refused.value)) < 400


@given(st.text(max_size=40) | st.text("\\'\"uU`$/*\n", max_size=12))
def test_any_text_stays_one_string_in_the_query(value: str) -> None:
    cypher = f"MATCH (n {{id: {literal(value)}}}) RETURN n"
    if "\\u" in value.lower():
        with pytest.raises(QueryRefused, match="unicode escapes"):
            scope(cypher, vocabulary_of(Declared()), Limits())
        return
    scoped = scope(cypher, vocabulary_of(Declared()), Limits())
    assert list(scoped.parameters.values()) == [value]
    assert scoped.text == scope("MATCH (n {id: 'x'}) RETURN n", vocabulary_of(Declared()), Limits()).text


WRONG_CALLS: list[tuple[str, dict[str, object], str]] = [
    ("get_node", {}, "did you mean 'get_nodes'"),
    ("get_attrs", {}, "takes one argument"),
    ("get_attrs", {"id": "x"}, "takes one argument"),
    ("get_attrs", {"node_id": None}, "takes one argument"),
    ("get_nodes", {"node_id": "x"}, "takes no arguments"),
]


@pytest.mark.parametrize(("name", "arguments", "told"), WRONG_CALLS)
def test_a_wrong_call_is_refused(api: GraphApi, name: str, arguments: dict[str, object], told: str) -> None:
    with pytest.raises(ReplyRejected, match=told):
        run_call(api, name, arguments)


def test_calls_by_name(api: GraphApi) -> None:
    assert run_call(api, "get_nodes", {}) == api.get_nodes()
    assert run_call(api, "get_attrs", {"node_id": "id-7004"}) == api.get_attrs("id-7004")
    assert {name for names in CALL_SETS.values() for name in names} == set(CALLS)
    told = CALLS["get_attrs"].schema("get_attrs")["function"]
    assert (told["name"], told["parameters"]["required"]) == ("get_attrs", ["node_id"])


# --- SayPlan's view


@pytest.mark.parametrize("world", WORLDS)
def test_a_collapsed_graph_is_expanded_and_contracted(store: SceneStore, gate: Gate, worlds: Any, world: str) -> None:
    made, scene = worlds[world]
    places = sorted(id_ for id_, node in made.graph.nodes.items() if node.kind == "Place")
    bare = collapse(of(store, scene, gate))
    assert ids(bare.document()) == places
    seen = bare
    for place in places:
        seen = seen.expand(place)
    assert ids(seen.document()) == sorted(made.graph.nodes), "everything hangs on some place"
    links = [[one.source, one.type, one.target] for one in made.graph.relations if one.type != "CLOSE"]
    assert seen.document()["links"] == sorted(links)
    agent = next(node.id for node in made.graph.nodes.values() if node.kind == "Agent")
    room = next(one.target for one in made.graph.relations if one.source == agent and one.target in places)
    one = bare.expand(room)
    assert {agent, *places} < set(ids(one.document())) < set(made.graph.nodes) | {""}
    assert one.contract(room) == bare
    assert one.expanded == (room,)


def test_the_root_excludes_the_content_of_its_rooms(store: SceneStore, gate: Gate, worlds: Any) -> None:
    bare = collapse(of(store, worlds["babyai"][1], gate))
    assert bare.expand("root").document() == bare.document()


def test_only_places_are_expanded(api: GraphApi) -> None:
    view = collapse(api)
    with pytest.raises(UnknownReference, match=r"is no place; the places are id-7001, id-7002"):
        view.expand("fridge")
    with pytest.raises(UnknownReference, match=r"did you mean 'kitchen'"):
        view.expand("kichen")
    with pytest.raises(UnknownReference, match="not expanded; contract one that is: id-7001"):
        view.expand("kitchen").contract("bedroom")


def test_expansion_reads_the_present_state(store: SceneStore, gate: Gate) -> None:
    scene = put_home(store)
    view = collapse(of(store, scene, gate))
    assert "id-7010" in ids(view.expand("kitchen").document())
    assert ids(view.expand("bedroom").document()) == ["id-7001", "id-7002"]


def ids(document: Any) -> list[str]:
    return [node["id"] for node in document["nodes"]]
