"""Limits of queries: their cost on the server and the size of their answer."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from scenecypher.settings import Settings

# The names of settings that differ from the limits' names.
SETTINGS: Final = {
    "seconds": "timeout_s",
    "planning_seconds": "planning_s",
    "total_bytes": "bytes",
    "lost_seconds": "lost_s",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one query.

    `seconds` to run, and `planning_seconds` before that, once for each shape; `rows`, `row_bytes` and `total_bytes`
    of JSON in UTF-8 for the answer, of which the first rows are returned if there are more; `steps` that the
    expressions may take for one row; `text_length` in characters; `nesting` of brackets. Queries of at most
    `cheap_steps` in all wait for no slot. A transaction that still runs `lost_seconds` after it was terminated counts
    as a lost server.
    """

    seconds: float = 5.0
    planning_seconds: float = 20.0
    rows: int = 1_000
    row_bytes: int = 200_000
    total_bytes: int = 1_000_000
    steps: float = 30_000_000
    text_length: int = 4_000
    nesting: int = 40
    cheap_steps: float = 1_000_000
    lost_seconds: float = 20.0

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the configured limits."""
        return cls(**{one.name: getattr(settings, f"query_{SETTINGS.get(one.name, one.name)}") for one in fields(cls)})
