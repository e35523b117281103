"""PDDL as others write it: what the language allows is read, or refused for a reason that says what to do."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Final

import pytest

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import Relation
from scenecypher.db.vocabulary import DEFAULT, with_own_actions
from scenecypher.errors import DocumentError
from scenecypher.importers.pddl.domain import DomainReader, read_domain
from scenecypher.importers.pddl.domain_data import Domain, DomainMapping, SceneWords, declaration_of
from scenecypher.importers.pddl.problem import PddlScene, read_problem
from scenecypher.importers.pddl.syntax import parse_pddl, read_pddl_file
from scenecypher.planner.symbolic.plan import PlanRequest, find_plan, planning_state
from scenecypher.planner.symbolic.states import apply_call
from tests.importers.pddl.instances import DATA

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


def test_requirements_that_nothing_needs_are_ignored_with_a_word() -> None:
    """Domains declare more than they use; each part that is not supported is refused at its own line."""
    domain = domain_of(DOMAIN.replace(":typing", ":typing :derived-predicates :hierarchy"))
    told = "requirements that no part of the domain needs are ignored: :derived-predicates, :hierarchy"
    assert (domain.notes, len(domain.actions)) == ((told,), 1)


@pytest.mark.parametrize(
    ("section", "cause"),
    [
        ("(:constraints (always (full)))", "constraints are not supported"),
        ("(:htn :tasks ())", ":htn are not supported"),
    ],
)
def test_a_part_of_a_problem_that_is_not_read_is_refused(section: str, cause: str) -> None:
    with pytest.raises(DocumentError, match=cause):
        scene_of(DOMAIN, f"f - fridge) {section} (:objects", "", "(full)")


def test_an_object_may_be_called_as_who_acts() -> None:
    """Facts of an object called agent were the robot's."""
    text = """(define (domain d) (:predicates (at ?x ?r) (seen ?x)) (:action look :parameters (?x ?r)
      :precondition (at ?x ?r) :effect (seen ?x)))"""
    graph = scene_of(text, "agent hall", "(at agent hall) (seen agent)", "(seen agent)").graph
    assert graph.nodes["agent"].states == ("seen",)
    assert graph.relations == {Relation("agent", "INSIDE", "hall")}


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


def test_a_type_without_objects_a_hyphen_without_a_space_and_an_object_twice() -> None:
    text = DOMAIN.replace("?f - fridge ?r - room) (open", "?f -fridge ?r -room) (open")
    scene = scene_of(text, "kitchen -room - fridge cup - item cup - item", "", "(holding cup)")
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


PLANNED: Final[dict[str, tuple[str, str, int]]] = {
    "routes with costs by distance, in capitals": (
        """(DEFINE (DOMAIN route) (:REQUIREMENTS :typing :action-costs) (:types room robot)
        (:functions (distance ?A ?B - room) - number (total-cost) - number)
        (:PREDICATES (robot-in ?R - room) (joined ?A ?B - room))
        (:ACTION go :parameters (?w - robot ?a ?b - room) :precondition (AND (robot-in ?a) (joined ?a ?b))
          :effect (and (not (robot-in ?a)) (robot-in ?b) (increase (total-cost) (distance ?a ?b)))))""",
        """(:objects HALL study - room r2 - robot) (:init (robot-in hall) (joined hall study) (= (total-cost) 0)
        (= (distance hall study) 4)) (:goal (robot-in STUDY)) (:metric minimize (total-cost))""",
        1,
    ),
    "a store with a type of two parents": (
        """(define (domain store) (:types surface place - object box - surface box shelf - place)
        (:predicates (clear ?s - (either surface place)) (on ?b - box ?p - place) (up ?b - box))
        (:action lift :parameters (?b - box ?p - (either surface place)) :precondition (and (on ?b ?p) (clear ?b))
          :effect (and (up ?b) (clear ?p) (not (on ?b ?p)))))""",
        "(:objects b1 b2 - box s1 - shelf) (:init (on b1 b2) (on b2 s1) (clear b1)) (:goal (and (up b1) (up b2)))",
        2,
    ),
    "errands with effort, conditional effects for each, names with bars": (
        """(define (domain errands) (:requirements :adl :fluents) (:types helper spot holder sort thing object)
        (:predicates (standsAt ?h - helper ?s - spot) (keptAt ?c - holder ?s - spot) (liesIn ?o - thing ?c - holder)
          (unlatched ?c - holder) (latched-kind ?c - holder) (seen ?c - holder) (ofSort ?o - thing ?t - sort)
          (carries ?h - helper ?o - thing) (handsFull ?h - helper))
        (:functions (steps ?from ?to) (effort))
        (:action WalkTo :parameters (?h - helper ?s - spot ?e - spot) :precondition (standsAt ?h ?s)
          :effect (and (standsAt ?h ?e) (not (standsAt ?h ?s)) (increase (effort) (steps ?s ?e))
            (forall (?c - holder) (when (and (keptAt ?c ?e) (or (not (latched-kind ?c)) (unlatched ?c))) (seen ?c)))))
        (:action Unlatch :parameters (?h - helper ?s - spot ?c - holder)
          :precondition (and (latched-kind ?c) (standsAt ?h ?s) (keptAt ?c ?s) (not (unlatched ?c)))
          :effect (and (unlatched ?c) (seen ?c) (increase (effort) 1)))
        (:action Grab :parameters (?h - helper ?s - spot ?o - thing ?c - holder)
          :precondition (and (standsAt ?h ?s) (keptAt ?c ?s) (liesIn ?o ?c) (not (handsFull ?h)) (seen ?c)
            (or (not (latched-kind ?c)) (unlatched ?c)))
          :effect (and (not (liesIn ?o ?c)) (carries ?h ?o) (handsFull ?h) (increase (effort) 1)))
        (:action Lay :parameters (?h - helper ?s - spot ?o - thing ?c - holder)
          :precondition (and (carries ?h ?o) (standsAt ?h ?s) (keptAt ?c ?s))
          :effect (and (liesIn ?o ?c) (not (carries ?h ?o)) (not (handsFull ?h)) (increase (effort) 1))))""",
        """(:metric minimize (effort)) (:objects Helper1 - helper Spot|1| Spot|-2| - spot Board|-1.5| Chest|2| - holder
        PearSort - sort Pear|3| - thing) (:init (= (effort) 0) (= (steps Spot|1| Spot|-2|) 3) (standsAt Helper1 Spot|1|)
        (keptAt Board|-1.5| Spot|1|) (keptAt Chest|2| Spot|-2|) (latched-kind Chest|2|) (liesIn Pear|3| Chest|2|)
        (ofSort Pear|3| PearSort))
        (:goal (exists (?o - thing) (and (ofSort ?o PearSort) (exists (?c - holder) (and (liesIn ?o ?c)
          (not (latched-kind ?c)))))))""",
        5,
    ),
    "a workshop whose actions name tools": (
        """(define (domain workshop) (:predicates (have ?x) (in ?x ?y) (shut ?x) (tight ?x))
        (:action open :parameters (?b) :precondition (shut ?b) :effect (not (shut ?b)))
        (:action fetch :parameters (?x ?b) :precondition (and (in ?x ?b) (not (shut ?b)))
          :effect (and (have ?x) (not (in ?x ?b))))
        (:action loosen :parameters (?n) :precondition (and (have spanner) (tight ?n)) :effect (not (tight ?n))))""",
        "(:objects spanner n b - object) (:init (in spanner b) (shut b) (tight n)) (:goal (not (tight n)))",
        3,
    ),
    "an alarm without arguments, names of one letter and numbers": (
        """(define (domain fetch) (:types room cup robot)
        (:predicates (robot-in?r - room) (in ?c - cup ?r -room) (holding ?c - cup) (hand-empty) (alarm)
          (near ?c ?d - cup))
        (:action go :parameters (?w - robot ?a ?b - room) :precondition (robot-in?a)
          :effect (and (not (robot-in ?a)) (robot-in ?b)))
        (:action take :parameters (?w - robot ?c - cup ?r - room)
          :precondition (and (robot-in ?r) (in ?c ?r) (hand-empty) (not (near ?c ?c)))
          :effect (and (holding ?c) (not (hand-empty)) (not (in ?c ?r))))
        (:action ring :parameters (?w - robot) :precondition (not (hand-empty)) :effect (alarm)))""",
        """(:objects a 2 - room 7f9c1d - cup r - robot) (:init (robot-in a) (in 7f9c1d 2) (hand-empty))
        (:goal (and (alarm) (not (robot-in a))))""",
        3,
    ),
}


@pytest.mark.parametrize("form", PLANNED)
def test_problems_as_others_write_them_are_planned_and_carried_out(form: str) -> None:
    pytest.importorskip("up_fast_downward")
    domain, problem, length = PLANNED[form]
    source = parse_pddl(domain, "domain", file="d.pddl")
    text = f"(define (problem p) (:domain d) {problem})"
    scene = read_problem(
        parse_pddl(text, "problem", file="p.pddl"), DomainReader(source, DomainMapping(), SceneWords())
    )
    own = with_own_actions(DEFAULT, declaration_of(scene.domain, source).actions)
    assert scene.domain.goal is not None
    found = find_plan(PlanRequest(scene.domain.goal, own), scene.graph)
    assert found.plan is not None, found.why
    assert len(found.plan) == length
    state, graph = planning_state(scene.graph, own), scene.graph
    assert state is not None
    for call in found.plan:
        graph = apply_call(call, graph, operators=state.operators, agent=state.agent)
    assert c.evaluate(scene.domain.goal, graph, {})


def test_a_spoilt_domain_is_read_or_refused_with_a_line() -> None:
    text = (DATA / "kitchen.pddl").read_text(encoding="utf-8")
    words = re.findall(r"[()]|[^\s();]+", re.sub(r";.*", "", text))
    random = Random(7)  # noqa: S311 - no secret
    places: list[str] = []
    for _ in range(200):
        spoilt = [*words]
        spoilt[random.randrange(len(words))] = random.choice([*words, "()", "(not)", "(= a)", "(forall)", "(increase)"])
        try:
            domain_of(" ".join(spoilt))
        except DocumentError as error:
            places.append(error.place)
    assert len(places) > 100
    assert all(place.startswith("line ") for place in places)


TEAM: Final = """\
(define (domain home)
  (:requirements :strips :typing)
  (:types room robot - object)
  (:predicates (robot-at ?r - robot ?x - room) (door ?x ?y - room) (free ?x - room) (swept ?x - room))
  (:action go :parameters (?r - robot ?x ?y - room)
    :precondition (and (robot-at ?r ?x) (door ?x ?y) (free ?y))
    :effect (and (robot-at ?r ?y) (not (robot-at ?r ?x)) (free ?x) (not (free ?y))))
  (:action sweep :parameters (?r - robot ?x ?y - room)
    :precondition (and (robot-at ?r ?x) (door ?x ?y) (free ?y)) :effect (swept ?y)))
"""


@pytest.mark.parametrize("declared", ["objects", "constants"])
def test_a_problem_of_several_agents_is_planned_for_all_of_them(declared: str) -> None:
    """In which one stands where another one has to work."""
    domain, objects = TEAM, "red blue - robot a b c - room"
    if declared == "constants":
        domain = TEAM.replace("(:predicates", "(:constants blue - robot) (:predicates")
        objects = "red - robot a b c - room"
    init = "(robot-at red a) (robot-at blue b) (free c) (door a b) (door b a) (door b c) (door c b)"
    scene = scene_of(domain, objects, init, "(and (swept b) (robot-at red b))")
    assert [it.id for it in scene.graph.nodes.values() if it.kind == "Agent"] == ["robot"]
    first = "red, blue" if declared == "objects" else "blue, red"
    assert [it.partition(":")[0] for it in scene.domain.notes] == [f"several act ({first})"]
    pytest.importorskip("up_fast_downward")
    source = parse_pddl(domain, "domain", file="d.pddl")
    own = with_own_actions(DEFAULT, declaration_of(scene.domain, source).actions)
    assert scene.domain.goal is not None
    found = find_plan(PlanRequest(scene.domain.goal, own), scene.graph)
    assert found.plan is not None, found.why
    assert str(found.plan[0]) == "go(blue, b, c)"


def test_a_problem_of_one_agent_keeps_it() -> None:
    scene = scene_of(TEAM, "red - robot a b - room", "(robot-at red a) (free b) (door a b)", "(swept b)")
    assert [it.id for it in scene.graph.nodes.values() if it.kind == "Agent"] == ["red"]
    assert scene.domain.notes == ()


def test_a_domain_and_a_problem_may_share_a_file_and_are_told_apart() -> None:
    problem = "(define (problem p) (:domain home) (:objects k - room) (:init) (:goal (robot-in k)))"
    both = DOMAIN + problem
    assert parse_pddl(both, "domain", file="x").name == "home"
    assert parse_pddl(both, "problem", file="x").name == "p"
    with pytest.raises(DocumentError, match="this is a problem, no domain; exchange the two files"):
        parse_pddl(problem, "domain", file="x")
    for more in (DOMAIN + DOMAIN, DOMAIN + "(x)", DOMAIN + "x"):
        with pytest.raises(DocumentError, match="one definition a file"):
            parse_pddl(more, "domain", file="x")


def test_a_file_of_pddl_may_have_a_mark_of_its_encoding(tmp_path: Path) -> None:
    file = tmp_path / "d.pddl"
    for encoding in ("utf-8-sig", "utf-16"):
        file.write_bytes(DOMAIN.upper().replace("\n", "\r\n").encode(encoding))
        assert read_pddl_file(file, "domain").name == "home"
