"""Acts of others in a world that a robot can notice: those in its room, and what is done to itself."""

from __future__ import annotations

from collections.abc import Iterator

from scenecypher.db.graph.change import node_id_of
from scenecypher.db.graph.delta import AddRelation, Delta, RemoveRelation
from scenecypher.db.graph.scene import GraphView
from scenecypher.planner.prompts.layout import SceneLayout, surroundings


def changed_ids(delta: Delta) -> Iterator[str]:
    """Yield the ids of the nodes that a Delta mentions."""
    for change in delta.changes:
        if isinstance(change, AddRelation | RemoveRelation):
            yield from (change.relation.source, change.relation.target)
        else:
            yield node_id_of(change)


def witnessed_nodes(world: GraphView, vocabulary: str, delta: Delta) -> tuple[str, ...]:
    """Return the changed nodes in the room of the world's agent, as it is now; the agent itself among them."""
    changed = tuple(dict.fromkeys(changed_ids(delta)))
    layout = SceneLayout(surroundings(world, touched=changed), vocabulary)
    return tuple(
        it for it in changed if it == layout.agent or (it in layout.graph and layout.room_of(it) == layout.here)
    )
