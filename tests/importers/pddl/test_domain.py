"""What a PDDL domain becomes, and what is refused with its line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import scenecypher.db.condition as c
from scenecypher.db.vocabulary import load_vocabulary
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers.pddl.domain import DomainReader, read_domain
from scenecypher.importers.pddl.domain_data import (
    FORM_EXAMPLES,
    Domain,
    DomainMapping,
    FactForm,
    SceneWords,
    domain_document,
    domain_from_document,
    form_text,
    parse_form,
    read_mapping,
)
from scenecypher.importers.pddl.problem import read_problem
from scenecypher.importers.pddl.syntax import parse_pddl, read_pddl_file
from scenecypher.planner.actions.operator import AGENT
from scenecypher.planner.vocabularies.own_actions import operators_of_domain
from tests.importers.pddl.instances import DATA, DOMAINS

DOMAIN = """\
(define (domain tiny)
  (:requirements :adl)
  (:types room cup - object)
  (:predicates (robot-in ?r - room) (at ?c - cup ?r - room) (opened ?c - cup) (cracked ?c - cup) (hand-empty))
  ; go somewhere
  (:action go
    :parameters (?from ?to - room)
    :precondition (robot-in ?from)
    :effect (and (not (robot-in ?from)) (robot-in ?to))))
"""


def domain_of(text: str, words: SceneWords | None = None) -> Domain:
    """Return the domain of a text."""
    return read_domain(parse_pddl(text, "domain", file="tiny.pddl"), words=words)


def test_predicates_are_stored_by_their_names_in_a_new_scene() -> None:
    forms = {name: form_text(form) for name, form in domain_of(DOMAIN).predicates.items()}
    assert forms == {
        "robot-in": "agent INSIDE",
        "at": "INSIDE",
        "opened": "state opened",
        "cracked": "state cracked",
        "hand-empty": "agent state hand_empty",
    }


def test_a_scenes_own_words_decide_what_names_mean() -> None:
    words = SceneWords(frozenset({"Cup"}), frozenset({"closed"}), frozenset({"cracked"}))
    domain = domain_of(DOMAIN, words)
    assert form_text(domain.predicates["opened"]) == "state open else closed"
    assert form_text(domain.predicates["cracked"]) == "affordance cracked"
    assert domain.types["cup"] == (FactForm("class", "Cup"),)
    assert domain.types["room"] == (FactForm("kind", "Place"),)


def test_the_empty_hand_follows_from_what_is_held_where_every_action_agrees() -> None:
    blocks = read_domain(read_pddl_file(DATA / "blocks.pddl", "domain"))
    assert form_text(blocks.predicates["hand-empty"]) == "agent holds nothing"
    text = (DATA / "blocks.pddl").read_text(encoding="utf-8").replace("(hand-empty) (on-table ?x)", "(on-table ?x)")
    assert form_text(domain_of(text).predicates["hand-empty"]) == "agent state hand_empty"


def test_the_sentence_of_an_action_is_the_comment_above_it_else_made_of_its_parts() -> None:
    actions = {
        action.name: action.words for action in read_domain(read_pddl_file(DATA / "blocks.pddl", "domain")).actions
    }
    assert actions["stack"] == "lay the held block on another"
    assert actions["put_down"].startswith("needs (holding x); then not holding(x), clear(x)")


def test_a_missing_fact_is_corrected_by_the_action_that_has_it_as_its_effect() -> None:
    operators = operators_of_domain(read_domain(read_pddl_file(DATA / "kitchen.pddl", "domain")))
    repairs = {it.message: it.repair for it in operators["stow"].requires}
    repair = repairs["(opened {c}) does not hold"]
    assert repair is not None
    assert (repair.action, repair.arguments) == ("open", ("c", "fit_r"))
    assert repair.choose[0].var == "fit_r"


@pytest.mark.parametrize("name", DOMAINS)
def test_a_stored_domain_is_the_same(name: str) -> None:
    domain = read_domain(read_pddl_file(DATA / f"{name}.pddl", "domain"))
    assert domain_from_document(domain_document(domain), file="stored") == replace(domain, notes=())


def test_a_stored_message_can_name_variables_only() -> None:
    document = domain_document(domain_of(DOMAIN))
    document["actions"][0]["requires"][0]["words"] = "{x.__class__}"
    with pytest.raises(DocumentError, match="no variable"):
        domain_from_document(document, file="stored")


def test_costs_are_ignored_with_a_word() -> None:
    assert read_domain(read_pddl_file(DATA / "kitchen.pddl", "domain")).notes == ("action costs are ignored",)


@pytest.mark.parametrize(
    ("before", "after", "line", "cause"),
    [
        ("  ; go", "  (:constraints (always (dry)))\n  ; go", 5, "constraints are not supported"),
        ("  ; go", "  (:derived (dry ?c - cup) (opened ?c))\n  ; go", 5, "derived predicates are not supported"),
        ("  ; go", "  (:durative-action wait)\n  ; go", 5, "durative actions are not supported"),
        ("(hand-empty)", "(hand-empty) (between ?a ?b ?c - room)", 4, "(between …) has 3 arguments"),
        (":precondition (robot-in ?from)", ":precondition (robot-inn ?from)", 8, "(did you mean 'robot-in'?)"),
        (":precondition (robot-in ?from)", ":precondition (robot-in ?from ?to)", 8, "2 arguments are given, 1"),
        ("?to - room)\n", "?to - hall)\n", 7, "the type hall is not declared"),
        ("(hand-empty))", "(hand-empty)", 1, "never closes"),
        ("(hand-empty)", "(hand-empty) (robot-at ?r - room)", 4, "robot-at is stored as agent INSIDE, as robot-in is"),
        (
            "  ; go",
            "  (:action g-o :effect (hand-empty))\n  (:action g_o :effect (hand-empty))\n  ; go",
            6,
            "called g_o",
        ),
        ("robot-in ?to))))", "robot-in ?to)))))", 9, "closes that was never opened"),
        ("(robot-in ?to))))", "(robot-in ?nobody))))", 9, "?nobody is no parameter, and not quantified"),
    ],
)
def test_what_is_not_supported_is_refused_with_its_line(before: str, after: str, line: int, cause: str) -> None:
    assert before in DOMAIN
    with pytest.raises(DocumentError) as refused:
        domain_of(DOMAIN.replace(before, after))
    assert refused.value.place == f"line {line}"
    assert cause in refused.value.cause


def test_what_actions_change_is_no_class() -> None:
    mapping = DomainMapping({"opened": FactForm("class", "open_cup")})
    text = DOMAIN.replace("(robot-in ?to)))", "(robot-in ?to) (forall (?c - cup) (opened ?c))))")
    with pytest.raises(DocumentError, match="map it to a state"):
        DomainReader(parse_pddl(text, "domain", file="tiny.pddl"), mapping, SceneWords()).read()


FORMS = {
    "state open": FactForm("state", "open"),
    "state closed else open": FactForm("state", "closed", otherwise="open"),
    "agent state tired": FactForm("state", "tired", of_agent=True),
    "ON": FactForm("relation", "ON"),
    "HOLDS reverse": FactForm("relation", "HOLDS", reverse=True),
    "agent INSIDE": FactForm("relation", "INSIDE", of_agent=True),
    "class cup": FactForm("class", "cup"),
    "kind Place": FactForm("kind", "Place"),
    "affordance grabbable": FactForm("affordance", "grabbable"),
    "within": FactForm("within"),
    "agent within": FactForm("within", of_agent=True),
    "agent holds nothing": FactForm("holds nothing", of_agent=True),
    "holds nothing": FactForm("holds nothing"),
}


@pytest.mark.parametrize("text", FORM_EXAMPLES)
def test_forms_are_read_as_they_are_written(text: str) -> None:
    assert parse_form(text) == FORMS[text]
    assert form_text(FORMS[text]) == text


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("agent = 3", "should be text"),
        ("[predicate]", "no field that is known here"),
        ('[predicates]\nat = ["INSIDE", "ON"]', "no single form"),
        ('[predicates]\nat = "INSIDE ON"', "no single form"),
        ('[types]\nroom = "INSIDE"', "no form of a type"),
        ("at = INSIDE", "no valid TOML"),
    ],
)
def test_a_bad_mapping_is_refused(tmp_path: Path, text: str, cause: str) -> None:
    (tmp_path / "mapping.toml").write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError) as refused:
        read_mapping(tmp_path / "mapping.toml")
    assert cause in str(refused.value)


def test_a_mapping_of_two_predicates_to_one_fact_is_refused() -> None:
    text = DOMAIN.replace("(hand-empty)", "(hand-empty) (in ?c - cup ?r - room)", 1)
    inside = FactForm("relation", "INSIDE")
    with pytest.raises(DocumentError, match=r"in is stored as INSIDE, as at is; map one of them otherwise"):
        read_domain(parse_pddl(text, "domain", file="tiny.pddl"), DomainMapping({"at": inside, "in": inside}))


def test_a_mapping_of_what_the_domain_lacks_is_refused() -> None:
    mapping = DomainMapping({"robot_in": FactForm("state", "x")}, file="mapping.toml")
    with pytest.raises(InputError, match="has no such predicate"):
        DomainReader(parse_pddl(DOMAIN, "domain", file="tiny.pddl"), mapping, SceneWords()).read()


@pytest.mark.parametrize(
    ("objects", "init", "cause"),
    [
        ("a - room", "(robot-in b)", "no object is called b"),
        ("a - room", "(robot-inn a)", "(did you mean 'robot-in'?)"),
        ("a - hall", "", "the type hall is not declared"),
        ("a - room a - cup", "", "a is declared twice"),
        ("a - room", "(robot-in)", "0 arguments are given, 1 are declared"),
    ],
)
def test_a_bad_problem_is_refused(objects: str, init: str, cause: str) -> None:
    text = f"(define (problem p) (:domain tiny) (:objects {objects}) (:init {init}) (:goal (hand-empty)))"
    reader = DomainReader(parse_pddl(DOMAIN, "domain", file="tiny.pddl"), DomainMapping(), SceneWords())
    with pytest.raises(DocumentError) as refused:
        read_problem(parse_pddl(text, "problem", file="p.pddl"), reader)
    assert cause in refused.value.cause


def test_a_problem_becomes_a_scene_with_a_robot_that_it_does_not_name() -> None:
    text = (
        "(define (problem p) (:domain tiny) (:objects hall - room red - cup)"
        " (:init (robot-in hall) (at red hall) (hand-empty)) (:goal (opened red)))"
    )
    reader = DomainReader(parse_pddl(DOMAIN, "domain", file="tiny.pddl"), DomainMapping(), SceneWords())
    scene = read_problem(parse_pddl(text, "problem", file="p.pddl"), reader)
    kinds = {node.id: (node.kind, node.class_, node.states) for node in scene.graph.nodes.values()}
    assert kinds == {
        "hall": ("Place", "room", ()),
        "red": ("Object", "cup", ()),
        "robot": ("Agent", "robot", ("hand_empty",)),
    }
    assert {(it.source, it.type, it.target) for it in scene.graph.relations} == {
        ("robot", "INSIDE", "hall"),
        ("red", "INSIDE", "hall"),
    }
    assert scene.domain.goal == c.HasState(c.Id("red"), "opened")


def test_the_acting_variable_is_the_planners() -> None:
    from scenecypher.importers.pddl.domain_data import ACTING

    assert ACTING == AGENT


def test_an_object_that_is_called_robot_is_not_the_one_who_acts() -> None:
    text = "(define (problem p) (:domain tiny) (:objects robot robot_2 - cup) (:init) (:goal (opened robot)))"
    reader = DomainReader(parse_pddl(DOMAIN, "domain", file="tiny.pddl"), DomainMapping(), SceneWords())
    nodes = read_problem(parse_pddl(text, "problem", file="p.pddl"), reader).graph.nodes
    assert {node.id: node.kind for node in nodes.values()} == {
        "robot": "Object",
        "robot_2": "Object",
        "robot_3": "Agent",
    }


def test_a_vocabulary_that_no_scene_brought_is_unknown() -> None:
    with pytest.raises(InputError, match="no vocabulary is called"):
        load_vocabulary("household+0123")
