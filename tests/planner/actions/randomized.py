"""Recorded homes where odd things are so from the start that random actions would seldom bring about."""

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


def unsettled(chance: random.Random, graph: SceneGraph) -> SceneGraph:
    """`graph` with up to thirty things close to the agent, in other states and places, some held, worn or faced."""
    agent = graph.by_kind["Agent"][0]
    places = {*graph.by_kind["Place"], agent}
    others = sorted({*graph.nodes} - places)
    things = chance.sample(others, min(THINGS, len(others)))
    nodes = dict(graph.nodes)
    nodes[agent] = replace(nodes[agent], states=chance.choice(POSTURES))
    for thing in things:
        nodes[thing] = _otherwise(chance, nodes[thing])
    dropped = {r for r in graph.relations if r.source in things and chance.random() < 0.1}
    return SceneGraph.of(nodes.values(), graph.relations - dropped | {*_relations(chance, agent, things)})


def _otherwise(chance: random.Random, node: Node) -> Node:
    """In other states, and fit for other things."""
    states = chance.sample(STATES, 2) if chance.random() < 0.5 else node.states
    affordances = chance.sample(AFFORDANCES, 3) if chance.random() < 0.5 else ()
    return replace(node, states=tuple(states), affordances=(*node.affordances, *affordances))


def _relations(chance: random.Random, agent: str, things: list[str]) -> Iterator[Relation]:
    for thing in things:
        if chance.random() < 0.7:
            yield from mutual(agent, thing)
        if chance.random() < 0.5:
            yield Relation(thing, chance.choice(("INSIDE", "ON", "FACING")), chance.choice(things))
    for hand in chance.choice(((), ("HOLDS_RH",), ("HOLDS_LH",), ("HOLDS_RH", "HOLDS_LH"))):
        yield Relation(agent, hand, chance.choice(things))
    for _ in range(2):
        yield Relation(agent, "FACING", chance.choice(things))
        yield Relation(chance.choice(things), "FACING", agent)
        yield Relation(chance.choice(things), "ON", agent)
        yield Relation(agent, "ON", chance.choice(things))
