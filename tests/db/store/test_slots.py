"""Slots are taken in the order in which threads came, and given back whatever happens within."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from scenecypher.db.store.slots import Slots
from tests.waiting import until


def ignore(_: int) -> None:
    """Say nothing."""


def queued(slots: Slots, number: int) -> None:
    """Wait until so many threads are in the queue."""
    until(lambda: len(slots._waiting) == number, within_s=30)


def test_who_came_first_is_served_first() -> None:
    slots, order = Slots(1), list[int]()

    def work(number: int) -> None:
        with slots.taken(waiting=ignore):
            order.append(number)

    with ThreadPoolExecutor(8) as pool, slots.taken(waiting=ignore):
        for number in range(8):
            pool.submit(work, number)
            queued(slots, number + 1)
    assert order == list(range(8))


def test_no_more_than_the_number_are_within() -> None:
    slots, within, most = Slots(3), list[int](), list[int]()

    def work(number: int) -> None:
        with slots.taken(waiting=ignore):
            within.append(number)
            most.append(len(within))
            time.sleep(0.01)
            within.remove(number)

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(work, range(60)))
    assert max(most) == 3
    assert slots._free == 3


def test_an_error_within_gives_the_slot_back() -> None:
    slots = Slots(1)
    for _ in range(3):
        with pytest.raises(ValueError, match="x"), slots.taken(waiting=ignore):
            raise ValueError("x")
    assert slots._free == 1


def test_who_waits_for_more_than_a_moment_says_so_once() -> None:
    slots, said = Slots(1), list[int]()

    def work() -> None:
        with slots.taken(waiting=said.append):
            pass

    with ThreadPoolExecutor(2) as pool:
        with slots.taken(waiting=ignore):
            first = pool.submit(work)
            queued(slots, 1)
            second = pool.submit(work)
            until(lambda: len(said) >= 2, within_s=30)
        first.result(timeout=30)
        second.result(timeout=30)
    assert sorted(said) == [0, 1], "how many waited before it"


def test_who_gives_up_leaves_the_queue() -> None:
    """As Ctrl-C does to a thread that waits: here from what it says."""
    slots = Slots(1)

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with slots.taken(waiting=ignore):
        with pytest.raises(KeyboardInterrupt), slots.taken(waiting=interrupt):
            pytest.fail("it never came in")
        assert not slots._waiting
    assert slots._free == 1
