"""A graph that is read whole once follows its scene by the events since."""

from __future__ import annotations

from scenecypher.db.graph.delta import diff
from scenecypher.db.graph.scene import Relation
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.current_graph import CurrentGraph
from tests.planner.actions.grasif_worlds import home
from tests.planner.actions.test_operators import put
from tests.planner.methods.test_explore_then_plan import moved


def test_a_current_graph_follows_commits_and_resets(store: SceneStore) -> None:
    before = home()
    scene = put(store, before, vocabulary="grasif")
    current = CurrentGraph(store, scene)
    assert current.read() == before
    assert current.read() is current.read(), "nothing is read whole again"
    after = moved(before, "pen-1", Relation("pen-1", "ON", "table-1"))
    for number, (now, then) in enumerate(((before, after), (after, before), (before, after))):
        store.commit(scene, diff(now, then), actor="a", action="move", action_id=str(number))
    assert current.read() == store.load(scene.name).graph == after
    store.undo(scene)
    assert current.read() == before
    assert current.read() == store.load(scene.name).graph
