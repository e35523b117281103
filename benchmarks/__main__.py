"""`python -m benchmarks [NAME ...]`: run all benchmarks, or those named, on a throw-away server."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from rich.console import Console

from benchmarks import acting, asking, entered, fleet, hostile, looks
from benchmarks.comparison import Measurement, measurement_table
from scenecypher.db.store.connection import Database
from scenecypher.db.store.stored_form import prepare
from tests.server import throwaway_server

BENCHMARKS: Final[Mapping[str, Callable[[Database], Iterator[Measurement]]]] = {
    "actions": acting.actions,
    "crowds": acting.crowds,
    "rules": acting.ruled,
    "entered": entered.entered,
    "gate": asking.gate,
    "hostile": hostile.hostile,
    "asking": asking.asking,
    "looks": looks.looks,
    "fleet": fleet.fleet,
}
"""Benchmarks by name; each creates and deletes its own scenes, and its docstring says what it compares."""


def main() -> int:
    """Run benchmarks and print measurements; return 1 if a ratio exceeds its limit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed as ratios to named references.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(BENCHMARKS)}; else all")
    names = parser.parse_args().names or list(BENCHMARKS)
    if unknown := [name for name in names if name not in BENCHMARKS]:
        parser.error(f"no benchmark named {unknown[0]!r}; there are: {', '.join(BENCHMARKS)}")
    rows: list[Measurement] = []
    with throwaway_server() as address, Database(address) as database:
        prepare(database)
        for name in names:
            print(f"measuring {name} ...", file=sys.stderr)
            rows.extend(BENCHMARKS[name](database))
    Console().print(measurement_table(rows))
    return 0 if all(row.within for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
