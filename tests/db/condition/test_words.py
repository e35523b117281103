"""Conditions in words: every operator, relation and state, affirmed and negated, and the unmet parts."""

from __future__ import annotations

import pytest
from hypothesis import given

import scenecypher.db.condition as c
from scenecypher.db.condition.phrases import AFFORDANCES, RELATIONS
from scenecypher.db.graph.scene import EMPTY, Node, Point, SceneGraph
from scenecypher.db.schema import KINDS, RELATION_TYPES
from tests.strategies import bound, choices, conditions, scene_graphs
from tests.worlds import KITCHEN, WORLDS, World

SOAP = c.HasClass("s", "soap")

WORDS: list[tuple[c.Condition, str, str]] = [
    (c.HasState("x", "open"), "the fridge is open", "the fridge is not open"),
    (c.HasState("x", "plugged_in"), "the fridge is plugged in", "the fridge is not plugged in"),
    (c.HasState("x", "plugged_out"), "the fridge is unplugged", "the fridge is not unplugged"),
    (c.HasState("agent", "sitting"), "the robot is sitting down", "the robot is not sitting down"),
    (c.HasState("x", "half_full"), "the fridge is half full", "the fridge is not half full"),
    (c.HasClass("x", "apple"), "the fridge is an apple", "the fridge is not an apple"),
    (c.HasKind("x", "Asset"), "the fridge is an asset", "the fridge is not an asset"),
    (c.HasAffordance("x", "can_open"), "the fridge can be opened", "the fridge cannot be opened"),
    (c.HasAffordance("x", "has_plug"), "the fridge has a plug", "the fridge does not have a plug"),
    (
        c.HasAffordance("x", "fly"),
        "the fridge has the affordance 'fly'",
        "the fridge does not have the affordance 'fly'",
    ),
    (
        c.Related(c.Id("apple_1"), "INSIDE", "x"),
        "the apple (apple_1) is inside the fridge",
        "the apple (apple_1) is not inside the fridge",
    ),
    (c.Related(c.Id("soap_1001"), "ON", c.Id("table_1")), "soap_1001 is on table_1", "soap_1001 is not on table_1"),
    (c.Related("x", "UNDER", "agent"), "the fridge is under the robot", "the fridge is not under the robot"),
    (c.Related("x", "ATTACHED_TO", "y"), "the fridge is attached to y", "the fridge is not attached to y"),
    (c.Related("agent", "CLOSE", "x"), "the robot is close to the fridge", "the robot is not close to the fridge"),
    (c.Related("agent", "FACING", "x"), "the robot is facing the fridge", "the robot is not facing the fridge"),
    (
        c.Related("x", "BETWEEN", c.Id("hall_1")),
        "the fridge is a door to the hall",
        "the fridge is not a door to the hall",
    ),
    (
        c.Related("x", "CONNECTS", c.Id("hall_1")),
        "the fridge is connected to the hall",
        "the fridge is not connected to the hall",
    ),
    (c.Related("agent", "HOLDS", "x"), "the robot is holding the fridge", "the robot is not holding the fridge"),
    (
        c.Related("agent", "HOLDS_LH", "x"),
        "the robot is holding the fridge in the left hand",
        "the robot is not holding the fridge in the left hand",
    ),
    (
        c.Related("agent", "HOLDS_RH", "x"),
        "the robot is holding the fridge in the right hand",
        "the robot is not holding the fridge in the right hand",
    ),
    (
        c.Related("x", "NEXT_TO", "agent"),
        "the fridge has the relation NEXT_TO to the robot",
        "the fridge does not have the relation NEXT_TO to the robot",
    ),
    (c.HeldBy("x", "agent"), "the robot is holding the fridge", "the robot is not holding the fridge"),
    (
        c.Within("y", "x"),
        "y is inside or on the fridge, directly or not",
        "y is not inside or on the fridge, directly or not",
    ),
    (
        c.Within("y", "x", ("NEXT_TO",)),
        "y is NEXT_TO the fridge, directly or not",
        "y is not NEXT_TO the fridge, directly or not",
    ),
    (c.Same("x", "y"), "the fridge is y", "the fridge is not y"),
    (
        c.PropertyEquals("x", "color", "it's red"),
        "the fridge has color 'it's red'",
        "the fridge does not have color 'it's red'",
    ),
    (c.PropertyEquals("x", "seen", value=True), "the fridge has seen true", "the fridge does not have seen true"),
    (
        c.PropertyEquals("x", "center", Point(1, 2)),
        "the fridge has center (1.0, 2.0)",
        "the fridge does not have center (1.0, 2.0)",
    ),
    (c.PropertyEquals("x", "sizes", (1, 2)), "the fridge has sizes [1, 2]", "the fridge does not have sizes [1, 2]"),
    (c.Not(c.HasState("x", "open")), "the fridge is not open", "the fridge is open"),
    (
        c.And((c.HasState("x", "on"), c.HasState("y", "off"))),
        "the fridge is on and y is off",
        "the fridge is not on or y is not off",
    ),
    (
        c.Or((c.HasState("x", "on"), c.HasState("y", "off"))),
        "the fridge is on or y is off",
        "the fridge is not on and y is not off",
    ),
    (
        c.And((c.HasState("x", "on"), c.Or((c.HasState("x", "new"), c.HasState("y", "off"))))),
        "the fridge is on and (the fridge is new or y is off)",
        "the fridge is not on or (the fridge is not new and y is not off)",
    ),
    (c.And((c.HasState("x", "on"),)), "the fridge is on", "the fridge is not on"),
    (
        c.ForAll(
            "z",
            c.And((c.HasClass("z", "cup"), c.Or((c.Same("z", c.Id("a")), c.Same("z", c.Id("b")))))),
            c.HasState("z", "on"),
        ),
        "every cup that is a or b is on",
        "not every cup that is a or b is on",
    ),
    (c.ALWAYS, "nothing is needed", "what is needed is impossible"),
    (c.NEVER, "what is needed is impossible", "nothing is needed"),
    (c.Exists("s", SOAP), "there is a soap", "there is no soap"),
    (c.Exists("s", c.ALWAYS), "there is a thing", "there is no thing"),
    (
        c.Exists("s", c.And((SOAP, c.Related("s", "INSIDE", "x"), c.Not(c.HasState("s", "wet"))))),
        "a soap is inside the fridge and is not wet",
        "no soap is inside the fridge and is not wet",
    ),
    (
        c.Exists("s", c.And((c.HasKind("s", "Object"), c.HeldBy("s", "agent")))),
        "an object is held by the robot",
        "no object is held by the robot",
    ),
    (
        c.Exists("s", c.And((SOAP, c.Related("agent", "FACING", "s")))),
        "there is a soap such that the robot is facing that soap",
        "there is no soap such that the robot is facing that soap",
    ),
    (
        c.ForAll("s", SOAP, c.Within("s", "x")),
        "every soap is inside or on the fridge, directly or not",
        "not every soap is inside or on the fridge, directly or not",
    ),
    (
        c.ForAll("s", c.And((SOAP, c.HasState("s", "wet"))), c.HasAffordance("s", "eatable")),
        "every soap that is wet can be eaten",
        "not every soap that is wet can be eaten",
    ),
    (
        c.ForAll("s", SOAP, c.Exists("t", c.And((c.HasClass("t", "soap"), c.Same("t", "s"))))),
        "for every soap: a soap is that soap",
        "not for every soap: a soap is that soap",
    ),
    (
        c.ForAll("s", c.And((SOAP, c.Same("agent", "s"))), c.NEVER),
        "for every soap such that the robot is that soap: what is needed is impossible",
        "not for every soap such that the robot is that soap: what is needed is impossible",
    ),
    (
        c.AtLeast(2, "a", c.And((c.HasClass("a", "apple"), c.HasState("a", "clean")))),
        "at least 2 apples are clean",
        "fewer than 2 apples are clean",
    ),
    (c.AtLeast(1, "a", c.HasClass("a", "apple")), "there is at least 1 apple", "there is fewer than 1 apple"),
    (
        c.AtLeast(2, "a", c.And((c.HasClass("a", "DiningTable"), c.HasAffordance("a", "has_plug")))),
        "at least 2 things of class DiningTable have a plug",
        "fewer than 2 things of class DiningTable have a plug",
    ),
    (
        c.Exactly(3, "b", c.And((c.HasClass("b", "candy"), c.HasAffordance("b", "eatable")))),
        "exactly 3 candies can be eaten",
        "not exactly 3 candies can be eaten",
    ),
    (
        c.Exactly(0, "b", c.And((c.HasClass("b", "box"), c.Same("x", "b")))),
        "there are exactly 0 boxes such that the fridge is that box",
        "there are not exactly 0 boxes such that the fridge is that box",
    ),
]


@pytest.mark.parametrize(("condition", "affirmed", "denied"), WORDS)
def test_each_condition_in_words(condition: c.Condition, affirmed: str, denied: str) -> None:
    assert c.explain(condition, KITCHEN.graph, KITCHEN.bindings) == affirmed
    assert c.explain(c.Not(condition), KITCHEN.graph, KITCHEN.bindings) == denied
    assert c.explain(c.Not(c.Not(condition)), KITCHEN.graph, KITCHEN.bindings) == affirmed


def test_every_relation_type_has_a_phrase() -> None:
    assert set(RELATIONS) == set(RELATION_TYPES)


def test_without_a_graph_variables_and_ids_are_the_words() -> None:
    condition = c.And((c.Related("agent", "CLOSE", "x"), c.HasState(c.Id("fridge_1"), "closed")))
    assert c.explain(condition, EMPTY, {}) == "agent is close to x and fridge_1 is closed"
    assert c.explain(condition, EMPTY, {"x": "gone_1"}) == "agent is close to gone_1 and fridge_1 is closed"


def test_a_nested_variable_of_the_same_noun_is_told_apart() -> None:
    twins = c.Exists(
        "a",
        c.And((c.HasKind("a", "Object"), c.Exists("b", c.And((c.HasKind("b", "Object"), c.Related("a", "ON", "b")))))),
    )
    assert c.explain(twins, EMPTY, {}) == (
        "there is an object such that there is an object such that that object is on that object (b)"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_have_an_article(kind: str) -> None:
    assert c.explain(c.HasKind("x", kind), EMPTY, {}).split()[2] == ("an" if kind[0] in "AEIOU" else "a")


@pytest.mark.parametrize("affordance", AFFORDANCES)
def test_affordances_are_sentences(affordance: str) -> None:
    said = c.explain(c.HasAffordance("x", affordance), EMPTY, {})
    assert said.split()[1] in {"is", "can", "has"}
    assert affordance not in said or "_" not in affordance


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_unmet_parts_are_named(world: World) -> None:
    for condition in world.holds:
        assert c.unmet_parts(condition, world.graph, world.bindings) == ()
        assert c.evaluate(condition, world.graph, world.bindings)
    for condition, reasons in world.fails:
        assert c.unmet_parts(condition, world.graph, world.bindings) == reasons
        assert not c.evaluate(condition, world.graph, world.bindings)


def test_many_cases_are_cut_short() -> None:
    cups = SceneGraph.of(Node(f"cup_{number}", "Object", f"cup_{number}", "cup") for number in range(20))
    reasons = c.unmet_parts(c.ForAll("c", c.HasClass("c", "cup"), c.HasState("c", "clean")), cups, {})
    assert len(reasons) == 6
    assert reasons[-1] == "15 more like these"


@given(conditions(), scene_graphs(), choices())
def test_there_are_unmet_parts_exactly_if_the_condition_fails(
    condition: c.Condition, graph: SceneGraph, chosen: dict[str, int]
) -> None:
    bindings = bound(chosen, graph)
    for each in (condition, c.Not(condition)):
        reasons = c.unmet_parts(each, graph, bindings)
        assert (not reasons) is c.evaluate(each, graph, bindings)
        assert all(reasons)
        assert len({*reasons}) == len(reasons)


@given(conditions(), scene_graphs(), choices())
def test_every_condition_has_words(condition: c.Condition, graph: SceneGraph, chosen: dict[str, int]) -> None:
    bindings = bound(chosen, graph)
    said, denied = c.explain(condition, graph, bindings), c.explain(c.Not(condition), graph, bindings)
    assert said
    assert said != denied
