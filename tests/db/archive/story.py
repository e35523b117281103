"""A home with all that an archive holds: actions of its own, undone and redone events, a belief and a run.

`python -m tests.db.archive.story FILE` writes its archive. One of version 0.2.0 is kept in `tests/data/archive`.
"""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from scenecypher.chat.model import Usage
from scenecypher.db.archive.backup import back_up
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.sessions.events import Asked, Began, Event, Finished
from scenecypher.planner.sessions.recording import RunRecorder
from scenecypher.planner.vocabularies.own_actions import add_actions
from scenecypher.planner.worlds.belief import find_or_create_belief
from tests.planner.test_own_actions import CARRYING, HOME
from tests.server import throwaway_server

NAME: Final = "story/home"
ACTIONS: Final = (
    "go_to(hall)",
    "open(box, hall)",
    "take(mug, box, hall)",
    "undo 4: take(mug, box, hall)",
    "redo 4",
    "undo 4: take(mug, box, hall)",
)
"""The history of the home, oldest first, but for version 2, which gave it its actions: an event, too."""


def carry_out_run(store: SceneStore, name: str) -> None:
    """Keep a run of two steps."""
    events: list[Event] = [
        Began(name, "stepwise", (), "fetch the mug", "tiny", "person", 0),
        Asked(1, "Where is the mug?", "it is to be fetched"),
        Finished("done", "it is here", 1, 0, Usage(12, 3), 0.5),
    ]
    deque(RunRecorder(store.database, store.find(name), "plan").kept(events), maxlen=0)


def tell_story(store: SceneStore, name: str, folder: Path) -> None:
    """Make the home and the belief about it; `folder` is for files of its own."""
    domain = folder / "carrying.pddl"
    domain.write_text(CARRYING, encoding="utf-8")
    store.put(replace(ImportedScene("home", HOME), name=name))
    list(Simulator(store, store.find(name)).act(ACTIONS[0]))
    scene = add_actions(store, name, domain).scene
    for action in ACTIONS[1:3]:
        list(Simulator(store, scene).act(action))
    store.undo(scene)
    store.redo(scene)
    store.undo(scene)
    find_or_create_belief(store, store.find(name))
    carry_out_run(store, name)


def save_story(store: SceneStore, name: str, path: Path) -> None:
    """Write the archive of the home and its belief."""
    back_up(store.database, path, scenes=[store.find(f"{name}@belief"), store.find(name)])


if __name__ == "__main__":
    with throwaway_server() as address, Database(address) as database, TemporaryDirectory() as made:
        store = SceneStore(database)
        tell_story(store, NAME, Path(made))
        save_story(store, NAME, Path(sys.argv[1]))
