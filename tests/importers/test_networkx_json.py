"""NetworkX's node-link JSON: common words are translated, and any scene round-trips unchanged."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any, Final

import networkx as nx
import pytest
from hypothesis import assume, given

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import InvalidValue, Node, Point, Properties, Relation, SceneGraph
from scenecypher.db.schema import KINDS as OUR_KINDS
from scenecypher.db.schema import MAP_KINDS, RELATION_TYPES, Declared
from scenecypher.errors import DocumentError
from scenecypher.importers.detect import read_any
from scenecypher.importers.networkx_json import from_document, to_document
from scenecypher.importers.open_vocabulary import KINDS, RELATIONS
from tests.strategies import KEYS, TYPES, scene_graphs

read_scene = partial(read_any, file_format="networkx")

HOME: Final[list[dict[str, Any]]] = [
    {"id": "kitchen", "type": "room", "pos": [0, 0]},
    {"id": 7, "kind": "Furniture", "label": "table", "class_name": "dinner_table", "weight": None},
    {"id": "cup-1", "states": ["dirty"], "affordances": ["grab"], "color": "red", "center": [1, 2.5, 3]},
    {"id": "spot", "type": "robot"},
]
ON: Final = {"source": "cup-1", "target": 7, "relation": "on top of"}


def document(**fields: Any) -> dict[str, Any]:
    return {"directed": True, "multigraph": False, "graph": {}, "nodes": HOME, "edges": [ON], **fields}


def read(document: object) -> ImportedScene:
    return from_document(document, file="x.json", name="networkx/x")


def test_common_words_are_translated() -> None:
    graph = read(document()).graph
    assert graph.nodes["kitchen"] == Node(
        "kitchen", "Place", "kitchen", "kitchen", (), (), Properties({"center": Point(0, 0)})
    )
    assert graph.nodes["7"] == Node("7", "Asset", "table", "dinner_table")
    cup = graph.nodes["cup-1"]
    assert (cup.kind, cup.class_, cup.states, cup.affordances) == ("Object", "cup", ("dirty",), ("grab",))
    assert cup.properties == Properties({"color": "red", "center": Point(1, 2.5, 3)})
    assert graph.nodes["spot"].kind == "Agent"
    assert graph.relations == {Relation("cup-1", "ON", "7")}


@pytest.mark.parametrize(
    ("word", "type_"),
    [("ON", "ON"), ("inside_of", "INSIDE"), ("Inside", "INSIDE"), ("ontop-of", "ON"), ("next to", "NEXT_TO")],
)
@pytest.mark.parametrize("attribute", ["relation", "type", "relation_type", "label", "key"])
def test_a_relation_type_is_read_from_each_attribute(word: str, type_: str, attribute: str) -> None:
    edge = {"source": "cup-1", "target": 7, attribute: word}
    scene = read(document(edges=[edge], graph={"relation_types": ["NEXT_TO"]}))
    assert scene.graph.relations == {Relation("cup-1", type_, "7")}


def test_the_tables_lead_to_the_registry() -> None:
    assert set(KINDS.values()) == set(OUR_KINDS) - MAP_KINDS
    assert set(RELATIONS.values()) <= set(RELATION_TYPES)


def test_files_of_old_and_new_networkx_are_read(tmp_path: Path) -> None:
    made = nx.DiGraph(name="mine")
    made.add_node("kitchen", type="room")
    made.add_edge("cup", "kitchen", relation="inside")
    for word in ("edges", "links"):
        file = tmp_path / f"{word}.json"
        file.write_text(json.dumps(nx.node_link_data(made, edges=word)), encoding="utf-8")
        scene = read_scene(file)
        assert scene.name == f"networkx/{word}"
        assert scene.graph.relations == {Relation("cup", "INSIDE", "kitchen")}


def test_an_undirected_graph_holds_symmetric_types_only() -> None:
    edges = [{"source": "cup-1", "target": 7, "relation": "near"}, {"source": 7, "target": 7, "relation": "CLOSE"}]
    both = {Relation("cup-1", "CLOSE", "7"), Relation("7", "CLOSE", "cup-1"), Relation("7", "CLOSE", "7")}
    assert read(document(edges=edges, directed=False)).graph.relations == both
    with pytest.raises(DocumentError, match=r"\$\.edges\[0\]: an undirected graph can't say which end of ON is which"):
        read(document(directed=False))


def test_declarations_of_a_file_become_the_scenes() -> None:
    nodes = [{"id": "cup", "serial_number": 7}]
    edges = [{"source": "cup", "target": "cup", "relation": "BESIDE"}]
    with pytest.raises(DocumentError) as refused:
        read(document(nodes=nodes, edges=edges))
    assert [place for place, _ in refused.value.problems] == ["$.nodes[0]", "$.edges[0]"]
    assert "BESIDE is no known relation type (did you mean" in str(refused.value) or "declare it" in str(refused.value)
    own = {"relation_types": ["BESIDE"], "properties": ["serial_number"]}
    declared = Declared(("BESIDE",), ("serial_number",))
    scene = read(document(nodes=nodes, edges=edges, graph=own))
    given = from_document(document(nodes=nodes, edges=edges), file="x", name="networkx/x", declare=declared)
    assert scene.declared == given.declared == declared
    assert scene.graph == given.graph


def test_a_file_may_have_the_axes_of_unity() -> None:
    """An export of an older version has them and does not say so."""
    nodes = [{"id": "cup", "center": [1, 0.8, 3]}]
    for graph, center in (
        ({"up": "y"}, Point(1, 3, 0.8)),
        ({"vocabulary": "virtualhome"}, Point(1, 3, 0.8)),
        ({"vocabulary": "virtualhome", "up": "z"}, Point(1, 0.8, 3)),
        ({}, Point(1, 0.8, 3)),
    ):
        assert read(document(nodes=nodes, edges=[], graph=graph)).graph.nodes["cup"].properties["center"] == center


@given(scene_graphs())
def test_any_scene_round_trips(graph: SceneGraph) -> None:
    scene = ImportedScene("networkx/x", graph, "virtualhome", declared=Declared(TYPES, KEYS), source="x.json")
    assume(all(isinstance(node.properties.get("center", Point(0, 0)), Point) for node in graph.nodes.values()))
    text = json.dumps(to_document(scene), ensure_ascii=False, allow_nan=False)
    assert read(json.loads(text)) == scene


@given(scene_graphs())
def test_networkx_reads_our_files(graph: SceneGraph) -> None:
    scene = ImportedScene("x", SceneGraph.of((Node(n, "Object", n, n) for n in graph.nodes), graph.relations))
    made = nx.node_link_graph(to_document(scene), edges="edges")
    assert set(made.nodes) == set(graph.nodes)
    assert {Relation(source, key, target) for source, target, key in made.edges} == graph.relations


@pytest.mark.parametrize("key", ["kind", "position", "pos", "center"])
def test_ambiguous_properties_are_not_exported(key: str) -> None:
    node = Node("cup", "Object", "cup", "cup", (), (), Properties({key: "x"}))
    with pytest.raises(InvalidValue, match=f"{key} (would be read as something else|is no position)"):
        to_document(ImportedScene("x", SceneGraph.of([node])))


@pytest.mark.parametrize(
    ("change", "place", "cause"),
    [
        ({"nodes": {}}, "$.nodes", "should be a list"),
        ({"directed": "yes"}, "$.directed", "should be true or false, not 'yes'"),
        ({"adjacency": []}, "$.adjacency", "is no field that is known here"),
        ({"graph": {"colour": 1}}, "$.graph.colour", "is no field that is known here"),
        ({"graph": {"vocabulary": "alfred"}}, "$.graph.vocabulary", "'alfred' is none of household"),
        ({"graph": {"properties": ["a b"]}}, "$.graph.properties[0]", "is no property name"),
        ({"nodes": [{"id": [1, 2]}], "edges": []}, "$.nodes[0]", "id should be text or a 64-bit whole number"),
        ({"nodes": [{"id": True}], "edges": []}, "$.nodes[0]", "id should be text or a 64-bit whole number, not True"),
        ({"nodes": [{"id": 1}, {"id": "1"}], "edges": []}, "$.nodes[1]", "'1' is the id of $.nodes[0] already"),
        ({"nodes": [{"id": 1, "kind": "cup"}], "edges": []}, "$.nodes[0]", "kind should be one of Place, Asset"),
        ({"nodes": [{"id": 1, "class": 7}], "edges": []}, "$.nodes[0]", "class: 7 is no text"),
        ({"nodes": [{"id": 1, "pos": "here"}], "edges": []}, "$.nodes[0]", "pos should be a position, [x, y] or"),
        ({"nodes": [{"id": 1, "7mass": 7}], "edges": []}, "$.nodes[0]", "'7mass' is no property name"),
        ({"edges": [{"source": "spot", "target": 7}]}, "$.edges[0]", "has no relation type; add it as 'relation'"),
        ({"edges": [{"relation": "on", "target": 7}]}, "$.edges[0]", "source is missing"),
    ],
)
def test_invalid_files_are_refused(change: dict[str, Any], place: str, cause: str) -> None:
    with pytest.raises(DocumentError) as refused:
        read(document(**change))
    assert refused.value.place == place
    assert cause in refused.value.cause


def test_all_problems_of_a_file_are_told() -> None:
    nodes = [
        {"id": 1.5, "kind": "Rom", "pos": [1], "states": "open", "7ad": 2},
        {"id": "table", "kind": "furnitur"},
        7,
        {"id": "cup", "colour": "red"},
    ]
    edges = [
        {"source": "cup", "target": "table", "how": 1, "why": "x"},
        {"source": "cup", "target": "tabel", "relation": "on"},
        {"source": "cup", "target": "cup", "relation": "beside"},
        "on",
    ]
    with pytest.raises(DocumentError) as refused:
        read(document(nodes=nodes, edges=edges, directed=1, graph={"vocabulary": "x", "role": "y"}))
    causes: dict[str, str] = {}
    for place, cause in refused.value.problems:
        causes[place] = causes.get(place, "") + cause
    for place, words in {
        "$.directed": ["should be true or false"],
        "$.graph.role": ["should be 'world' or 'belief'"],
        "$.nodes[0]": [
            "id should be text",
            "kind should be",
            "pos should be a position",
            "states",
            "'7ad' is no prop",
        ],
        "$.nodes[1]": ["not 'furnitur' (did you mean 'furniture'?)"],
        "$.nodes[2]": ["should be a map, not 7"],
        "$.edges[0]": ["has no relation type", "no attribute such as 'how', 'why'"],
        "$.edges[1]": ["no node is called 'tabel'"],
        "$.edges[3]": ["should be a map, not 'on'"],
    }.items():
        assert all(word in causes[place] for word in words), (place, causes.get(place))
    assert len(refused.value.problems) == 8, "nothing is told twice, and a table that can't be made is no missing node"
    with pytest.raises(DocumentError) as undeclared:
        read(document(nodes=nodes[1:], edges=edges[1:3]))
    told = dict(undeclared.value.problems)
    assert "colour is no known property (did you mean 'color'?)" in told["$.nodes[2]"]
    assert "BESIDE is no known relation type" in told["$.edges[1]"]
    with pytest.raises(DocumentError) as repeated:
        read(document(nodes=[{"id": 1}, {"id": 1, "colour": "red"}], edges=[]))
    assert "colour is no known property" in dict(repeated.value.problems)["$.nodes[1]"], "of a repeated node too"
