"""Acts of others in a session's scene: what a robot can notice of them, told to its model at the next decision."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from scenecypher.chat.model import Message, Model, Reply, Request
from scenecypher.db.store.history import Event
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.simulator import INSERTED_MARK, Simulator
from scenecypher.planner.prompts.past import HOUSE_RULES, MEANWHILE, with_lines

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

    Their first message ends with the `rules` of the house, if there are any.
    """

    model: Model
    others: OthersActs
    rules: Callable[[], Sequence[str]] = tuple
    _at: tuple[int, int, Message | None] = (0, 0, None)

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
        return self.model.reply(replace(request, messages=tuple(messages)))
