"""Symbolic planning in the database: one query reads the part, the plan is executed, and replanned after a refusal."""

from __future__ import annotations

import pytest

from scenecypher.db.condition import And, HasState, HeldBy, Id, evaluate
from scenecypher.db.gate import Gate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.sessions.budget import Budget
from scenecypher.planner.sessions.events import Acted, Finished, Refused
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from scenecypher.planner.symbolic.parts import part_of
from tests.db.store.test_store import fresh
from tests.planner.actions.grasif_worlds import ROBOT, home

pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")

GOAL = And((HeldBy(Id("apple-1"), Id(ROBOT)), HasState(Id("lamp-1"), "on")))


def test_a_plan_is_carried_out_and_made_anew_when_the_scene_moved(store: SceneStore) -> None:
    name = fresh("symbolic")
    store.put(ImportedScene(name, home(), vocabulary="grasif"))
    scene = store.find(name)
    setting = SessionSetting(store, Gate(store.database), scene, "", "symbolic", goal=GOAL, budget=Budget(seconds=60))
    events = []
    for event in prepare_session(setting, recipe_named("symbolic")).run():
        events.append(event)
        if isinstance(event, Acted) and event.action == "go_to(kitchen)" and len(events) < 5:
            list(Simulator(store, scene, actor="somebody else").act("go_to(office)"))
    assert any(isinstance(event, Refused) for event in events)
    end = events[-1]
    assert isinstance(end, Finished)
    assert end.outcome == "done", end
    assert evaluate(GOAL, store.load(name).graph, {})


def test_of_a_big_scene_only_what_matters_is_read(store: SceneStore) -> None:
    small = home()
    crumbs = [Node(f"crumb-{n}", "Object", f"crumb-{n}", "crumb", (), ("pick_up",)) for n in range(60)]
    on_table = {Relation(crumb.id, "ON", "table-1") for crumb in crumbs}
    attic = Node("attic", "Place", "attic", "attic")
    graph = SceneGraph.of((*small.nodes.values(), *crumbs, attic), small.relations | on_table)
    name = fresh("symbolic")
    store.put(ImportedScene(name, graph, vocabulary="grasif"))
    part, wider = (part_of(store.now(store.find(name)).graph, GOAL, wide=wide) for wide in (False, True))
    expected = {"apple-1", "box-1", "fridge-1", "kitchen", "lamp-1", ROBOT, "office", "desk-1"}
    assert set(part.nodes) == expected, "without the attic, in which nothing is of use"
    assert expected < set(wider.nodes) < set(graph.nodes)
    assert part.relations == {r for r in graph.relations if r.source in expected and r.target in expected}
