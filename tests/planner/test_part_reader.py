"""The part that is read from the database is the one of the graph in memory, with the appliances that a goal needs."""

from __future__ import annotations

from dataclasses import replace

from scenecypher.db.condition import HasState, Id
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.homes import our_home
from scenecypher.planner.actions.pddl_part import part_of
from scenecypher.planner.part_reader import part_reader
from scenecypher.planner.vocabularies.registry import operators_of
from tests.db.store.test_store import fresh


def test_what_gives_the_wanted_state_is_read_too(store: SceneStore) -> None:
    scene, _ = our_home("apartment")
    name = fresh("part")
    store.put(replace(scene, name=name))
    goal = HasState(Id(scene.graph.by_class["plate"][0]), "washed")
    part = part_reader(store.database, store.find(name), goal)(False)  # noqa: FBT003 - what a ReadPart takes
    assert part == part_of(scene.graph, goal, wide=False, operators=operators_of(scene.vocabulary))
    assert {*scene.graph.by_class["dishwasher"]} <= part.nodes.keys()
