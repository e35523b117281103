"""BEHAVIOR's goals as `bddl` itself evaluates them, and random arrangements to compare the evaluations."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any, Final

from bddl.condition_evaluation import compile_state
from bddl.trivial_backend import TrivialBackend, TrivialGenericObject, TrivialSimulator

from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.importers.behavior import STATES, Activity, BddlExpression, instance_name, synset_class

WORDS: Final = {"ON": "ontop", "INSIDE": "inside"}
TOWARDS_THE_GOAL: Final = 0.6
"""The probability of placing an item as the goal does; by chance alone hardly a goal would ever hold."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Positions (on or inside) and switched states; each item has one place at most, and none is above itself.

    `places` and `switched` are in the definition's own names.
    """

    places: dict[str, tuple[str, str]]
    switched: frozenset[tuple[str, str]]


def arrangement(activity: Activity, chance: random.Random) -> Arrangement:
    """Draw an arrangement, biased towards the goal's facts."""
    things = sorted(name for found in activity.objects.values() for name in found)
    wanted = sorted(set(_wanted(activity.goal)))
    places: dict[str, tuple[str, str]] = {}
    for thing in chance.sample(things, len(things)):
        choices = [(word, place) for sort, word, place in wanted if thing in _named(activity, sort)]
        word, sort = chance.choice(choices) if choices and chance.random() < TOWARDS_THE_GOAL else (None, None)
        hosts = sorted(_named(activity, sort)) if sort is not None else things
        host = chance.choice([it for it in hosts if it != thing] or things)
        if thing != host and thing not in _above(places, host):
            places[thing] = (word or chance.choice(("ontop", "inside")), host)
    switched = {(word, thing) for word in STATES for thing in things if chance.random() < 1 / 2}
    return Arrangement(places, frozenset(switched))


def as_graph(activity: Activity, arranged: Arrangement) -> SceneGraph:
    """Return the arrangement as a scene graph of ours."""
    relation = {word: type_ for type_, word in WORDS.items()}
    nodes = [_node(arranged, synset, thing) for synset, found in activity.objects.items() for thing in found]
    places = arranged.places.items()
    return SceneGraph.of(
        nodes, [Relation(instance_name(thing), relation[word], instance_name(host)) for thing, (word, host) in places]
    )


def verdicts(activity: Activity, arranged: Arrangement) -> list[bool]:
    """Return the value of each part of the goal by `bddl`, which prints what it evaluates."""
    simulator: Any = TrivialSimulator()
    things = [thing for found in activity.objects.values() for thing in found]
    facts = [[word, thing, host] for thing, (word, host) in arranged.places.items()]
    facts += [[word, thing] for word, thing in arranged.switched] + [["real", thing] for thing in things]
    with redirect_stdout(StringIO()):
        simulator.set_state(facts)
        scope = {thing: TrivialGenericObject(thing, simulator) for thing in things}
        parts = compile_state(
            list(activity.goal), TrivialBackend(), scope, object_map=activity.objects, generate_ground_options=False
        )
        return [bool(part.evaluate()) for part in parts]


def _node(arranged: Arrangement, synset: str, thing: str) -> Node:
    states = tuple(
        holding if (word, thing) in arranged.switched else lacking for word, (_, holding, lacking) in STATES.items()
    )
    return Node(instance_name(thing), "Object", instance_name(thing), synset_class(synset), states)


def _wanted(goal: BddlExpression) -> Iterator[tuple[str, str, str]]:
    """Return the goal's positions, with variables replaced by their synsets or items."""
    for part in goal:
        if isinstance(part, list):
            if part and part[0] in WORDS.values():
                yield _sort(part[1]), part[0], _sort(part[2])
            yield from _wanted(part)


def _sort(word: str) -> str:
    return word.lstrip("?").rpartition("_")[0] if not word.startswith("?") else word.lstrip("?")


def _named(activity: Activity, sort: str) -> frozenset[str]:
    """Return the items of a synset, or of the synset that a variable's word begins with."""
    return frozenset(
        thing
        for synset, found in activity.objects.items()
        for thing in found
        if synset == sort or sort.startswith(synset)
    )


def _above(places: dict[str, tuple[str, str]], thing: str) -> Iterator[str]:
    while thing in places:
        thing = places[thing][1]
        yield thing
