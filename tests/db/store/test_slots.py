"""Slots are taken in the order in which threads came, and given back whatever happens within."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import FrameType
from typing import Any

import pytest

from scenecypher.db.store import sharing as module
from scenecypher.db.store.sharing import Slots
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
    assert not slots._holding


def test_an_error_within_gives_the_slot_back() -> None:
    slots = Slots(1)
    for _ in range(3):
        with pytest.raises(ValueError, match="x"), slots.taken(waiting=ignore):
            raise ValueError("x")
    assert not slots._holding


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
    assert not slots._holding


def test_an_interrupt_at_any_line_before_the_block_gives_the_slot_back() -> None:
    """A resource that is lost between being taken and being guarded: Ctrl-C may come at any line."""
    for line in range(1, 30):
        slots = Slots(1)
        if not _is_interrupted(slots, line):
            break
        assert not slots._holding, f"interrupted at line {line}"
        assert not slots._waiting, f"interrupted at line {line}"
    assert 3 < line < 29, "as many lines as there are to the block"


def _is_interrupted(slots: Slots, at: int) -> bool:
    """Take a slot, interrupted at the so-manieth line of `slots.py` that is run; tell if it came to that."""
    left = at

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal left
        if frame.f_code.co_filename != module.__file__ or frame.f_code.co_name == "_leave":
            return None
        if event == "line" and not slots._lock.locked():  # the lock's own way out is the interpreter's matter
            left -= 1
            if not left:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    try:
        with suppress(KeyboardInterrupt):
            sys.settrace(trace)
            with slots.taken(waiting=ignore):
                sys.settrace(before)
                return False
    finally:
        sys.settrace(before)
    return True
