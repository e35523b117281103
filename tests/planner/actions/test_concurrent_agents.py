"""Concurrency: eight agents act at once, on one scene and on eight; histories are linear and replay exactly."""

from __future__ import annotations

import logging
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from threading import Barrier
from time import perf_counter
from typing import Final

import pytest

from scenecypher.db.graph.delta import apply
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused
from scenecypher.planner.actions.simulator import Simulator
from tests.db.store.test_store import fresh
from tests.planner.actions.flat import FLAT
from tests.planner.actions.worlds import ROBOT, mutual

WRITERS: Final = 8
SLOWEST_S: Final = 1.0
PATIENCE_S: Final = 240.0
THINGS: Final = ("book_31", "milk_32", "glass_33", "knife_34", "bread_35")
ANYTHING: Final = (*THINGS, "chair_20", "tv_22", "shelf_23", "box_24", "lamp_26", "hall_11", "room_10")


@dataclass(frozen=True, slots=True)
class WriterResult:
    """The result of one writer: the duration of each action, and how many were carried out."""

    seconds: tuple[float, ...]
    carried_out: int


def robots() -> tuple[str, ...]:
    return (ROBOT, *(f"robot_{number}" for number in range(2, WRITERS + 1)))


def crowded_flat() -> SceneGraph:
    """Return the flat with eight robots, all at the first one's place."""
    others = robots()[1:]
    relations = {Relation(other, "INSIDE", "room_10") for other in others}
    near = FLAT.targets(ROBOT, "CLOSE")
    relations |= {relation for other in others for x in near for relation in mutual(other, x)}
    return SceneGraph.of(
        [*FLAT.nodes.values(), *(Node(other, "Agent", other, "robot") for other in others)],
        {*FLAT.relations, *relations},
    )


def proposal(rng: random.Random) -> str:
    """Return an action that several robots may want at once; about half of them are feasible."""
    thing, other = rng.choice(THINGS), rng.choice(("shelf_23", "box_24"))
    return rng.choice(
        (
            f"grab({thing})",
            f"put_on({thing}, shelf_23)",
            f"put_in({thing}, {other})",
            f"drop({thing})",
            f"walk({rng.choice(ANYTHING)})",
            f"turn_to({rng.choice(ANYTHING)})",
            f"{rng.choice(('open', 'close'))}(box_24)",
            f"{rng.choice(('switch_on', 'switch_off', 'plug_in', 'plug_out'))}(tv_22)",
            "sit(chair_20)",
            "stand_up()",
        )
    )


def run_writer(store: SceneStore, scene: SceneInfo, agent: str, *, actions: int, start: Barrier) -> WriterResult:
    simulator = Simulator(store, scene, agent=agent, actor=agent)
    rng = random.Random(agent)  # noqa: S311
    seconds: list[float] = []
    carried_out = 0
    start.wait()
    for _ in range(actions):
        began = perf_counter()
        with suppress(ActionRefused):
            carried_out += len(list(simulator.act(proposal(rng))))
        seconds.append(perf_counter() - began)
    return WriterResult(tuple(seconds), carried_out)


def run_concurrently(store: SceneStore, scenes: Sequence[SceneInfo], *, actions: int) -> list[WriterResult]:
    """Run each robot in a thread of its own, robot n on scene n, or all on the only scene."""
    start = Barrier(WRITERS)
    with ThreadPoolExecutor(WRITERS) as pool:
        jobs = [
            pool.submit(run_writer, store, scenes[number % len(scenes)], agent, actions=actions, start=start)
            for number, agent in enumerate(robots())
        ]
        return [job.result() for job in jobs]


def put(store: SceneStore, graph: SceneGraph) -> SceneInfo:
    name = fresh("hands")
    store.put(ImportedScene(name, graph, vocabulary="virtualhome"))
    return store.find(name)


def assert_replays(store: SceneStore, scene: SceneInfo, before: SceneGraph) -> int:
    """Assert that the history has every version once and leads from the first snapshot to the current scene."""
    history, snapshot = store.history(scene), store.load(scene.name)
    assert [event.version for event in history] == list(range(1, snapshot.info.version + 1))
    graph = before
    for event in history:
        graph = apply(graph, event.delta)
    assert graph == snapshot.graph
    assert store.as_of(scene.name, 0) == before
    return len(history)


def percentile_99_s(results: Sequence[WriterResult]) -> float:
    seconds = sorted(second for one in results for second in one.seconds)
    return seconds[int(len(seconds) * 0.99)]


def check_writers(given: SceneStore, scenes: int, actions: int, caplog: pytest.LogCaptureFixture) -> list[WriterResult]:
    """Run all writers and check that nothing was retried. Long waits are no failure on a busy machine."""
    store = SceneStore(given.database, commit_timeout_s=PATIENCE_S)
    before = crowded_flat()
    places = [put(store, before) for _ in range(scenes)]
    with caplog.at_level(logging.WARNING, logger="neo4j"):
        results = run_concurrently(store, places, actions=actions)
    assert [record.getMessage() for record in caplog.records if "retried" in record.getMessage()] == []
    carried_out = sum(one.carried_out for one in results)
    assert sum(assert_replays(store, scene, before) for scene in places) == carried_out
    assert actions * WRITERS / 10 < carried_out < actions * WRITERS
    for scene in places:
        store.delete(scene.name)
    return results


@pytest.mark.parametrize("scenes", [1, WRITERS])
def test_eight_writers_make_linear_histories(store: SceneStore, scenes: int, caplog: pytest.LogCaptureFixture) -> None:
    check_writers(store, scenes, 6, caplog)


@pytest.mark.slow
@pytest.mark.parametrize("scenes", [1, WRITERS])
def test_two_thousand_actions_of_eight_writers(
    store: SceneStore, scenes: int, caplog: pytest.LogCaptureFixture
) -> None:
    results = check_writers(store, scenes, 250, caplog)
    assert percentile_99_s(results) < SLOWEST_S
