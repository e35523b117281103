"""Files as labs have them on their disks: other keys, shapes and encodings come in, or are told what they look like."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, Final

import pytest

from scenecypher.db.graph.scene import Point
from scenecypher.db.schema import Declared
from scenecypher.errors import DocumentError
from scenecypher.importers.detect import read_any, read_scenes
from tests.importers.test_other_forms import METADATA, RELATIONSHIPS, relations, written

HALL: Final = {"id": "hall", "type": "room"}
IN: Final = {("mug", "INSIDE", "hall")}
EDGE: Final = {"source": "mug", "target": "hall", "relation": "inside"}
SCAN: Final = RELATIONSHIPS["scans"][0]
SCAN_RELATIONS: Final = {
    ("2", "ON", "1"),
    ("3", "ON", "2"),
    ("3", "CLOSE", "2"),
    ("2", "CLOSE", "3"),
    ("3", "LEFT", "2"),
}
FLOOR: Final = {"ground": {"hall": {"table": ["mug", "pen"]}, "attic": {}}}


def vh(number: int, class_: str, **facts: object) -> dict[str, object]:
    return {"id": number, "class_name": class_, "properties": [], "states": [], **facts}


READ: Final[dict[str, tuple[object, set[tuple[str, str, str]]]]] = {
    "nodes and edges as maps": ({"nodes": {"hall": {"type": "room"}, "mug": {}}, "edges": {"e1": EDGE}}, IN),
    "vertices": ({"vertices": [HALL, {"id": "mug"}], "edges": [EDGE]}, IN),
    "relationships by id": (
        {"nodes": [HALL, {"id": "mug"}], "relationships": [{"from_id": "mug", "to_id": "hall", "rel": "in"}]},
        IN,
    ),
    "text": ({"directed": True, "nodes": ["hall", "mug"], "edges": ["mug -[in]-> hall"]}, IN),
    "pairs with a room": ({"directed": True, "nodes": [HALL, {"id": "mug"}], "edges": [["hall", "mug"]]}, IN),
    "rooms in pairs": (
        {"directed": True, "nodes": [HALL, {"id": "attic", "type": "room"}], "links": [["hall", "attic"]]},
        {("hall", "CONNECTS", "attic")},
    ),
    "Cytoscape": (
        {"elements": {"nodes": [{"data": HALL}, {"data": {"id": "mug"}}], "edges": [{"data": EDGE}]}},
        IN,
    ),
    "Cytoscape, as networkx.cytoscape_data writes it": (
        {"data": [], "directed": False, "multigraph": False,
         "elements": {"nodes": [{"data": {**HALL, "value": "hall", "name": "hall"}},
                                {"data": {"id": "7", "value": 7, "name": "7"}}],
                      "edges": [{"data": {"source": "hall", "target": 7}}]}},
        {("7", "INSIDE", "hall")},
    ),
    "JSON Graph Format": (
        {"graph": {"directed": True, "label": "flat", "edges": [EDGE],
                   "nodes": {"hall": {"metadata": {"type": "room"}}, "mug": {"label": "mug"}}}},
        IN,
    ),
    "adjacency": (
        {"directed": True, "nodes": [HALL, {"id": "mug"}], "adjacency": [[], [{"id": "hall", "relation": "in"}]]},
        IN,
    ),
    "two levels deeper": ({"reply": {"result": {"nodes": [HALL, {"id": "mug"}], "links": [EDGE]}}, "ms": 3}, IN),
    "lists by kind": (
        {"rooms": [HALL], "assets": [{"id": "desk", "room": "hall"}], "objects": [{"id": "mug", "parent": "desk"}]},
        {("desk", "INSIDE", "hall"), ("mug", "ON", "desk")},
    ),
    "SayPlan in the plural": (
        {"nodes": {"rooms": [HALL], "objects": [{"id": "mug", "parent": "hall"}], "agents": []}},
        IN,
    ),
    "a building by names": (
        {"building": FLOOR},
        {
            ("hall", "INSIDE", "ground"),
            ("attic", "INSIDE", "ground"),
            ("table", "INSIDE", "hall"),
            ("mug", "ON", "table"),
            ("pen", "ON", "table"),
        },
    ),
    "scans without their list": ([SCAN], SCAN_RELATIONS),
    "scans by name": ({SCAN["scan"]: {key: it for key, it in SCAN.items() if key != "scan"}}, SCAN_RELATIONS),
    "triples of a scan": (
        {"scans": [{**SCAN, "relationships": [[a, b, word] for a, b, _, word in SCAN["relationships"]]}]},
        SCAN_RELATIONS,
    ),
    "relationships of a scan as maps": (
        {
            "scan_id": "9z",
            "objects": {"1": "floor", "2": "desk"},
            "relationships": [{"subject": 2, "object": 1, "predicate": "standing on"}],
        },
        {("2", "ON", "1")},
    ),
    "nulls of a scan": (
        {"scans": [{"scan": "9z", "objects": [{"id": 1, "label": "mug", "affordances": None, "attributes": None}]}]},
        set(),
    ),
    "objects of AI2-THOR by id": (
        {it["objectId"]: it for it in METADATA["objects"]},
        {("Mug|1", "INSIDE", "Fridge|1"), ("Fork|1", "ON", "CounterTop|1")},
    ),
    "one parent, as older AI2-THOR has": (
        [
            {"objectId": "Pan|1", "objectType": "Pan"},
            {"objectId": "Egg|1", "objectType": "Egg", "parentReceptacle": "Pan|1"},
        ],
        {("Egg|1", "INSIDE", "Pan|1")},
    ),
    "things that only their receptacle tells of": (
        [{"objectId": "Fridge|1", "objectType": "Fridge", "openable": True, "receptacleObjectIds": ["Egg|1"]},
         {"objectId": "Egg|1", "objectType": "Egg", "parentReceptacles": None}],
        {("Egg|1", "INSIDE", "Fridge|1")},
    ),
    "rooms of Holodeck without a wall between them": (
        {"rooms": [{"id": "hall", "roomType": "hall"}, {"id": "attic", "roomType": "attic"}], "objects": [],
         "open_room_pairs": [["hall", "attic"], ["hall"]]},
        {("hall", "CONNECTS", "attic"), ("attic", "CONNECTS", "hall")},
    ),
    "the inventory of older AI2-THOR": (
        {**METADATA, "objects": METADATA["objects"][:1], "inventoryObjects": [{"objectId": "Fridge|1"}]},
        {("agent", "HOLDS", "Fridge|1"), ("agent", "INSIDE", "FloorPlan12_physics")},
    ),
    "things by their place in the list": (
        {"objects": [{"class": "mug"}, {"class": "mug"}, {"label": "desk"}],
         "relations": [{"subject": 1, "predicate": "on", "object": 2}]},
        {("mug_2", "ON", "desk")},
    ),
    "ids under another key": (
        {"objects": [{"object_id": 1, "label": "mug"}, {"object_id": 2, "label": "hall"}],
         "relations": [{"subject_id": 1, "predicate": "in", "object_id": 2}]},
        {("1", "INSIDE", "2")},
    ),
    "triples alone": ([["mug", "inside", "hall"]], IN),
    "relations alone": ([{"subject": "mug", "predicate": "in", "object": "hall"}], IN),
    "relations as calls": ({"objects": ["mug", "hall"], "relations": ["inside(mug, hall)"]}, IN),
    "parents by attribute": (
        {"objects": [{"id": "mug", "parent": "desk"}, {"id": "desk", "room": "hall"}, HALL]},
        {("mug", "ON", "desk"), ("desk", "INSIDE", "hall")},
    ),
    "SayPlan's links as maps": (
        {"nodes": {"room": [HALL, {"id": "attic"}], "asset": [{"id": "desk"}]},
         "links": [{"from": "hall", "to": "attic"}, {"source": "desk", "target": "hall"}]},
        {("hall", "CONNECTS", "attic"), ("attic", "CONNECTS", "hall"), ("desk", "INSIDE", "hall")},
    ),
    "an agent without a name": (
        {"rooms": [{"name": "hall"}], "agent": {"location": "hall"}},
        {("agent", "INSIDE", "hall")},
    ),
    "an agent by its word": (
        {"rooms": ["hall"], "agent": {"robot": {"location": "hall"}}},
        {("robot", "INSIDE", "hall")},
    ),
    "floors by names in a building without one": (
        {"building": {"floors": {"ground": {"rooms": ["hall"]}}}},
        {("ground", "INSIDE", "building"), ("hall", "INSIDE", "ground")},
    ),
    "a building without a name": (
        {"building": {"floors": [{"id": "ground", "rooms": ["hall"]}]}},
        {("ground", "INSIDE", "building"), ("hall", "INSIDE", "ground")},
    ),
    "events under a key": (
        {"events": [{"metadata": {"objects": [{"objectId": "Pan|1", "objectType": "Pan"},
                                              {"objectId": "Egg|1", "objectType": "Egg",
                                               "parentReceptacles": ["Pan|1"]}]}}]},
        {("Egg|1", "INSIDE", "Pan|1")},
    ),
    "a house by names": (
        {"house": {"hall": {"table": {"state": "wet", "objects": ["mug"]}}}},
        {("table", "INSIDE", "hall"), ("mug", "ON", "table")},
    ),
    "attributes of the graph as pairs": (
        {"directed": True, "graph": [["name", "x"]], "nodes": [HALL, {"id": "mug"}], "links": [EDGE]},
        IN,
    ),
    "relations from the container, and from both ends": (
        {"nodes": [HALL, "desk", {"id": "mug"}],
         "edges": [["hall", "CONTAINS", "desk"], ["desk", "supports", "mug"], ["mug", "supported by", "desk"],
                   ["hall", "above", "mug"]]},
        {("desk", "INSIDE", "hall"), ("mug", "ON", "desk"), ("mug", "UNDER", "hall")},
    ),
    "no directions, as networkx.Graph is written": (
        {"directed": False,
         "nodes": [HALL, {"id": "attic", "type": "room"}, {"id": "desk"}, {"id": "mug", "on": "desk"}],
         "links": [{"source": "hall", "target": "desk"}, {"source": "hall", "target": "attic"},
                   {"source": "attic", "target": "mug", "relation": "in"}]},
        {("desk", "INSIDE", "hall"), ("mug", "ON", "desk"), ("mug", "INSIDE", "attic"),
         ("hall", "CONNECTS", "attic"), ("attic", "CONNECTS", "hall")},
    ),
    "no directions, in both lists of neighbours": (
        {"directed": False, "nodes": [HALL, {"id": "mug"}], "adjacency": [[{"id": "mug"}], [{"id": "hall"}]]},
        IN,
    ),
    "numbers as keys of a multigraph, and ids as text": (
        {"directed": True, "multigraph": True, "nodes": [{"id": 7, "type": "room"}, {"id": 8}],
         "edges": [{"source": "8", "target": "7", "key": 0}]},
        {("8", "INSIDE", "7")},
    ),
    "items of rooms, and an agent by its position, as DELTA has them": (
        {"rooms": {"hall": {"neighbor": ["attic"], "items": {"mug": {"affordance": ["pick"], "state": "full"}}},
                   "attic": {"neighbor": ["hall"], "items": {}}},
         "agent": {"position": "attic", "state": "hand-free"}},
        {("mug", "INSIDE", "hall"), ("hall", "CONNECTS", "attic"), ("attic", "CONNECTS", "hall"),
         ("agent", "INSIDE", "attic")},
    ),
    "regions, their connections and a robot's place, as SPINE has them": (
        {"objects": [{"name": "mug", "coords": [1, 3]}], "regions": [{"name": "hall", "coords": [0, 0]}, "attic"],
         "object_connections": [["mug", "hall"]], "region_connections": [["hall", "attic"]],
         "robot_location": "hall"},
        {("mug", "INSIDE", "hall"), ("hall", "CONNECTS", "attic"), ("attic", "CONNECTS", "hall"),
         ("robot", "INSIDE", "hall")},
    ),
    "a world of PyRoboSim": (
        {"params": {"name": "w"}, "robots": [{"name": "robot", "location": "hall", "pose": [0, 0, 0]}],
         "rooms": [{"name": "hall", "nav_poses": [[0.7, 0.5, 0]], "footprint": {"type": "polygon", "coords": [[1, 2]]}},
                   {"name": "attic"}],
         "hallways": [{"room_start": "hall", "room_end": "attic", "width": 0.7}],
         "locations": [{"name": "desk", "category": "table", "parent": "hall", "pose": [0.8, -0.5, 0, 1.5]}],
         "objects": [{"category": "mug", "parent": "desk"}, {"category": "mug", "parent": "desk"}]},
        {("hall", "CONNECTS", "attic"), ("attic", "CONNECTS", "hall"), ("robot", "INSIDE", "hall"),
         ("desk", "INSIDE", "hall"), ("mug", "ON", "desk"), ("mug_2", "ON", "desk")},
    ),
    "rooms by name, one of them empty": (
        {"home": {"hall": {"objects": ["mug"]}, "attic": {}, "study": None}, "by": "me"},
        IN,
    ),
    "things in a room that name what they are on": (
        {"rooms": [{"name": "hall", "furniture": ["desk"], "objects": [{"name": "mug", "on": "desk"}]},
                   {"name": "attic", "furniture": [{"name": "shelf", "objects": [{"name": "pen", "room": "attic"}]}]}]},
        {("desk", "INSIDE", "hall"), ("mug", "ON", "desk"), ("shelf", "INSIDE", "attic"), ("pen", "ON", "shelf")},
    ),
    "rooms and receptacles by numbers": (
        {"floors": [{"floor_id": 0}], "rooms": [{"room_id": 1, "floor_id": 0, "name": "hall"}],
         "objects": [{"id": 7, "name": "desk", "room_id": 1},
                     {"id": 8, "name": "mug", "receptacle": 7, "room_id": 1}]},
        {("1", "INSIDE", "0"), ("7", "INSIDE", "1"), ("8", "ON", "7")},
    ),
    "rooms by their numbers in a list of things": (
        {"nodes": [{"id": 1, "type": "room"}, {"id": 7, "pos": [1, 2], "room_id": 1}], "edges": []},
        {("7", "INSIDE", "1")},
    ),
    "places of things by name": (
        {"rooms": ["hall"], "furniture": {"desk": "hall"}, "objects": {"mug": "desk", "pen": "desk"}},
        {("desk", "INSIDE", "hall"), ("mug", "ON", "desk"), ("pen", "ON", "desk")},
    ),
    "an agent as text": (
        {"nodes": {"room": ["hall"], "agent": "spot"}, "links": ["spot - hall"]},
        {("spot", "INSIDE", "hall")},
    ),
    "a list of rooms": ([{"name": "hall", "objects": ["mug"]}, {"name": "attic", "objects": []}], IN),
    "a tree of children": ({"id": "hall", "children": [{"id": "mug"}]}, IN),
    "what VirtualHome's simulator answers": (
        [True, {"nodes": [vh(1, "hall", category="Rooms"), vh(2, "mug")],
                "edges": [{"from_id": 2, "relation_type": "INSIDE", "to_id": 1}]}],
        {("mug_2", "INSIDE", "hall_1")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_another_shape_of_a_known_form_is_read(tmp_path: Path, name: str) -> None:
    document, expected = READ[name]
    assert relations(read_any(written(tmp_path, "x.json", document))) == expected


GRAPH: Final = {"directed": True, "nodes": [HALL, {"id": "mug"}], "links": [EDGE]}


@pytest.mark.parametrize(
    ("document", "names", "place"),
    [
        ([GRAPH, GRAPH], ["networkx/x/1", "networkx/x/2"], None),
        ({"home": {"scene": GRAPH}, "flat": {"scene_graph": GRAPH}}, ["networkx/x/home", "networkx/x/flat"], None),
        ([GRAPH, {**GRAPH, "links": [["mug", 7, "hall"]]}, GRAPH], ["networkx/x/1", "networkx/x/3"], "$[1].links[0]"),
    ],
)
def test_several_documents_in_a_file_are_a_scene_each(
    tmp_path: Path, document: object, names: list[str], place: str | None
) -> None:
    """A map of scenes was read as its first, a list of graphs was of no format."""
    found: list[str] = []
    told: list[str] = []
    try:
        for scene in read_scenes(written(tmp_path, "x.json", document), declared=Declared(), strict=False):
            assert relations(scene) == IN
            found.append(scene.name)
    except DocumentError as error:
        told.append(error.place)
    assert (found, told) == (names, [] if place is None else [place])


def test_keys_in_other_spellings_are_names_of_properties(tmp_path: Path) -> None:
    thing = {"modelId": "x7", "className": "cup", "last seen": "today", "Color": "red"}
    document = {"directed": True, "nodes": [{"id": "mug", **thing}], "edges": []}
    declared = Declared(properties=("model_id",))
    (scene,) = read_scenes(written(tmp_path, "x.json", document), declared=declared, strict=False)
    mug = scene.graph.nodes["mug"]
    assert (mug.class_, dict(mug.properties)) == ("cup", {"model_id": "x7", "last_seen": "today", "color": "red"})
    rooms = {"rooms": [{"name": "hall", "objects": [{"name": "mug", "modelId": "x7"}]}]}
    assert read_any(written(tmp_path, "y.json", rooms)).graph.nodes["mug"].properties["model_id"] == "x7"


def test_what_a_scene_has_no_place_for_is_left_out_with_a_note(tmp_path: Path) -> None:
    room = {"name": "hall", "room_type": "kitchen", "polygon": [[0, 0], [1, 0]]}
    scene = read_any(written(tmp_path, "x.json", {"rooms": [room], "params": {"name": "w"}, "objects": []}))
    assert scene.graph.nodes["hall"].class_ == "kitchen"
    told = "left out, since a property holds no lists of lists or maps: polygon (1)"
    assert scene.notes[1:] == ("params of the file left out", told)
    document = {"directed": True, "nodes": [{"id": "hall", "type": "room", "polygon": [{"x": 0, "z": 1}]}], "edges": []}
    assert read_any(written(tmp_path, "y.json", document)).notes[1:] == (told,)
    with pytest.raises(DocumentError, match="polygon"):
        read_any(written(tmp_path, "z.json", document), strict=True)


def test_graphs_of_virtualhome_after_the_first_are_told(tmp_path: Path) -> None:
    graph = {"nodes": [vh(1, "mug")], "edges": []}
    for states in (1, 3):
        scene = read_any(written(tmp_path, "x.json", {"graph_state_list": [graph] * states}))
        assert ["--final` brings the last too" in it for it in scene.notes[1:]] == [True] * (states > 1)


def test_events_are_read_as_the_last(tmp_path: Path) -> None:
    scene = read_any(written(tmp_path, "x.json", [{"metadata": {"objects": []}}, {"metadata": METADATA}]))
    assert "agent" in scene.graph.nodes
    assert "the last of 2 events is read" in scene.notes


def test_nodes_without_ids_get_them_and_it_is_said_once(tmp_path: Path) -> None:
    things = [{"name": "mug", "position": {"x": 1, "y": 2, "z": 3}}, {"name": "mug", "position": [1, 2]}]
    scene = read_any(written(tmp_path, "x.json", things))
    assert [*scene.graph.nodes] == ["mug_1", "mug_2"]
    assert [it for it in scene.notes if "ids of" in it] == [
        "ids of 2 nodes made of name or class and number, since the file has none"
    ]
    unity = {"GameObjects": [{"Name": "mug", "Position": {"X": 1, "Y": 2, "Z": 3}}]}
    assert read_any(written(tmp_path, "y.json", unity)).graph.nodes["mug"].properties["center"] == Point(1, 2, 3)


def test_words_of_kinds_states_and_attributes_are_understood(tmp_path: Path) -> None:
    nodes = [
        {"id": "k", "type": "kitchen"},
        {"id": "m", "type": "cup", "state": "dirty", "attributes": {"color": "red"}},
        {"id": "d", "states": {"is_open": True, "is_locked": False}},
        {"id": "f", "type": "furnitur"},
    ]
    edge = {"source": "m", "target": "k", "relation": "inside", "relationship_id": 7, "why": "seen"}
    document = {"directed": True, "nodes": nodes[:3], "edges": [edge]}
    scene = read_any(written(tmp_path, "x.json", document))
    kitchen, cup, door = scene.graph.nodes.values()
    assert (kitchen.kind, kitchen.class_) == ("Place", "kitchen")
    assert (cup.kind, cup.class_, cup.states, cup.properties["color"]) == ("Object", "cup", ("dirty",), "red")
    assert door.states == ("open",)
    assert scene.notes[1] == "types that are no kinds taken for classes: kitchen (1), cup (1)"
    assert "a relation holds no attributes: relationship_id (1), why (1); --strict refuses" in scene.notes[2]
    with pytest.raises(DocumentError, match="did you mean 'furniture'"):
        read_any(written(tmp_path, "y.json", {**document, "nodes": nodes}))
    with pytest.raises(DocumentError, match="kind should be one of"):
        read_any(written(tmp_path, "z.json", document), strict=True)


def test_types_of_nested_records_are_kinds_or_classes(tmp_path: Path) -> None:
    things = [{"name": "spot", "type": "robot", "room": "r1"}, {"name": "m1", "type": "cup", "parent": "spot"}]
    document = {"rooms": [{"name": "r1", "type": "kitchen"}], "objects": things}
    scene = read_any(written(tmp_path, "x.json", document))
    found = {it.id: (it.kind, it.class_) for it in scene.graph.nodes.values()}
    assert found == {"r1": ("Place", "kitchen"), "spot": ("Agent", "spot"), "m1": ("Object", "cup")}
    assert relations(scene) == {("spot", "INSIDE", "r1"), ("spot", "HOLDS", "m1")}


@pytest.mark.parametrize(
    ("given", "center"),
    [
        ({"position": "1.0 2.0 3.0"}, Point(1, 2, 3)),
        ({"pos": ["1", "2", "3"]}, Point(1, 2, 3)),
        ({"x": "1", "y": "2"}, Point(1, 2)),
        ({"position": {"x": "1", "y": "2", "z": "3"}}, Point(1, 2, 3)),
        ({"pos": ["nan", 1, 2]}, None),
        ({"location": {"x": 1, "y": 2, "z": 3}}, Point(1, 2, 3)),
        ({"transform": {"Position": {"x": 1, "y": 2, "z": 3}}}, Point(1, 2, 3)),
        ({"pose": {"translation": [1, 2, 3], "rotation": [0, 0, 0, 1]}}, Point(1, 2, 3)),
    ],
)
def test_numbers_may_be_text(tmp_path: Path, given: dict[str, Any], center: Point | None) -> None:
    document = {"directed": True, "nodes": [{"id": "mug", **given}], "edges": []}
    assert read_any(written(tmp_path, "x.json", document)).graph.nodes["mug"].properties.get("center") == center


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-le"])
def test_files_with_a_mark_of_their_encoding_are_read(tmp_path: Path, encoding: str) -> None:
    text = json.dumps({"directed": True, "nodes": [HALL, {"id": "mug"}], "links": [EDGE]}, indent=1)
    data = text.replace("\n", "\r\n").encode(encoding)
    file = tmp_path / "x.json"
    file.write_bytes(b"\xff\xfe" + data if encoding == "utf-16-le" else data)
    assert relations(read_any(file)) == IN
    file.write_bytes(gzip.compress(file.read_bytes()))
    assert relations(read_any(file)) == IN


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the file is empty"),
        (" \n", "the file is empty"),
        ("<!DOCTYPE html><html>", "a page of HTML"),
        ("version https://git-lfs.github.com/spec/v1\n", "`git lfs pull` brings it"),
        ("<graph/>", "XML"),
        ("(define (problem p))", "scenecypher import pddl"),
        ('{"nodes": [], // none\n "links": []}', "a comment stands here"),
        ('{"nodes": [{"id": "a"},], "links": []}', "a comma stands before this bracket"),
        ("\x00\x01\x02", "no JSON"),
        ("wall_0=Wall(0, 1)", "this is no JSON: it begins with 'wall_0=Wall(0, 1)'"),
        ("digraph { a -> b }", "Graphviz"),
        ('{"type": "node", "id": "0"}\n{"type": "node", "id": "1"}', "Neo4j's export by APOC"),
        ("42", "the content, 42, is of no format"),
        ("[]", "an empty list is of no format"),
        ("[1, 2]", "a list of 2, the first 1, is of no format"),
        ('{"frames": 1, "fps": 2}', "a map with the keys 'frames', 'fps' is of no format"),
        ('{"features": []}', "GeoJSON"),
        ('{"stage_instance": {}}', "a scene of Habitat"),
        ('{"levels": []}', "a house of SUNCG"),
        ('{"north_vector": [0, 1, 0], "scene": {"room": []}}', "a house of 3D-FRONT"),
        ('{"id_to_label": [], "objects": [{"id": 1, "class_name": "mug"}]}', "Replica's objects"),
        ('{"objects_info": {}}', "a scene of OmniGibson"),
        ('{"pddl_params": {}}', "ALFRED"),
        (
            '{"nodes": [{"id": "a", "type": "room"}], "edges": [{"source": ["b"], "target": "a"}]}',
            "has no relation type",
        ),
        ('{"nodes": {"a": {"type": "room"}, "b": {}}, "links": {"b": "a"}}', "$.links[0]: should be a map"),
        ('{"@graph": [{"@id": "a"}]}', "JSON-LD"),
        ('[{"reference": "a1", "ambiguity": [], "scans": [{"reference": "b2"}]}]', "3RScan's list of scans"),
        ('{"directed": true, "nodes": [{"id": "a"}, {"id": "b"}], "edges": [["a", "b"]]}', "has no relation type"),
    ],
)
def test_what_is_not_read_is_told_what_it_looks_like(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(DocumentError) as refused:
        read_any(written(tmp_path, "x.json", text))
    assert told in str(refused.value)
    assert "remove it" not in str(refused.value) or "comment" in told


def test_gaps_in_a_graph_of_virtualhome_are_left_out(tmp_path: Path) -> None:
    box = {"center": [float("nan"), 0, 0], "size": [1, 1, 1]}
    document = {"nodes": [vh(1, "mug", bounding_box=box), vh(2, "pen")], "edges": []}
    scene = read_any(written(tmp_path, "x.json", document))
    assert scene.graph.nodes["mug_1"].properties.get("center") is None
    assert "left out, as no finite numbers: center (1); --strict refuses such a file" in scene.notes
    with pytest.raises(DocumentError, match="should be a number, not NaN"):
        read_any(written(tmp_path, "x.json", document), strict=True)


def test_things_by_name_with_positions_are_a_map_of_objects(tmp_path: Path) -> None:
    things = {"mug": {"position": {"x": None, "y": 2, "z": 3}}, "pen": {"position": {"x": 1, "y": 2, "z": 3}}}
    scene = read_any(written(tmp_path, "x.json", things))
    assert {it.id: it.properties.get("center") for it in scene.graph.nodes.values()} == {
        "mug": None,
        "pen": Point(1, 2, 3),
    }
