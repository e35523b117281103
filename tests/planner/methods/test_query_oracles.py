"""Oracle programs that know only the prompts of SG2 and its ReAct solve BabyAI's tasks."""

from __future__ import annotations

import pytest

from scenecypher.db.store.scene_store import SceneStore
from tests.oracle.conversing import LEVELS, ORACLES, play, tasks
from tests.sampling import FULL

SLOW = pytest.mark.slow
"""A fixture, since wording GraSIF's hundred tasks takes long."""


@pytest.mark.parametrize("level", [pytest.param(it, marks=SLOW if it == "grasif" else ()) for it in LEVELS])
@pytest.mark.parametrize("method", [name for name in ORACLES if name != "sg2-limit"])
def test_the_prompts_carry_what_the_tasks_need(store: SceneStore, method: str, level: str) -> None:
    for task, scene in tasks(level, LEVELS[level] if FULL else 1):
        played = play(store, task, scene, method)
        assert played.met, played
        assert played.refusals == 0
