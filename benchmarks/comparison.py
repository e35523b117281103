"""Comparison of two calls, timed in turn so that a busy machine slows both: their medians and the ratio.

References are transactions of the bare driver, as a program without this library writes them.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median, quantiles
from time import perf_counter
from typing import TypeAlias, TypeVar

from neo4j import ManagedTransaction
from rich.table import Table

from scenecypher.db.store.connection import Database

Call: TypeAlias = Callable[[], object]
T = TypeVar("T")


def bare(database: Database, work: Callable[[ManagedTransaction], T], *, write: bool = False) -> T:
    """Return what `work` returns in `session.execute_read` or `execute_write`, over the same connections."""
    with database._driver.session(database=database.address.database) as session:  # noqa: SLF001 - same pool
        return session.execute_write(work) if write else session.execute_read(work)


@dataclass(frozen=True, slots=True)
class Measurement:
    """Comparison of two times: `ours` may be at most `limit` times `reference`, both in `unit`.

    `low` and `high` are the quartiles of the ratio over the pairs, if there were pairs.
    """

    what: str
    ours: float
    reference: float
    limit: float
    unit: str = "ms"
    low: float | None = None
    high: float | None = None

    @property
    def ratio(self) -> float:
        """Our time divided by the reference's."""
        return self.ours / self.reference

    @property
    def within(self) -> bool:
        """True if the ratio is within its limit."""
        return self.ratio <= self.limit


def compare(
    what: str, ours: Call, *, reference: Call, limit: float, pairs: int = 200, warm_up: int = 1_000
) -> Measurement:
    """Time `pairs` of calls, ours and the reference's in turn, each first in every other pair; medians in ms.

    The `warm_up` calls before them let a freshly started server compile the code paths that they use.
    """
    for _ in range(warm_up):
        ours()
        reference()
    times: list[tuple[float, float]] = []
    with _collector_off():
        for number in range(pairs):
            if number % 2:
                second, first = _timed_ms(reference), _timed_ms(ours)
            else:
                first, second = _timed_ms(ours), _timed_ms(reference)
            times.append((first, second))
    low, _, high = quantiles([first / second for first, second in times], n=4)
    ours_ms, reference_ms = (median(column) for column in zip(*times, strict=True))
    return Measurement(what, ours_ms, reference_ms, limit, low=low, high=high)


def median_ms(call: Call, *, rounds: int = 200, warm_up: int = 20) -> float:
    """Return the median time of a call in ms, for a reference that can't be timed in turn."""
    for _ in range(warm_up):
        call()
    with _collector_off():
        return median(_timed_ms(call) for _ in range(rounds))


def measurement_table(rows: Iterable[Measurement]) -> Table:
    """Return measurements as a table to print."""
    shown = Table("what", box=None, pad_edge=False, header_style="bold")
    for heading in ("ours", "reference", "ratio", "quartiles", "limit", ""):
        shown.add_column(heading, justify="right")
    for row in rows:
        quartiles = "" if row.low is None or row.high is None else f"{row.low:.2f} to {row.high:.2f}"
        verdict = "[green]within[/]" if row.within else "[bold red]over[/]"
        times = (f"{it:.3g} {row.unit}" for it in (row.ours, row.reference))
        shown.add_row(row.what, *times, f"{row.ratio:.2f}", quartiles, f"{row.limit:.2f}", verdict)
    return shown


def _timed_ms(call: Call) -> float:
    began = perf_counter()
    call()
    return (perf_counter() - began) * 1_000


@contextmanager
def _collector_off() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
