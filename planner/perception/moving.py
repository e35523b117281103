"""Relations and properties that a thing loses and gains when it is moved, with all that is on or in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from scenecypher.db.graph.scene import GraphView, Relation
from scenecypher.db.schema import HOLDING, REMEMBERED
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.vocabularies.registry import vocabulary_named

NEARNESS: Final = ("CLOSE", "FACING")
"""Relations that a moved thing loses, in both directions."""
PLACED: Final = frozenset({"center", "position", "cell"})
"""Properties that a moved thing loses."""


@dataclass(frozen=True, slots=True)
class Moves:
    """Moves of things in a graph, by the rules of a vocabulary."""

    graph: GraphView
    vocabulary: str

    def contents(self, thing: str) -> set[str]:
        """Return the objects on or in a thing, over any number of containers."""
        above = self.graph.reaching(thing, *self.containment) if self.graph.nodes[thing].kind == "Object" else set()
        return {it for it in above if self.graph.nodes[it].kind == "Object"} - {thing}

    def lost(self, thing: str, contents: Collection[str]) -> set[Relation]:
        """Return the relations of a thing to containers, holders and near things, and of its contents to all others."""
        leaving, moved = {*self.containment, *REMEMBERED}, {thing, *contents}
        found = {it for it in self.graph.outgoing.get(thing, ()) if it.type in leaving}
        found |= {it for it in self.graph.incoming.get(thing, ()) if it.type in HOLDING}
        for node in moved:
            ends = (*self.graph.outgoing.get(node, ()), *self.graph.incoming.get(node, ()))
            found |= {it for it in ends if it.type in NEARNESS and not {it.source, it.target} <= moved}
        found |= {Relation(it, "INSIDE", room) for it in contents for room in self._rooms(it)}
        return found

    def gained(self, relation: Relation, *, room_of: str, contents: Collection[str] = ()) -> Iterator[Relation]:
        """Yield a thing's new relation and those that follow, as other things of the graph have them.

        These are INSIDE the room, for its contents too, and nearness. The room is that of the node `room_of`.
        """
        yield relation
        target = self.graph.nodes.get(relation.target)
        is_in_room = target is not None and target.kind == "Place"
        nearness = vocabulary_named(self.vocabulary).looking.nearness
        if nearness or self._states_rooms():
            rooms = [relation.target] if is_in_room else self._rooms(room_of)
            yield from (Relation(it, "INSIDE", room) for it in (relation.source, *contents) for room in rooms)
        if nearness and not is_in_room:
            yield Relation(relation.source, "CLOSE", relation.target)
            yield Relation(relation.target, "CLOSE", relation.source)

    def _states_rooms(self) -> bool:
        """Check if most things of the graph that are on or in others are INSIDE their room besides."""
        places, stated = self.graph.by_kind.get("Place", ()), list[bool]()
        for thing in () if conventions_of(self.vocabulary).one_parent else self.graph.by_kind.get("Object", ()):
            containers = self.graph.targets(thing, *self.containment)
            if any(it not in places for it in containers):
                stated.append(any(it in places for it in containers))
        return 2 * sum(stated) > len(stated)

    def _rooms(self, node: str) -> list[str]:
        """Return the room that a node is, or those that it is in: directly, else over any number of containers."""
        places = self.graph.by_kind.get("Place", ())
        if node in places:
            return [node]
        inside = [it for it in self.graph.targets(node, "INSIDE") if it in places]
        return inside or sorted(it for it in self.graph.reached(node, *self.containment) if it in places)[:1]

    @property
    def containment(self) -> tuple[str, ...]:
        """Types of the relations by which a thing is on or in another."""
        return conventions_of(self.vocabulary).containment
