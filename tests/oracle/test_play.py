"""LookPlanGraph's prompts are sufficient: an oracle that knows nothing else completes whole episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pytest

from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.babyai import level_instance
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.worlds.minigrid import Executor
from tests.oracle.lookplangraph import reply
from tests.oracle.play import BABYAI, GRASIF, babyai_tasks, grasif_tasks, play

pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")


FEW_GRASIF: Final = {"behavior-1k": 1, "sayplan-office": 1, "our-office": 1}
FEW_BABYAI: Final = {"trv1": 1, "trv2": 1}


def solved(store: SceneStore, grasif: Mapping[str, int], babyai: Mapping[str, int]) -> None:
    tasks = [*grasif_tasks(grasif), *babyai_tasks(babyai)]
    played = [play(store, task, scene, method="lookplangraph", oracle=reply) for task, scene in tasks]
    assert [one.task for one in played if not one.met] == []
    assert {one.finished.outcome for one in played} == {"done"}
    for one in played:
        level, _, seed = one.task.partition("/")
        if level in BABYAI:
            assert fulfilled_in_minigrid(level, int(seed), one.actions), one.task


def fulfilled_in_minigrid(level: str, seed: int, actions: Sequence[str]) -> bool:
    """Return True if the actions, executed by MiniGrid's own steps, fulfil the mission."""
    start = level_instance(level, seed)
    executor = Executor(start.env, start.things)
    return [executor.do(parse_action(action)).fulfilled for action in actions][-1]


def test_a_few_tasks_are_solved_from_the_prompts_alone(store: SceneStore) -> None:
    solved(store, FEW_GRASIF, FEW_BABYAI)


@pytest.mark.slow
def test_a_hundred_tasks_of_each_are_solved_from_the_prompts_alone(store: SceneStore) -> None:
    assert sum(GRASIF.values()) == sum(BABYAI.values()) == 100
    solved(store, GRASIF, BABYAI)
