"""Slots: expensive queries wait for one in order, with a message; cheap queries and actions do not wait."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from scenecypher.db.gate import Gate, Limits
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore
from tests.db.gate.conftest import HOME
from tests.db.gate.test_lost import toggle
from tests.db.store.test_replica import home
from tests.waiting import until

HEAVY = "UNWIND range(1, 50) AS x RETURN x"
CHEAP = "RETURN 1 AS n"


@pytest.fixture
def one_slot(scenes: Database) -> Iterator[Database]:
    with Database(scenes.address, slots=1) as database:
        yield database


def test_heavy_queries_wait_in_turn_and_nobody_else_does(one_slot: Database) -> None:
    told: list[str] = []
    gates = [Gate(one_slot, limits=Limits(cheap_steps=5), tell=told.append) for _ in range(2)]
    store = SceneStore(one_slot)
    name = f"test/{uuid4().hex}"
    store.put(ImportedScene(name, home()))
    done: list[str] = []

    def ask(number: int) -> None:
        gates[number % 2].run(HEAVY, HOME)
        done.append(f"heavy {number}")

    with ThreadPoolExecutor(4) as pool:
        with one_slot.slots.taken(waiting=lambda _: None):
            asked = []
            for number in range(3):
                asked.append(pool.submit(ask, number))
                until_waiting(one_slot, number + 1)
            assert gates[0].run(CHEAP, HOME).rows
            assert toggle(store, store.find(name), "a") == 1
            assert done == [], "two gates share what one database has"
            until(lambda: len(told) >= 3, within_s=30)
        for one in asked:
            one.result(timeout=60)
    assert done == ["heavy 0", "heavy 1", "heavy 2"]
    assert "the query waits: others that cost much run, 2 more before it…" in told


def test_a_slot_is_given_back(one_slot: Database) -> None:
    gate = Gate(one_slot, limits=Limits(cheap_steps=0, rows=1))
    for _ in range(3):
        assert gate.run("UNWIND [1, 2] AS x RETURN x", HOME).truncated
    assert not one_slot.slots._holding


def until_waiting(database: Database, number: int) -> None:
    until(lambda: len(database.slots._waiting) == number, within_s=30)
