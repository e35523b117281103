"""Pool of worlds for episodes: leased copies of scenes, reset after each episode, on one connection for a whole run."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final

from scenecypher.db.graph.delta import Delta
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.evaluation.scenes import PREFIX, OpenDatabase, open_database
from scenecypher.planner.belief import find_or_create_belief
from scenecypher.settings import Settings

MOVER: Final = "perturb"
"""Actor, in the world's history, of the moves that the robot does not see."""


@dataclass(frozen=True, slots=True)
class World:
    """Leased copy of a scene, in the state in which an episode begins."""

    opened: OpenDatabase
    scene: SceneInfo


class WorldPool:
    """Connection opened with the first world and closed by `close` or with the object; safe to share between threads.

    A copy and the belief about it are reset after each episode, so that episodes are independent. Scenes and copies
    stay in the database for the next run.
    """

    name: Final = "Stage"
    """Name of this type in Inspect's logs."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings
        self._lock = Lock()
        self._opened: OpenDatabase | None = None
        self._known: set[str] = set()
        self._closing: weakref.finalize[[], WorldPool] | None = None

    @contextmanager
    def world(self, scene: ImportedScene, *, belief: bool, moved: Delta | None = None) -> Iterator[World]:
        """Yield a copy of `scene` in which `moved` is applied after a belief was made, if `belief` is set."""
        opened, name = self._import_once(scene)
        store = opened.store
        with store.lease(name) as copy:
            if not belief:
                yield World(opened, _move_things(store, copy, moved))
                return
            believed = find_or_create_belief(store, copy)
            if believed.version != believed.base:
                store.reset_and_rebase(believed)  # an earlier episode was killed before its reset
            try:
                yield World(opened, _move_things(store, copy, moved))
            finally:
                store.reset_and_rebase(store.find(believed.name))

    def database(self) -> OpenDatabase:
        """Return the open connection."""
        with self._lock:
            return self._open()

    def close(self) -> None:
        """Close the connection; the next world opens a new one."""
        with self._lock:
            if self._closing is not None:
                self._closing()
            self._opened, self._closing, self._known = None, None, set()

    def _import_once(self, scene: ImportedScene) -> tuple[OpenDatabase, str]:
        """Return the scene's name in the database, importing it once a run; an unchanged scene is a no-op."""
        name = f"{PREFIX}/{scene.name}"
        with self._lock:
            opened = self._open()
            if name not in self._known:
                opened.store.put(replace(scene, name=name))
                self._known.add(name)
        return opened, name

    def _open(self) -> OpenDatabase:
        if self._opened is None:
            self._opened = open_database(self._settings)
            self._closing = weakref.finalize(self, self._opened.store.database.close)
        return self._opened


def _move_things(store: SceneStore, scene: SceneInfo, delta: Delta | None) -> SceneInfo:
    if delta is None:
        return scene
    done = store.commit(scene, delta, actor=MOVER, action=MOVER)
    return replace(scene, version=done.version)
