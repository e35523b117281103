"""Plans of the page: they wait between steps, go on, and end when they are told to."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from queue import Queue

from scenecypher.chat.model import Usage
from scenecypher.planner.sessions import events as e
from scenecypher.ui.plans import PagePlan

TURN_ENDS = e.Remembered(1, None, "", (), refused=False, infeasible=0, usage=Usage())
ONE_BY_ONE: Sequence[e.Event] = (
    *(e.Proposed(1, "open(a)", "", since=0), e.Acted(1, "open(a)", 1, 1), TURN_ENDS),
    *(e.Proposed(2, "open(b)", "", since=1), e.Acted(2, "open(b)", 2, 1), TURN_ENDS),
)
AT_ONCE: Sequence[e.Event] = (
    e.Solved(1, ("open(a)", "open(b)"), "", final=True),
    *(e.Proposed(1, "open(a)", "", since=0), e.Acted(1, "open(a)", 1, 1)),
    *(e.Proposed(1, "open(b)", "", since=1), e.Acted(1, "open(b)", 2, 1), TURN_ENDS),
)
WAIT_S = 20.0


class Recorded:
    """Events that are told as they are taken, and the end, whether it came by itself or was brought about."""

    def __init__(self, events: Sequence[e.Event]) -> None:
        self._events, self.taken = events, Queue[str]()

    def run(self) -> Generator[e.Event]:
        try:
            for event in self._events:
                self.taken.put(type(event).__name__)
                yield event
        finally:
            self.taken.put("closed")

    def next(self, count: int) -> list[str]:
        return [self.taken.get(timeout=WAIT_S) for _ in range(count)]


def started(events: Sequence[e.Event], *, paused: bool = True) -> tuple[PagePlan, Recorded]:
    recorded = Recorded(events)
    plan = PagePlan("home", recorded.run(), paused=paused)
    plan.start()
    return plan, recorded


def test_a_step_is_one_decision() -> None:
    plan, recorded = started(ONE_BY_ONE)
    assert recorded.taken.empty()
    plan.step()
    assert recorded.next(3) == ["Proposed", "Acted", "Remembered"]
    assert (plan.pace, recorded.taken.empty()) == ("paused", True)
    plan.set_pace("going")
    assert recorded.next(4) == ["Proposed", "Acted", "Remembered", "closed"]


def test_of_a_whole_solution_a_step_is_one_action() -> None:
    plan, recorded = started(AT_ONCE)
    plan.step()
    assert recorded.next(2) == ["Solved", "Proposed"]
    plan.step()
    assert recorded.next(2) == ["Acted", "Proposed"]
    plan.end()
    assert recorded.next(1) == ["closed"]
    assert plan.is_over


def test_steps_that_are_asked_for_at_once_are_all_taken() -> None:
    plan, recorded = started(ONE_BY_ONE)
    plan.step()
    plan.step()
    assert recorded.next(6)[-1] == "Remembered"
    plan.set_pace("stopping")
    assert recorded.next(1) == ["closed"]


def test_a_plan_that_goes_on_by_itself_ends_by_itself() -> None:
    plan, recorded = started(AT_ONCE, paused=False)
    assert recorded.next(7)[-1] == "closed"
    plan.end()
    assert plan.is_over
