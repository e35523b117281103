"""The scenes that the paper's prompts print (LookPlanGraph, appendices F-1 and F-2) are read as they stand."""

from __future__ import annotations

from typing import Any, Final

import pytest

from scenecypher.db.graph.scene import Relation
from scenecypher.errors import DocumentError
from scenecypher.importers.grasif import from_document

GLASS: Final[dict[str, Any]] = {
    "nodes": {
        "room": [{"name": "kitchen1"}, {"name": "garden1"}],
        "asset": [
            {"name": "door1", "room": "kitchen1", "states": []},
            {"name": "floor1", "room": "kitchen1", "states": []},
            {"name": "floor2", "room": "garden1", "states": []},
        ],
        "object": [
            {
                "name": "water_glass1",
                "relation": "ontop_of",
                "related_to": "floor1",
                "states": [],
                "properties": [],
                "affordances": ["pick_up", "put_on", "put_under", "attach", "put_inside"],
            },
            {
                "name": "recycling_bin1",
                "relation": "ontop_of",
                "related_to": "floor2",
                "states": ["closed"],
                "properties": [],
                "affordances": ["pick_up", "put_on", "put_under", "attach", "put_inside", "open", "close"],
            },
        ],
    }
}
CARTON: Final[dict[str, Any]] = {
    "nodes": {
        "room": [{"id": "living_room1"}],
        "asset": [
            {"id": "floor1", "located": "living_room1", "states": []},
            {"id": "sofa1", "located": "living_room1", "states": []},
        ],
        "object": [
            {"id": "carton1", "relation": "ontop_of", "related_to": "sofa1", "states": ["closed"]},
            {"id": "sock1", "relation": "ontop_of", "related_to": "sofa1", "states": []},
            {"id": "bottle__of__perfume1", "relation": "ontop_of", "related_to": "sofa1", "states": ["closed"]},
        ],
        "agent": [{"id": "agent1", "location": "living_room1", "holding": ""}],
    }
}


def test_both_printed_forms_are_read() -> None:
    """Kind of fault: a form that the data's own paper prints is refused for its keys."""
    glass = from_document(GLASS, file="glass.json", name="grasif/glass")[0].graph
    assert {kind: len(ids) for kind, ids in glass.by_kind.items()} == {"Place": 2, "Asset": 3, "Object": 2}
    assert Relation("recycling_bin1", "ON", "floor2") in glass.relations
    carton = from_document(CARTON, file="carton.json", name="grasif/carton")[0].graph
    assert Relation("agent1", "INSIDE", "living_room1") in carton.relations
    assert carton.nodes["carton1"].states == ("closed",)
    assert not carton.targets("agent1", "HOLDS")


@pytest.mark.parametrize(
    ("nodes", "place"),
    [
        ({"room": [{"title": "hall"}], "asset": [], "object": []}, r"\$\.nodes\.room\[0\]"),
        ({"room": [], "rooms": [], "asset": [], "object": []}, r"\$\.nodes\.room"),
        ({"room": [], "asset": [], "object": [], "agent": [{"id": "a"}, {"id": "b"}]}, r"\$\.nodes\.agent"),
    ],
)
def test_other_keys_are_refused_at_their_place(nodes: dict[str, Any], place: str) -> None:
    with pytest.raises(DocumentError, match=place):
        from_document({"nodes": nodes}, file="x.json", name="grasif/x")
