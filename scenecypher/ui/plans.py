"""The plans that the page carries out: each by the front door, in a thread of its own, which can wait between steps."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, suppress
from threading import Condition, Thread
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from scenecypher.errors import InputError
from scenecypher.planner.sessions.events import Event, Proposed, Remembered, Solved

if TYPE_CHECKING:
    from scenecypher.home import PlanOptions
    from scenecypher.planner.actions.ruled import AskBack
    from scenecypher.scenes import SceneDatabase

Pace: TypeAlias = Literal["going", "paused", "stopping"]
Button: TypeAlias = Literal["pause", "step", "go", "stop"]

_log: Final = logging.getLogger("scenecypher.page")

BUTTONS: Final[Mapping[Button, Pace]] = {"pause": "paused", "step": "paused", "go": "going", "stop": "stopping"}
"""The buttons of a plan, with the pace that it has then."""
END_S: Final = 10.0
"""Longest wait for a plan's present step when the page ends; what is not over by then is cut off."""


class PagePlan:
    """One plan under way. `pace` says if it goes on by itself; while it is paused, single steps can be taken.

    `question` is what it asks the person at the page, who is waited for.
    """

    def __init__(self, scene: str, events: Generator[Event], *, paused: bool) -> None:
        self.scene = scene
        self.pace: Pace = "paused" if paused else "going"
        self._events, self._steps = events, 0
        self._is_solving = False
        self.question: AskBack | None = None
        self._said: str | None = None
        self._changed = Condition()
        self._thread = Thread(target=self._run, name=f"plan in {scene}", daemon=True)

    def start(self) -> None:
        """Start its thread."""
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """True once nothing of it will be carried out any more."""
        return not self._thread.is_alive()

    def set_pace(self, pace: Pace) -> None:
        """Let it go on, pause it, or stop it; the step that is under way is finished first."""
        with self._changed:
            self.pace = pace
            self._changed.notify_all()

    def step(self) -> None:
        """Pause it after one more step."""
        with self._changed:
            self.pace, self._steps = "paused", self._steps + 1
            self._changed.notify_all()

    def ask(self, question: AskBack) -> str:
        """Return what the person at the page answers; a plan that is stopped meanwhile can be resumed."""
        with self._changed:
            self.question, self._said = question, None
            self._changed.wait_for(lambda: self._said is not None or self.pace == "stopping")
            self.question = None
            if self._said is None:
                raise KeyboardInterrupt
            return self._said

    def answer(self, question: str, said: str) -> None:
        """Answer its question. Raises InputError if that is another one, or `said` is no choice of it."""
        with self._changed:
            asked = self.question
            if asked is None or asked.question != question or (asked.choices and said not in {*asked.choices, ""}):
                raise InputError("nobody waits for this answer: look at the run again, which shows what is asked")
            self._said = said.strip()
            self._changed.notify_all()

    def end(self) -> None:
        """Stop it and wait a moment for its present step."""
        self.set_pace("stopping")
        self._thread.join(END_S)

    def _run(self) -> None:
        with suppress(KeyboardInterrupt), closing(self._events) as events:
            try:
                while self._may_go_on():
                    if not self._take_step(events):
                        return
            except Exception:  # noqa: BLE001 - whatever it is, the run's own record says what failed
                _log.exception("a plan in %s failed", self.scene)

    def _may_go_on(self) -> bool:
        """Wait while it is paused; return False if it is stopped."""
        with self._changed:
            self._changed.wait_for(lambda: self.pace != "paused" or self._steps > 0)
            self._steps = max(0, self._steps - 1)
            return self.pace != "stopping"

    def _take_step(self, events: Iterator[Event]) -> bool:
        """Carry out one decision, of a whole solution one action; return False at the end."""
        for event in events:
            if isinstance(event, Solved):
                self._is_solving = True
            elif isinstance(event, Remembered):
                self._is_solving = False
                return True
            elif isinstance(event, Proposed) and self._is_solving:
                return True
        return False


class PagePlans:
    """All plans that this page has started, by the number of their runs. Safe to share between threads."""

    def __init__(self, database: SceneDatabase) -> None:
        self._database = database
        self._plans: dict[int, PagePlan] = {}
        self._lock = Condition()

    def start(self, scene: str, *, paused: bool, options: PlanOptions, instruction: str | None) -> int:
        """Start a plan in a scene; return its run's number.

        Raises InputError if one is under way there or runs are not kept, ModelUnavailable, and what `plan` raises.
        """
        if not self._database.settings.record_runs:
            raise InputError("runs are not kept here (SCENECYPHER_RECORD_RUNS), and a page shows what is kept")
        with self._lock:
            self._plans = {number: plan for number, plan in self._plans.items() if not plan.is_over}
            for number, plan in self._plans.items():
                if plan.scene == scene:
                    raise InputError(f"run {number} is under way in {scene}; stop it, or let it end first")

            def ask(question: AskBack) -> str:
                return self._plans[recorder.number or 0].ask(question)

            options["ask"] = ask
            recorder, events = self._database.home(scene).begin_plan(instruction, **options)
            next(events)  # the run begins, and is kept
            begun = recorder.number
            if not begun:
                events.close()
                raise InputError(f"a run in {scene} can't be kept now, and a page shows what is kept; try again")
            self._plans[begun] = PagePlan(scene, events, paused=paused)
            self._plans[begun].start()
            return begun

    def pace(self, number: int) -> Pace | None:
        """Return the pace of a plan that is under way; None of any other run."""
        plan = self._plans.get(number)
        return None if plan is None or plan.is_over else plan.pace

    def question(self, number: int) -> AskBack | None:
        """Return what a plan asks the person at the page, if it waits for that."""
        return self._plans[number].question if self.pace(number) else None

    def answer(self, number: int, question: str, said: str) -> None:
        """Answer a plan's question. Raises InputError."""
        self._under_way(number).answer(question, said)

    def press(self, number: int, button: Button) -> None:
        """Pause a plan before its next step, let it go on, stop it after the step that is under way, or take one step.

        Raises InputError if it is not under way.
        """
        plan = self._under_way(number)
        if button == "step":
            plan.step()
        else:
            plan.set_pace(BUTTONS[button])

    def close(self) -> None:
        """Stop all plans."""
        with self._lock:
            for plan in self._plans.values():
                plan.set_pace("stopping")
            for plan in self._plans.values():
                plan.end()

    def _under_way(self, number: int) -> PagePlan:
        plan = self._plans.get(number)
        if plan is None or plan.is_over:
            raise InputError(f"run {number} is not under way on this page: it has ended, or another process does it")
        return plan
