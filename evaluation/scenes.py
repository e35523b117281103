"""Connection to the configured database that the samples of a run share."""

from __future__ import annotations

from dataclasses import dataclass

from scenecypher.db.connect import connect
from scenecypher.db.gate import Gate, Limits
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.settings import Settings


@dataclass(frozen=True, slots=True)
class OpenDatabase:
    """Open connection: the scene store, the gate and the enumerator; whether episodes are kept as runs."""

    store: SceneStore
    gate: Gate
    enumerator: Enumerator
    records_episodes: bool = False


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
