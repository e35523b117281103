"""The small home: complete, consistent, and fit for the public home's examples."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from math import hypot

from scenecypher.db.graph.scene import Node, Point, Relation
from scenecypher.importers.homes import small_home
from scenecypher.importers.virtualhome import to_document

GRAPH = small_home().graph


def test_its_size_and_kinds() -> None:
    kinds = Counter(node.kind for node in GRAPH.nodes.values())
    assert (small_home().name, small_home().vocabulary) == ("small_home", "virtualhome")
    assert (kinds["Place"], kinds["Agent"], kinds["Door"]) == (4, 1, 4)
    assert 60 <= len(GRAPH.nodes) <= 80
    assert len(to_document(small_home())["nodes"]) == len(GRAPH.nodes)


def test_each_thing_is_in_one_room_and_has_a_place_in_space() -> None:
    rooms = {node.id for node in GRAPH.nodes.values() if node.kind == "Place"}
    for node in GRAPH.nodes.values():
        assert isinstance(node.properties["center"], Point)
        assert {"prefab", "size_x", "size_y", "size_z"} <= set(node.properties)
        if node.id not in rooms:
            assert len(rooms & set(GRAPH.targets(node.id, "INSIDE"))) == 1, node.id


def test_closeness_goes_both_ways_and_means_within_a_metre() -> None:
    close = [relation for relation in GRAPH.relations if relation.type == "CLOSE"]
    for relation in close:
        assert Relation(relation.target, "CLOSE", relation.source) in GRAPH.relations
        assert gap(GRAPH.nodes[relation.source], GRAPH.nodes[relation.target]) <= 1.0 + 1e-9


def gap(one: Node, other: Node) -> float:
    """Return the metres of floor between two boxes."""
    return hypot(*(max(0.0, abs(a - b) - (wide + broad) / 2) for (a, wide), (b, broad) in zip(*spans(one, other))))  # noqa: B905


def spans(*nodes: Node) -> list[list[tuple[float, float]]]:
    found = []
    for node in nodes:
        center, width, depth = (node.properties[key] for key in ("center", "size_x", "size_y"))
        assert isinstance(center, Point)
        assert isinstance(width, float)
        assert isinstance(depth, float)
        found.append([(center.x, width), (center.y, depth)])
    return found


def test_what_is_said_of_containers_and_surfaces_fits_their_affordances() -> None:
    places = {node.id for node in GRAPH.nodes.values() if node.kind == "Place"}
    for relation in GRAPH.relations:
        holder = GRAPH.nodes[relation.target]
        if relation.type == "INSIDE" and holder.id not in places:
            assert "containers" in holder.affordances, holder.id
    for node in GRAPH.nodes.values():
        if "can_open" in node.affordances:
            assert len({"open", "closed"} & set(node.states)) == 1, node.id
        if "has_switch" in node.affordances:
            assert len({"on", "off"} & set(node.states)) == 1, node.id


def test_what_the_public_home_has_too_has_the_same_name() -> None:
    shared = chain(("character_65", "freezer_289", "microwave_297", "cup_2004"), ("dining_room_201", "bathroom_1"))
    assert set(shared) <= set(GRAPH.nodes)
