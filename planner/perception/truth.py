"""Observers without pictures: the ground truth of a world scene, and the same with random mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from scenecypher.db.graph.scene import Point, Properties, SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import UnknownReference
from scenecypher.planner.perception.observation import Observation, Observer, Sighting
from scenecypher.planner.perception.placing import is_covered

TRAITS: Final = ("color",)
"""Properties that distinguish things of one class."""


def true_observation(world: SceneGraph, of: str, *, step: int, vocabulary: str) -> Observation:
    """Return the true observation of a node in a world: its direct children.

    LookPlanGraph, section VI-B: ground truth adds the nodes connected to the explored one. The contents of a closed
    container are not seen, nor in a place those of its furniture and objects.
    """
    node = world.nodes[of]
    containment = conventions_of(vocabulary).containment
    covers = tuple(type_ for type_ in containment if type_ != "INSIDE" or "closed" not in node.states)
    sightings = dict[str, Sighting]()
    for relation in world.incoming.get(of, ()):
        child = world.nodes[relation.source]
        hidden = is_covered(world, child.id, of, containment=containment)
        if relation.type in covers and child.kind == "Object" and not hidden and child.id not in sightings:
            center = child.properties.get("center")
            sightings[child.id] = Sighting(
                child.name,
                child.class_,
                (relation.type, of),  # the first one, if it has several
                child.states,
                child.affordances,
                child.id,
                position=center if isinstance(center, Point) else None,
                traits=Properties({name: child.properties[name] for name in TRAITS if name in child.properties}),
            )
    return Observation(of, tuple(sightings.values()), step, covers, node.states)


class TruthObserver:
    """Observer of the ground truth of a world scene."""

    def __init__(self, store: SceneStore, scene: SceneInfo) -> None:
        self._store, self._scene = store, scene

    def observe(self, of: str, *, step: int) -> Observation:
        """Return the present truth about a node. Raises UnknownReference."""
        world = self._store.now(self._scene).graph
        if of not in world:
            msg = f"there is no {of[:100]!r} in {self._scene.name} to look at; use the id of a node in it"
            raise UnknownReference(msg)
        return true_observation(world, of, step=step, vocabulary=self._scene.vocabulary)


@dataclass(frozen=True, slots=True)
class Noise:
    """Probabilities (0 to 1) that a thing is missed, gets a wrong class, or is left out as one of several alike.

    LookPlanGraph reports these mistakes of vision-language models (section VII-B): repeated things are undercounted,
    and things get wrong names.
    """

    missed: float = 0.1
    mislabelled: float = 0.05
    undercounted: float = 0.3


class NoisyObserver:
    """Simulated observer: another one's sightings, with mistakes that depend on the seed, the node and the step."""

    def __init__(self, observer: Observer, *, seed: int, classes: Sequence[str], noise: Noise | None = None) -> None:
        self._observer, self._seed, self._noise = observer, seed, noise or Noise()
        self._classes = tuple(sorted({*classes}))

    def observe(self, of: str, *, step: int) -> Observation:
        """Return an observation with mistakes. Raises UnknownReference."""
        true = self._observer.observe(of, step=step)
        chance = Random(f"{self._seed}/{of}/{step}")  # noqa: S311 - a simulation
        return replace(true, sightings=tuple(self._with_mistakes(true.sightings, chance)))

    def _with_mistakes(self, sightings: Sequence[Sighting], chance: Random) -> Iterator[Sighting]:
        classes: set[str] = set()
        for sighting in sightings:
            again, roll = sighting.class_ in classes, chance.random()
            classes.add(sighting.class_)
            if roll < self._noise.missed or (again and chance.random() < self._noise.undercounted):
                continue
            others = [class_ for class_ in self._classes if class_ != sighting.class_]
            if others and chance.random() < self._noise.mislabelled:
                class_ = chance.choice(others)
                yield replace(sighting, id=None, name=class_, class_=class_)
            else:
                yield sighting
