"""Effects: their net change, evaluated on the unchanged graph."""

from __future__ import annotations

import pytest

from scenecypher.db.graph.delta import AddRelation, ChangeList, Delta, RemoveRelation, SetProperty
from scenecypher.db.graph.scene import InvalidValue, Node, Point, Properties, Relation, SceneGraph
from scenecypher.planner.actions.execution import effects_delta
from scenecypher.planner.actions.operator import (
    Assign,
    Become,
    Cease,
    Effect,
    Forget,
    Operator,
    Relate,
    Unrelate,
    When,
    is_bound,
)

HERE = Point(1.0, 2.0)
GRAPH = SceneGraph.of(
    [
        Node("a", "Agent", "a", "robot", ("sitting",), (), Properties({"center": HERE, "last_seen": 1})),
        Node("b", "Object", "b", "cup", ("clean",)),
    ],
    [Relation("a", "FACING", "b"), Relation("b", "FACING", "a")],
)


def net(*effects: Effect) -> Delta:
    return effects_delta(Operator("try", (), (), effects, "try"), GRAPH, {"a": "a", "b": "b"})


@pytest.mark.parametrize(
    ("effects", "expected"),
    [
        ((Become("b", "dirty", instead_of="clean"),), [ChangeList("b", "states", ("dirty",), ("clean",))]),
        ((Become("b", "clean", instead_of="dirty"),), []),
        ((Cease("a", "sitting"), Cease("a", "lying")), [ChangeList("a", "states", (), ("sitting",))]),
        ((Cease("a", "sitting"), Become("a", "sitting")), []),
        ((Assign("a", "last_seen", 2),), [SetProperty("a", "last_seen", 1, 2)]),
        ((Assign("a", "last_seen", 1),), []),
        ((Assign("a", "last_seen", value=True),), [SetProperty("a", "last_seen", 1, after=True)]),
        ((Assign("b", "color", "red"), Assign("b", "color", "blue")), [SetProperty("b", "color", None, "blue")]),
        ((Forget("a", "center"),), [SetProperty("a", "center", HERE, None)]),
        ((Forget("b", "center"),), []),
        ((Unrelate("a", ("FACING",), directed=True),), [RemoveRelation(Relation("a", "FACING", "b"))]),
        (
            (Unrelate("a", ("FACING",)),),
            [RemoveRelation(Relation("a", "FACING", "b")), RemoveRelation(Relation("b", "FACING", "a"))],
        ),
        ((Unrelate("a", ("FACING",), directed=True), Relate("a", "FACING", "b")), []),
        ((Relate("a", "CLOSE", "b"),), [AddRelation(Relation("a", "CLOSE", "b"))]),
        ((Become("c", "open"), Cease("c", "open"), Assign("c", "color", "red"), Forget("c", "color")), []),
        (
            (When(is_bound("c"), (Cease("a", "sitting"),), (Forget("a", "center"),)),),
            [SetProperty("a", "center", HERE, None)],
        ),
    ],
)
def test_effects_give_their_net_change(effects: tuple[Effect, ...], expected: list[object]) -> None:
    assert list(net(*effects).changes) == expected


def test_invalid_properties_are_refused_when_an_operator_is_created() -> None:
    with pytest.raises(InvalidValue, match="no property name"):
        Forget("x", "name")
    with pytest.raises(InvalidValue):
        Assign("x", "last_seen", 2**63)
