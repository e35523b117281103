"""Actions in process beside one hand-written statement that locks the scene, moves the object and appends the event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle

from benchmarks.frame import Row, compare
from benchmarks.home import home
from benchmarks.writing import OBJECT, moving_by_hand, scene
from db.catalog import SceneInfo
from db.connection import Database
from db.delta import AddRelation, Delta, apply
from db.scene import Relation, SceneGraph
from db.store import SceneStore
from planner.actions.simulator import Simulator

AGENT, TABLE = "character_65", "asset_0"


def actions(database: Database) -> Iterator[Row]:
    """Grabbing and putting down an object: precondition read, checked and committed, beside a bare move."""
    store = SceneStore(database)
    with scene(store, _reachable(home())) as ours, scene(store) as theirs:
        act, by_hand = _acting(store, ours), moving_by_hand(database, theirs)
        yield compare("act: grab, put on (one hand-written statement)", act, reference=by_hand, limit=1.8)


def _reachable(graph: SceneGraph) -> SceneGraph:
    """With the agent close to the object and to furniture that things can lie on."""
    near = [Relation(*ends) for thing in (OBJECT, TABLE) for ends in ((AGENT, "CLOSE", thing), (thing, "CLOSE", AGENT))]
    fresh = [AddRelation(relation) for relation in near if relation not in graph.relations]
    return apply(graph, Delta.of(fresh))


def _acting(store: SceneStore, info: SceneInfo) -> Callable[[], object]:
    simulator = Simulator(store, info, actor="bench")
    texts = cycle((f"grab({OBJECT})", f"put_on({OBJECT}, {TABLE})"))
    return lambda: list(simulator.act(next(texts)))
