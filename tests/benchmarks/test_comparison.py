from __future__ import annotations

import gc

import pytest
from rich.console import Console

from benchmarks.comparison import Measurement, compare, measurement_table, median_ms


def test_calls_take_turns_and_each_is_first_in_every_other_pair() -> None:
    calls: list[str] = []
    compare("x", lambda: calls.append("o"), reference=lambda: calls.append("r"), limit=2, pairs=4, warm_up=1)
    assert "".join(calls) == "or" + "orro" * 2


def test_a_slow_call_exceeds_its_limit() -> None:
    row = compare("x", lambda: sum(range(20_000)), reference=lambda: sum(range(1_000)), limit=2, pairs=30)
    assert row.ratio > 2
    assert not row.within
    assert row.low is not None
    assert row.high is not None
    assert row.low <= row.high


def test_garbage_collection_is_off_while_timing() -> None:
    resting: list[bool] = []
    median_ms(lambda: resting.append(gc.isenabled()), rounds=2, warm_up=0)
    assert resting == [False, False]
    assert gc.isenabled()


@pytest.mark.parametrize(("ours", "within"), [(1.8, True), (1.9, False)])
def test_a_measurement_has_a_verdict(ours: float, within: bool) -> None:  # noqa: FBT001
    row = Measurement("moves one object", ours, 1.0, 1.8, unit="round trips")
    assert row.within is within
    console = Console(width=120)
    with console.capture() as printed:
        console.print(measurement_table([row]))
    assert ("within" if within else "over") in printed.get()
    assert "round trips" in printed.get()
