"""Rules of a vocabulary beyond those of a SceneGraph: one parent, no cycle."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import InputError

SHOWN: Final = 3
"""Faults that a message lists."""


def broken_rules(graph: SceneGraph, vocabulary: str) -> Iterator[tuple[str, str]]:
    """Yield each node that breaks a rule of `vocabulary`, as (node id, cause)."""
    rules = conventions_of(vocabulary)
    if rules.one_parent:
        yield from parent_faults(graph, rules.containment)


def check_rules(graph: SceneGraph, name: str, vocabulary: str) -> None:
    """Check that a scene keeps the rules of a vocabulary. Raises InputError with the first faults."""
    faults = [f"{node}: {cause}" for node, cause in broken_rules(graph, vocabulary)]
    if faults:
        more = f", and {len(faults) - SHOWN:,} more" if len(faults) > SHOWN else ""
        shown = "; ".join(faults[:SHOWN])
        raise InputError(f"{name} does not keep the rules of {vocabulary!r}: {shown}{more}; mend it, or choose another")


def parent_faults(graph: SceneGraph, containment: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each node that is in, on or held by several others, or by itself over some, as (node id, cause)."""
    parents: dict[str, str] = {}
    for node_id in sorted(graph.nodes):
        above = [r.target for r in graph.outgoing.get(node_id, ()) if r.type in containment]
        above += graph.sources(node_id, *HOLDING)
        if len(above) > 1:
            yield node_id, f"it is in, on or held by {', '.join(map(repr, above))} at once; leave one of them"
        elif above:
            parents[node_id] = above[0]
    for node_id in _in_cycles(parents):
        yield node_id, f"following what it is in or on leads back to it, over {parents[node_id]!r}; break the cycle"


def _in_cycles(parents: dict[str, str]) -> Iterator[str]:
    """Yield one node of each cycle; iterative, since a chain may have ten thousand nodes."""
    settled: set[str] = set()
    for start in parents:
        path: dict[str, None] = {}
        here: str | None = start
        while here is not None and here not in settled and here not in path:
            path[here] = None
            here = parents.get(here)
        if here is not None and here in path:
            yield here
        settled.update(path)
