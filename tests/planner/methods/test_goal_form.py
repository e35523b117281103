"""Goals stated by a model become Conditions with the meaning that was stated, or are refused with an explanation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.chat.structured_reply import schema_of
from scenecypher.db.condition import And, AtLeast, Condition, Exists, HasClass, HasState, Id, bind, evaluate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.counting import count_graph
from scenecypher.db.store.enumerations import ClassUse, Enumerations
from scenecypher.errors import UnknownReference
from scenecypher.importers.babyai import read_level
from scenecypher.importers.offices import scene as office
from scenecypher.importers.virtualhome import packaged_scene
from scenecypher.planner.methods.ours.goal_form import GoalForm, GoalParser, goal_examples
from scenecypher.planner.methods.ours.goal_then_plan import states_to_name

THINGS: Final = {"cup": ("cup_1", "cup_2", "cup_3"), "mat": ("mat_1", "mat_2", "mat_3"), "lamp": ("lamp_1",)}
NODES: Final = tuple(Node(id_, "Object", id_, class_) for class_, ids in THINGS.items() for id_ in ids)
OCCURRING: Final = Enumerations(
    classes=tuple(ClassUse("Object", class_, len(ids), ids[0]) for class_, ids in THINGS.items()),
    ids=tuple(node.id for node in NODES),
)
BLANK: Final[Mapping[str, Any]] = dict.fromkeys(("relation", "to", "state")) | {"negated": False}
PLAIN: Final[Mapping[str, Any]] = dict.fromkeys(("color", "number", "of")) | {"quantity": "one", "not_same_as": []}


def variable(name: str, class_: str, quantity: str = "one", **more: object) -> dict[str, Any]:
    return {**PLAIN, "name": name, "class": class_, "quantity": quantity, **more}


def fact(what: str, to: str | None = None, **more: object) -> dict[str, Any]:
    return {**BLANK, "what": what, "relation": "ON" if to else None, "to": to, **more}


def goal(variables: list[dict[str, Any]], *facts: dict[str, Any]) -> Condition:
    form = GoalForm.model_validate({"reason": "", "variables": variables, "goal": facts})
    return GoalParser(OCCURRING).condition(form)


def holds(condition: Condition, on: set[tuple[str, str]]) -> bool:
    graph = SceneGraph.of(NODES, (Relation(cup, "ON", mat) for cup, mat in on))
    return evaluate(condition, graph, {})


def test_a_fact_is_about_a_node_or_so_many_of_a_class() -> None:
    assert goal([], fact("cup_1", state="open")) == And((HasState(Id("cup_1"), "open"),))
    counted = AtLeast(3, "x", And((HasClass("x", "cup"), HasState("x", "on"))))
    assert goal([variable("x", "Cup", "number", number=3)], fact("x", state="ON")) == And((counted,))
    only = Exists("lamp", And((HasClass("lamp", "lamp"), HasState("lamp", "on"))))
    assert goal([], fact("lamp", state="on")) == And((only,)), "a class of one node needs no variable"


CUPS: Final = variable("c", "cup", "all")


@given(st.sets(st.sampled_from([*product(THINGS["cup"], THINGS["mat"])])))
def test_quantities_mean_what_they_say(on: set[tuple[str, str]]) -> None:
    mats = {cup: {mat for it, mat in on if it == cup} for cup in THINGS["cup"]}
    cups = {mat: {cup for cup, it in on if it == mat} for mat in THINGS["mat"]}
    pairs = [(one, other) for one in mats for other in mats if one != other]
    stated: dict[str, tuple[Condition, bool]] = {
        "all on the same": (
            goal([CUPS, variable("m", "mat")], fact("c", "m")),
            any(len(it) == 3 for it in cups.values()),
        ),
        "all, each on any": (goal([CUPS], fact("c", "mat")), all(mats.values())),
        "one of them": (goal([variable("c", "cup")], fact("c", "mat")), any(mats.values())),
        "two of them": (
            goal([variable("c", "cup", "number", number=2)], fact("c", "mat")),
            sum(map(bool, mats.values())) >= 2,
        ),
        "each on its own": (
            goal([CUPS, variable("m", "mat", "own", of="c")], fact("c", "m")),
            all(any(cups[mat] == {cup} for mat in mats[cup]) for cup in mats),
        ),
        "two that differ, on the same": (
            goal(
                [variable("a", "cup"), variable("b", "cup", not_same_as=["a"]), variable("m", "mat")],
                fact("a", "m"),
                fact("b", "m"),
            ),
            any(mats[one] & mats[other] for one, other in pairs),
        ),
        "one on a mat, all others on none": (
            goal(
                [variable("a", "cup"), variable("b", "cup", "all", not_same_as=["a"])],
                fact("a", "mat"),
                fact("b", "mat", negated=True),
            ),
            any(mats[one] and not any(mats[other] for other in mats if other != one) for one in mats),
        ),
    }
    for words, (condition, expected) in stated.items():
        assert holds(condition, on) is expected, words


def test_facts_that_share_nothing_do_not_hide_each_other() -> None:
    """No lamp would make all facts true if each were within the quantifier of the lamps."""
    lit = [variable("c", "cup"), variable("l", "lamp", "all", color="red")]
    assert not holds(goal(lit, fact("c", "mat"), fact("l", state="on")), set())


def test_a_bound_variable_is_left_alone() -> None:
    inner = Exists("x", HasState("x", "on"))
    assert bind(And((HasState("x", "on"), inner)), {"x": Id("a")}) == And((HasState(Id("a"), "on"), inner))


def test_the_schema_is_strict_and_flat() -> None:
    schema = schema_of(GoalForm)
    assert "class" in str(schema)
    assert set(schema["$defs"]) == {"VariableForm", "FactForm"}  # type: ignore[call-overload]
    for definition in schema["$defs"].values():  # type: ignore[attr-defined]
        assert set(definition["required"]) == set(definition["properties"])
        assert "$ref" not in str(definition)


MATS: Final = variable("m", "mat", "own", of="c")


@pytest.mark.parametrize(
    ("variables", "facts", "told"),
    [
        ([], [], "the goal says nothing"),
        ([variable("x", "cup", "number", number=4)], [fact("x", state="on")], "of the class cup there are 3 here"),
        ([variable("x", "cup", "number", number=10**400)], [fact("x", state="on")], "there are 3 here"),
        ([variable("x", "cup", "number")], [fact("x", state="on")], 'wants "number"'),
        ([variable("x", "cup", "number", number=0)], [fact("x", state="on")], 'wants "number"'),
        ([CUPS], [fact("c")], "give a relation with a target, or a state"),
        ([variable("x", "cap")], [fact("x", state="on")], "did you mean 'cup'"),
        ([], [fact("cup", state="on")], "is a class of several: declare a variable"),
        ([], [fact("cap", state="on")], "did you mean 'cup'"),
        ([CUPS], [fact("c", relation="ON")], "leads to something"),
        ([CUPS], [fact("c", "c")], "can't be ON itself"),
        ([CUPS], [fact("lamp", state="on")], "no fact is about the variable 'c'"),
        ([CUPS, CUPS], [fact("c", state="on")], "two variables are called 'c'"),
        ([variable("cup_1", "cup")], [fact("cup_1", state="on")], "can't name a variable"),
        ([variable("a cup", "cup")], [fact("a cup", state="on")], "can't name a variable"),
        ([variable("x", "cup", not_same_as=["y"])], [fact("x", state="on")], "is no other variable"),
        ([variable("x", "cup", not_same_as=["x"])], [fact("x", state="on")], "is no other variable"),
        ([variable("c", "cup"), MATS], [fact("c", "m")], 'a variable there that has "all" or "number"'),
        ([CUPS, MATS], [fact("c", state="on"), fact("m", state="on")], "no fact joins 'm' and 'c'"),
        ([CUPS, MATS], [fact("c", "m", negated=True)], "no fact joins 'm' and 'c'"),
        ([CUPS], [fact("c", state="on"), fact("c", state="on", negated=True)], "a fact and its opposite"),
    ],
)
def test_what_is_no_goal_is_told(variables: list[dict[str, Any]], facts: list[dict[str, Any]], told: str) -> None:
    with pytest.raises(UnknownReference, match=re.escape(told)):
        goal(variables, *facts)


def test_states_that_only_an_action_gives_may_be_asked_for() -> None:
    assert {"heated", "washed", "open"} <= {*states_to_name("virtualhome_ext")}
    form = GoalForm.model_validate({"reason": "", "variables": [], "goal": [fact("cup_1", state="heated")]})
    parser = GoalParser(OCCURRING, states=states_to_name("virtualhome_ext"))
    assert parser.condition(form) == And((HasState(Id("cup_1"), "heated"),))


@pytest.mark.parametrize("scene", [packaged_scene("963_2"), office("our-office"), read_level("numqa", 3)])
def test_the_worked_goals_are_goals_of_the_scene_that_they_are_told_in(scene: ImportedScene) -> None:
    """Each example is read by the parser, in words that occur here; none is a model's way to a refused goal."""
    occurring = count_graph(scene.graph)
    examples = [*goal_examples(occurring)]
    parsed = [GoalParser(occurring).condition(GoalForm.model_validate_json(form)) for _, form in examples]
    assert len({*parsed}) == 3
    assert len({said for said, _ in examples}) == 3
    assert not [said for said, _ in examples if "$" in said]


def test_a_scene_without_words_for_them_has_no_worked_goals() -> None:
    assert [*goal_examples(Enumerations())] == []
