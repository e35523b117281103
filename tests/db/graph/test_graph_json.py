"""JSON documents: lossless, strict, and every problem reported at its place."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.db.graph.delta import ChangeList, Delta, SetProperty, diff
from scenecypher.db.graph.graph_json import (
    delta_from_json,
    delta_hash,
    delta_json,
    node_document,
    node_from,
    value_document,
    value_from,
)
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Point, Properties, Relation, SceneGraph, Value, typed_key
from scenecypher.db.graph.scene_document import scene_document, scene_from_document, scene_schema
from scenecypher.db.graph.value import InvalidValue
from scenecypher.db.schema import KINDS, Declared
from scenecypher.errors import DocumentError
from tests.strategies import KEYS, TYPES, big_graph, scene_graphs, values

DECLARED = Declared(TYPES, KEYS)


def through_json(document: Any) -> Any:
    return json.loads(json.dumps(document, ensure_ascii=False, allow_nan=False))


@given(values())
def test_a_value_comes_back_exactly(value: Value) -> None:
    assert typed_key(value_from(through_json(value_document(value)), "color")) == typed_key(value)


@given(scene_graphs(), scene_graphs())
def test_a_delta_comes_back_exactly(before: SceneGraph, after: SceneGraph) -> None:
    delta = diff(before, after)
    text = delta_json(delta)
    assert delta_from_json(text) == delta
    assert delta_json(delta_from_json(text)) == text
    assert delta_json(Delta.of(reversed(delta.changes))) == text
    assert len(delta_hash(text)) == 64


def test_similar_deltas_have_different_hashes() -> None:
    alike: list[Value] = [1, 1.0, True, "1", (1,), 0.0, -0.0]
    texts = {delta_json(Delta.of([SetProperty("cup", "color", None, value)])) for value in alike}
    assert len({delta_hash(text) for text in texts}) == len(alike)


@given(
    scene_graphs(),
    st.sampled_from(["household", "virtualhome"]),
    st.sampled_from(["world", "belief"]),
    st.sampled_from(["", "from a file é"]),
)
def test_a_scene_comes_back_exactly(graph: SceneGraph, vocabulary: str, role: Any, source: str) -> None:
    scene = ImportedScene("home/é", graph, vocabulary, role=role, declared=DECLARED, source=source)
    document = scene_document(scene)
    assert scene_from_document(through_json(document), file="x.json") == scene
    assert scene_document(scene_from_document(through_json(document), file="x.json")) == document


def test_a_big_scene_comes_back_exactly() -> None:
    scene = ImportedScene("big", big_graph(3), declared=DECLARED)
    assert scene_from_document(through_json(scene_document(scene)), file="x.json") == scene


def test_the_document_has_the_published_format() -> None:
    graph = SceneGraph.of(
        [
            Node("cup_1", "Object", "cup", "cup", ("clean",), ("grabbable",), Properties({"center": Point(1, 2, 3)})),
            Node("box", "Asset", "box", "box"),
        ],
        [Relation("cup_1", "INSIDE", "box"), Relation("box", "BESIDE", "cup_1")],
    )
    assert scene_document(ImportedScene("home", graph, declared=Declared(("BESIDE",), ("weight",)))) == {
        "format": "scenecypher/scene",
        "version": 1,
        "name": "home",
        "vocabulary": "household",
        "role": "world",
        "source": "",
        "up": "z",
        "declared": {"relation_types": ["BESIDE"], "properties": ["weight"]},
        "nodes": [
            {"id": "box", "kind": "Asset", "name": "box", "class": "box"},
            {
                "id": "cup_1",
                "kind": "Object",
                "name": "cup",
                "class": "cup",
                "states": ["clean"],
                "affordances": ["grabbable"],
                "properties": {"center": {"point": [1.0, 2.0, 3.0]}},
            },
        ],
        "relations": [["box", "BESIDE", "cup_1"], ["cup_1", "INSIDE", "box"]],
    }


def test_documents_from_before_axes_were_declared_are_turned_as_their_homes_were() -> None:
    """An older document of a VirtualHome home has Unity's axes and does not say so; so may any that says so."""
    placed = [cup(properties={"center": {"point": [1, 0.8, 3]}, "size_y": 0.2})]
    ours, theirs = (
        Properties({"center": Point(1, 3, 0.8), "size_z": 0.2}),
        Properties({"center": Point(1, 0.8, 3), "size_y": 0.2}),
    )
    for fields, expected in (
        ({"vocabulary": "virtualhome_ext"}, ours),
        ({"up": "y"}, ours),
        ({"vocabulary": "virtualhome", "up": "z"}, theirs),
        ({}, theirs),
    ):
        read = scene_from_document(scene(nodes=placed, **fields), file="x")
        assert read.graph.nodes["cup"].properties == expected, fields
        assert bool(read.notes) == (expected is ours)
    assert not scene_from_document(scene(vocabulary="virtualhome"), file="x").notes, "nothing was turned"


def cup(**fields: Any) -> dict[str, Any]:
    return {"id": "cup", "kind": "Object", "name": "cup", "class": "cup", **fields}


def scene(**fields: Any) -> dict[str, Any]:
    return {"format": "scenecypher/scene", "version": 1, "name": "home", "nodes": [cup()], **fields}


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


TABLE = {"id": "table", "kind": "Asset", "name": "table", "class": "table"}
ON = ["cup", "ON", "table"]


@pytest.mark.parametrize(
    ("document", "problems"),
    [
        (None, {"$": "should be a map, not None"}),
        ([scene()], {"$": "should be a map, not [{"}),
        ({}, dict.fromkeys(("$.format", "$.version", "$.name", "$.nodes"), "is missing; add it")),
        (scene(format="scenegraph"), {"$.format": "should be 'scenecypher/scene', not 'scenegraph'"}),
        (scene(version=2), {"$.version": "version 2 is not known here, only 1; upgrade"}),
        (scene(version="1"), {"$.version": "should be a whole number, not '1'"}),
        (scene(version=True), {"$.version": "should be a whole number, not True"}),
        (scene(version=1.0), {"$.version": "should be a whole number, not 1.0"}),
        (scene(name=""), {"$.name": "text is empty"}),
        (scene(name=7), {"$.name": "should be text, not 7"}),
        (scene(vocabulary="alfred"), {"$.vocabulary": "'alfred' is none of household, virtualhome, virtualhome_ext"}),
        (scene(role="truth"), {"$.role": "should be 'world' or 'belief', not 'truth'"}),
        (scene(source="\ud83d"), {"$.source": "half a surrogate pair"}),
        (scene(author="me"), {"$.author": "is no field that is known here"}),
        (scene(nodes={}), {"$.nodes": "should be a list, not {}"}),
        (scene(nodes=[7]), {"$.nodes[0]": "should be a map, not 7"}),
        (scene(nodes=[cup(id=7)]), {"$.nodes[0].id": "should be text, not 7"}),
        (scene(nodes=[cup(id="i" * 501)]), {"$.nodes[0].id": "501 characters; at most 500"}),
        (scene(nodes=[cup(id="a\x00")]), {"$.nodes[0].id": "control character"}),
        (scene(nodes=[cup(name="x" * 10_000_000)]), {"$.nodes[0].name": "10,000,000 characters; at most 500"}),
        (scene(nodes=[cup(colour="red")]), {"$.nodes[0].colour": "is no field that is known here"}),
        (scene(nodes=[cup(class_="cup")]), {"$.nodes[0].class_": "is no field that is known here"}),
        (scene(nodes=[cup(kind="Room")]), {"$.nodes[0].kind": "kind 'Room' is none of Place"}),
        (scene(nodes=[cup(states="open")]), {"$.nodes[0].states": "should be a list, not 'open'"}),
        (scene(nodes=[cup(states=["open", 1])]), {"$.nodes[0].states[1]": "should be text, not 1"}),
        (scene(nodes=[cup(states=["s" * 101])]), {"$.nodes[0].states[0]": "101 characters; at most 100"}),
        (scene(nodes=[cup(properties=[])]), {"$.nodes[0].properties": "should be a map, not []"}),
        (scene(nodes=[cup(properties={"scene": "x"})]), {"$.nodes[0].properties.scene": "is no property name"}),
        (scene(nodes=[cup(properties={"a b": 1})]), {"$.nodes[0].properties['a b']": "is no property name"}),
        (scene(nodes=[cup(properties={"kg": 1})]), {"$.nodes[0].properties.kg": "add it to declared.properties"}),
        (scene(nodes=[cup(properties={"color": None})]), {"$.nodes[0].properties.color": "None is no text"}),
        (scene(nodes=[cup(properties={"color": math.nan})]), {"$.nodes[0].properties.color": "nan is outside"}),
        (scene(nodes=[cup(properties={"color": 2**63})]), {"$.nodes[0].properties.color": "bits is outside"}),
        (scene(nodes=[cup(properties={"color": [[1]]})]), {"$.nodes[0].properties.color": "is no text"}),
        (scene(nodes=[cup(properties={"color": [1, "a"]})]), {"$.nodes[0].properties.color": "one type only"}),
        (scene(nodes=[cup(properties={"color": deep(900)})]), {"$.nodes[0].properties.color": "is no text"}),
        (scene(nodes=[cup(properties={"color": {"r": 1}})]), {"$.nodes[0].properties.color": "a map can't be a value"}),
        (
            scene(nodes=[cup(properties={"center": {"point": [0.0, math.nan]}})]),
            {"$.nodes[0].properties.center": "finite numbers, not nan"},
        ),
        (scene(nodes=[cup(properties={"color": {"point": [0]}})]), {"$.nodes[0].properties.color": "a position is"}),
        (scene(nodes=[cup(), cup()]), {"$.nodes[1].id": "'cup' is the id at $.nodes[0].id already"}),
        (scene(declared={"relation_types": ["beside"]}), {"$.declared.relation_types[0]": "UPPER_SNAKE_CASE"}),
        (scene(declared={"properties": ["id"]}), {"$.declared.properties[0]": "is no property name"}),
        (scene(declared={"kinds": []}), {"$.declared.kinds": "is no field that is known here"}),
        (scene(relations=[["cup", "ON"]]), {"$.relations[0][2]": "is missing; add it"}),
        (scene(relations=[["cup", "ON", "cup", "x"]]), {"$.relations[0]": "has 4 items; 3 are needed"}),
        (scene(relations=[["cup", "ON", 7]]), {"$.relations[0][2]": "should be text, not 7"}),
        (scene(relations=[ON]), {"$.relations[0][2]": "no node has the id 'table'"}),
        (scene(relations=[["cup", "ON", "cup"]] * 2), {"$.relations[1]": "same relation as $.relations[0]"}),
        (scene(relations=[["cup", "BESIDE", "cup"]]), {"$.relations[0][1]": "add it to declared.relation_types"}),
        (scene(relations=[["cup", "ON]-()//", "cup"]]), {"$.relations[0][1]": "must be UPPER_SNAKE_CASE"}),
    ],
)  # fmt: skip
def test_a_problem_is_told_at_its_place(document: object, problems: dict[str, str]) -> None:
    with pytest.raises(DocumentError) as caught:
        scene_from_document(document, file="x.json")
    assert [place for place, _ in caught.value.problems] == [*problems]
    for (_, cause), words in zip(caught.value.problems, problems.values(), strict=True):
        assert words in cause
        assert len(cause) < 250
    assert str(caught.value).startswith("x.json: $")


def test_all_problems_are_told_at_once() -> None:
    broken = scene(
        nodes=[cup(id=7), cup(), cup(states=[""]), {"id": "mug"}], relations=[ON, ["cup", "on", "cup"], 3], role="x"
    )
    with pytest.raises(DocumentError) as caught:
        scene_from_document(broken, file="x.json")
    assert {place for place, _ in caught.value.problems} == {
        "$.role",
        "$.nodes[0].id",
        "$.nodes[2]",
        "$.nodes[3].kind",
        "$.relations[0][2]",
        "$.relations[1][1]",
        "$.relations[2]",
    }


def test_one_bad_node_is_one_problem() -> None:
    nodes = [{"name": "tray"}, cup(id=7, kind="Objct", states=3), "mug"]
    relations = [["tray", "ON", "mug"], ["mug", "ON", "tray"]]
    no_kind = f"kind 'Objct' is none of {', '.join(KINDS)} (did you mean 'Object'?)"
    with pytest.raises(DocumentError) as caught:
        scene_from_document(scene(nodes=nodes, relations=relations), file="x.json")
    assert caught.value.problems == (
        ("$.nodes[0]", "id: is missing; add it; kind: is missing; add it"),
        (
            "$.nodes[1]",
            f"id: should be text, not 7; kind: {no_kind}; states: should be a list, not 3",
        ),
        ("$.nodes[2]", "should be a map, not 'mug'"),
    )


def test_the_nearest_words_are_named() -> None:
    nodes = [cup(properties={"colour": "red"}), {"id": "tabel", "kind": "Asset"}]
    relations = [["cup", "INSIDEE", "cup"], ["cup", "on", "cup"], ["cup", "ON", "table"]]
    with pytest.raises(DocumentError) as caught:
        scene_from_document(scene(nodes=nodes, relations=relations), file="x.json")
    hints = [cause[cause.index("(did") :].split(")")[0] for _, cause in caught.value.problems]
    assert hints == [
        "(did you mean 'ON'?",
        "(did you mean 'color'?",
        "(did you mean 'INSIDE'?",
        "(did you mean 'tabel'?",
    ]


def test_name_and_class_have_defaults() -> None:
    nodes = [{"id": "cup-2", "kind": "Object"}, {"id": "7", "kind": "Object", "name": "mug_3"}]
    found = scene_from_document(scene(nodes=nodes, relations=[]), file="x.json").graph.nodes
    assert [(it.name, it.class_) for it in found.values()] == [("cup-2", "cup"), ("mug_3", "mug")]
    with pytest.raises(DocumentError, match="is empty"):
        scene_from_document(scene(nodes=[cup(name="")], relations=[]), file="x.json")


def test_hints_are_bounded() -> None:
    """A comparison with all names takes time: only the problems that a message shows have one."""
    relations = [["cup", "ON", f"cupp{number}"] for number in range(100)]
    with pytest.raises(DocumentError) as caught:
        scene_from_document(scene(nodes=[cup()], relations=relations), file="x.json")
    assert [("did you mean" in cause) for _, cause in caught.value.problems] == [True] * 20 + [False] * 80


def test_thousands_of_problems_are_cut_short() -> None:
    with pytest.raises(DocumentError) as caught:
        scene_from_document(scene(nodes=[cup(kind="x") for _ in range(5_000)]), file="x.json")
    assert len(caught.value.problems) == 1_000
    assert len(str(caught.value).splitlines()) == 21


@pytest.mark.parametrize("vocabulary", ["grasif", "babyai"])
def test_two_places_are_refused_in_a_vocabulary_with_one_parent(vocabulary: str) -> None:
    inside = ["cup", "INSIDE", "table"]
    two = scene(vocabulary=vocabulary, nodes=[cup(), TABLE], relations=[ON, ["cup", "CLOSE", "table"], inside])
    with pytest.raises(DocumentError, match=r"\$.nodes\[0\]: it is in, on or held by 'table', 'table' at once"):
        scene_from_document(two, file="x.json")
    round_about = scene(vocabulary=vocabulary, nodes=[cup(), TABLE], relations=[["table", "INSIDE", "cup"], ON])
    with pytest.raises(DocumentError, match=r"\$.nodes\[.\]: following what it is in or on leads back to it"):
        scene_from_document(round_about, file="x.json")
    assert scene_from_document({**two, "vocabulary": "virtualhome"}, file="x.json")
    assert scene_from_document({**round_about, "vocabulary": "virtualhome"}, file="x.json")


def test_a_self_loop_is_refused_and_a_deep_chain_is_not() -> None:
    chain = [cup(id=f"n{number}") for number in range(10_000)]
    links = [[f"n{number}", "INSIDE", f"n{number + 1}"] for number in range(9_999)]
    assert scene_from_document(scene(vocabulary="grasif", nodes=chain, relations=links), file="x.json")
    closed = scene(vocabulary="grasif", nodes=chain, relations=[*links, ["n9999", "INSIDE", "n9999"]])
    with pytest.raises(DocumentError, match=r"\$.nodes\[9999\]: following what it is in or on leads back to it"):
        scene_from_document(closed, file="x.json")


def test_text_is_normalized_before_it_is_compared() -> None:
    loose = scene(nodes=[cup(id="e\u0301")], relations=[["é", "ON", "e\u0301"]])
    assert scene_from_document(loose, file="x.json").graph.relations == {Relation("é", "ON", "é")}
    with pytest.raises(DocumentError, match="is the id at"):
        scene_from_document(scene(nodes=[cup(id="e\u0301"), cup(id="é")]), file="x.json")


def test_the_schema_matches_the_validation() -> None:
    schema = scene_schema()
    assert schema["properties"]["format"] == {"const": "scenecypher/scene", "title": "Format", "type": "string"}
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) == {"format", "version", "name", "nodes"}
    node = schema["$defs"]["_NodeForm"]
    assert node["required"] == ["id", "kind"]
    assert node["properties"]["kind"]["enum"] == ["Place", "Asset", "Object", "Agent", "Door", "Waypoint"]
    json.dumps(schema)


def test_a_node_comes_back_without_empty_fields() -> None:
    document = node_document(Node("cup", "Object", "cup", "cup"))
    assert document == cup()
    assert node_from(document) == Node("cup", "Object", "cup", "cup")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[1]",
        '["kind"]',
        '[["kind","cup"]]',
        '[["?","cup"]]',
        '[["+node",{"id":"cup"}]]',
        '[["+node",7]]',
        '[["set","cup","color",null,{"a":1}]]',
        '[["set","cup","scene",null,1]]',
        '[["+rel","a","on","b"]]',
        '[["states","cup","ab",[]]]',
        '[["set","cup","color",null,NaN]]',
        "[" * 100_000,
    ],
    ids=range(14),
)
def test_a_malformed_delta_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        delta_from_json(text)


def test_a_delta_that_a_person_wrote_becomes_canonical() -> None:
    delta = delta_from_json('[["states","cup",["b","a","b"],[]]]')
    assert delta == Delta.of([ChangeList("cup", "states", ("a", "b"))])
