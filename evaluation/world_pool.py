"""Scenes of a run on one connection: those that questions are about, and leased copies that episodes change."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Final, TypeAlias

from scenecypher.db.connect import connect
from scenecypher.db.gate import Gate, Limits
from scenecypher.db.graph.delta import Delta
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.evaluation.histories import PREFIX as HISTORY_PREFIX
from scenecypher.evaluation.histories import load_question_scene
from scenecypher.evaluation.histories import play as play_history
from scenecypher.planner.worlds.belief import find_or_create_belief
from scenecypher.settings import Settings

PREFIX: Final = "evaluation"
"""Beginning of the names of a run's scenes in the database."""
MOVER: Final = "perturb"
"""Actor, in the world's history, of the moves that the robot does not see."""


@dataclass(frozen=True, slots=True)
class OpenDatabase:
    """Open connection: the scene store, the gate and the enumerator; whether episodes are kept as runs."""

    store: SceneStore
    gate: Gate
    enumerator: Enumerator
    records_episodes: bool = False


World: TypeAlias = tuple[OpenDatabase, SceneInfo]
"""Open connection, and a leased copy of a scene."""


class WorldPool:
    """Connection opened with the first scene and closed by `close` or with the object; safe to share between threads.

    A copy and the belief about it are reset after each episode, so that episodes are independent. Scenes and copies
    stay in the database for the next run: importing an unchanged source is a no-op, and changes that were made to a
    scene in the meantime are reverted.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings
        self._lock = Lock()
        self._opened: OpenDatabase | None = None
        self._known: dict[str, SceneInfo] = {}
        self._closing: weakref.finalize[[], WorldPool] | None = None

    @contextmanager
    def world(self, scene: ImportedScene, *, belief: bool, moved: Delta | None = None) -> Iterator[World]:
        """Yield a copy of `scene` in the state in which an episode begins.

        In it `moved` is applied after a belief was made, if `belief` is set.
        """
        opened, stored = self._stored_once(scene.name, partial(_import, scene))
        store = opened.store
        with store.lease(stored.name) as copy:
            if not belief:
                yield opened, _move_things(store, copy, moved)
                return
            believed = find_or_create_belief(store, copy)
            if believed.version != believed.base:
                store.reset_and_rebase(believed)  # an earlier episode was killed before its reset
            try:
                yield opened, _move_things(store, copy, moved)
            finally:
                store.reset_and_rebase(store.find(believed.name))

    def close(self) -> None:
        """Close the connection; the next world opens a new one."""
        with self._lock:
            if self._closing is not None:
                self._closing()
            self._opened, self._closing, self._known = None, None, {}

    def question_scene(self, scene: str) -> tuple[OpenDatabase, SceneInfo]:
        """Return the connection, and the scene of questions there: of a data set, or of a history.

        Raises InputError, ServiceError.
        """
        if scene.startswith(HISTORY_PREFIX):
            name = scene.removeprefix(HISTORY_PREFIX)
            return self._stored_once(scene, lambda store, to: play_history(store, name, to))
        return self._stored_once(scene, lambda store, to: _import(load_question_scene(scene), store, to))

    def _stored_once(self, scene: str, make: Callable[[SceneStore, str], SceneInfo]) -> tuple[OpenDatabase, SceneInfo]:
        """Return the connection and the stored scene, which `make` stores under a name once a run."""
        name = f"{PREFIX}/{scene}"
        with self._lock:
            opened = self._open()
            if name not in self._known:
                self._known[name] = make(opened.store, name)
            return opened, self._known[name]

    def _open(self) -> OpenDatabase:
        if self._opened is None:
            settings = self._settings or Settings()
            database = connect(settings, tell=lambda _: None)
            store = SceneStore(database, kept_members=settings.kept_members)
            gate, enumerator = Gate(database, limits=Limits.of(settings)), Enumerator(store.replicas)
            self._opened = OpenDatabase(store, gate, enumerator, records_episodes=settings.record_episodes)
            self._closing = weakref.finalize(self, database.close)
        return self._opened


def _import(scene: ImportedScene, store: SceneStore, name: str) -> SceneInfo:
    store.put(replace(scene, name=name))
    return store.find(name)


def _move_things(store: SceneStore, scene: SceneInfo, delta: Delta | None) -> SceneInfo:
    if delta is None:
        return scene
    done = store.commit(scene, delta, actor=MOVER, action=MOVER, enforced=False)
    return replace(scene, version=done.version)


def check_database() -> None:
    """Connect to the configured database and disconnect. Raises DatabaseUnavailable, InputError."""
    connect(Settings(), tell=lambda _: None).close()
