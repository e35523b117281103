"""Dynamic worlds: objects moved without the robot's knowledge, by a seed, to plausible places.

LookPlanGraph, section VI-B: the positions of objects are modified, so that the belief is stale. The plausibility of
moves is ours: an object is put on or into furniture that affords it, preferably where objects of its class are.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from scenecypher.db.graph.delta import Delta, diff
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.schema import HOLDING
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import InputError
from scenecypher.planner.perception.placing import Moves
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named

SAME_CLASS_WEIGHT: Final = 10
BEARING_WEIGHT: Final = 4
"""Weights of furniture with objects of the same class and of furniture with any objects; other furniture has 1."""

AFFORDED_RELATIONS: Final = {"put_on": "ON", "surfaces": "ON", "put_inside": "INSIDE", "containers": "INSIDE"}
"""Relation that each affordance of furniture allows."""


@dataclass(frozen=True, slots=True)
class Move:
    """An object and its new relation."""

    thing: str
    type: str
    target: str

    def __str__(self) -> str:
        return f"{self.thing} {self.type.lower().replace('_', ' ')} {self.target}"


@dataclass(frozen=True, slots=True)
class Perturbation:
    """The moves, and the one Delta of all of them."""

    moves: tuple[Move, ...]
    delta: Delta


def perturb(graph: SceneGraph, *, vocabulary: str, seed: int, objects: int) -> Perturbation:
    """Move `objects` things, chosen by the seed. Raises InputError if fewer can be moved, and for a grid."""
    if vocabulary_named(vocabulary).looking.whole_rooms:
        msg = "a grid's things are moved by MiniGrid itself; perturb a scene of a home, or import another seed"
        raise InputError(msg)
    chance, containment = Random(seed), conventions_of(vocabulary).containment  # noqa: S311 - reproducible, no secret
    things = movable_things(graph, vocabulary=vocabulary)
    if len(things) < objects:
        advice = f"move at most {len(things)} (--objects)" if things else "choose another scene"
        msg = f"{len(things)} things in this scene can be moved elsewhere, not {objects}; {advice}"
        raise InputError(msg)
    moves = tuple(_draw_move(graph, thing, chance, containment) for thing in draw_things(things, chance, objects))
    relations, rules = set(graph.relations), Moves(graph, vocabulary)
    for move in moves:
        relations -= rules.lost(move.thing, ())
        placed = Relation(move.thing, move.type, move.target)
        relations |= {*rules.gained(placed, room_of=move.target)}
    return Perturbation(moves, diff(graph, SceneGraph.of(graph.nodes.values(), relations)))


def draw_things(things: list[str], chance: Random, objects: int) -> list[str]:
    """Draw the things to move: the first draw of a seed's generator."""
    return sorted(chance.sample(things, objects))


def movable_things(graph: SceneGraph, *, vocabulary: str) -> list[str]:
    """Return the objects that can be moved: not held, without contents, on or in furniture, and with another place."""
    containment = conventions_of(vocabulary).containment
    held = {it.target for it in graph.relations if it.type in HOLDING}
    bearing = {it.target for it in graph.relations if it.type in containment}
    free = (it for it in sorted(graph.by_kind.get("Object", ())) if it not in held | bearing)
    return [it for it in free if _is_on_asset(graph, it, containment) and _weighted_places(graph, it, containment)]


def _draw_move(graph: SceneGraph, thing: str, chance: Random, containment: tuple[str, ...]) -> Move:
    places = _weighted_places(graph, thing, containment)
    return Move(thing, *chance.choices([*places], weights=[*places.values()])[0])


def _weighted_places(graph: SceneGraph, thing: str, containment: tuple[str, ...]) -> dict[tuple[str, str], int]:
    """Return the possible places of a thing, as relation type and target, each with its weight."""
    own, class_ = {*graph.targets(thing, *containment)}, graph.nodes[thing].class_
    places: dict[tuple[str, str], int] = {}
    for target in sorted({*graph.by_kind.get("Asset", ())} - own):
        afforded = graph.nodes[target].affordances
        places |= {(type_, target): 1 for word, type_ in AFFORDED_RELATIONS.items() if word in afforded}
        for relation in graph.incoming.get(target, ()):
            other = graph.nodes[relation.source]
            if relation.type in AFFORDED_RELATIONS.values() and other.kind == "Object" and other.id != thing:
                place, weight = (relation.type, target), SAME_CLASS_WEIGHT if other.class_ == class_ else BEARING_WEIGHT
                places[place] = max(weight, places.get(place, 0))
    return places


def _is_on_asset(graph: SceneGraph, thing: str, containment: tuple[str, ...]) -> bool:
    return any(graph.nodes[it].kind == "Asset" for it in graph.targets(thing, *containment))
