"""A dynamic world: things moved behind the robot's back, by a seed and to where such things are found.

LookPlanGraph, section VI-B: the positions of objects are modified, so that what is believed is stale. How far a move
is plausible is ours: a thing goes on or into furniture that may bear it, rather where things of its class lie.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final

from scenecypher.db.graph.delta import Delta, diff
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.schema import HOLDING, VOCABULARIES
from scenecypher.errors import InputError
from scenecypher.planner.perception.moving import gained_relations, lost_relations

SAME_CLASS_WEIGHT: Final = 10
BEARING_WEIGHT: Final = 4
"""How much rather a thing goes where things of its class lie, or anything does, than to what merely could bear it."""

AFFORDED_RELATIONS: Final = {"put_on": "ON", "surfaces": "ON", "put_inside": "INSIDE", "containers": "INSIDE"}
"""What an affordance of furniture lets be."""


@dataclass(frozen=True, slots=True)
class Move:
    """A thing, and the relation that it has afterwards."""

    thing: str
    type: str
    target: str

    def __str__(self) -> str:
        return f"{self.thing} {self.type.lower().replace('_', ' ')} {self.target}"


@dataclass(frozen=True, slots=True)
class Perturbation:
    """Which things are moved, and the one Delta that does it."""

    moves: tuple[Move, ...]
    delta: Delta


def perturb(graph: SceneGraph, *, vocabulary: str, seed: int, objects: int) -> Perturbation:
    """Move `objects` things, always the same for a seed. Raises InputError where fewer than that can be moved."""
    if vocabulary == "babyai":
        msg = "a grid's things are moved by MiniGrid itself; perturb a scene of a home, or import another seed"
        raise InputError(msg)
    chance, containment = Random(seed), VOCABULARIES[vocabulary].containment  # noqa: S311 - reproducible, no secret
    things = movable_things(graph, vocabulary=vocabulary)
    if len(things) < objects:
        advice = f"move at most {len(things)} (--objects)" if things else "choose another scene"
        msg = f"{len(things)} things in this scene can be moved elsewhere, not {objects}; {advice}"
        raise InputError(msg)
    moves = tuple(_draw_move(graph, thing, chance, containment) for thing in draw_things(things, chance, objects))
    relations = set(graph.relations)
    for move in moves:
        relations -= lost_relations(graph, move.thing, vocabulary=vocabulary)
        placed = Relation(move.thing, move.type, move.target)
        relations |= {*gained_relations(graph, placed, room_of=move.target, vocabulary=vocabulary)}
    return Perturbation(moves, diff(graph, SceneGraph.of(graph.nodes.values(), relations)))


def draw_things(things: list[str], chance: Random, objects: int) -> list[str]:
    """Which of the `movable_things` things are moved: what a seed's chance decides first."""
    return sorted(chance.sample(things, objects))


def movable_things(graph: SceneGraph, *, vocabulary: str) -> list[str]:
    """Objects that nobody holds, that bear nothing, and that some furniture bears, where other furniture may."""
    containment = VOCABULARIES[vocabulary].containment
    held = {it.target for it in graph.relations if it.type in HOLDING}
    bearing = {it.target for it in graph.relations if it.type in containment}
    free = (it for it in sorted(graph.by_kind.get("Object", ())) if it not in held | bearing)
    return [it for it in free if _is_on_asset(graph, it, containment) and _weighted_places(graph, it, containment)]


def _draw_move(graph: SceneGraph, thing: str, chance: Random, containment: tuple[str, ...]) -> Move:
    ways = _weighted_places(graph, thing, containment)
    return Move(thing, *chance.choices([*ways], weights=[*ways.values()])[0])


def _weighted_places(graph: SceneGraph, thing: str, containment: tuple[str, ...]) -> dict[tuple[str, str], int]:
    """Where a thing may come to lie, as relation type and target, each with its weight."""
    own, class_ = {*graph.targets(thing, *containment)}, graph.nodes[thing].class_
    ways: dict[tuple[str, str], int] = {}
    for target in sorted({*graph.by_kind.get("Asset", ())} - own):
        afforded = graph.nodes[target].affordances
        ways |= {(type_, target): 1 for word, type_ in AFFORDED_RELATIONS.items() if word in afforded}
        for relation in graph.incoming.get(target, ()):
            other = graph.nodes[relation.source]
            if relation.type in AFFORDED_RELATIONS.values() and other.kind == "Object" and other.id != thing:
                way, weight = (relation.type, target), SAME_CLASS_WEIGHT if other.class_ == class_ else BEARING_WEIGHT
                ways[way] = max(weight, ways.get(way, 0))
    return ways


def _is_on_asset(graph: SceneGraph, thing: str, containment: tuple[str, ...]) -> bool:
    return any(graph.nodes[it].kind == "Asset" for it in graph.targets(thing, *containment))
