"""VirtualHome graphs as scenes: the table of words, names, the forms of files, and the export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import InvalidValue, Node, Point, Properties, Relation, SceneGraph, Value
from scenecypher.db.schema import EXTRA_PROPERTIES, KINDS, RELATION_TYPES
from scenecypher.errors import DocumentError
from scenecypher.importers.virtualhome import GraphPart, read_graph, scene_name, to_document
from scenecypher.importers.virtualhome_format import (
    AFFORDANCES,
    KIND_OF_CATEGORY,
    LONGEST_CLASS,
    PROPERTIES,
    RELATIONS,
    STATES,
    node_id,
    source_id,
)
from tests.importers.canonical import canonical

DATA: Final = Path(__file__).parent.parent / "data" / "virtualhome"
ODDITIES: Final = DATA / "oddities.json"
PAIR: Final = DATA / "file12_1.json"
STATE_LIST: Final = DATA / "states.json"


@pytest.fixture(scope="module")
def odd() -> ImportedScene:
    return read_graph(ODDITIES)


def test_classes_names_states_and_affordances(odd: ImportedScene) -> None:
    couch = odd.graph.nodes["couch_4"]
    assert (couch.kind, couch.name, couch.class_) == ("Asset", "couch_4", "couch")
    assert couch.states == ("clean",)
    assert couch.affordances == ("lieable", "sittable", "surfaces")


def test_prefabs_boxes_and_poses(odd: ImportedScene) -> None:
    couch, coffee = odd.graph.nodes["couch_4"].properties, odd.graph.nodes["café_au_lait_-10"].properties
    of_couch: dict[str, Value] = {"category": "Furniture", "prefab": "couch_green", "center": Point(1.0, -0.0, 0.4)}
    assert couch == Properties({**of_couch, "size_x": 2.0, "size_y": 0.9, "size_z": 0.8})
    half = 0.7071067811865476
    of_coffee: dict[str, Value] = {"category": "Food", "position": Point(0.5, 3.0, 1e-07), "scale": (1.0, 1.0, 1.0)}
    assert coffee == Properties({**of_coffee, "rotation": (-0.0, -0.0, -half, half)})


def test_null_and_absent_keys_give_no_property(odd: ImportedScene) -> None:
    assert odd.graph.nodes["lime_11"].properties == Properties()
    assert odd.graph.nodes["notes_9007199254740993"].properties == Properties()


@pytest.mark.parametrize(
    ("id_", "kind"),
    [
        ("kids_bedroom_1", "Place"),
        ("doorjamb_2", "Door"),
        ("character_3", "Agent"),
        ("couch_4", "Asset"),
        ("band-aids_8", "Object"),
        ("lime_11", "Object"),
    ],
)
def test_kinds(odd: ImportedScene, id_: str, kind: str) -> None:
    assert odd.graph.nodes[id_].kind == kind


def test_relations_are_kept_including_oddities(odd: ImportedScene) -> None:
    kept = {
        Relation("curtain_6", "INSIDE", "curtain_7"),
        Relation("curtain_7", "INSIDE", "curtain_6"),
        Relation("basket_for_clothes_5", "INSIDE", "basket_for_clothes_5"),
        Relation("couch_4", "CLOSE", "couch_4"),
        Relation("character_3", "HOLDS_LH", "band-aids_8"),
        Relation("character_3", "HOLDS_RH", "band-aids_8"),
        Relation("couch_4", "FACING", "television_9"),
    }
    assert kept <= odd.graph.relations
    assert Relation("television_9", "FACING", "couch_4") not in odd.graph.relations


def test_a_scene_declares_what_it_has_beyond_the_registry(odd: ImportedScene) -> None:
    assert odd.vocabulary == "virtualhome"
    assert odd.declared.relation_types == ("SITTING",)
    assert odd.declared.properties == ("position", "rotation", "scale")
    assert read_graph(PAIR).declared.properties == ()


@pytest.mark.parametrize(
    ("path", "part", "name", "source", "relations"),
    [
        (ODDITIES, "initial", "virtualhome/oddities", f"{ODDITIES}", 20),
        (PAIR, "initial", "virtualhome/12_1", f"{PAIR}, initial graph", 3),
        (PAIR, "final", "virtualhome/12_1@final", f"{PAIR}, final graph", 6),
        (STATE_LIST, "initial", "virtualhome/states", f"{STATE_LIST}, initial graph", 3),
        (STATE_LIST, "final", "virtualhome/states@final", f"{STATE_LIST}, final graph", 4),
    ],
)
def test_the_forms_of_files(path: Path, part: GraphPart, name: str, source: str, relations: int) -> None:
    scene = read_graph(path, part=part)
    assert (scene.name, scene.source, len(scene.graph.relations)) == (name, source, relations)


def test_a_bare_graph_has_no_final_graph() -> None:
    with pytest.raises(DocumentError, match="it needs 'final_graph'"):
        read_graph(ODDITIES, part="final")


def test_names_come_from_files_and_folders() -> None:
    assert scene_name(Path("any/file963_2.json")) == "virtualhome/963_2"
    assert scene_name(Path("any/my home.json")) == "virtualhome/my home"
    assert scene_name(Path("any/where/flat.json"), within=Path("any")) == "virtualhome/where/flat"
    assert read_graph(PAIR, name="mine", part="final").name == "mine@final"


def test_the_tables_are_invertible() -> None:
    for table in (STATES, AFFORDANCES, RELATIONS, PROPERTIES):
        assert len(set(table.values())) == len(table)
    assert set(KIND_OF_CATEGORY.values()) <= set(KINDS)
    assert set(RELATIONS.values()) - set(RELATION_TYPES) == {"SITTING"}
    held = {name for names in PROPERTIES.values() for name in names.split(", ")}
    assert held - set(EXTRA_PROPERTIES) == {"position", "rotation", "scale"}


@pytest.mark.parametrize(
    ("path", "part", "key"),
    [(ODDITIES, "initial", None), (PAIR, "initial", "init_graph"), (PAIR, "final", "final_graph")],
)
def test_the_export_is_exact(path: Path, part: GraphPart, key: str | None) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    back = to_document(read_graph(path, part=part))
    assert canonical(back) == canonical(document[key] if key else document)


class_names = st.text(st.characters(categories=["L", "N"], include_characters="_-. "), min_size=1, max_size=12).filter(
    lambda name: name == name.strip()
)
numbers = st.integers(-(2**63), 2**63 - 1)
metres = st.floats(allow_nan=False, allow_infinity=False)
triples = st.lists(metres, min_size=3, max_size=3)
nodes = st.fixed_dictionaries(
    {
        "id": numbers,
        "class_name": class_names.map(lambda name: Node("x", "Asset", "x", name).class_),
        "properties": st.lists(st.sampled_from(list(AFFORDANCES)), unique=True),
        "states": st.lists(st.sampled_from(list(STATES)), unique=True),
    },
    optional={
        "category": st.none() | st.sampled_from([*KIND_OF_CATEGORY, "Furniture", "Neuland"]),
        "prefab_name": st.none() | st.text(st.characters(codec="ascii"), max_size=5),
        "bounding_box": st.none() | st.fixed_dictionaries({"center": triples, "size": triples}),
        "obj_transform": st.none()
        | st.fixed_dictionaries(
            {"position": triples, "rotation": st.lists(metres, min_size=4, max_size=4), "scale": triples}
        ),
    },
)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    drawn = draw(st.lists(nodes, max_size=6, unique_by=lambda node: node["id"]))
    ids = [node["id"] for node in drawn]
    if not ids:
        return {"nodes": [], "edges": []}
    end, type_ = st.sampled_from(ids), st.sampled_from(list(RELATIONS))
    edges = draw(st.lists(st.tuples(end, type_, end), max_size=8, unique=True))
    return {"nodes": drawn, "edges": [dict(zip(("from_id", "relation_type", "to_id"), e, strict=True)) for e in edges]}


@given(documents())
def test_any_graph_round_trips(tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any]) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    assert canonical(to_document(read_graph(path))) == canonical(document)


@given(class_names, numbers)
def test_source_ids_round_trip(class_name: str, number: int) -> None:
    assert source_id(node_id(class_name, number)) == number


def test_the_longest_class_fits() -> None:
    assert Node("x", "Asset", node_id("c" * LONGEST_CLASS, -(2**63)), "c").name


@pytest.mark.parametrize(
    ("node", "cause"),
    [
        (Node("soap", "Object", "soap", "soap"), "does not end in '_' and a number"),
        (Node("soap_007", "Object", "soap", "soap"), "does not end in '_' and a number"),
        (Node("soap_1", "Object", "soap", "soap", ("washed",)), "no state 'washed'"),
        (Node("soap_1", "Object", "soap", "soap", (), ("edible",)), "no affordance 'edible'"),
        (Node("soap_1", "Object", "soap", "soap", (), (), Properties({"seen": True})), "no property 'seen'"),
        (Node("soap_1", "Object", "soap", "soap", (), (), Properties({"size_x": 1.0})), "bounding_box"),
        (Node("soap_1", "Object", "soap", "so`ap"), "class_name"),
    ],
)
def test_content_without_a_virtualhome_word_is_not_exported(node: Node, cause: str) -> None:
    with pytest.raises(InvalidValue, match=cause):
        to_document(ImportedScene("mine", SceneGraph.of([node])))
