"""Relations that a thing loses and gains when it is moved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenecypher.db.graph.scene import GraphView, Relation
from scenecypher.db.schema import HOLDING, REMEMBERED
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.vocabularies.registry import vocabulary_named

NEARNESS: Final = ("CLOSE", "FACING")
"""Relations that a moved thing loses, in both directions."""


def lost_relations(graph: GraphView, thing: str, *, vocabulary: str) -> set[Relation]:
    """Return the relations of a thing to containers, holders and near things; those of its own contents stay."""
    types = {*conventions_of(vocabulary).containment, *NEARNESS, *REMEMBERED}
    leaving = {it for it in graph.outgoing.get(thing, ()) if it.type in types}
    return leaving | {it for it in graph.incoming.get(thing, ()) if it.type in {*NEARNESS, *HOLDING}}


def gained_relations(graph: GraphView, relation: Relation, *, room_of: str, vocabulary: str) -> Iterator[Relation]:
    """Yield a thing's new relation and those that follow: to the room and nearness, if the vocabulary has them.

    The room is the node `room_of` of `graph`, or the one that it is in.
    """
    yield relation
    is_in_room = relation.target in graph and graph.nodes[relation.target].kind == "Place"
    if vocabulary_named(vocabulary).looking.nearness and not is_in_room:
        rooms = [it for it in (room_of, *graph.targets(room_of, "INSIDE")) if graph.nodes[it].kind == "Place"]
        yield from (Relation(relation.source, "INSIDE", room) for room in rooms)
        yield Relation(relation.source, "CLOSE", relation.target)
        yield Relation(relation.target, "CLOSE", relation.source)
