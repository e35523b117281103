"""Conditions as JSON: lossless round trips, and every problem at its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

import scenecypher.db.condition as c
from scenecypher.errors import DocumentError
from tests.strategies import conditions
from tests.worlds import WORLDS


@given(conditions())
def test_a_condition_comes_back_exactly(condition: c.Condition) -> None:
    document = json.loads(json.dumps(c.condition_document(condition), ensure_ascii=False, allow_nan=False))
    assert c.condition_from_document(document, file="task.json") == condition
    assert c.condition_document(c.condition_from_document(document, file="task.json")) == document


def test_the_document_has_the_published_format() -> None:
    condition = c.And(
        (c.HasState("x", "open"), c.Not(c.Within("x", c.Id("fridge_1"))), c.PropertyEquals("x", "size_x", 1.0))
    )
    assert c.condition_document(condition) == {
        "op": "and",
        "parts": [
            {"op": "has_state", "x": "x", "state": "open"},
            {"op": "not", "part": {"op": "within", "x": "x", "y": {"id": "fridge_1"}, "types": ["INSIDE", "ON"]}},
            {"op": "property_equals", "x": "x", "key": "size_x", "value": 1.0},
        ],
    }


def test_the_goals_of_the_tiny_worlds_come_back() -> None:
    for world in WORLDS:
        for condition in (*world.holds, *(failing for failing, _ in world.fails)):
            assert c.condition_from_document(c.condition_document(condition), file="x") == condition


def nested(levels: int) -> Any:
    document: Any = {"op": "and", "parts": []}
    for _ in range(levels):
        document = {"op": "not", "part": document}
    return document


KIND = {"op": "has_kind", "x": "x", "kind": "Object"}


@pytest.mark.parametrize(
    ("document", "place", "cause"),
    [
        (None, "$.goal", "should be a map, not None"),
        ([], "$.goal", "should be a map, not []"),
        ({}, "$.goal", "has no 'op'; add it"),
        ({"op": "xor"}, "$.goal", "'op' is 'xor', none of 'and', 'or', 'not'"),
        ({"op": 1}, "$.goal", "'op' is"),
        ({"op": "and"}, "$.goal.parts", "is missing; add it"),
        ({"op": "and", "parts": {}}, "$.goal.parts", "should be a list"),
        ({"op": "or", "parts": [KIND, 7]}, "$.goal.parts[1]", "should be a map, not 7"),
        ({"op": "not", "part": {**KIND, "kind": "Room"}}, "$.goal.part.kind", "kind 'Room' is none of"),
        ({"op": "not", "part": {**KIND, "x": 7}}, "$.goal.part.x", "7 is no term"),
        ({**KIND, "x": "a b"}, "$.goal.x", "'a b' is no term"),
        ({**KIND, "x": {"id": 7}}, "$.goal.x", "is no term"),
        ({**KIND, "x": {"id": ""}}, "$.goal.x", "id is empty"),
        ({**KIND, "x": {"id": "a", "name": "b"}}, "$.goal.x", "is no term"),
        ({**KIND, "y": "x"}, "$.goal.y", "is no field that is known here"),
        ({"op": "has_state", "x": "x", "state": ""}, "$.goal.state", "text is empty"),
        ({"op": "has_class", "x": "x", "class": 1}, "$.goal.class", "should be text, not 1"),
        ({"op": "related", "source": "x", "type": "on", "target": "y"}, "$.goal.type", "UPPER_SNAKE_CASE"),
        ({"op": "within", "x": "x", "y": "y", "types": []}, "$.goal.types", "has 0 items; 1 are needed"),
        ({"op": "property_equals", "x": "x", "key": "scene", "value": 1}, "$.goal.key", "is no property name"),
        ({"op": "property_equals", "x": "x", "key": "color", "value": None}, "$.goal.value", "None is no text"),
        ({"op": "exists", "var": "1", "where": KIND}, "$.goal.var", "variable '1' must be"),
        ({"op": "at_least", "n": "2", "var": "x", "where": KIND}, "$.goal.n", "should be a whole number, not '2'"),
        ({"op": "exactly", "n": -1, "var": "x", "where": KIND}, "$.goal.n", "should be at least 0, not -1"),
        ({"op": "at_least", "n": 2**63, "var": "x", "where": KIND}, "$.goal.n", "at most 1,000,000,000, not"),
        (nested(99), "$.goal", "nested over 100 deep"),
        (nested(5_000), "$.goal", "nested over 100 deep"),
    ],
)
def test_a_problem_is_told_at_its_place(document: object, place: str, cause: str) -> None:
    with pytest.raises(DocumentError) as caught:
        c.condition_from_document(document, file="task.json", root="$.goal")
    ((found, why),) = caught.value.problems
    assert found == place
    assert cause in why


def test_all_problems_are_told_at_once() -> None:
    broken = {"op": "and", "parts": [{**KIND, "x": 7, "kind": 8}, {"op": "not"}, KIND, {"op": "has_state", "x": "x"}]}
    with pytest.raises(DocumentError) as caught:
        c.condition_from_document(broken, file="task.json")
    assert [place for place, _ in caught.value.problems] == [
        "$.parts[0].x",
        "$.parts[0].kind",
        "$.parts[1].part",
        "$.parts[3].state",
    ]


def test_the_greatest_depth_is_accepted() -> None:
    assert c.condition_from_document(nested(98), file="task.json")


def test_the_schema_is_json() -> None:
    schema = json.loads(json.dumps(c.condition_schema()))
    assert len(schema["oneOf"]) == 16
