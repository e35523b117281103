"""Rules of a vocabulary beyond those of a SceneGraph: one parent, no cycle."""

from __future__ import annotations

from collections.abc import Iterator

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.db.vocabulary import conventions_of


def broken_rules(graph: SceneGraph, vocabulary: str) -> Iterator[tuple[str, str]]:
    """Yield each node that breaks a rule of `vocabulary`, as (node id, cause)."""
    rules = conventions_of(vocabulary)
    if not rules.one_parent:
        return
    parents: dict[str, str] = {}
    for node_id in sorted(graph.nodes):
        above = [r.target for r in graph.outgoing.get(node_id, ()) if r.type in rules.containment]
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
