"""Recorded homes with random unusual states and relations, which random actions would rarely produce."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from tests.planner.actions.worlds import mutual

STATES: Final = ("plugged_in", "plugged_out", "on", "off", "open", "closed", "dirty", "clean")
AFFORDANCES: Final = (
    *("can_open", "clothes", "cuttable", "drinkable", "eatable", "grabbable", "has_plug", "has_switch", "lieable"),
    *("lookable", "movable", "person", "pourable", "readable", "recipient", "sittable", "surfaces"),
)
POSTURES: Final = ((), (), ("sitting",), ("lying",), ("lying", "sitting"))
THINGS: Final = 30


def randomized(rng: random.Random, graph: SceneGraph) -> SceneGraph:
    """Return `graph` with up to thirty things near the agent in random states and places, some held, worn or faced."""
    agent = graph.by_kind["Agent"][0]
    places = {*graph.by_kind["Place"], agent}
    others = sorted({*graph.nodes} - places)
    things = rng.sample(others, min(THINGS, len(others)))
    nodes = dict(graph.nodes)
    nodes[agent] = replace(nodes[agent], states=rng.choice(POSTURES))
    for thing in things:
        nodes[thing] = _randomize_node(rng, nodes[thing])
    dropped = {r for r in graph.relations if r.source in things and rng.random() < 0.1}
    return SceneGraph.of(nodes.values(), graph.relations - dropped | {*_relations(rng, agent, things)})


def _randomize_node(rng: random.Random, node: Node) -> Node:
    """Return the node with random states and additional affordances."""
    states = rng.sample(STATES, 2) if rng.random() < 0.5 else node.states
    affordances = rng.sample(AFFORDANCES, 3) if rng.random() < 0.5 else ()
    return replace(node, states=tuple(states), affordances=(*node.affordances, *affordances))


def _relations(rng: random.Random, agent: str, things: list[str]) -> Iterator[Relation]:
    for thing in things:
        if rng.random() < 0.7:
            yield from mutual(agent, thing)
        if rng.random() < 0.5:
            yield Relation(thing, rng.choice(("INSIDE", "ON", "FACING")), rng.choice(things))
    for hand in rng.choice(((), ("HOLDS_RH",), ("HOLDS_LH",), ("HOLDS_RH", "HOLDS_LH"))):
        yield Relation(agent, hand, rng.choice(things))
    for _ in range(2):
        yield Relation(agent, "FACING", rng.choice(things))
        yield Relation(rng.choice(things), "FACING", agent)
        yield Relation(rng.choice(things), "ON", agent)
        yield Relation(agent, "ON", rng.choice(things))
