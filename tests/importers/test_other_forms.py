"""Files as other tools write them: recognized by their content, read as scenes, or told what they are."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, Final, TypeAlias

import networkx as nx
import pytest

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Point
from scenecypher.errors import DocumentError
from scenecypher.importers import dsg, networkx_json
from scenecypher.importers.detect import OURS, read_any, told_form
from scenecypher.importers.dsg import symbol_number
from scenecypher.importers.dsg_format import LabelSpace
from scenecypher.testing import check_format

SCAN: Final = "0a-1b"
RELATIONSHIPS: Final[dict[str, Any]] = {
    "scans": [
        {
            "scan": SCAN,
            "split": 0,
            "objects": {"1": "floor", "2": "desk", "3": "lamp"},
            "relationships": [
                [2, 1, 15, "standing on"],
                [2, 1, 1, "supported by"],
                [3, 2, 14, "lying on"],
                [3, 2, 7, "close by"],
                [3, 2, 2, "left"],
                [3, 2, 0, "none"],
            ],
        }
    ]
}
OBJECTS: Final[dict[str, Any]] = {
    "scans": [
        {
            "scan": SCAN,
            "objects": [
                {"id": "2", "label": "desk", "nyu40": "14", "affordances": ["placing items on"], "attributes": {}},
                {"id": "3", "label": "lamp", "attributes": {"state": ["turned off"], "color": ["red", "white"]}},
            ],
        }
    ]
}


Position: TypeAlias = tuple[float, float, float]


def thor(type_: str, number: int, *, at: Position = (1, 2, 3), **facts: Any) -> dict[str, Any]:
    x, y, z = at
    plain = {"rotation": {"x": 0, "y": 90, "z": 0}, "isOpen": False, "isDirty": False, "parentReceptacles": None}
    position = {"position": {"x": x, "y": y, "z": z}}
    return (
        {"name": f"{type_}_{number}", "objectId": f"{type_}|{number}", "objectType": type_} | plain | position | facts
    )


METADATA: Final[dict[str, Any]] = {
    "sceneName": "FloorPlan12_physics",
    "agent": {"name": "agent", "position": {"x": 0, "y": 0.9, "z": 0}, "cameraHorizon": 30},
    "objects": [
        thor("Fridge", 1, openable=True, receptacle=True, isOpen=True),
        thor("CounterTop", 1, receptacle=True),
        thor("Mug", 1, pickupable=True, receptacle=True, isDirty=True, dirtyable=True, parentReceptacles=["Fridge|1"]),
        thor("Fork", 1, pickupable=True, parentReceptacles=["CounterTop|1", "Floor|9"]),
        thor("Egg", 1, pickupable=True, isPickedUp=True),
    ],
}
FLOOR: Final = [{"x": x, "y": 0, "z": z} for x, z in ((0, 0), (0, 4), (4, 4), (4, 0))]
HOUSE: Final[dict[str, Any]] = {
    "rooms": [
        {"id": "room|1", "roomType": "Kitchen", "floorPolygon": FLOOR},
        {"id": "room|2", "roomType": "Bedroom", "floorPolygon": []},
    ],
    "doors": [{"id": "door|1|2", "room0": "room|1", "room1": "room|2", "openness": 1, "openable": True}],
    "objects": [
        {"id": "Table|1|0", "assetId": "Table_2", "kinematic": True, "position": {"x": 1, "y": 0.4, "z": 2},
         "children": [{"id": "Mug|surface|1|5", "assetId": "Mug_1", "position": {"x": 1, "y": 0.8, "z": 2}}]},
        {"id": "Fridge|2|1", "assetId": "Fridge_1", "kinematic": True, "openness": 0, "children": [{"id": "Egg|x|3"}]},
    ],
    "metadata": {"agent": {"position": {"x": 1, "y": 0.9, "z": 1}, "horizon": 30}},
    "walls": [],
    "windows": [],
    "proceduralParameters": {},
}  # fmt: skip
SAYPLAN: Final[dict[str, Any]] = {
    "nodes": {
        "room": [{"id": "study"}, {"id": "hall"}],
        "asset": [
            {"id": "drawer", "room": "study", "state": "closed", "affordances": ["open", "close", "release"]},
            {"id": "desk", "room": "study", "affordances": ["release"]},
        ],
        "object": [
            {"id": "pen", "parent": "drawer", "affordances": ["pickup"], "attributes": "blue"},
            {"id": "key", "parent": "robot"},
            {"id": "cup"},
        ],
        "agent": [{"id": "robot", "location": "hall"}],
    },
    "links": ["study↔hall", "drawer↔study", "cup<->desk", ["robot", "hall"]],
}
TREE: Final[dict[str, Any]] = {
    "name": "flat",
    "rooms": [
        {
            "name": "kitchen",
            "neighbors": ["hall"],
            "furniture": [{"name": "table", "on": ["mug", {"name": "plate", "state": "dirty"}]}],
            "objects": [{"name": "shelf", "position": {"x": 1, "y": 2, "z": 0}, "contents": ["book"]}],
        },
        {"name": "hall", "objects": {"cupboard": {"states": ["closed"], "objects": ["coat"]}, "rug": None}},
    ],
    "robot": {"name": "robby", "room": "kitchen", "holding": "mug"},
}


def written(folder: Path, name: str, document: object) -> Path:
    file = folder / name
    file.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return file


def relations(scene: ImportedScene) -> set[tuple[str, str, str]]:
    return {(it.source, it.type, it.target) for it in scene.graph.relations}


def test_a_scan_of_3rscan_is_a_scene(tmp_path: Path) -> None:
    """Predicates that are the same relation are one; others are types that the scene declares."""
    scene = read_any(written(tmp_path, "relationships.json", RELATIONSHIPS))
    assert scene.name == f"3rscan/{SCAN}"
    assert relations(scene) == {
        ("2", "ON", "1"),
        ("3", "ON", "2"),
        ("3", "CLOSE", "2"),
        ("2", "CLOSE", "3"),
        ("3", "LEFT", "2"),
    }
    assert scene.declared.relation_types == ("LEFT",)
    assert scene.graph.nodes["1"].kind == "Asset"


def test_both_files_of_a_scan_are_one_scene(tmp_path: Path) -> None:
    written(tmp_path, "relationships.json", RELATIONSHIPS)
    written(tmp_path, "objects.json", OBJECTS)
    scene = read_any(tmp_path)
    lamp = scene.graph.nodes["3"]
    assert (lamp.name, lamp.states, lamp.properties["color"]) == ("lamp_3", ("turned_off",), "red, white")
    assert scene.graph.nodes["2"].affordances == ("put_on",)
    assert scene.graph.nodes["2"].kind == "Asset", "as the file says that puts things on it"
    assert ("3", "ON", "2") in relations(scene)


def test_one_of_several_scans_is_chosen_by_its_name(tmp_path: Path) -> None:
    two = {"scans": [RELATIONSHIPS["scans"][0], {**RELATIONSHIPS["scans"][0], "scan": "9z"}]}
    file = written(tmp_path, "relationships.json", two)
    assert read_any(file, name="9z").name == "3rscan/9z"
    with pytest.raises(DocumentError, match="here are 2 scenes, such as 3rscan/0a-1b, 3rscan/9z; name one"):
        read_any(file)


def test_a_folder_without_a_file_is_told_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"no file that ends in \.json, .*\.yaml, .* is in it; check the path"):
        read_any(tmp_path)


@pytest.mark.parametrize("form", ["event", "metadata", "objects"])
def test_metadata_of_thor_is_a_scene(tmp_path: Path, form: str) -> None:
    document = {"event": {"metadata": METADATA}, "metadata": METADATA, "objects": METADATA["objects"]}[form]
    scene = read_any(written(tmp_path, "thor.json", document))
    mug, fridge = scene.graph.nodes["Mug|1"], scene.graph.nodes["Fridge|1"]
    assert (mug.class_, mug.name, mug.kind, mug.states) == ("Mug", "Mug_1", "Object", ("dirty",))
    assert {"grabbable", "containers"} <= {*mug.affordances}
    assert (fridge.kind, fridge.states, fridge.properties["center"]) == ("Asset", ("open",), Point(1, 3, 2))
    expected = {("Mug|1", "INSIDE", "Fridge|1"), ("Fork|1", "ON", "CounterTop|1")}
    with_room = {("Fridge|1", "INSIDE", "FloorPlan12_physics"), ("agent", "INSIDE", "FloorPlan12_physics")}
    with_room |= {("CounterTop|1", "INSIDE", "FloorPlan12_physics"), ("agent", "HOLDS", "Egg|1")}
    assert relations(scene) == (expected if form == "objects" else expected | with_room)
    assert any("1 relations to things that are not in the file" in note for note in scene.notes)
    if form != "objects":
        assert scene.graph.nodes["FloorPlan12_physics"].class_ == "kitchen"


def test_a_house_of_procthor_is_a_scene(tmp_path: Path) -> None:
    scene = read_any(written(tmp_path, "house.json", HOUSE))
    assert relations(scene) == {
        ("Table|1|0", "INSIDE", "room|1"),
        ("Mug|surface|1|5", "ON", "Table|1|0"),
        ("Fridge|2|1", "INSIDE", "room|2"),
        ("Egg|x|3", "INSIDE", "Fridge|2|1"),
        ("door|1|2", "BETWEEN", "room|1"),
        ("door|1|2", "BETWEEN", "room|2"),
        ("agent", "INSIDE", "room|1"),
    }
    kinds = {scene.graph.nodes[it].kind for it in ("room|1", "door|1|2", "Table|1|0", "Egg|x|3", "agent")}
    assert kinds == {"Place", "Door", "Asset", "Object", "Agent"}
    assert scene.graph.nodes["Fridge|2|1"].states == ("closed",)


def test_a_house_of_holodeck_is_one_too(tmp_path: Path) -> None:
    counter = {"id": "counter-0 (kitchen)", "object_name": "counter-0", "roomId": "kitchen", "kinematic": True}
    mug = {"id": "mug-0|counter-0 (kitchen)", "roomId": "kitchen", "kinematic": False}
    rooms = [{"id": "kitchen", "roomType": "kitchen", "floorPolygon": []}]
    scene = read_any(written(tmp_path, "house.json", {"rooms": rooms, "objects": [counter, mug], "doors": []}))
    assert relations(scene) == {(counter["id"], "INSIDE", "kitchen"), (mug["id"], "ON", counter["id"])}
    assert [(it.kind, it.class_) for it in scene.graph.nodes.values() if it.id == counter["id"]] == [
        ("Asset", "counter")
    ]
    assert scene.graph.nodes[str(mug["id"])].class_ == "mug"


def corners(low: Position, high: Position) -> list[list[float]]:
    return [[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]


def hovsg(folder: Path) -> Path:
    floor = {"floor_id": "0", "name": "floor_0", "rooms": ["0_0"], "vertices": [], "floor_zero_level": 0.0}
    room = {"room_id": "0_0", "name": "kitchen", "floor_id": "0", "objects": [], "room_zero_level": 0.0}
    mug = {"object_id": "0_0_0", "room_id": "0_0", "name": "mug", "embedding": [0.1, 0.2]}
    bed: dict[str, Any] = {"object_id": "0_0_1", "room_id": "0_0", "name": None, "embedding": "", "vertices": []}
    parts: dict[str, object] = {
        "floors/0": floor,
        "rooms/0_0": {**room, "vertices": corners((0, 0, 0), (4, 2, 3)), "embeddings": [[1.0]]},
    }
    parts |= {"objects/0_0_0": {**mug, "vertices": corners((1, 0.8, 2), (1.2, 1.0, 2.4))}, "objects/0_0_1": bed}
    for name, part in parts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        written(folder, f"{name}.json", part)
    return folder


def test_a_folder_of_hovsg_is_a_scene_with_z_up_and_vectors(tmp_path: Path) -> None:
    scene = read_any(hovsg(tmp_path / "flat"))
    assert scene.name == "hovsg/flat"
    assert relations(scene) == {("0_0", "INSIDE", "0"), ("0_0_0", "INSIDE", "0_0"), ("0_0_1", "INSIDE", "0_0")}
    mug, nodes = scene.graph.nodes["0_0_0"], scene.graph.nodes
    assert [(it.kind, it.class_) for it in nodes.values()] == [
        ("Place", "floor"), ("Place", "kitchen"), ("Object", "mug"), ("Object", "object"),
    ]  # fmt: skip
    x, y, z = (mug.properties[key] for key in ("size_x", "size_y", "size_z"))
    assert (x, y, z) == pytest.approx((0.2, 0.4, 0.2))
    center = mug.properties["center"]
    assert isinstance(center, Point)
    assert (center.x, center.y, center.z) == pytest.approx((1.1, -2.2, 0.9))
    assert [(it.space.name, [*it.rows]) for it in scene.vectors] == [("embedding", ["0_0_0"])]


@pytest.mark.parametrize(
    ("part", "spoilt", "cause"),
    [
        ("objects/0_0_0", {"object_id": "0_0_0", "vertices": [[1, 2]]}, r"0_0_0\.json: \$\.vertices\[0\]"),
        ("rooms/0_0", [], r"0_0\.json: \$"),
        ("objects/0_0_1", {"object_id": "0_0_0", "name": "bed"}, "0_0_0"),
    ],
)
def test_a_spoilt_part_of_hovsg_is_told_by_its_file(tmp_path: Path, part: str, spoilt: object, cause: str) -> None:
    folder = hovsg(tmp_path / "flat")
    written(folder, f"{part}.json", spoilt)
    with pytest.raises(DocumentError, match=cause):
        read_any(folder)


def test_a_part_of_hovsg_alone_is_told_with_its_folder(tmp_path: Path) -> None:
    folder = hovsg(tmp_path / "flat")
    with pytest.raises(
        DocumentError, match=rf"a part of a map of HOV-SG; give its folder: `scenecypher import {folder}`"
    ):
        read_any(folder / "objects" / "0_0_0.json")


def test_nodes_by_kind_as_sayplan_has_them_are_a_scene(tmp_path: Path) -> None:
    scene = read_any(written(tmp_path, "office.json", SAYPLAN))
    assert relations(scene) == {
        ("study", "CONNECTS", "hall"),
        ("hall", "CONNECTS", "study"),
        ("drawer", "INSIDE", "study"),
        ("desk", "INSIDE", "study"),
        ("pen", "INSIDE", "drawer"),
        ("cup", "ON", "desk"),
        ("robot", "INSIDE", "hall"),
        ("robot", "HOLDS", "key"),
    }
    drawer, pen = scene.graph.nodes["drawer"], scene.graph.nodes["pen"]
    assert (drawer.kind, drawer.states, drawer.affordances) == ("Asset", ("closed",), ("close", "open", "put_on"))
    assert (pen.affordances, pen.properties["attributes"]) == (("pick_up",), "blue")


def test_a_bad_link_or_record_is_told_at_its_place(tmp_path: Path) -> None:
    bad = {"nodes": {"room": [{"id": "a"}, 7, {"id": "a"}]}, "links": ["a↔nowhere", 5]}
    with pytest.raises(DocumentError) as refused:
        read_any(written(tmp_path, "bad.json", bad))
    assert [place for place, _ in refused.value.problems] == [
        "$.nodes.room[1]",
        "$.nodes.room[2]",
        "$.links[0]",
        "$.links[1]",
    ]


@pytest.mark.parametrize(
    ("form", "inner", "around"),
    [
        ("sayplan", SAYPLAN, ("scene_graph",)),
        ("nested-rooms", TREE, ("data", "house")),
        ("3rscan", RELATIONSHIPS["scans"][0], ()),
        ("thor", {**METADATA, "objects": []}, ("environment",)),
    ],
)
def test_a_scene_one_level_more_or_less_deep_is_recognized(
    tmp_path: Path, form: str, inner: dict[str, Any], around: tuple[str, ...]
) -> None:
    """A scene under a key such as `scene_graph`, a scan outside its list, and a room without objects."""
    document = inner
    for key in around:
        document = {key: document, "tasks": []}
    scene = read_any(written(tmp_path, "x.json", document))
    assert scene.notes[0] == f"taken for {OURS[form].words}"
    told = [note for note in scene.notes if note.startswith("read from")]
    assert told == [f"read from {key}; 'tasks' beside it left out" for key in reversed(around)]


def test_names_and_states_of_rooms_have_several_spellings(tmp_path: Path) -> None:
    cup = {
        "label": "cup",
        "states": {"dirty": True, "broken": False, "filled_with": "tea"},
        "attributes": {"color": "red"},
    }
    room = {"room_id": 7, "room_name": "study", "items": [{**cup, "rotation": {"x": 0, "y": 90, "z": 0}}]}
    nodes = read_any(written(tmp_path, "x.json", {"rooms": [room]})).graph.nodes
    assert (nodes["7"].name, nodes["cup"].states) == ("study", ("dirty", "tea"))
    assert (nodes["cup"].properties["color"], nodes["cup"].properties["rotation"]) == ("red", Point(0, 90, 0))


def test_poses_of_sayplan_are_waypoints(tmp_path: Path) -> None:
    links = ["study - pose1", "pose1 <--> pose2", "lamp--pose2", "robot→pose1"]
    kinds = {"room": ["study"], "pose": ["pose1", "pose2"], "asset": ["lamp"], "agent": ["robot"]}
    scene = read_any(written(tmp_path, "x.json", {"nodes": kinds, "links": links}))
    assert scene.graph.nodes["pose1"].kind == "Waypoint"
    assert relations(scene) >= {
        ("pose1", "INSIDE", "study"),
        ("pose1", "CONNECTS", "pose2"),
        ("robot", "INSIDE", "pose1"),
    }
    with pytest.raises(DocumentError, match="there is no node 'attic'"):
        read_any(written(tmp_path, "y.json", {"nodes": kinds, "links": ["study↔attic"]}))


@pytest.mark.parametrize(
    "edge", [["mug", "inside", "hall"], {"from": "mug", "to": "hall", "predicate": "in", "value": 2}]
)
def test_ends_of_edges_have_several_spellings(tmp_path: Path, edge: object) -> None:
    document = {"directed": True, "nodes": [{"id": "hall", "type": "room"}, {"id": "mug"}], "links": [edge]}
    assert relations(read_any(written(tmp_path, "x.json", document))) == {("mug", "INSIDE", "hall")}


@pytest.mark.parametrize(
    ("key", "given", "value"),
    [
        (
            "center",
            {"position": {"x": 1, "y": 2, "z": 3}, "orientation": {"x": 0, "y": 0, "z": 0, "w": 1}},
            Point(1, 2, 3),
        ),
        ("color", {"x": 1, "y": 2, "z": 3}, Point(1, 2, 3)),
        ("color", {"x": 0, "y": 0.0, "z": 0, "w": 1}, (0.0, 0.0, 0.0, 1.0)),
    ],
)
def test_a_map_by_axis_is_a_position_under_any_key(tmp_path: Path, key: str, given: object, value: object) -> None:
    word = "pose" if key == "center" else key
    document = {"directed": True, "nodes": [{"id": "mug", word: given}], "links": []}
    assert read_any(written(tmp_path, "x.json", document)).graph.nodes["mug"].properties[key] == value


@pytest.mark.parametrize("ending", ["json", "yaml"])
def test_nested_rooms_are_a_scene(tmp_path: Path, ending: str) -> None:
    import yaml

    scene = read_any(written(tmp_path, f"flat.{ending}", TREE if ending == "json" else yaml.safe_dump(TREE)))
    assert relations(scene) == {
        ("kitchen", "CONNECTS", "hall"),
        ("hall", "CONNECTS", "kitchen"),
        ("table", "INSIDE", "kitchen"),
        ("shelf", "INSIDE", "kitchen"),
        ("mug", "ON", "table"),
        ("plate", "ON", "table"),
        ("book", "ON", "shelf"),
        ("cupboard", "INSIDE", "hall"),
        ("rug", "INSIDE", "hall"),
        ("coat", "INSIDE", "cupboard"),
        ("robby", "INSIDE", "kitchen"),
        ("robby", "HOLDS", "mug"),
    }
    shelf = scene.graph.nodes["shelf"]
    assert (shelf.kind, shelf.properties["center"]) == ("Asset", Point(1, 2, 0))
    assert scene.graph.nodes["plate"].states == ("dirty",)


def test_rooms_by_name_alone_are_a_scene(tmp_path: Path) -> None:
    fridge = {"affordances": ["open"], "state": "closed", "objects": ["milk"]}
    rooms = {"kitchen": {"assets": {"fridge": fridge}, "neighbors": ["hall"]}, "hall": {"neighbors": ["kitchen"]}}
    scene = read_any(written(tmp_path, "flat.json", rooms))
    assert relations(scene) == {
        ("fridge", "INSIDE", "kitchen"),
        ("milk", "INSIDE", "fridge"),
        ("kitchen", "CONNECTS", "hall"),
        ("hall", "CONNECTS", "kitchen"),
    }
    assert {it.id: it.kind for it in scene.graph.nodes.values()} == {
        "kitchen": "Place", "hall": "Place", "fridge": "Asset", "milk": "Object",
    }  # fmt: skip


@pytest.mark.parametrize("document", [HOUSE, TREE, SAYPLAN])
def test_a_scene_under_any_key_is_no_room_of_that_name(tmp_path: Path, document: dict[str, Any]) -> None:
    """Kind: a scene in a map of scenes was read as a room with the scene's parts in it."""
    alone, wrapped = (read_any(written(tmp_path, "x.json", it)) for it in (document, {"first": document}))
    assert wrapped.graph == alone.graph


def test_things_that_name_what_they_are_on_are_no_rooms(tmp_path: Path) -> None:
    things = {"cup_1": {"on": ["table_1"]}, "table_1": {"in": ["kitchen"]}}
    with pytest.raises(DocumentError, match="of no format that is known by its form"):
        read_any(written(tmp_path, "x.json", things))


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"kitchen": {"objects": [7.5]}}, r"\$\.kitchen\.objects\[0\]"),
        ({"house": {"kitchen": {"fridge": {}, "shelf": {"x": {}, "items": [7.5]}}}}, r"\$\.house\.kitchen\."),
        ([{"name": "kitchen", "objects": [7.5]}], r"\$\[0\]\.objects\[0\]"),
        ({"id": "flat", "children": [7.5]}, r"\$\.children\[0\]"),
    ],
)
def test_a_fault_in_rooms_of_any_form_is_told_at_its_place(tmp_path: Path, document: object, place: str) -> None:
    with pytest.raises(DocumentError, match=f"json: {place}"):
        read_any(written(tmp_path, "x.json", document))


def test_words_of_yaml_stay_text(tmp_path: Path) -> None:
    """YAML takes on, off and yes for truth values, which are states here."""
    text = "nodes:\n  - {id: lamp, states: [on], color: off}\nedges: []\n"
    lamp = read_any(written(tmp_path, "lamp.yml", text)).graph.nodes["lamp"]
    assert (lamp.states, lamp.properties["color"]) == (("on",), "off")
    with pytest.raises(DocumentError, match="aliases"):
        read_any(written(tmp_path, "bomb.yaml", "a: &a [x]\nb: [*a, *a]\n"))
    with pytest.raises(DocumentError, match=r"line 3: no valid YAML \(the key 'hall' is given twice; keep one"):
        read_any(written(tmp_path, "twice.yaml", "rooms:\n  attic: {}\n  hall: {}\n  hall: {objects: [mug]}\n"))
    with pytest.raises(DocumentError, match="line 2: no valid YAML"):
        read_any(written(tmp_path, "bad.yaml", "a: b\n - c: {"))


@pytest.mark.parametrize("ending", ["graphml", "gexf", "gml", "graphml.gz"])
def test_graphs_that_networkx_wrote_are_scenes(tmp_path: Path, ending: str) -> None:
    graph = nx.DiGraph()
    graph.add_node("kitchen", type="room")
    graph.add_node("mug", states="dirty, wet", color="red")
    graph.add_edge("mug", "kitchen", relation="inside", weight=0.5)
    file = tmp_path / f"flat.{ending}"
    {"gexf": nx.write_gexf, "gml": nx.write_gml}.get(ending, nx.write_graphml)(graph, file)
    scene = read_any(file)
    assert scene.graph.nodes["mug"].states == ("dirty", "wet")
    assert relations(scene) == {("mug", "INSIDE", "kitchen")}
    assert any("weight (1)" in note for note in scene.notes)


def test_a_graph_of_xml_with_entities_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="entities"):
        read_any(written(tmp_path, "x.graphml", '<!DOCTYPE a [<!ENTITY b "c">]><graphml/>'))
    with pytest.raises(DocumentError, match="can't be read by NetworkX"):
        read_any(written(tmp_path, "y.graphml", "<graphml"))


FLAT: Final[dict[str, Any]] = {
    "directed": True,
    "nodes": [{"id": "kitchen", "type": "room"}, {"id": "mug", "pos": {"x": 1.0, "y": 2.0, "z": 3.0}}],
    "edges": [{"source": "mug", "target": "kitchen", "relation": "inside", "weight": 0.5, "confidence": 1}],
}


def test_a_file_packed_by_gzip_is_read(tmp_path: Path) -> None:
    file = tmp_path / "flat.json.gz"
    file.write_bytes(gzip.compress(json.dumps(FLAT).encode()))
    scene = read_any(file)
    assert scene.name == "networkx/flat"
    assert "gzip: unpacked and read" in scene.notes
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(DocumentError, match="no whole gzip file"):
        read_any(file)


def test_a_position_by_axis_and_weights_of_edges(tmp_path: Path) -> None:
    file = written(tmp_path, "flat.json", FLAT)
    scene = read_any(file)
    assert scene.graph.nodes["mug"].properties["center"] == Point(1, 2, 3)
    told = [note for note in scene.notes if "holds no attributes" in note]
    assert len(told) == 1
    assert ": confidence (1), weight (1); --strict refuses such a file" in told[0]
    with pytest.raises(DocumentError, match="a relation holds no attribute such as 'confidence', 'weight'"):
        read_any(file, strict=True)


def test_numbers_x_y_z_of_a_node_are_its_position_and_an_extent_its_size(tmp_path: Path) -> None:
    nodes = [
        {"id": "mug", "x": 1, "y": 2.5, "z": 3, "extent": [1, 2, 3]},
        {"id": "lamp", "x": 1, "y": float("nan")},
        {"id": "desk", "x": 9, "y": 9, "pos": [1, 2]},
    ]
    document = {"directed": True, "nodes": nodes, "edges": []}
    with pytest.raises(DocumentError, match=r"nodes\[2\]: x is no known property"):
        read_any(written(tmp_path, "both.json", json.dumps(document)))
    del nodes[2]
    found = read_any(written(tmp_path, "axes.json", json.dumps(document))).graph.nodes
    assert found["mug"].properties["center"] == Point(1, 2.5, 3)
    assert found["mug"].properties["size_z"] == 3
    assert "center" not in found["lamp"].properties
    nodes[0]["y"] = "far"
    with pytest.raises(DocumentError, match="x is no known property"):
        read_any(written(tmp_path, "text.json", json.dumps(document)))


@pytest.mark.parametrize("bad", ["[NaN, 1, 2]", "[null, 1, 2]", '{"x": -Infinity, "y": 1, "z": 2}'])
def test_a_position_that_is_no_number_is_left_out_alone(tmp_path: Path, bad: str) -> None:
    text = (
        f'{{"directed": true, "nodes": [{{"id": "lamp", "pos": {bad}}}, {{"id": "mug", "pos": [1, 2]}}], "edges": []}}'
    )
    file = written(tmp_path, "map.json", text)
    nodes = (scene := read_any(file)).graph.nodes
    assert "center" not in nodes["lamp"].properties
    assert nodes["mug"].properties["center"] == Point(1, 2)
    assert any("as no finite numbers: pos (1)" in note for note in scene.notes)
    with pytest.raises(DocumentError, match="finite numbers, not"):
        read_any(file, strict=True)


def test_a_map_of_hydra_with_a_position_of_nan_keeps_its_other_nodes(tmp_path: Path) -> None:
    attributes = {"type": "ObjectNodeAttributes", "position": [0, 0, 0], "semantic_label": 1}
    nodes = [
        {"id": symbol_number("O(1)"), "layer": 2, "attributes": {**attributes, "position": [float("nan"), 0, 0]}},
        {"id": symbol_number("R(1)"), "layer": 4, "attributes": attributes},
    ]
    file = written(tmp_path, "map.json", {"layer_names": {}, "nodes": nodes, "edges": []})
    found = read_any(file).graph.nodes
    assert found["O(1)"].properties.get("center") is None
    assert found["R(1)"].properties["center"] == Point(0, 0, 0)
    with pytest.raises(DocumentError, match="should be a number, not NaN"):
        dsg.read_scene(file, strict=True)
    lounge, chair = LabelSpace("rooms.yaml", {1: "lounge"}), LabelSpace("objects.yaml", {1: "chair"})
    named = dsg.read_scene(file, labels=chair, room_labels=lounge).graph.nodes
    assert (named["O(1)"].class_, named["R(1)"].class_) == ("chair", "lounge")


def test_undeclared_names_are_told_once_each_with_what_declares_them_all() -> None:
    nodes = [{"id": f"cup{n}", "serial_number": n, "made_in": "x"} for n in range(5)]
    edges = [{"source": "cup1", "target": "cup2", "relation": "BESIDE"}]
    document = {"directed": True, "nodes": nodes, "edges": edges}
    with pytest.raises(DocumentError) as refused:
        networkx_json.from_document(document, file="x.json", name="networkx/x")
    assert len(refused.value.problems) == 3
    assert "serial_number is no known property (5 times: of 'cup0', 'cup1', 'cup2', …)" in str(refused.value)
    assert str(refused.value).count("--declare BESIDE --declare made_in --declare serial_number") == 3


def test_facts_about_a_file_are_left_out_and_data_are_never_to_be_removed() -> None:
    document = {"directed": True, "nodes": [{"id": "hall"}], "links": [], "metadata": {"made_by": "mapper"}}
    scene = networkx_json.from_document(document, file="x.json", name="networkx/x")
    assert scene.notes == ("metadata of the file left out",)
    with pytest.raises(DocumentError, match=r"\$\.doors: is no field that is known here, and holds 1 entry") as refused:
        networkx_json.from_document({**document, "doors": [7]}, file="x.json", name="networkx/x")
    assert "remove" not in str(refused.value)


def test_a_plain_value_at_the_top_is_a_fact_about_the_file_but_for_a_misspelt_field() -> None:
    """Advice to destroy: a map's own number or date was to be removed from the file."""
    document = {"directed": True, "nodes": [{"id": "hall"}], "links": []}
    facts = {"scene_id": "7f", "date": 20260101, "is_scanned": True, "owner": None, "rate": float("nan")}
    scene = networkx_json.from_document({**document, **facts}, file="x.json", name="networkx/x")
    assert scene.notes == ("date, is_scanned, owner, rate, scene_id of the file left out",)
    with pytest.raises(DocumentError, match=r"\$\.directd: is no field that is known here"):
        networkx_json.from_document({**document, "directd": False}, file="x.json", name="networkx/x")


@pytest.mark.parametrize(
    ("name", "text", "cause"),
    [
        ("task.bddl", "(define)", "this is BDDL"),
        ("kitchen.pddl", "(define)", "this is PDDL; give a problem and its domain to `scenecypher import pddl"),
        ("room.ply", "ply", "a mesh or a point cloud"),
        ("labels.yaml", "label_names: []", "this is Hydra's label space; give it to `scenecypher import dsg MAP"),
        ("semseg.json", '{"segGroups": []}', "this is 3RScan's segments of a mesh"),
        ("x.house", "ASCII 1.1", "this is a house of Matterport3D"),
        ("map.yaml", "occupied_thresh: 0.65", "this is a map of free space for navigation"),
        ("graph.json", '{"adjacency": []}', "this is NetworkX's adjacency form; save networkx.node_link_data"),
        ("other.json", '{"a": 1}', r"no format that is known by its form\. Formats that are read: json: "),
    ],
)
def test_a_file_that_is_not_read_is_told_what_it_is(tmp_path: Path, name: str, text: str, cause: str) -> None:
    with pytest.raises(DocumentError, match=cause):
        read_any(written(tmp_path, name, text))


@pytest.mark.parametrize(("document", "word"), [(FLAT, "import networkx"), (RELATIONSHIPS, "import ")])
def test_a_file_given_to_the_command_of_another_format_is_told_which(
    tmp_path: Path, document: object, word: str
) -> None:
    file = written(tmp_path, "x.json", document)
    with pytest.raises(DocumentError) as refused:
        read_any(file, file_format="json")
    assert f"`scenecypher {word} {file}`".replace("  ", " ") in str(told_form(refused.value, "json"))


GOOD: Final[dict[str, dict[str, Any]]] = {
    "3rscan": RELATIONSHIPS,
    "thor": METADATA,
    "procthor": HOUSE,
    "sayplan": SAYPLAN,
    "nested-rooms": TREE,
}


@pytest.mark.parametrize("form", GOOD)
def test_a_spoilt_file_is_read_or_refused_with_a_place(tmp_path: Path, form: str) -> None:
    check_format(OURS[form], written(tmp_path, f"{form}.json", GOOD[form]), tries=400)


def test_each_form_is_of_one_format() -> None:
    for form, document in GOOD.items():
        assert next(name for name, each in OURS.items() if each.is_one(document)) == form
