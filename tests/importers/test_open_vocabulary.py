"""Open-vocabulary maps: captions, boxes and relations are understood (vectors: test_vectors.py)."""

from __future__ import annotations

from typing import Any, Final

import pytest

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Point, Relation
from scenecypher.errors import DocumentError
from scenecypher.importers.networkx_json import from_document

MUG: Final[dict[str, Any]] = {
    "id": 3,
    "object_tag": "coffee mug",
    "caption": "a white mug with a blue rim",
    "possible_tags": ["mug", "cup"],
    "bbox_center": [1.0, 2.0, 0.75],
    "bbox_extent": [0.1, 0.1, 0.12],
}
DESK: Final[dict[str, Any]] = {"id": 4, "object_tag": "desk", "bbox_center": [1, 2, 0.4], "bbox_extent": [1, 0.6, 0.8]}


def read(document: object, *, strict: bool = False) -> ImportedScene:
    return from_document(document, file="map.json", name="networkx/map", strict=strict)


def test_a_list_of_objects_is_a_scene() -> None:
    scene = read([MUG, DESK])
    mug = scene.graph.nodes["3"]
    assert (mug.name, mug.class_, mug.kind) == ("coffee mug", "coffee mug", "Object")
    assert mug.properties["caption"] == "a white mug with a blue rim"
    assert mug.properties["center"] == Point(1, 2, 0.75)
    assert [mug.properties[key] for key in ("size_x", "size_y", "size_z")] == [0.1, 0.1, 0.12]
    assert scene.declared.properties == ("caption", "possible_tags")
    assert scene.notes == ()


def test_objects_by_name_are_a_scene() -> None:
    keyed = {"object_1": {"object_tag": "mug", "object_caption": "white", "bbox_center": [0, 0, 0]}, "object_2": DESK}
    nodes = read(keyed).graph.nodes
    assert [*nodes] == ["object_1", "4"]
    assert nodes["object_1"].properties["caption"] == "white"


@pytest.mark.parametrize(
    ("said", "relation"),
    [
        ("a on b", Relation("3", "ON", "4")),
        ("b on a", Relation("4", "ON", "3")),
        ("a in b", Relation("3", "INSIDE", "4")),
        ("b in a", Relation("4", "INSIDE", "3")),
        ("none of these", None),
        ("FAIL", None),
    ],
)
def test_pairs_of_objects_are_relations(said: str, relation: Relation | None) -> None:
    pair = {"object1": MUG, "object2": DESK, "object_relation": said, "reason": "mugs are put on desks"}
    graph = read([pair, pair]).graph
    assert {*graph.nodes} == {"3", "4"}
    assert graph.relations == ({relation} if relation else set())


def test_objects_and_relations_by_these_names() -> None:
    links = [{"source": 3, "target": 4, "relation": "on top of"}]
    assert read({"objects": [MUG, DESK], "relations": links}).graph.relations == {Relation("3", "ON", "4")}


BOXES: Final[list[Any]] = [
    {"center": [1, 2, 3], "extent": [2, 4, 6]},
    {"center": [1, 2, 3], "size": [2, 4, 6]},
    {"min": [0, 0, 0], "max": [2, 4, 6]},
    [[0, 0, 0], [2, 4, 6]],
    [2, 4, 6, 0, 0, 0],
    [[0, 0, 0], [2, 0, 0], [0, 4, 6], [2, 4, 0]],
]


@pytest.mark.parametrize("given", BOXES)
def test_a_box_is_understood_in_each_form(given: Any) -> None:
    found = read({"directed": True, "nodes": [{"id": "a", "bbox": given}], "edges": []}).graph.nodes["a"].properties
    assert (found["center"], *(found[f"size_{axis}"] for axis in "xyz")) == (Point(1, 2, 3), 2.0, 4.0, 6.0)


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        ([1, 2, 3, 4], "bbox should be a box in space: a center with an extent"),
        ({"center": [1, 2, 3]}, "bbox should be a box in space"),
        ({"center": [1, 2, 3], "extent": ["x", 1, 1]}, "bbox size should be a size"),
        ([[0, 0], [1, 1, 1]], "its corners have 2 and 3 numbers"),
        ({"min": [0, None, 0], "max": [1, 1, 1]}, "finite numbers, not None"),
        ("large", "not 'large'"),
    ],
)
def test_another_box_is_refused(given: Any, cause: str) -> None:
    with pytest.raises(DocumentError, match=cause):
        read({"directed": True, "nodes": [{"id": "a", "bbox": given}], "edges": []}, strict=True)


def test_a_list_that_a_map_declares_is_a_property() -> None:
    named = read(
        {
            "directed": True,
            "graph": {"properties": ["features"]},
            "nodes": [{"id": "a", "features": ["x"]}],
            "edges": [],
        }
    )
    assert named.graph.nodes["a"].properties["features"] == ("x",), "declared, it is a property like any other"
    with pytest.raises(DocumentError, match="features is no known property"):
        read([{"id": "a", "features": "x"}])


def test_a_bad_object_is_told_at_its_place() -> None:
    with pytest.raises(DocumentError) as refused:
        read([MUG, {**DESK, "caption": 7}, {"id": "x", "bbox_extent": 3}, 5])
    assert [place for place, _ in refused.value.problems] == ["$.nodes[1]", "$.nodes[2]", "$.nodes[3]"]
