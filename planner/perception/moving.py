"""What a thing loses and gains of its relations when it comes to be elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.schema import HOLDING, REMEMBERED, VOCABULARIES, family

NEARNESS: Final = ("CLOSE", "FACING")
"""What no longer holds of a thing that is not where it was."""


def lost_relations(graph: SceneGraph, thing: str, *, vocabulary: str) -> set[Relation]:
    """All that it is in, on, held by and near, and where it was taken from; what is in or on it stays there."""
    gone = {*VOCABULARIES[vocabulary].containment, *NEARNESS, *REMEMBERED}
    leaving = {it for it in graph.outgoing.get(thing, ()) if it.type in gone}
    return leaving | {it for it in graph.incoming.get(thing, ()) if it.type in {*NEARNESS, *HOLDING}}


def gained_relations(graph: SceneGraph, relation: Relation, *, room_of: str, vocabulary: str) -> Iterator[Relation]:
    """A thing's relation to what bears it, and what goes with that: VirtualHome's things are in a room and close too.

    The room is that of `room_of`, which is in `graph`.
    """
    yield relation
    if family(vocabulary) == "virtualhome":
        rooms = [it for it in graph.targets(room_of, "INSIDE") if graph.nodes[it].kind == "Place"]
        yield from (Relation(relation.source, "INSIDE", room) for room in rooms)
        yield Relation(relation.source, "CLOSE", relation.target)
        yield Relation(relation.target, "CLOSE", relation.source)
