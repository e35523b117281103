"""What broke off, was missing or was tried often is counted, and no table is lost for it."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.eai.action_sequencing import sequence_figures


@pytest.fixture(autouse=True)
def left_behind() -> None:
    """Nothing here runs Inspect, so nothing has to be collected after each test."""


def carried_out(**said: Any) -> dict[str, Any]:
    nothing = {"states": [1, 1], "relations": [0, 0], "actions": [0, 0, 0]}
    return {"outcome": "executed", "human": False, "additional_step": 0, "steps": 1, **nothing, **said}


def test_more_needless_steps_than_tasks_are_a_rate_without_an_interval() -> None:
    found = {one.name: one for one in sequence_figures([carried_out(additional_step=3), carried_out()])}
    needless = found["additional_step"]
    assert (needless.percent, needless.of, needless.low) == (150, 2, None)
