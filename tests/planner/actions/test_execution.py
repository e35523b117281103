"""Choices, refusals with their remedies, and effects: their net change, evaluated on the unchanged graph."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scenecypher.db.condition import And, HasClass, HasState, Related
from scenecypher.db.graph.delta import AddRelation, ChangeList, Delta, RemoveRelation, SetProperty
from scenecypher.db.graph.scene import InvalidValue, Node, Point, Properties, Relation, SceneGraph
from scenecypher.planner.actions.execution import (
    MAX_CHOICES,
    Infeasible,
    UnmetRequirement,
    bind_operator,
    effects_delta,
    format_message,
    repair_choices,
    simulate,
)
from scenecypher.planner.actions.operator import (
    Assign,
    Become,
    Cease,
    Choose,
    Effect,
    Forget,
    Operator,
    Relate,
    Repair,
    Requirement,
    Unrelate,
    When,
    is_bound,
)
from scenecypher.planner.actions.text import ActionCall

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
        (
            (Relate("a", "CLOSE", "b", mutual=True),),
            [AddRelation(Relation("a", "CLOSE", "b")), AddRelation(Relation("b", "CLOSE", "a"))],
        ),
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


CUPS = SceneGraph.of(
    [
        Node("a", "Agent", "a", "robot"),
        *(Node(f"cup-{number}", "Object", f"cup-{number}", "cup") for number in (5, 1, 4, 3, 2)),
        Node("box-1", "Object", "the box", "box", ("open",)),
        Node("box-2", "Object", "box-2", "box"),
    ],
    [Relation("cup-4", "ON", "box-1"), Relation("cup-5", "ON", "box-1"), Relation("cup-1", "ON", "box-2")],
)
ANY_CUP = HasClass("c", "cup")
CUP_ON_BOX = And((ANY_CUP, Related("c", "ON", "b")))
OPEN_BOX, ANY_BOX = And((HasClass("b", "box"), HasState("b", "open"))), HasClass("b", "box")
SHUT_BOX = And((HasClass("b", "box"), HasState("b", "shut")))
DIRTY = (Become("c", "dirty"),)


def choosing(*choices: Choose, requires: tuple[Requirement, ...] = ()) -> Operator:
    return Operator("try", (), requires, DIRTY, "try", choices)


def test_a_choice_depends_on_those_before_it() -> None:
    operator = choosing(Choose("b", (SHUT_BOX, OPEN_BOX, ANY_BOX)), Choose("c", (CUP_ON_BOX,)))
    assert bind_operator(operator, CUPS, {"a": "a"}) == {"a": "a", "b": "box-1", "c": "cup-4"}


def test_a_choice_without_a_suitable_node_binds_nothing_and_the_next_is_made() -> None:
    operator = choosing(Choose("b", (SHUT_BOX,)), Choose("c", (ANY_CUP,)))
    assert bind_operator(operator, CUPS, {}) == {"c": "cup-1"}


def test_the_caller_may_pick_the_node() -> None:
    operator = choosing(Choose("c", (ANY_CUP,)))
    delta = simulate(operator, CUPS, {}, action="try()", pick_node=max)
    assert delta == delta_of_dirt("cup-5")
    assert simulate(operator, CUPS, {}, action="try()") == delta_of_dirt("cup-1")


def delta_of_dirt(node: str) -> Delta:
    return Delta.of([ChangeList(node, "states", ("dirty",), ())])


OPENED = Requirement(HasState("b", "shut"), "{b} is open, unlike {other}", repair=Repair("close", ("b",)))
FULL = Requirement(
    Related("c", "ON", "b"), "{b} is empty", repair=Repair("fill", ("b", "c"), (Choose("c", (ANY_CUP,)),))
)


def test_a_refusal_names_the_action_all_unmet_requirements_and_their_remedies() -> None:
    with pytest.raises(Infeasible) as refused:
        simulate(choosing(requires=(OPENED, FULL)), CUPS, {"b": "box-1"}, action="try(box-1)")
    assert str(refused.value) == (
        "try(box-1): the box (box-1) is open, unlike other: close(box-1) first; the box (box-1) is empty"
    )
    assert refused.value.action == "try(box-1)"
    assert [part.requirement for part in refused.value.unmet] == [OPENED, FULL]


def test_remedies_to_choose_from_are_named_where_none_is_decided() -> None:
    unmet = UnmetRequirement(FULL, "it is empty", {"b": "box-1"})
    assert unmet.words == "it is empty"
    choices = (ActionCall("fill", ("box-1", "cup-1")), ActionCall("fill", ("box-1", "cup-2")))
    assert replace(unmet, choices=choices).words == "it is empty: fill(box-1, cup-1) or fill(box-1, cup-2) first"
    decided = replace(unmet, bindings={"b": "box-1", "c": "cup-3"}, choices=choices)
    assert decided.words == "it is empty: fill(box-1, cup-3) first"


def test_a_node_that_was_not_read_is_named_by_its_id() -> None:
    bindings = {"x": "box-1", "y": "box-2", "z": "ghost"}
    assert format_message("{x}, {y}, {z}, {w}", CUPS, bindings) == "the box (box-1), box-2, ghost, w"


def chosen(repair: Repair, *, most: int = MAX_CHOICES) -> list[str]:
    return [str(call) for call in repair_choices(repair, CUPS, {"a": "a"}, most=most)]


def test_a_repair_is_offered_for_the_lowest_ids_of_the_first_alternative_that_any_meets() -> None:
    assert chosen(Repair("grab", ("c",), (Choose("c", (ANY_CUP,)),))) == ["grab(cup-1)", "grab(cup-2)", "grab(cup-3)"]
    assert chosen(Repair("shut", ("b",), (Choose("b", (SHUT_BOX, OPEN_BOX, ANY_BOX)),))) == ["shut(box-1)"]
    assert chosen(Repair("shut", ("b",), (Choose("b", (SHUT_BOX,)),))) == []
    assert chosen(Repair("shut", ("b",))) == [], "an argument that nothing chooses"


def test_choices_of_a_repair_are_combined_and_bounded_together() -> None:
    repair = Repair("take", ("c", "b"), (Choose("b", (ANY_BOX,)), Choose("c", (CUP_ON_BOX,))))
    assert chosen(repair) == ["take(cup-4, box-1)", "take(cup-5, box-1)", "take(cup-1, box-2)"]
    assert chosen(repair, most=1) == ["take(cup-4, box-1)"]
    assert chosen(repair, most=2) == ["take(cup-4, box-1)", "take(cup-5, box-1)"]
