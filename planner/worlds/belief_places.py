"""Where a robot looks when its belief was wrong, and what of others' acts it is told by what it saw of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from scenecypher.db.graph.change import nodes_of
from scenecypher.db.graph.scene import GraphView
from scenecypher.db.schema import HOLDING
from scenecypher.db.store.history import Event
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.vocabularies.registry import vocabulary_named


def told_event(event: Event, seen: Collection[str], graph: GraphView) -> Event:
    """Return an event as somebody tells it who saw these nodes: what it did with others, unseen, is not told."""
    changed = {it for change in event.delta.changes for it in nodes_of(change)} & graph.nodes.keys()
    hidden = {it for it in changed if graph.nodes[it].kind != "Place" and mentions(event.action, it)} - {*seen}
    return replace(event, action=f"did something with {', '.join(seen)}") if hidden else event


def mentions(action: str, node_id: str) -> bool:
    """Check if the text of an action names a node."""
    return re.search(rf"(?<![\w-]){re.escape(node_id)}(?![\w-])", action) is not None


def is_where_believed(thing: str, belief: GraphView, world: GraphView, containment: Sequence[str]) -> bool:
    """Check if a movable thing is in or on all that it is believed to be in or on directly, or in a hand."""
    if thing not in world or belief.nodes[thing].kind != "Object" or world.sources(thing, *HOLDING):
        return True
    believed, actual = {*belief.targets(thing, *containment)}, world.reached(thing, *containment)
    return believed <= actual and bool(believed) == bool(actual)


def places_to_look(belief: GraphView, of: Sequence[str], vocabulary: str) -> tuple[str, ...]:
    """Return the nodes worth a look: each of `of`, and what it is believed to be in or on.

    Rooms are left out, since a look at one shows little; in a grid a room shows everything, so there its doors are
    added.
    """
    containment = conventions_of(vocabulary).containment
    near = [end for it in of for end in (it, *belief.targets(it, *containment)) if end in belief]
    rooms = [it for it in near if belief.nodes[it].kind == "Place"]
    if vocabulary_named(vocabulary).looking.whole_rooms:
        near += [door for room in rooms for door in belief.targets(room, "CONNECTS")]
        rooms = []
    return tuple(dict.fromkeys(it for it in near if it not in rooms))
