"""The budget of a session and its use so far; and what its model is told besides: its deadline, and what others did."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from scenecypher.chat.model import RETRY_TEMPERATURE, Message, Model, Reply, Request, Usage
from scenecypher.db.store.history import Event
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.ruled import HOUSE_RULES
from scenecypher.planner.actions.simulator import INSERTED_MARK, Simulator
from scenecypher.planner.prompts.texts import MEANWHILE, with_lines
from scenecypher.planner.sessions.events import Outcome

MAX_INFEASIBLE: Final = 3
"""Consecutive infeasible proposals after which a session ends (LookPlanGraph, section IV-A)."""
MIN_TIMEOUT_S: Final = 0.1
"""Least time limit of a request when the budget is spent."""
SPARE_STEPS: Final = 10
"""Decisions granted beyond a task's actions: to report that it is done, and to replan."""


UNASKED_STEPS: Final = 1_000
"""Decisions of a method that asks no model: its plan tells how many it takes."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a session: decisions, consecutive refusals, tokens and seconds (None: no limit).

    The limit of refusals holds for methods whose recipe has it (`Recipe.ends_refused`). Tokens count planning and
    pictures together.
    """

    steps: int = 30
    infeasible: int | None = MAX_INFEASIBLE
    tokens: int | None = None
    seconds: float | None = None


class Stopwatch:
    """Clock of a session, including the time before it was resumed; stopped until `start` is called."""

    def __init__(self, limit_s: float | None = None) -> None:
        self._limit_s = limit_s
        self._began: float | None = None
        self._before = 0.0

    def start(self, before: float = 0.0) -> None:
        """Start the clock at `before` seconds."""
        self._began, self._before = time.monotonic(), before

    def pause(self) -> None:
        """Stop the clock until `go_on`."""
        if self._began is not None:
            self._before, self._began = self._before + time.monotonic() - self._began, None

    def go_on(self) -> None:
        """Start the clock again where it was paused."""
        self.start(self._before)

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return self._before + (0.0 if self._began is None else time.monotonic() - self._began)

    @property
    def left(self) -> float | None:
        """Seconds left, at least MIN_TIMEOUT_S; None without a limit."""
        return None if self._limit_s is None else max(self._limit_s - self.seconds, MIN_TIMEOUT_S)


@dataclass(frozen=True, slots=True)
class DeadlineModel:
    """Model whose requests time out when the session's time is over."""

    model: Model
    watch: Stopwatch

    def reply(self, request: Request) -> Reply:
        """Return one reply. Raises as the model does."""
        return self.model.reply(replace(request, timeout_s=self.watch.left))


class UsageMeter:
    """Token counter for the pictures of a session, including those before it was resumed."""

    def __init__(self) -> None:
        self.usage = Usage()


@dataclass(frozen=True, slots=True)
class MeteredVisionModel:
    """Model for pictures whose tokens are counted separately; a `name` is that of another model of the service."""

    model: Model
    meter: UsageMeter
    name: str = ""

    def reply(self, request: Request) -> Reply:
        """Return one reply. Raises as the model does."""
        reply = self.model.reply(replace(request, model=self.name or request.model))
        self.meter.usage += reply.usage
        return reply


@dataclass(frozen=True, slots=True)
class Spent:
    """Budget used so far: `usage` by planning, `seeing` by pictures; `seconds` are those before a resume."""

    steps: int = 0
    actions: int = 0
    refused: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    seeing: Usage = field(default_factory=Usage)

    def exceeded(self, budget: Budget, seconds: float) -> tuple[Outcome, str] | None:
        """Return the outcome and reason if a limit is reached, else None."""
        if budget.infeasible is not None and self.refused >= budget.infeasible:
            return "infeasible", f"{self.refused} decisions in a row were refused"
        if self.steps >= budget.steps:
            return "steps", f"the limit of {budget.steps} steps is reached"
        if budget.tokens is not None and (self.usage + self.seeing).total_tokens >= budget.tokens:
            return "tokens", f"the limit of {budget.tokens:,} tokens is reached"
        if budget.seconds is not None and seconds >= budget.seconds:
            return "seconds", f"the limit of {budget.seconds:g} s is reached"
        return None


UNDONE: Final = re.compile(r"undo \d+: (.*)", re.DOTALL)
"""The undo of one action, as the history words it."""


@dataclass(slots=True)
class OthersActs:
    """What others did in `simulator`'s scene since the last decision: `lines`, empty if nobody else acted.

    `decision` counts the calls of `renew`. `actor` is the session's own name in the history. `since` is the scene's
    version at the last decision, None before the first. With a belief, `simulator` notices what happens in the world,
    and only that counts.
    """

    store: SceneStore
    simulator: Simulator
    actor: str
    since: int | None = None
    lines: tuple[str, ...] = ()
    decision: int = 0

    def renew(self) -> None:
        """Read what was done since the last call; the first call finds nothing."""
        self.decision += 1
        noticed = self.simulator.notice_others()
        scene = self.simulator.scene
        if self.since is None:
            version, events = self.store.find(scene.name).version, list[Event]()
        else:
            events = self.store.history(scene, after=self.since)
            version = max((event.version for event in events), default=self.since)
        self.simulator.scene = replace(scene, version=max(version, scene.version))
        self.since = version
        others = (event for event in events if event.actor != self.actor and self.simulator.is_told(event))
        self.lines = tuple(dict.fromkeys(act_lines([*others, *noticed])))


def act_lines(events: Iterable[Event]) -> Iterator[str]:
    """Yield a line for each event: who did what."""
    for event in events:
        undone = UNDONE.fullmatch(event.action)
        if event.kind in {"act", "declare"}:
            yield f"{event.actor}: {event.action.partition(INSERTED_MARK)[0]}"
        elif undone is not None:
            yield f"{event.actor}: took back {undone[1].partition(INSERTED_MARK)[0]}"
        else:
            yield f"{event.actor}: {'took back some acts' if event.kind == 'undo' else 'did again what was taken back'}"


@dataclass(slots=True)
class InformedModel:
    """Model of a method whose requests end with what others did since the method's last decision.

    Their first message ends with the `rules` of the house, if there are any. If it `varies`, a request that was
    sent before in this session, in vain, is sent with another seed and a higher temperature.
    """

    model: Model
    others: OthersActs
    rules: Callable[[], Sequence[str]] = tuple
    varies: bool = False
    _at: tuple[int, int, Message | None] = (0, 0, None)
    _sent: Counter[int] = field(default_factory=Counter)

    def reply(self, request: Request) -> Reply:
        """Return one reply. Raises as the model does.

        A request that is sent again with a mistake has the lines where the first one had them.
        """
        messages = [*request.messages]
        if self.others.lines:
            decision, place, message = self._at
            if decision != self.others.decision or messages[place : place + 1] != [message]:
                place = len(messages) - 1
                self._at = self.others.decision, place, messages[place]
            messages[place] = with_lines(messages[place], MEANWHILE, self.others.lines)
        messages[0] = with_lines(messages[0], HOUSE_RULES, self.rules())
        return self.model.reply(self._varied(replace(request, messages=tuple(messages))))

    def _varied(self, request: Request) -> Request:
        """Return the request, varied by how often it was sent before: at a temperature of 0 a reply is the same."""
        before = self._sent[hash(request)]
        self._sent[hash(request)] += self.varies
        if not before or request.temperature is None:
            return request
        seed = None if request.seed is None else request.seed + before
        return replace(request, temperature=max(request.temperature, RETRY_TEMPERATURE), seed=seed)
