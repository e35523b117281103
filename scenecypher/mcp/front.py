"""The front door of a server: the database is opened, and started if need be, at the first call."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING

from scenecypher.tools.desk import Homes, OnlyScene

if TYPE_CHECKING:
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.home import Home
    from scenecypher.readable import ReadableHome
    from scenecypher.scenes import SceneDatabase


class Front:
    """The homes that a server shows: all of a database, or those of the scene `only`. Safe to share between threads."""

    def __init__(self, connect: Callable[[], SceneDatabase], *, only: str | None = None) -> None:
        self._connect, self._only = connect, only
        self._lock = Lock()
        self._database: SceneDatabase | None = None

    def home(self, name: str) -> Home:
        """Return the home of a scene. Raises SceneNotFound, DatabaseUnavailable, InputError."""
        return self._homes().home(name)

    def home_at(self, name: str) -> ReadableHome:
        """Return the home of a scene, as it is or as it was. Raises as `home` does."""
        return self._homes().home_at(name)

    def scenes(self) -> list[SceneInfo]:
        """Return the facts of all scenes. Raises DatabaseUnavailable, InputError."""
        return self._homes().scenes()

    def _homes(self) -> Homes:
        """Return the homes; the first call connects, and the next one does so again if it failed.

        A local server that does not run any more is started again.
        """
        with self._lock:
            if self._database is not None and not self._database.store.database.ensure_running():
                self._database.close()
                self._database = None
            if self._database is None:
                self._database = self._connect()
        return self._database if self._only is None else OnlyScene(self._database, self._only)

    def close(self) -> None:
        """Close the connections, if there are any."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None
