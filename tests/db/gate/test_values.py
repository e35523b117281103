import json
from typing import Any

import pytest
from neo4j.graph import Graph, Node, Path, Relationship
from neo4j.spatial import CartesianPoint, WGS84Point
from neo4j.time import Date, DateTime, Duration, Time

from scenecypher.db.store.values import json_value

GRAPH = Graph()
CUP = Node(GRAPH, "4:x:1", 1, ["Entity", "Object"], {"scene": "k1", "id": "cup", "states": ["dirty"]})
TABLE = Node(GRAPH, "4:x:2", 2, ["Entity", "Asset"], {"scene": "k1", "id": "table"})
ON: Relationship = GRAPH.relationship_type("ON")(GRAPH, "5:x:1", 1, {"scene": "k1"})
ON._start_node, ON._end_node = CUP, TABLE

VALUES: list[tuple[Any, Any]] = [
    (None, None),
    (True, True),
    (2**62, 2**62),
    ("x", "x"),
    (1.5, 1.5),
    (float("nan"), "nan"),
    (float("-inf"), "-inf"),
    ([1, [None]], [1, [None]]),
    ({"scene": "k1", "a": {"scene": 1, "b": 2}}, {"a": {"b": 2}}),
    (CUP, {"id": "cup", "states": ["dirty"]}),
    (ON, {"type": "ON"}),
    (Path(CUP, ON), [{"id": "cup", "states": ["dirty"]}, {"type": "ON"}, {"id": "table"}]),
    ([{"n": CUP}], [{"n": {"id": "cup", "states": ["dirty"]}}]),
    (CartesianPoint((1.0, 2.0)), {"srid": 7203, "x": 1.0, "y": 2.0}),
    (WGS84Point((1.0, 2.0, 3.0)), {"srid": 4979, "x": 1.0, "y": 2.0, "z": 3.0}),
    (Date(2024, 2, 29), "2024-02-29"),
    (Time(1, 2, 3), "01:02:03.000000000"),
    (DateTime(2024, 2, 29, 1, 2, 3), "2024-02-29T01:02:03.000000000"),
    (Duration(days=1, hours=2), "P1DT2H"),
]


@pytest.mark.parametrize(("value", "expected"), VALUES)
def test_values_are_plain(value: Any, expected: Any) -> None:
    assert json_value(value) == expected
    assert json.loads(json.dumps(json_value(value), allow_nan=False)) == expected
