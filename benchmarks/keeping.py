"""Cost of keeping a run: what a decision's events take beside the commit of its action."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

from benchmarks.commits import hand_written_moves, temporary_scene
from benchmarks.comparison import Measurement, compare
from scenecypher.chat.model import Usage
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.events import Acted, Began, Proposed, Remembered
from scenecypher.planner.recording import RunRecorder


def runs(database: Database) -> Iterator[Measurement]:
    """Compare keeping a decision of three events with one hand-written statement that commits an action."""
    with temporary_scene(SceneStore(database)) as scene:
        keep, by_hand = _decisions(database, scene), hand_written_moves(database, scene)
        yield compare("run: keep a decision (one hand-written commit of an action)", keep, reference=by_hand, limit=1.5)


def _decisions(database: Database, scene: SceneInfo) -> Callable[[], object]:
    recorder = RunRecorder(database, scene, "plan")
    recorder.add(Began(scene.name, "stepwise", (), "Put the cup into the bathroom.", "a model", "stepwise", 0))
    steps = count(1)

    def keep() -> None:
        step, action = next(steps), "put_in(cup_1, bathroom)"
        decided = {"decision": "act", "action": action, "reason": "that is the task"}
        recorder.add(Proposed(step, action, "that is the task", step))
        recorder.add(Acted(step, action, step, 2, action_id="4f1e"))
        done = f"{action} was carried out"
        recorder.add(Remembered(step, decided, done, (action,), refused=False, infeasible=0, usage=Usage(1_200, 40)))

    return keep
