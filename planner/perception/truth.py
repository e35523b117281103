"""Observers without eyes: the ground truth of a world scene, and the same with seeded mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Final

from scenecypher.db.graph.scene import Node, Point, Properties, SceneGraph
from scenecypher.db.schema import VOCABULARIES
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.footprint import Footprint, PatternRead, ReadPlan, RelationPattern
from scenecypher.db.store.look import read_part
from scenecypher.errors import UnknownReference
from scenecypher.planner.perception.observation import Observation, Observer, Sighting
from scenecypher.planner.perception.placing import is_covered

TRAITS: Final = ("color",)
"""The properties by which things of one class are told apart."""


def seen(world: SceneGraph, of: str, *, step: int, vocabulary: str) -> Observation:
    """What there is to see at a node of a world (or of the part of it around the node): its direct children.

    LookPlanGraph, section VI-B: ground truth adds the nodes connected to the explored one. What is in something closed
    is not seen; in a place, what is in or on something else is not.
    """
    node = world.nodes[of]
    containment = VOCABULARIES[vocabulary].containment
    covers = tuple(type_ for type_ in containment if type_ != "INSIDE" or "closed" not in node.states)
    sightings = []
    for relation in world.incoming.get(of, ()):
        child = world.nodes[relation.source]
        hidden = is_covered(world, child.id, of, containment=containment)
        if relation.type in covers and child.kind == "Object" and not hidden:
            sightings.append(_sighting(child, relation.type, of))
    return Observation(of, tuple(_once(sightings)), step, covers, node.states)


def _once(sightings: Sequence[Sighting]) -> Iterator[Sighting]:
    """A thing that has several relations to what is looked at is seen once."""
    told: set[str | None] = set()
    for sighting in sightings:
        if sighting.id not in told:
            told.add(sighting.id)
            yield sighting


def _sighting(node: Node, type_: str, of: str) -> Sighting:
    center = node.properties.get("center")
    return Sighting(
        node.name,
        node.class_,
        (type_, of),
        node.states,
        node.affordances,
        node.id,
        position=center if isinstance(center, Point) else None,
        traits=Properties({name: node.properties[name] for name in TRAITS if name in node.properties}),
    )


class TruthObserver:
    """Sees a world scene as it is."""

    def __init__(self, database: Database, scene: SceneInfo) -> None:
        self._database, self._scene = database, scene

    def observe(self, of: str, *, step: int) -> Observation:
        """What there is at a node now, in one round trip. Raises UnknownReference."""
        part = read_part(self._database, self._scene, Footprint(_around(self._scene.vocabulary), (of,)))
        if of not in part:
            msg = f"there is no {of[:100]!r} in {self._scene.name} to look at; use the id of a node in it"
            raise UnknownReference(msg)
        return seen(part, of, step=step, vocabulary=self._scene.vocabulary)


@cache
def _around(vocabulary: str) -> ReadPlan:
    """A node, what is in or on it, and what else that is in or on."""
    types = VOCABULARIES[vocabulary].containment
    below, above = RelationPattern("child", types, "x"), RelationPattern("child", types, "outer")
    return ReadPlan(
        ("agent", "x"),
        (
            PatternRead((below,), rows=(below,), whole=("child",)),
            PatternRead((below, above), rows=(above,), whole=("outer",)),
        ),
    )


@dataclass(frozen=True, slots=True)
class Noise:
    """How often (0 to 1) a thing is overlooked, taken for another class, or one of several alike is left out.

    The mistakes that LookPlanGraph reports of vision-language models (section VII-B): repeated things are counted
    short, and things are named wrongly.
    """

    missed: float = 0.1
    mislabelled: float = 0.05
    undercounted: float = 0.3


class NoisyObserver:
    """A simulated observer: what another one sees, with mistakes that depend on the seed, the node and the step."""

    def __init__(self, eyes: Observer, *, seed: int, classes: Sequence[str], noise: Noise | None = None) -> None:
        self._eyes, self._seed, self._noise = eyes, seed, noise or Noise()
        self._classes = tuple(sorted({*classes}))

    def observe(self, of: str, *, step: int) -> Observation:
        """Look, and get some of it wrong. Raises UnknownReference."""
        true = self._eyes.observe(of, step=step)
        chance = Random(f"{self._seed}/{of}/{step}")  # noqa: S311 - a simulation
        return replace(true, sightings=tuple(self._mistaken(true.sightings, chance)))

    def _mistaken(self, sightings: Sequence[Sighting], chance: Random) -> Iterator[Sighting]:
        told: set[str] = set()
        for sighting in sightings:
            again, roll = sighting.class_ in told, chance.random()
            told.add(sighting.class_)
            if roll < self._noise.missed or (again and chance.random() < self._noise.undercounted):
                continue
            others = [class_ for class_ in self._classes if class_ != sighting.class_]
            if others and chance.random() < self._noise.mislabelled:
                class_ = chance.choice(others)
                yield replace(sighting, id=None, name=class_, class_=class_)
            else:
                yield sighting
