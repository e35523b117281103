"""A look at the version is shared only by those who asked for it before it began."""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from threading import Event

import pytest

from scenecypher.db.gate.looks import Looks
from scenecypher.errors import SceneReplaced, ServiceError

THREADS = 8


def test_every_caller_gets_a_look_that_began_after_it_called() -> None:
    """The version is a clock that only looks move: who reads it before calling must be given a later time."""
    looks, clock, now = Looks(), count(1), [0]

    def look() -> int:
        now[0] = next(clock)
        return now[0]

    def call(_: int) -> bool:
        before = now[0]
        return looks.fresh(look) > before

    with ThreadPoolExecutor(THREADS) as pool:
        assert all(pool.map(call, range(2_000)))


def test_those_who_wait_share_one_look() -> None:
    looks, begun, go_on = Looks(), Event(), Event()
    made: list[int] = []

    def look() -> int:
        made.append(len(made) + 1)
        begun.set()
        go_on.wait(timeout=30)
        return made[-1]

    with ThreadPoolExecutor(THREADS) as pool:
        first = pool.submit(looks.fresh, look)
        begun.wait(timeout=30)
        others = [pool.submit(looks.fresh, look) for _ in range(THREADS - 1)]
        while len(looks._changed._waiters) < THREADS - 1:  # type: ignore[attr-defined]
            time.sleep(0.01)
        go_on.set()
        assert first.result(timeout=30) == 1
        assert [other.result(timeout=30) for other in others] == [2] * (THREADS - 1)
    assert made == [1, 2]


def test_a_refusal_is_its_callers_alone() -> None:
    with pytest.raises(SceneReplaced):
        failed_first(SceneReplaced("home"))
    assert failed_second(SceneReplaced("home")) == 7


def test_those_who_wait_for_a_service_that_fails_do_not_wait_in_turn() -> None:
    """The second look would answer; it is the first of those who waited that makes it, and the rest share it."""
    looks, begun, go_on = Looks(), Event(), Event()
    made: list[int] = []

    def failing() -> int:
        made.append(len(made))
        begun.set()
        go_on.wait(timeout=30)
        msg = "no answer"
        raise ServiceError(msg)

    with ThreadPoolExecutor(THREADS) as pool:
        first = pool.submit(looks.fresh, failing)
        begun.wait(timeout=30)
        others = [pool.submit(looks.fresh, failing) for _ in range(THREADS - 1)]
        while len(looks._changed._waiters) < THREADS - 1:  # type: ignore[attr-defined]
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
    """Of a look that fails, and of one that was asked for while it was under way."""
    looks, begun, go_on = Looks(), Event(), Event()

    def failing() -> int:
        begun.set()
        go_on.wait(timeout=30)
        raise error

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(looks.fresh, failing)
        begun.wait(timeout=30)
        second = pool.submit(looks.fresh, lambda: 7)
        go_on.set()
    return first, second
