"""The one table of benchmarks: a name and a function from an open database to its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from benchmarks import acting, asking, duel, episodes, flat, hostile, planning, reading, recorded, scale, spent, writing
from benchmarks.frame import Row
from scenecypher.db.store.connection import Database

Benchmark: TypeAlias = Callable[[Database], Iterator[Row]]

BENCHMARKS: Final[Mapping[str, Benchmark]] = {
    "commits": writing.commits,
    "imports": writing.imports,
    "actions": acting.actions,
    "spent": spent.spent,
    "sizes": acting.sizes,
    "crowds": acting.crowds,
    "engine": duel.engine,
    "queries": reading.queries,
    "lookups": reading.lookups,
    "schema": reading.schema,
    "gate": asking.gate,
    "hostile": hostile.hostile,
    "asking": asking.asking,
    "askers": asking.askers,
    "sessions": planning.sessions,
    "prompts": planning.prompts,
    "recorded": recorded.recorded,
    "episodes": episodes.episodes,
    "homes": scale.homes,
    "million": scale.million,
    "flat": flat.flat,
}
"""Each function makes scenes of its own and deletes them; its docstring's first line says what it compares."""
