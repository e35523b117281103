"""Table of all benchmarks: a name, and a function from an open database to its measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from benchmarks import (
    acting,
    action_parts,
    asking,
    beside,
    commits,
    engine_steps,
    entered,
    episodes,
    facts,
    flat,
    fleet,
    hostile,
    keeping,
    maps,
    pages,
    past,
    planning,
    reading,
    recorded,
    scale,
)
from benchmarks.comparison import Measurement
from scenecypher.db.store.connection import Database

Benchmark: TypeAlias = Callable[[Database], Iterator[Measurement]]

BENCHMARKS: Final[Mapping[str, Benchmark]] = {
    "commits": commits.commits,
    "imports": commits.imports,
    "actions": acting.actions,
    "spent": action_parts.spent,
    "sizes": acting.sizes,
    "crowds": acting.crowds,
    "engine": engine_steps.engine,
    "entered": entered.entered,
    "queries": reading.queries,
    "lookups": reading.lookups,
    "schema": reading.schema_texts,
    "gate": asking.gate,
    "hostile": hostile.hostile,
    "asking": asking.asking,
    "askers": asking.askers,
    "beside": beside.beside,
    "runs": keeping.runs,
    "facts": facts.facts,
    "sessions": planning.sessions,
    "prompts": planning.prompt_growth,
    "recorded": recorded.recorded,
    "episodes": episodes.episodes,
    "maps": maps.maps,
    "past": past.past,
    "page": pages.pages,
    "homes": scale.home_imports,
    "million": scale.million,
    "flat": flat.flat,
    "fleet": fleet.fleet,
}
"""Benchmarks by name; each function creates and deletes its own scenes, and its docstring says what it compares."""
