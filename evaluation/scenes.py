"""Scenes that samples need, imported once under names of their own, on a connection shared by running samples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final

from scenecypher.db.connect import connect
from scenecypher.db.gate import Gate, Limits
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.evaluation.histories import PREFIX as HISTORY_PREFIX
from scenecypher.evaluation.histories import play
from scenecypher.evaluation.question_set import load_question_scene
from scenecypher.settings import Settings

PREFIX: Final = "evaluation"


@dataclass(frozen=True, slots=True)
class OpenDatabase:
    """Open connection: the scene store, the gate and the enumerator; whether episodes are kept as runs."""

    store: SceneStore
    gate: Gate
    enumerator: Enumerator
    records_episodes: bool = False


class ScenePool:
    """Connection opened by the first user and closed by the last; safe to share between threads.

    Makes no call before `open`. Scenes stay in the database: importing an unchanged source is a no-op, and changes made
    to a scene in the meantime are reverted.
    """

    def __init__(self, settings: Settings | None = None, *, prefix: str = PREFIX) -> None:
        self._settings, self._prefix = settings, prefix
        self._lock = Lock()
        self._users = 0
        self._opened: OpenDatabase | None = None
        self._scenes: dict[str, SceneInfo] = {}

    @contextmanager
    def open(self, scene: str) -> Iterator[tuple[OpenDatabase, SceneInfo]]:
        """Yield the database and one scene of a data set in it. Raises InputError, ServiceError."""
        with self._lock:
            self._users += 1
        try:
            yield self._find_or_import(scene)
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._close()

    def _find_or_import(self, dataset_scene: str) -> tuple[OpenDatabase, SceneInfo]:
        with self._lock:
            if self._opened is None:
                self._opened = open_database(self._settings)
            if dataset_scene not in self._scenes:
                name = f"{self._prefix}/{dataset_scene}"
                self._scenes[dataset_scene] = _stored(self._opened.store, dataset_scene, name)
            return self._opened, self._scenes[dataset_scene]

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.store.database.close()
        self._opened, self._scenes = None, {}


def _stored(store: SceneStore, dataset_scene: str, name: str) -> SceneInfo:
    """Import a scene of a data set, or play a history, under a name; return the stored scene."""
    if dataset_scene.startswith(HISTORY_PREFIX):
        return play(store, dataset_scene.removeprefix(HISTORY_PREFIX), name)
    store.put(replace(load_question_scene(dataset_scene), name=name))
    return store.find(name)


def check_database() -> None:
    """Connect to the configured database and disconnect. Raises DatabaseUnavailable, InputError."""
    connect(Settings(), tell=lambda _: None).close()


def open_database(settings: Settings | None = None) -> OpenDatabase:
    """Connect to the configured database. Raises DatabaseUnavailable, InputError."""
    settings = settings or Settings()
    database = connect(settings, tell=lambda _: None)
    store = SceneStore(database)
    return OpenDatabase(
        store,
        Gate(database, limits=Limits.of(settings)),
        Enumerator(database, replicas=store.replicas),
        records_episodes=settings.record_episodes,
    )
