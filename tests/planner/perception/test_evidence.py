"""Confidence as evidence: laws of the two formulas of docs/observing.md."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.planner.perception.draft import LEAST, MOST, agreeing, disagreeing

chances = st.floats(0, 1)


@given(chances, chances)
def test_what_is_seen_again_is_never_less_sure(before: float, seen: float) -> None:
    """A vague look lowered what a sharp one had seen."""
    after = agreeing(before, seen)
    assert after >= max(before, seen) - 1e-4
    assert after <= 1


@given(chances, chances, chances)
def test_the_order_of_looks_that_agree_does_not_matter(first: float, second: float, third: float) -> None:
    one = agreeing(agreeing(first, second), third)
    assert one == pytest.approx(agreeing(agreeing(third, first), second), abs=3e-4)


@given(st.lists(st.floats(0, 0.95), max_size=20))
def test_pictures_alone_are_never_certain(looks: list[float]) -> None:
    sure = 0.0
    for look in looks:
        sure = agreeing(sure, look)
    assert sure <= MOST


@given(chances)
def test_certainty_stays(seen: float) -> None:
    assert agreeing(1, seen) == agreeing(seen, 1) == 1


@given(chances, chances)
def test_what_is_missed_is_less_sure_in_the_same_order(one: float, other: float) -> None:
    assert disagreeing(one) <= one + 1e-4
    if one <= other:
        assert disagreeing(one) <= disagreeing(other)


@pytest.mark.parametrize(("seen", "missed"), [(0, 1), (1, 1), (2, 2), (3, 3), (9, 3)])
def test_as_many_looks_outweigh_those_that_saw_it(seen: int, missed: int) -> None:
    """So often a thing is missed by looks at the whole until it is absent, and never more than three times."""
    sure, looks = 0.5, 0
    for number in range(seen):
        sure = agreeing(sure if number else 0, 0.8)
    while sure >= LEAST:
        sure, looks = disagreeing(sure), looks + 1
    assert looks == missed
