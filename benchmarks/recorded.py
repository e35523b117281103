"""Recorded plans of one model: each imported, executed and scored with the database."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Final

from benchmarks.comparison import Measurement
from scenecypher.db.store import catalog
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.evaluation.eai.action_sequencing import ActionScorer
from scenecypher.evaluation.eai.published import published_figures
from scenecypher.evaluation.eai.recordings import fetch_recordings, read_recordings
from scenecypher.evaluation.eai.task_table import EAI_TASKS, value_of
from scenecypher.evaluation.world_pool import WorldPool
from scenecypher.settings import Settings

MODEL: Final = "mistral-large-2402"
"""Model whose plans get furthest."""
WORKERS: Final = 4
MAX_SECONDS: Final = 180.0


def recorded(database: Database) -> Iterator[Measurement]:
    """Compare 305 recorded plans, imported, executed and scored, with their limit of three minutes."""
    wheel = fetch_recordings(Settings().home.expanduser(), tell=lambda _: None)
    outputs = {one.task_id: one.output for one in read_recordings("action-sequencing", wheel)[MODEL]}
    pool = WorldPool(_settings(database))
    scorer = ActionScorer(pool)
    ids = scorer.task_ids()
    began = perf_counter()
    with ThreadPoolExecutor(WORKERS) as threads:
        judged = list(threads.map(lambda task_id: scorer.score(task_id, outputs.get(task_id)), ids))
    seconds = perf_counter() - began
    pool.close()
    executed = value_of(scorer.figures(judged)["executed"])
    assert abs(executed - published_figures(MODEL, EAI_TASKS["action-sequencing"])["esr"]) <= 0.5, executed
    _clear(database)
    yield Measurement(f"{len(ids)} recorded plans", seconds, MAX_SECONDS, limit=1.0, unit="s")


def _settings(database: Database) -> Settings:
    at = database.address
    return Settings.model_validate(
        {
            "neo4j_uri": at.uri,
            "neo4j_username": at.username,
            "neo4j_password": at.password,
            "neo4j_database": at.database,
        }
    )


def _clear(database: Database) -> None:
    store = SceneStore(database)
    for scene in catalog.list_scenes(database, leased=True):
        if (scene.copied_from or "").startswith("import:"):
            store.delete(scene.name)
    store.delete_leftovers(grace_s=0.0)
