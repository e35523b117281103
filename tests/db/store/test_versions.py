"""Coalesced reads: a read of the version is shared only by callers that asked before it began."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from threading import Event, Lock

import pytest

from scenecypher.db.store.sharing import CoalescedRead
from scenecypher.errors import SceneReplaced, ServiceError

THREADS = 8


class CountingLock:
    """A lock that counts the threads that asked for it."""

    def __init__(self) -> None:
        self.asked, self._lock = 0, Lock()

    def __enter__(self) -> None:
        self.asked += 1
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def test_every_caller_gets_a_read_that_began_after_its_call() -> None:
    """Use a clock as the version, advanced by reads only: each call must return a later time than before it."""
    shared, clock, now = CoalescedRead(), count(1), [0]

    def read() -> int:
        now[0] = next(clock)
        return now[0]

    def call(_: int) -> bool:
        before = now[0]
        return shared.fresh(read) > before

    with ThreadPoolExecutor(THREADS) as pool:
        assert all(pool.map(call, range(2_000)))


def test_waiting_callers_share_one_read() -> None:
    shared, begun, go_on = CoalescedRead(), Event(), Event()
    shared._lock = lock = CountingLock()  # type: ignore[assignment]
    made: list[int] = []

    def read() -> int:
        made.append(len(made) + 1)
        begun.set()
        go_on.wait(timeout=30)
        return made[-1]

    with ThreadPoolExecutor(THREADS) as pool:
        first = pool.submit(shared.fresh, read)
        begun.wait(timeout=30)
        others = [pool.submit(shared.fresh, read) for _ in range(THREADS - 1)]
        while lock.asked < THREADS:
            time.sleep(0.01)
        go_on.set()
        assert first.result(timeout=30) == 1
        assert [other.result(timeout=30) for other in others] == [2] * (THREADS - 1)
    assert made == [1, 2]


def test_a_refusal_reaches_its_own_caller_only() -> None:
    with pytest.raises(SceneReplaced):
        failed_first(SceneReplaced("home"))
    assert failed_second(SceneReplaced("home")) == 7


def test_waiting_callers_share_a_service_error() -> None:
    """The first waiting caller makes the second read, and the others share its error instead of reading in turn."""
    shared, begun, go_on = CoalescedRead(), Event(), Event()
    shared._lock = lock = CountingLock()  # type: ignore[assignment]
    made: list[int] = []

    def failing() -> int:
        made.append(len(made))
        begun.set()
        go_on.wait(timeout=30)
        msg = "no answer"
        raise ServiceError(msg)

    with ThreadPoolExecutor(THREADS) as pool:
        first = pool.submit(shared.fresh, failing)
        begun.wait(timeout=30)
        others = [pool.submit(shared.fresh, failing) for _ in range(THREADS - 1)]
        while lock.asked < THREADS:
            time.sleep(0.01)
        go_on.set()
        for call in (first, *others):
            with pytest.raises(ServiceError, match="no answer"):
                call.result(timeout=30)
    assert made == [0, 1]


def failed_first(error: Exception) -> int:
    return outcomes(error)[0].result(timeout=30)


def failed_second(error: Exception) -> int:
    return outcomes(error)[1].result(timeout=30)


def outcomes(error: Exception) -> tuple[Future[int], Future[int]]:
    """Return the outcomes of a failing read and of a call made during that read."""
    shared, begun, go_on = CoalescedRead(), Event(), Event()

    def failing() -> int:
        begun.set()
        go_on.wait(timeout=30)
        raise error

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(shared.fresh, failing)
        begun.wait(timeout=30)
        second = pool.submit(shared.fresh, lambda: 7)
        go_on.set()
    return first, second
