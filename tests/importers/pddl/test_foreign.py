"""PDDL as others write it: what the language allows is read, or refused for a reason that says what to do."""

from __future__ import annotations

import pytest

import scenecypher.db.condition as c
from scenecypher.errors import DocumentError
from scenecypher.importers.pddl.domain import Domain, DomainReader, read_domain
from scenecypher.importers.pddl.problem import PddlScene, read_problem
from scenecypher.importers.pddl.stored_as import DomainMapping, SceneWords
from scenecypher.importers.pddl.syntax import parse_pddl

DOMAIN = """\
(define (domain home)
  (:requirements :strips :typing)
  (:types room fridge item robot - object)
  (:predicates (robot-in ?r - room) (stands ?f - fridge ?r - room) (open ?f - fridge) (holding ?i - item) (full))
  (:action open :parameters (?b - robot ?f - fridge ?r - room)
    :precondition (and (robot-in ?r) (stands ?f ?r))
    :effect (open ?f)))
"""


def domain_of(text: str) -> Domain:
    return read_domain(parse_pddl(text, "domain", file="d.pddl"))


def scene_of(domain: str, objects: str, init: str, goal: str) -> PddlScene:
    text = f"(define (problem p) (:domain home) (:objects {objects}) (:init {init}) (:goal {goal}))"
    reader = DomainReader(parse_pddl(domain, "domain", file="d.pddl"), DomainMapping(), SceneWords())
    return read_problem(parse_pddl(text, "problem", file="p.pddl"), reader)


def test_a_predicate_an_action_a_type_and_an_object_may_have_one_name() -> None:
    text = DOMAIN.replace("(full)", "(full) (fridge ?i - item)")
    scene = scene_of(text, "open f - fridge kitchen - room", "(stands f kitchen)", "(and (open f) (open open))")
    assert [action.name for action in scene.domain.actions] == ["open"]
    assert scene.domain.goal == c.And((c.HasState(c.Id("f"), "open"), c.HasState(c.Id("open"), "open")))


@pytest.mark.parametrize("before", ["(:predicates", "(:action"])
def test_costs_by_a_function_of_objects_are_ignored_with_a_word(before: str) -> None:
    """In effects alone, under a condition, and with the functions before or after the predicates."""
    functions = "(:functions (distance ?a ?b - room) - number (total-cost) - number)"
    text = DOMAIN.replace(before, f"{functions} {before}", 1).replace(
        ":effect (open ?f)", ":effect (and (open ?f) (when (full) (increase (total-cost) (distance ?r ?r))))"
    )
    wait = "(:action wait :parameters (?r - room) :effect (increase (total-cost) (distance ?r ?r)))"
    domain = domain_of(text.rstrip().removesuffix(")") + wait + ")")
    assert domain.notes == ("action costs are ignored",)
    assert [len(action.effects) for action in domain.actions] == [1, 0]
    init = "(= (distance kitchen kitchen) 4) (= (total-cost) 0) (full)"
    assert scene_of(text, "kitchen - room", init, "(full)").graph.nodes["kitchen"].kind == "Place"


@pytest.mark.parametrize(
    ("effect", "note"),
    [
        ("(increase (totalCost) (distance ?r ?r))", "action costs are ignored"),
        ("(decrease (battery) 2)", "numbers are ignored: none decides"),
        ("(assign (battery) (distance ?r ?r))", "numbers are ignored: none decides"),
    ],
)
def test_numbers_that_no_condition_compares_are_ignored(effect: str, note: str) -> None:
    """Costs under another name than total-cost, as ALFRED has them, and counters: what no condition asks for."""
    functions = "(:functions (distance ?a ?b) - number (totalCost) (battery))"
    text = DOMAIN.replace(":typing", ":typing :fluents").replace("(:action", f"{functions} (:action")
    text = text.replace("(open ?f))", f"(and (open ?f) {effect}))")
    domain = domain_of(text)
    assert domain.notes == (note,)
    assert [it.form.word for it in domain.actions[0].effects] == ["open"]


def test_functions_to_objects_are_told() -> None:
    with pytest.raises(DocumentError, match="functions to room are not supported; write a predicate with one argument"):
        domain_of(DOMAIN.replace("(:action", "(:functions (home ?i - item) - room) (:action"))


def test_an_object_that_an_action_names_is_a_constant() -> None:
    """Domains of the competitions name objects of the problem; without a problem, the name is told."""
    text = DOMAIN.replace("(robot-in ?r)", "(robot-in ?r) (not (holding wrench))")
    scene = scene_of(text, "wrench - item kitchen - room", "(robot-in kitchen)", "(not (holding wrench))")
    assert c.Not(c.Related("agent", "HOLDS", c.Id("wrench"))) in [
        it.condition for it in scene.domain.actions[0].requires
    ]
    with pytest.raises(DocumentError, match=r"no object is called wrench; declare it, or write \?wrench"):
        domain_of(text)


def test_a_type_without_objects_and_a_hyphen_without_a_space() -> None:
    text = DOMAIN.replace("?f - fridge ?r - room) (open", "?f -fridge ?r -room) (open")
    scene = scene_of(text, "kitchen -room - fridge cup - item", "", "(holding cup)")
    assert {node.id: node.class_ for node in scene.graph.nodes.values()} == {
        "kitchen": "room",
        "cup": "item",
        "robot": "robot",
    }


def test_an_argument_of_a_wider_type_is_read() -> None:
    """Most planners do not compare types of arguments: a fact of another type holds of nothing."""
    text = DOMAIN.replace("(stands ?f ?r)", "(stands ?r ?f)")
    assert "(stands {r} {f})" in [it.words for it in domain_of(text).actions[0].requires]


@pytest.mark.parametrize(
    ("goal", "cause"),
    [
        ("(shut f)", "the predicate shut is not declared"),
        ("(open g)", "no object is called g"),
        ("(stands f)", "(stands …): 1 arguments are given, 2 are declared"),
        ("(and (open f) (> (fuel) 3))", "numbers (> …) are not supported"),
        ("(preference soon (open f))", "preferences (preference …) are not supported"),
    ],
)
def test_a_goal_of_unknown_words_is_told_in_words(goal: str, cause: str) -> None:
    with pytest.raises(DocumentError) as refused:
        scene_of(DOMAIN, "f - fridge", "", goal)
    assert cause in str(refused.value)
    assert refused.value.file == "p.pddl"


@pytest.mark.parametrize(
    "types", ["box shelf - object  box crate - place", "place - object box - (either shelf place)  crate - place"]
)
def test_a_type_may_have_several_parents(types: str) -> None:
    text = f"""(define (domain store) (:types {types})
      (:predicates (clear ?p - place) (on ?c - crate ?p - place))
      (:action lift :parameters (?c - crate ?b - box) :precondition (and (on ?c ?b) (clear ?c))
        :effect (and (clear ?b) (not (on ?c ?b)))))"""
    domain = domain_of(text)
    requires = [it.words for it in domain.actions[0].requires]
    assert "(on {c} {b})" in requires
    assert {it.form.word for it in domain.actions[0].effects} == {"clear", "ON"}


def test_object_may_stand_among_the_types_and_a_variable_twice_in_a_literal() -> None:
    text = DOMAIN.replace("robot - object)", "robot - object object)").replace(
        "(stands ?f ?r)", "(near ?f ?f) (not (near ?r ?r))"
    )
    domain = domain_of(text.replace("(full)", "(near ?a ?b)"))
    conditions = [it.condition for it in domain.actions[0].requires]
    assert c.Related("f", "NEAR", "f") in conditions
    assert c.Not(c.Related("r", "NEAR", "r")) in conditions


def test_a_variable_may_follow_without_a_space_and_in_capitals() -> None:
    text = DOMAIN.replace("(open ?f)", "(OPEN?f)").replace("(:action open", "(:ACTION Open")
    assert [action.name for action in domain_of(text).actions] == ["open"]


@pytest.mark.parametrize("name", ["x", "1", "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "mug_|+1.2|-0.5", "MUG"])
def test_an_object_may_have_any_name(name: str) -> None:
    """PDDL's readers want a letter first; simulators write numbers, uuids and coordinates."""
    scene = scene_of(DOMAIN, f"{name} - item", f"(holding {name})", f"(not (holding {name}))")
    node = name.lower()
    assert node in scene.graph.nodes
    assert repr(c.Id(node)) in repr(scene.domain.goal)


def test_variables_predicates_and_types_may_begin_with_a_number() -> None:
    domain = domain_of("""(define (domain doors) (:types 2door - object)
      (:predicates (9lives ?1 - 2door) (shut ?1 - 2door))
      (:action pass :parameters (?1 - 2door) :precondition (not (shut ?1))
        :effect (and (9lives ?1) (forall (?2 - 2door) (shut ?2)))))""")
    assert [(it.name, it.types) for it in domain.actions[0].parameters] == [("n_1", ("2door",))]
    assert [it.form.word for it in domain.actions[0].effects] == ["9lives", "shut"]
    assert domain.actions[0].effects[1].each[0][1] == c.HasClass("n_2", "2door")


def test_a_static_fact_of_three_is_told_with_the_way_to_split_it() -> None:
    with pytest.raises(DocumentError, match="has 3 arguments") as refused:
        domain_of(DOMAIN.replace("(full)", "(way ?a ?b ?c - room)"))
    assert "(way-1 ?fact ?x1) (way-2 ?fact ?x2) (way-3 ?fact ?x3)" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("(define (problem t-0) (:domain omnigibson) (:objects mug.n.04_1 - mug.n.04))", "this is BDDL"),
        (DOMAIN.replace("(open ?f))", "(oneof (open ?f) (full)))"), "several outcomes (oneof …) are not supported"),
        (DOMAIN.replace("(stands ?f ?r)", "(= (fuel) 1)"), "numbers (= …) are not supported"),
        (DOMAIN.replace("(stands ?f ?r)", "(> (fuel) 1)"), "numbers (> …) are not supported"),
    ],
)
def test_what_is_no_such_domain_is_told(text: str, cause: str) -> None:
    with pytest.raises(DocumentError) as refused:
        domain_of(text)
    assert cause in str(refused.value)
