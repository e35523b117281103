"""Rooms and supports of the nodes of a scene graph, by each vocabulary's containment, as prompts describe them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from scenecypher.db.graph.scene import GraphView, Node, Point, SceneGraph, within
from scenecypher.db.schema import HOLDING
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named

RELATION_WORDS: Final = {"ON": "ontop", "INSIDE": "inside", "UNDER": "under", "ATTACHED_TO": "attached_to"}
"""LookPlanGraph's words for relations (appendix F-3; LLM-as-P's for the last two)."""
TRAITS: Final = ("color",)
NESTING: Final = ("INSIDE", "ON", "UNDER", "ATTACHED_TO")
SHOWN: Final = (*NESTING, *HOLDING, "CONNECTS", "BETWEEN")
NESTED_LEVELS: Final = 4
"""Levels of containment that are followed in surroundings."""


@dataclass(frozen=True)
class SceneLayout:
    """A scene graph or a part of one, with the places of its nodes. The agent is the first by id."""

    graph: SceneGraph
    vocabulary: str

    @cached_property
    def agent(self) -> str | None:
        """The acting agent's id."""
        return min(self.graph.by_kind.get("Agent", ()), default=None)

    @cached_property
    def here(self) -> str | None:
        """The agent's place."""
        return None if self.agent is None else self.room_of(self.agent)

    @cached_property
    def held(self) -> tuple[str, ...]:
        """The ids of the nodes that the agent holds, sorted."""
        return () if self.agent is None else tuple(sorted(self.graph.targets(self.agent, *HOLDING)))

    def of_kind(self, *kinds: str) -> Iterator[Node]:
        """Return the nodes of these kinds, by id."""
        return (
            self.graph.nodes[id_] for id_ in sorted({id_ for kind in kinds for id_ in self.graph.by_kind.get(kind, ())})
        )

    def supports(self, id_: str) -> tuple[tuple[str, str], ...]:
        """Return what a node is on, in, under or attached to, without rooms, as (relation's word, id)."""
        found = sorted(
            (RELATION_WORDS.get(it.type, it.type.lower()), it.target)
            for it in self.graph.outgoing.get(id_, ())
            if it.type in self._types and it.target in self.graph and self.graph.nodes[it.target].kind != "Place"
        )
        return tuple(found)

    def holder(self, id_: str) -> str | None:
        """Return the agent that holds a node."""
        return min(self.graph.sources(id_, *HOLDING), default=None)

    def room_of(self, id_: str) -> str | None:
        """Return the room of what a node is in, on or held by, over any number of these, else the place that it is in.

        VirtualHome's engine leaves a thing inside the room that it was taken from, wherever it is put.
        """
        return self._room(id_, {id_})

    def _room(self, id_: str, visited: set[str]) -> str | None:
        above = sorted({*self.graph.targets(id_, *self._types), *self.graph.sources(id_, *HOLDING)})
        places = [it for it in above if self.graph.nodes[it].kind == "Place"]
        for bearer in (it for it in above if it not in places and it not in visited):
            visited.add(bearer)
            room = self._room(bearer, visited)
            if room is not None:
                return room
        return places[0] if places else None

    def places_joined(self, door: str) -> tuple[str, ...]:
        """Return the places that a door joins."""
        near = {*self.graph.targets(door, "CONNECTS", "BETWEEN"), *self.graph.sources(door, "CONNECTS", "BETWEEN")}
        return tuple(sorted(it for it in near if self.graph.nodes[it].kind == "Place"))

    @cached_property
    def _types(self) -> tuple[str, ...]:
        return conventions_of(self.vocabulary).containment


def is_confirmed(node: Node) -> bool:
    """Return whether a node's place is known to be current: only objects of a belief may be unconfirmed."""
    return node.properties.get("seen") is not False


def cell_of(node: Node, vocabulary: str) -> tuple[int, int] | None:
    """Return the grid cell of a thing or door; None if the scene is no grid or the cell is unknown."""
    center = node.properties.get("center")
    if not vocabulary_named(vocabulary).looking.whole_rooms or node.kind == "Place" or not isinstance(center, Point):
        return None
    return round(center.x), round(center.y)


def trait_words(node: Node) -> str:
    """Return a node's distinguishing properties, such as its colour, and its class if the id does not name it."""
    words = [str(node.properties[name]) for name in TRAITS if name in node.properties]
    if words or node.class_.casefold() not in node.id.casefold():
        words.append(node.class_)
    return f" ({' '.join(words)})" if words else ""


def surroundings(
    graph: GraphView,
    *,
    touched: Iterable[str],
    classes: Iterable[str] = (),
    priors: bool = True,
    through_doors: bool = False,
) -> SceneGraph:
    """Return all places, agents and doors, the contents of the agents' rooms, and other known nodes.

    The others are those seen or `touched`, and those of `classes`. Each node comes with its containers. Without
    `priors` unseen objects are left out; with `through_doors` the rooms behind open doors count as the agents'.
    Nearness relations are left out.
    """
    kinds = {kind: graph.by_kind.get(kind, ()) for kind in ("Agent", "Place", "Door", "Object")}
    held = (it for agent in kinds["Agent"] for it in graph.targets(agent, *HOLDING))
    known = {
        *held,
        *(id_ for id_ in touched if id_ in graph.nodes),
        *(id_ for id_ in kinds["Object"] if _seen(graph, id_) is True),
    }
    known |= {id_ for class_ in classes for id_ in graph.by_class.get(class_, ())}
    here = {it for agent in kinds["Agent"] for it in graph.targets(agent, "INSIDE") if graph.nodes[it].kind == "Place"}
    if through_doors:
        here |= {it for place in here for it in _behind_open_doors(graph, place)}
    inside = within(here, lambda it: graph.sources(it, *NESTING), levels=NESTED_LEVELS)
    found = {it for it in inside if priors or _seen(graph, it) in {None, True}}
    found |= known | within(known, lambda it: graph.targets(it, *NESTING), levels=NESTED_LEVELS)
    found.update(kinds["Place"], kinds["Agent"], kinds["Door"])
    return SceneGraph.of(
        (graph.nodes[it] for it in sorted(found)),
        (it for id_ in sorted(found) for it in graph.outgoing.get(id_, ()) if it.type in SHOWN and it.target in found),
    )


def _seen(graph: GraphView, id_: str) -> object:
    return graph.nodes[id_].properties.get("seen")


def _behind_open_doors(graph: GraphView, place: str) -> Iterator[str]:
    """Yield the places that share an open door with a place."""
    for door in (*graph.targets(place, "CONNECTS"), *graph.sources(place, "CONNECTS")):
        if graph.nodes[door].kind == "Door" and "open" in graph.nodes[door].states:
            both = (*graph.targets(door, "CONNECTS"), *graph.sources(door, "CONNECTS"))
            yield from (it for it in both if graph.nodes[it].kind == "Place")
