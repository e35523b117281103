"""Recorded plans of one model: each imported, carried out and scored through the database."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Final

from benchmarks.frame import Row
from scenecypher.db.store import catalog
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.evaluation.eai.action_sequencing import ActionScorer, sequence_figures
from scenecypher.evaluation.eai.published import published
from scenecypher.evaluation.eai.recordings import fetched, recordings
from scenecypher.evaluation.stage import Stage
from scenecypher.settings import Settings

MODEL: Final = "mistral-large-2402"
"""The one whose plans get furthest."""
WORKERS: Final = 4
MOST_S: Final = 180.0


def recorded(database: Database) -> Iterator[Row]:
    """305 recorded plans, imported anew, executed and scored, beside the three minutes that they may take."""
    wheel = fetched(Settings().home.expanduser(), tell=lambda _: None)
    outputs = {one.task_id: one.output for one in recordings("action-sequencing", wheel)[MODEL]}
    stage = Stage(_settings(database))
    scorer = ActionScorer(stage)
    ids = scorer.task_ids()
    began = perf_counter()
    with ThreadPoolExecutor(WORKERS) as pool:
        judged = list(pool.map(lambda task_id: scorer.score(task_id, outputs.get(task_id)), ids))
    seconds = perf_counter() - began
    stage.close()
    executed = next(figure.percent for figure in sequence_figures(judged) if figure.name == "executed")
    assert abs((executed or 0.0) - published(MODEL, "action-sequencing")["esr"]) <= 0.5, executed
    _clear(database)
    yield Row(f"{len(ids)} recorded plans", seconds, MOST_S, limit=1.0, unit="s")


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
