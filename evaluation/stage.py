"""Where episodes are played: leased copies of the scenes, reset after each, on one connection for a whole run."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final

from scenecypher.db.connect import connect
from scenecypher.db.gate import Gate, Limits
from scenecypher.db.graph.delta import Delta
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.evaluation.scenes import PREFIX, Opened
from scenecypher.planner.belief import belief_of
from scenecypher.settings import Settings

MOVING: Final = "perturb"
"""Who moves things behind the robot's back, in the world's history."""


@dataclass(frozen=True, slots=True)
class World:
    """A copy of a scene that is an episode's own, as it is when the episode begins."""

    opened: Opened
    scene: SceneInfo


class Stage:
    """One connection, opened with the first world and closed by `close`, or with the object; for many threads.

    A copy is taken for one episode and reset after it, as is the belief about it, so that no episode sees another's
    doings. Scenes and copies stay in the database for the next run.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings
        self._lock = Lock()
        self._opened: Opened | None = None
        self._known: set[str] = set()
        self._closing: weakref.finalize[[], Stage] | None = None

    @contextmanager
    def world(self, scene: ImportedScene, *, belief: bool, moved: Delta | None = None) -> Iterator[World]:
        """A copy of `scene`, in which `moved` happens after a belief about it was made, if there is to be one."""
        opened, name = self._imported(scene)
        store = opened.store
        with store.lease(name) as here:
            if not belief:
                yield World(opened, _moved(store, here, moved))
                return
            believed = belief_of(store, here)
            if believed.version != believed.base:
                store.reset_and_rebase(believed)  # an earlier episode died amid its turn
            try:
                yield World(opened, _moved(store, here, moved))
            finally:
                store.reset_and_rebase(store.find(believed.name))

    def opened(self) -> Opened:
        """The connection."""
        with self._lock:
            return self._open()

    def close(self) -> None:
        """Close the connection; the next world opens another."""
        with self._lock:
            if self._closing is not None:
                self._closing()
            self._opened, self._closing, self._known = None, None, set()

    def _imported(self, scene: ImportedScene) -> tuple[Opened, str]:
        """The scene's name in the database, where it is put once a run: an equal scene changes nothing."""
        name = f"{PREFIX}/{scene.name}"
        with self._lock:
            opened = self._open()
            if name not in self._known:
                opened.store.put(replace(scene, name=name))
                self._known.add(name)
        return opened, name

    def _open(self) -> Opened:
        if self._opened is None:
            settings = self._settings or Settings()
            database = connect(settings, tell=lambda _: None)
            store = SceneStore(database, commit_timeout_s=settings.commit_timeout_s)
            store.prepare()
            self._opened = Opened(store, Gate(database, limits=Limits.of(settings)), Enumerator(database))
            self._closing = weakref.finalize(self, database.close)
        return self._opened


def _moved(store: SceneStore, scene: SceneInfo, delta: Delta | None) -> SceneInfo:
    if delta is None:
        return scene
    done = store.commit(scene, delta, actor=MOVING, action=MOVING)
    return replace(scene, version=done.version)
