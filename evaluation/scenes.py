"""The scenes that samples need, imported once under names of their own, on one connection while any sample runs."""

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
from scenecypher.evaluation.question_set import load_question_scene
from scenecypher.settings import Settings

PREFIX: Final = "evaluation"


@dataclass(frozen=True, slots=True)
class OpenDatabase:
    """One connection: the store, and what reads its scenes."""

    store: SceneStore
    gate: Gate
    enumerator: Enumerator


class ScenePool:
    """A connection that opens with the first user and closes with the last; safe to share between threads.

    Makes no call before `opened`. Scenes stay in the database: an equal source changes nothing the next time, and
    what somebody changed in them meanwhile is put right.
    """

    def __init__(self, settings: Settings | None = None, *, prefix: str = PREFIX) -> None:
        self._settings, self._prefix = settings, prefix
        self._lock = Lock()
        self._users = 0
        self._opened: OpenDatabase | None = None
        self._known: dict[str, SceneInfo] = {}

    @contextmanager
    def opened(self, scene: str) -> Iterator[tuple[OpenDatabase, SceneInfo]]:
        """The database and one scene of a data set in it. Raises InputError, ServiceError."""
        with self._lock:
            self._users += 1
        try:
            yield self._found(scene)
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._close()

    def _found(self, scene: str) -> tuple[OpenDatabase, SceneInfo]:
        with self._lock:
            if self._opened is None:
                self._opened = _open(self._settings or Settings())
            if scene not in self._known:
                name = f"{self._prefix}/{scene}"
                self._opened.store.put(replace(load_question_scene(scene), name=name))
                self._known[scene] = self._opened.store.find(name)
            return self._opened, self._known[scene]

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.store.database.close()
        self._opened, self._known = None, {}


def check_database() -> None:
    """Open the configured database once, before a run whose samples need it. Raises DatabaseUnavailable, InputError."""
    connect(Settings(), tell=lambda _: None).close()


def _open(settings: Settings) -> OpenDatabase:
    database = connect(settings, tell=lambda _: None)
    store = SceneStore(database, commit_timeout_s=settings.commit_timeout_s)
    store.prepare()
    return OpenDatabase(store, Gate(database, limits=Limits.of(settings)), Enumerator(database))
