"""3D scene graphs of Hydra: a whole real one, old and new forms of files, label spaces, and the export."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import LIST_LENGTH, InvalidValue, Node, Point, Properties, Relation, SceneGraph
from scenecypher.db.schema import KINDS
from scenecypher.errors import DocumentError
from scenecypher.importers.dsg import from_document, read_scene, symbol, symbol_number
from scenecypher.importers.dsg_format import LAYERS
from scenecypher.importers.export import dsg_document

APARTMENT: Final = Path(__file__).parent.parent / "data" / "dsg" / "apartment_dsg.json"
UPRIGHT: Final = {"w": 1.0, "x": 0.0, "y": 0.0, "z": 0.0}
BOX: Final = {"type": "AABB", "world_P_center": [1, 2, 3], "world_R_center": UPRIGHT, "dimensions": [4, 5, 6]}


@pytest.fixture(scope="module")
def apartment() -> ImportedScene:
    return read_scene(APARTMENT)


def node(id_: str, layer: int, *, partition: int = 0, **attributes: Any) -> dict[str, Any]:
    attributes = {"type": "SemanticNodeAttributes", "position": [0.0, 0.5, 1.0], **attributes}
    return {"id": symbol_number(id_), "layer": layer, "partition": partition, "attributes": attributes}


def edge(source: str, target: str) -> dict[str, Any]:
    return {
        "source": symbol_number(source),
        "target": symbol_number(target),
        "info": {"type": "EdgeAttributes", "weight": 1},
    }


def document(*nodes: dict[str, Any], edges: list[dict[str, Any]] | None = None, **fields: Any) -> dict[str, Any]:
    return {"directed": False, "multigraph": False, "nodes": [*nodes], "edges": edges or [], **fields}


def read(document: object) -> ImportedScene:
    return from_document(document, file="x.json", name="dsg/x")


def test_a_real_apartment(apartment: ImportedScene) -> None:
    graph = apartment.graph
    assert (apartment.name, len(graph.nodes)) == ("dsg/apartment_dsg", 195)
    assert Counter(node.properties["layer"] for node in graph.nodes.values()) == {
        "PLACES": 185,
        "AGENTS": 1,
        "OBJECTS": 7,
        "ROOMS": 1,
        "BUILDINGS": 1,
    }
    assert Counter(relation.type for relation in graph.relations) == {"CONNECTS": 2 * 396, "INSIDE": 144}
    assert graph.targets("R(0)", "INSIDE") == ("B(0)",)
    chair = graph.nodes["O(0)"]
    assert (chair.kind, chair.class_, chair.name) == ("Object", "label_5", "O(0)")
    facts = chair.properties
    assert facts["center"] == Point(-13.211346626281738, -3.800497531890869, 1.4869734048843384)
    assert facts["position"] == Point(-13.216781616210938, -3.7463879585266113, 1.492774248123169)
    assert (facts["size_x"], facts["color"], facts["rotation"]) == (1.0182037353515625, "#db80df", (1.0, 0.0, 0.0, 0.0))
    assert [graph.nodes[id_].kind for id_ in ("R(0)", "B(0)", "a", "p(6)")] == ["Place", "Place", "Agent", "Waypoint"]
    place = graph.nodes["p(6)"].properties
    assert place["center"] == Point(-13.15000057220459, -2.450000047683716, 1.75)
    assert "size_x" not in place
    assert graph.targets("O(0)", "INSIDE")[0].startswith("p(")


def test_the_poses_of_a_robot_are_one_agent(apartment: ImportedScene) -> None:
    robot = apartment.graph.nodes["a"]
    facts = robot.properties
    path, times = facts["path"], facts["times"]
    assert isinstance(path, tuple)
    assert isinstance(times, tuple)
    assert (robot.name, robot.class_, len(path), len({*times})) == ("robot_a", "robot", 102, 102)
    assert (facts["center"], path[0]) == (path[-1], Point(-16.04391, -2.61944, 2.461393))
    assert [*times] == sorted(times)  # type: ignore[type-var]
    assert (times[0], times[-1]) == (3_647_910_000, 28_447_910_000)
    assert apartment.graph.outgoing["a"] == (Relation("a", "INSIDE", "R(0)"),)


def pose(id_: str, time: int | None, at: float = 0.0) -> dict[str, Any]:
    when = {} if time is None else {"timestamp": time}
    facts = {"type": "AgentNodeAttributes", "position": [at, 0.0, 0.0], "world_R_body": UPRIGHT, **when}
    return node(id_, 2, partition=ord(id_[0]), **facts)


def test_each_robot_has_its_own_path() -> None:
    poses = [pose("a(1)", 20, 2.0), pose("a(0)", 10, 1.0), pose("b(4)", 5, 9.0), pose("b(7)", None, 7.0)]
    edges = [edge("a(0)", "a(1)"), edge("a(1)", "b(4)"), edge("a(0)", "p(1)"), edge("a(1)", "p(2)")]
    graph = read(document(*poses, node("p(1)", 3), node("p(2)", 3), edges=edges)).graph
    assert graph.nodes["a"].properties["path"] == (Point(1, 0, 0), Point(2, 0, 0))
    assert graph.nodes["a"].properties["times"] == (10, 20)
    assert "times" not in graph.nodes["b"].properties, "one of its poses has no time"
    assert graph.relations == {Relation("a", "INSIDE", "p(2)")}, "the latest pose's place, in no room"


def test_a_robot_is_in_the_room_of_its_waypoints() -> None:
    rooms = [node("R(1)", 4), node("R(2)", 4)]
    places = [node(f"p({number})", 3) for number in (1, 2, 3)]
    links = [("p(1)", "R(1)"), ("p(2)", "R(1)"), ("p(3)", "R(1)"), ("p(3)", "R(2)")]
    near = [("a(0)", "p(1)"), ("p(2)", "a(0)")]
    graph = read(document(pose("a(0)", 1), *rooms, *places, edges=[edge(*ends) for ends in [*links, *near]])).graph
    assert graph.targets("a", "INSIDE") == ("R(1)",)
    between = read(document(pose("a(0)", 1), *rooms, *places, edges=[edge(*e) for e in [*links, ("a(0)", "p(3)")]]))
    assert between.graph.targets("a", "INSIDE") == ("p(3)",), "a waypoint of two rooms is in neither"
    new = read(document(pose("a(0)", 1), pose("a(1)", 2), *rooms, *places, edges=[edge(*e) for e in [*links, *near]]))
    assert new.graph.targets("a", "INSIDE") == ("R(1)",), "a pose that is joined to nothing yet"


def test_a_very_long_path_keeps_its_latest_poses() -> None:
    scene = read(document(*(pose(f"a({number})", number, float(number)) for number in range(LIST_LENGTH + 3))))
    facts = scene.graph.nodes["a"].properties
    assert isinstance(facts["path"], tuple)
    assert (len(facts["path"]), facts["path"][0], facts["center"]) == (LIST_LENGTH, Point(3, 0, 0), Point(10_002, 0, 0))
    assert scene.notes == ("a: path and times list the latest 10,000 of 10,003 poses",)


def test_an_export_is_a_current_file_of_the_same_scene(apartment: ImportedScene) -> None:
    document = json.loads(json.dumps(dsg_document(apartment), allow_nan=False))
    assert (len(document["nodes"]), len(document["edges"])) == (296, 742 - 101)
    assert {"layer": 2, "partition": 97} in document["layer_keys"]
    back = from_document(document, file=str(APARTMENT), name=apartment.name)
    assert back == apartment
    assert dsg_document(back) == document


def test_a_current_file_names_its_layers_and_labels() -> None:
    names = {"ROOMS": {"layer": 7, "partition": 0}, "AGENTS": {"layer": 2, "partition": 0}, "OBJECTS": 2}
    spaces = {"_l2p0": [[5, "chair"], [6, "table"]], "_l7p0": {"1": "kitchen"}}
    scene = read(
        document(
            node(
                "O(1)", 2, semantic_label=5, bounding_box=BOX, color={"r": 1, "g": 2, "b": 3, "a": 4}, name="my chair"
            ),
            node("O(2)", 2, semantic_label=9, bounding_box={"type": "INVALID"}, color=[255, 0, 0]),
            node("O(3)", 2, semantic_label=2**32 - 1),
            node("R(1)", 7, semantic_label=1),
            node("P(1)", 3, partition=1),
            node("p(1)", 3),
            node("b(1)", 2, partition=ord("b"), type="AgentNodeAttributes", world_R_body=UPRIGHT),
            edges=[edge("O(1)", "R(1)"), edge("p(1)", "P(1)"), edge("O(1)", "O(2)"), edge("b(1)", "O(1)")],
            layer_names=names,
            metadata={"labelspaces": spaces, "other": 1},
        )
    )
    graph = scene.graph
    classes = {node_id: node.class_ for node_id, node in graph.nodes.items()}
    assert classes == {
        "O(1)": "chair",
        "O(2)": "label_9",
        "O(3)": "object",
        "R(1)": "kitchen",
        "P(1)": "mesh_place",
        "p(1)": "place",
        "b": "robot",
    }
    chair = graph.nodes["O(1)"]
    assert (chair.name, chair.properties["color"], graph.nodes["O(2)"].properties["color"]) == (
        "my chair",
        "#01020304",
        "#ff0000",
    )
    assert [chair.properties[key] for key in ("size_x", "size_y", "size_z")] == [4.0, 5.0, 6.0]
    close = {Relation(a, "CLOSE", b) for a, b in [("p(1)", "P(1)"), ("O(1)", "O(2)"), ("b", "O(1)")]}
    assert graph.relations == {Relation("O(1)", "INSIDE", "R(1)")} | close | {
        Relation(r.target, r.type, r.source) for r in close
    }
    assert read(json.loads(json.dumps(dsg_document(scene)))) == scene


def test_rotation_and_type_of_a_box_are_kept() -> None:
    turned = {**BOX, "type": "OBB", "world_R_center": {"w": 0.5, "x": 0.5, "y": 0.5, "z": 0.5}}
    scene = read(document(node("O(1)", 2, bounding_box=turned)))
    facts = scene.graph.nodes["O(1)"].properties
    assert (facts["box_type"], facts["box_rotation"]) == ("OBB", (0.5, 0.5, 0.5, 0.5))
    assert read(dsg_document(scene)) == scene


def test_the_tables_lead_to_the_registry() -> None:
    assert {layer.kind for layer in LAYERS.values()} <= set(KINDS)
    assert len({(layer.number, layer.partition) for layer in LAYERS.values()}) == len(LAYERS)


@given(st.integers(0, 2**64 - 1))
def test_every_symbol_round_trips(number: int) -> None:
    assert symbol_number(symbol(number)) == number


@pytest.mark.parametrize(
    "text", ["O(-1)", "O(1", "É(1)", "cup", "", f"O({2**56})", "5692549928996306944", "O(01)", "٣"]
)
def test_invalid_symbols_are_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="is no symbol of a 3D scene graph"):
        symbol_number(text)


LAYERED: Final = Properties({"layer": "OBJECTS", "node_type": "ObjectNodeAttributes", "center": Point(1, 2, 3)})


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        (Node("O(1)", "Object", "O(1)", "x"), "has no layer of a 3D scene graph; only scenes from `import dsg`"),
        (Node("cup", "Object", "cup", "x", (), (), LAYERED), "is no symbol"),
        (Node("O(1)", "Object", "O(1)", "x", ("open",), (), LAYERED), "has no states or affordances"),
        (Node("O(1)", "Object", "O(1)", "x", (), (), LAYERED.having("prefab", "y")), "has no prefab"),
        (Node("O(1)", "Object", "O(1)", "x", (), (), LAYERED.having("center", None)), "has no position in space"),
        (Node("O(1)", "Object", "O(1)", "x", (), (), LAYERED.having("center", Point(1, 2))), "has no position in"),
        (Node("O(1)", "Object", "O(1)", "x", (), (), LAYERED.having("color", "red")), "not of the form #rrggbb"),
        (Node("O(1)", "Object", "O(1)", "x", (), (), LAYERED.having("rotation", 1)), "is no rotation"),
    ],
)
def test_content_that_the_form_lacks_is_not_exported(changed: Node, cause: str) -> None:
    with pytest.raises(InvalidValue, match=cause):
        dsg_document(ImportedScene("x", SceneGraph.of([changed])))


@pytest.mark.parametrize(
    ("broken", "place", "cause"),
    [
        ({}, "$.nodes", "is missing"),
        (document({"id": -1, "layer": 2, "attributes": {}}), "$.nodes[0].id", "should be at least 0"),
        (document(node("O(1)", 2) | {"id": 2**64}), "$.nodes[0].id", "should be below 18446744073709551616"),
        (document(node("O(1)", 9)), "$.nodes[0].layer", "the layer '9' is none of SEGMENTS, OBJECTS"),
        (document(node("O(1)", 2, position=[0, "x", 1])), "$.nodes[0].attributes.position[1]", "should be a number"),
        (document(node("O(1)", 2, bounding_box={**BOX, "dimensions": None})), "$.nodes[0]", "has neither dimensions"),
        (
            document(node("O(1)", 2, bounding_box={"type": "AABB"})),
            "$.nodes[0].attributes.bounding_box.world_P_center",
            "is missing",
        ),
        (
            document(node("O(1)", 2, color=[300, 0, 0])),
            "$.nodes[0].attributes.color",
            "red, green and blue from 0 to 255",
        ),
        (document(node("O(1)", 2, last_update_time_ns=2**63)), "$.nodes[0]", "last_update_time_ns"),
        (document(node("O(1)", 2), layer_names={"OBJECTS": "two"}), "$.layer_names.OBJECTS", ""),
    ],
)
def test_invalid_files_are_refused(broken: object, place: str, cause: str) -> None:
    with pytest.raises(DocumentError) as refused:
        read(broken)
    assert refused.value.place == place
    assert cause in refused.value.cause
