"""The times of a past: the server's, the ones that its scene declares, or an episode's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, TypeAlias

from scenecypher.db.store.history import Event

ClockSource: TypeAlias = Literal["server", "declared", "episode"]

EPISODE_START: Final = datetime(2000, 1, 1, 8, tzinfo=UTC)
"""The time at which every episode starts in its own clock, so that prompts are the same bytes in any database."""
EPISODE_STEP: Final = timedelta(minutes=1)
"""The time of an episode from one version to the next."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a scene whose past starts at version `base` and at the time `start`."""

    source: ClockSource
    base: int
    start: datetime

    def now(self, version: int, clock: datetime) -> datetime:
        """Return the time that it is at a version, given the scene's own clock or the server's."""
        return self.start + (version - self.base) * EPISODE_STEP if self.source == "episode" else clock

    @classmethod
    def of(cls, scene: Mapping[str, Any]) -> Clock:
        """Return the clock of a Scene node's `base`, `leased`, `clock_start` and `imported_at`."""
        if scene["leased"]:
            return cls("episode", scene["base"], EPISODE_START)
        declared = scene["clock_start"]
        start = (declared or scene["imported_at"]).to_native().astimezone(UTC)
        return cls("declared" if declared else "server", scene["base"], start)

    def time_of(self, event: Event) -> datetime:
        """Return the time of an event."""
        match self.source:
            case "episode":
                return self.start + (event.version - self.base) * EPISODE_STEP
            case "declared":
                return event.clock or self.start
            case _:
                return event.at
