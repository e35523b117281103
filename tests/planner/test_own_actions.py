"""Actions of a user's own on a real server: a PDDL problem as a scene, and a domain for a home that stands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from scenecypher.db.condition import evaluate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.graph.scene_document import scene_document, scene_from_document
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused, DocumentError, InputError, SceneReplaced
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.symbolic.plan import PlanRequest, find_plan
from scenecypher.planner.vocabularies.own_actions import add_actions, own_goal, read_pddl_scene, remove_actions
from tests.db.store.test_store import fresh
from tests.importers.pddl.instances import DATA, DOMAINS

pytest.importorskip("unified_planning")

CARRYING = """\
; What a robot can do in this home.
(define (domain carrying)
  (:requirements :adl)
  (:types room cup table cupboard - object)
  (:constants kitchen_table - table)
  (:predicates (robot-in ?r - room) (in ?x ?y) (on ?x ?y) (holding ?c - cup) (hand-empty) (opened ?c - cupboard))
  ; go to a room
  (:action go
    :parameters (?from ?to - room)
    :precondition (robot-in ?from)
    :effect (and (not (robot-in ?from)) (robot-in ?to)))
  ; open a cupboard of this room
  (:action open
    :parameters (?c - cupboard ?r - room)
    :precondition (and (robot-in ?r) (in ?c ?r) (not (opened ?c)))
    :effect (opened ?c))
  ; take a cup out of an open cupboard
  (:action take
    :parameters (?x - cup ?c - cupboard ?r - room)
    :precondition (and (robot-in ?r) (in ?c ?r) (in ?x ?c) (opened ?c) (hand-empty))
    :effect (and (holding ?x) (not (hand-empty)) (not (in ?x ?c))))
  ; put the cup on the kitchen table
  (:action serve
    :parameters (?x - cup ?r - room)
    :precondition (and (holding ?x) (robot-in ?r) (in kitchen_table ?r))
    :effect (and (not (holding ?x)) (hand-empty) (on ?x kitchen_table))))
"""
HOME = SceneGraph.of(
    (
        Node("kitchen", "Place", "kitchen", "kitchen"),
        Node("hall", "Place", "hall", "hall"),
        Node("kitchen_table", "Asset", "kitchen table", "table"),
        Node("box", "Asset", "cupboard", "cupboard", states=("closed",)),
        Node("mug", "Object", "red mug", "Cup"),
        Node("robot", "Agent", "robot", "robot"),
    ),
    (
        Relation("kitchen_table", "INSIDE", "kitchen"),
        Relation("box", "INSIDE", "hall"),
        Relation("mug", "INSIDE", "box"),
        Relation("robot", "INSIDE", "kitchen"),
    ),
)


@pytest.fixture
def domain(tmp_path: Path) -> Path:
    file = tmp_path / "carrying.pddl"
    file.write_text(CARRYING, encoding="utf-8")
    return file


def test_a_home_that_stands_gets_actions_keeps_its_history_and_undoes(store: SceneStore, domain: Path) -> None:
    name = put(store, ImportedScene("home", HOME)).name
    list(Simulator(store, store.find(name)).act("go_to(hall)"))
    added = add_actions(store, name, domain)
    assert added.forms["opened"] == "state open else closed"
    assert added.scene.version == 2
    simulator = Simulator(store, added.scene)
    with pytest.raises(Infeasible) as refused:
        list(simulator.act("take(mug, box, hall)"))
    assert refused.value.reasons == ("(opened cupboard (box)) does not hold: open(box, hall) first",)
    simulator.fix = True
    assert [step.action for step in simulator.act("serve(mug, kitchen)")] == [
        "open(box, hall)",
        "take(mug, box, hall)",
        "go(hall, kitchen)",
        "serve(mug, kitchen)",
    ]
    with pytest.raises(ActionRefused, match="there is no action 'grab'"):
        list(simulator.act("grab(mug)"))
    graph = store.load(name).graph
    assert Relation("mug", "ON", "kitchen_table") in graph.relations
    assert graph.nodes["box"].states == ("open",)
    store.undo(store.find(name), to=0)
    assert store.load(name).graph == HOME
    kinds = [event.kind for event in store.history(store.find(name))]
    assert (len(kinds), kinds.count("declare")) == (7, 1), "the new actions are an event too"


def test_a_remedy_whose_argument_must_be_chosen_is_named_with_the_candidates(store: SceneStore, domain: Path) -> None:
    rooms = (Node(f"room_{number}", "Place", f"room_{number}", "cellar") for number in range(1, 6))
    robot = Node("robot_2", "Agent", "robot_2", "robot")
    places = (Relation("robot_2", "INSIDE", f"room_{number}") for number in range(1, 6))
    graph = SceneGraph.of((*HOME.nodes.values(), *rooms, robot), (*HOME.relations, *places))
    name = put(store, ImportedScene("many rooms", graph)).name
    simulator = Simulator(store, add_actions(store, name, domain).scene, agent="robot_2")
    with pytest.raises(Infeasible) as refused:
        list(simulator.act("open(box, hall)"))
    went = "go(room_1, hall) or go(room_2, hall) or go(room_3, hall) first"
    assert refused.value.reasons == (f"(robot-in hall) does not hold: {went}",)


def test_what_holds_the_hand_is_told(store: SceneStore, domain: Path) -> None:
    two = apply_node(HOME, Node("cup", "Object", "cup", "Cup"), Relation("cup", "INSIDE", "box"))
    name = put(store, ImportedScene("two cups", two)).name
    simulator = Simulator(store, add_actions(store, name, domain).scene, fix=True)
    list(simulator.act("go(kitchen, hall)"))
    list(simulator.act("take(mug, box, hall)"))
    simulator.fix = False
    with pytest.raises(Infeasible, match=r"\(hand-empty\) does not hold: robot HOLDS red mug \(mug\)"):
        list(simulator.act("take(cup, box, hall)"))


def test_a_symbolic_plan_uses_own_actions(store: SceneStore, domain: Path) -> None:
    pytest.importorskip("up_fast_downward")
    name = put(store, ImportedScene("planned home", HOME)).name
    scene = add_actions(store, name, domain).scene
    from scenecypher.db.condition import Id, Related

    goal = Related(Id("mug"), "ON", Id("kitchen_table"))
    found = find_plan(PlanRequest(goal, scene.vocabulary), store.now(scene).graph)
    assert found.plan is not None, found.why
    simulator = Simulator(store, scene)
    for call in found.plan:
        list(simulator.act(str(call)))
    assert evaluate(goal, store.load(name).graph, {})


@pytest.mark.parametrize("kind", DOMAINS)
def test_the_goal_of_a_problem_is_reached(store: SceneStore, tmp_path: Path, kind: str) -> None:
    pytest.importorskip("up_fast_downward")
    file = tmp_path / "problem.pddl"
    file.write_text(DOMAINS[kind](Random(f"{kind} 3")), encoding="utf-8")  # noqa: S311 - no secret
    scene = put(store, read_pddl_scene(file, DATA / f"{kind}.pddl", name=kind))
    goal = own_goal(scene.declared)
    assert goal is not None
    found = find_plan(PlanRequest(goal, scene.vocabulary), store.now(scene).graph)
    assert found.plan is not None, found.why
    simulator = Simulator(store, scene)
    for call in found.plan:
        list(simulator.act(str(call)))
    assert evaluate(goal, store.load(scene.name).graph, {})


def test_actions_are_exported_and_imported_with_their_scene(store: SceneStore, domain: Path) -> None:
    name = put(store, ImportedScene("exported home", HOME)).name
    info = add_actions(store, name, domain).scene
    document = scene_document(ImportedScene(name, HOME, info.vocabulary, declared=info.declared))
    again = scene_from_document(document, file="home.json")
    assert again.declared == info.declared
    assert again.declared.domain == CARRYING
    assert store.put(again).outcome == "unchanged"
    copy = store.copy(name, f"{name} copy")
    assert copy.vocabulary == info.vocabulary
    assert [step.action for step in Simulator(store, copy).act("go(kitchen, hall)")] == ["go(kitchen, hall)"]


def test_a_document_with_damaged_actions_is_refused(store: SceneStore, domain: Path) -> None:
    name = put(store, ImportedScene("damaged home", HOME)).name
    info = add_actions(store, name, domain).scene
    document = scene_document(ImportedScene(name, HOME, info.vocabulary, declared=info.declared))
    document["declared"]["actions"]["actions"][0]["effects"][0]["form"] = "nonsense of two"
    with pytest.raises(DocumentError, match="no single form"):
        scene_from_document(document, file="home.json")


def test_a_session_that_began_before_the_change_is_told_to_open_the_scene_again(
    store: SceneStore, domain: Path
) -> None:
    name = put(store, ImportedScene("changed home", HOME)).name
    simulator = Simulator(store, store.find(name))
    list(simulator.act("go_to(hall)"))
    add_actions(store, name, domain)
    with pytest.raises(SceneReplaced):
        list(simulator.act("go_to(kitchen)"))
    fresh = Simulator(store, store.find(name))
    assert [step.action for step in fresh.act("go(hall, kitchen)")] == ["go(hall, kitchen)"]
    with pytest.raises(SceneReplaced):
        list(simulator.act("go_to(hall)"))


def test_actions_taken_away_give_the_vocabularys_back(store: SceneStore, domain: Path) -> None:
    name = put(store, ImportedScene("former home", HOME)).name
    add_actions(store, name, domain)
    info = remove_actions(store, name)
    assert info.vocabulary == "household"
    list(Simulator(store, info).act("go_to(hall)"))


WASHING = """\
(define (domain washing)
  (:requirements :adl)
  (:types cup)
  (:predicates (holding ?c - cup) (clean ?c - cup))
  ; wash what is held
  (:action wash
    :parameters (?c - cup)
    :precondition (and (holding ?c) (not (clean ?c)))
    :effect (clean ?c)))
"""


def test_several_domains_add_up(store: SceneStore, domain: Path, tmp_path: Path) -> None:
    second = tmp_path / "washing.pddl"
    second.write_text(WASHING, encoding="utf-8")
    name = put(store, ImportedScene("two domains", HOME)).name
    add_actions(store, name, domain)
    added = add_actions(store, name, second)
    assert (added.besides, added.replaced) == (("carrying",), False)
    assert CARRYING in added.scene.declared.domain
    assert WASHING in added.scene.declared.domain
    done = [step.action for step in Simulator(store, added.scene, fix=True).act("wash(mug)")]
    assert done == ["go(kitchen, hall)", "open(box, hall)", "take(mug, box, hall)", "wash(mug)"], "across domains"
    again = add_actions(store, name, domain)
    assert (again.besides, again.replaced) == (("washing",), True)
    assert again.scene.declared.domain.count("(define (domain carrying)") == 1
    assert store.put(ImportedScene(name, store.load(name).graph)).outcome == "unchanged"


def test_an_action_that_another_domain_has_is_refused(store: SceneStore, domain: Path, tmp_path: Path) -> None:
    second = tmp_path / "washing.pddl"
    second.write_text(WASHING.replace(":action wash", ":action take"), encoding="utf-8")
    name = put(store, ImportedScene("two domains that clash", HOME)).name
    version = add_actions(store, name, domain).scene.version
    with pytest.raises(InputError, match="the action take is in the domain carrying too"):
        add_actions(store, name, second)
    assert store.find(name).version == version


def test_a_constant_that_the_scene_lacks_is_an_error(store: SceneStore, domain: Path) -> None:
    domain.write_text(CARRYING.replace("kitchen_table", "kitchen_desk"), encoding="utf-8")
    name = put(store, ImportedScene("home without a desk", HOME)).name
    with pytest.raises(DocumentError, match="line 5: the scene has no node that is called kitchen_desk"):
        add_actions(store, name, domain)
    assert store.find(name).version == 0


def put(store: SceneStore, scene: ImportedScene) -> SceneInfo:
    """Import a scene under a name of its own."""
    name = fresh(scene.name.replace("/", " "))
    store.put(replace(scene, name=name))
    return store.find(name)


def apply_node(graph: SceneGraph, node: Node, relation: Relation) -> SceneGraph:
    """Return the graph with one node more."""
    return SceneGraph.of((*graph.nodes.values(), node), (*graph.relations, relation))


def test_what_is_ignored_of_a_domain_is_told_with_the_scene(tmp_path: Path) -> None:
    (tmp_path / "roads.pddl").write_text(
        "(define (domain roads) (:requirements :strips :typing :action-costs) (:types room robot - object)\n"
        "(:predicates (at ?r - room)) (:functions (total-cost))\n"
        "(:action go :parameters (?who - robot ?from ?to - room) :precondition (at ?from)\n"
        ":effect (and (not (at ?from)) (at ?to) (increase (total-cost) 1))))"
    )
    (tmp_path / "trip.pddl").write_text(
        "(define (problem trip) (:domain roads) (:objects hall kitchen - room robby - robot)\n"
        "(:init (at hall)) (:goal (at kitchen)))"
    )
    scene = read_pddl_scene(tmp_path / "trip.pddl", tmp_path / "roads.pddl", name="trip")
    assert scene.notes == ("action costs are ignored",)
