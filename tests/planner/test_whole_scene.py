"""What a plan needs and its goal does not name, in scenes too large for a first look; by the product's reader."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from scenecypher.db.condition import HasState, Id
from scenecypher.db.gate import Gate
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.sessions.events import Finished
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from scenecypher.planner.vocabularies.own_actions import own_goal, read_pddl_scene
from tests.db.store.test_store import fresh
from tests.planner.actions.test_operators import put
from tests.planner.actions.worlds import HOME

pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")

SPONGES = """\
(define (domain cleaning) (:requirements :strips :typing)
  (:types room cup sponge tap shelf robot - object)
  (:predicates (robot-in ?r - room) (in ?x ?r) (holding ?s - sponge) (wet ?s - sponge) (clean ?c - cup))
  (:action go :parameters (?w - robot ?a ?b - room) :precondition (robot-in ?a)
    :effect (and (not (robot-in ?a)) (robot-in ?b)))
  (:action take :parameters (?w - robot ?s - sponge ?r - room) :precondition (and (robot-in ?r) (in ?s ?r))
    :effect (and (holding ?s) (not (in ?s ?r))))
  (:action wash :parameters (?w - robot ?c - cup ?s - sponge ?r - room)
    :precondition (and (robot-in ?r) (in ?c ?r) (holding ?s)) :effect (clean ?c)))
"""


@pytest.mark.parametrize("others", [20, 50, 1_100])
def test_a_plan_is_found_however_large_the_scene(store: SceneStore, tmp_path: Path, others: int) -> None:
    """Kind: a part is taken for the whole: "there is no plan" was said of 40 nodes of a scene."""
    shelves = " ".join(f"shelf{number}" for number in range(others))
    problem = f"""
(define (problem cups) (:domain cleaning)
  (:objects hall kitchen store - room mug - cup soft - sponge robby - robot {shelves} - shelf)
  (:init (robot-in hall) (in mug kitchen) (in soft store)
    {" ".join(f"(in shelf{number} store)" for number in range(others))})
  (:goal (clean mug)))"""
    files = tmp_path / "domain.pddl", tmp_path / "problem.pddl"
    for file, text in zip(files, (SPONGES, problem), strict=True):
        file.write_text(text, encoding="utf-8")
    scene = read_pddl_scene(files[1], files[0], name=fresh("cups"))
    store.put(scene)
    info = store.find(scene.name)
    goal = own_goal(info.declared)
    assert goal is not None
    setting = SessionSetting(store, Gate(store.database), info, "", "symbolic", goal=goal)
    *_, end = prepare_session(setting, recipe_named("symbolic")).run()
    assert isinstance(end, Finished)
    assert (end.outcome, end.goal) == ("done", "met")


def test_that_there_is_no_plan_is_said_of_the_whole_scene(store: SceneStore) -> None:
    """Kind: a part is taken for the whole: no vocabulary's actions are planned with on a part alone."""
    names = [f"book_{number}" for number in range(100, 160)]
    more = [replace(HOME.nodes["book_33"], id=name, name=name) for name in names]
    scene = put(store, type(HOME).of((*HOME.nodes.values(), *more), HOME.relations))
    goal = HasState(Id("plate_31"), "burnt")
    setting = SessionSetting(store, Gate(store.database), scene, "", "symbolic", goal=goal)
    *_, end = prepare_session(setting, recipe_named("symbolic")).run()
    assert isinstance(end, Finished)
    assert end.outcome == "given_up"
    assert end.reason == "no action makes plate_31 burnt"
    assert "were looked at" not in end.reason
