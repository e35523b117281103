"""The tiny homes beside VirtualHome's own engine: so small that thousands of odd situations take seconds."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Final

import pytest

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import REMEMBERED
from scenecypher.importers.virtualhome_format import KIND_OF_CATEGORY
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.actions.virtualhome import OPERATORS
from tests.planner.actions.differential import Duel, totals, wander
from tests.planner.actions.flat import FLAT, FLAT_ROWS
from tests.planner.actions.randomized import unsettled
from tests.planner.actions.worlds import HOME, ROBOT, ROWS
from tests.sampling import FULL

CATEGORIES: Final = {kind: category for category, kind in KIND_OF_CATEGORY.items()}
SITUATIONS: Final = [
    (row.action, graph)
    for row in (*ROWS, *FLAT_ROWS)
    for graph in (row.graph, *(broken.graph for broken in row.broken))
]
WALKS: Final = 1_500 if FULL else 60
STEPS: Final = 25
SELDOM: Final = {"cut"}
"""It takes a knife in one hand, and the other one free."""


def of_the_source(graph: SceneGraph) -> SceneGraph:
    """With the categories by which the engine knows rooms and people."""
    nodes = (
        replace(node, properties=node.properties.having("category", CATEGORIES.get(node.kind, "Props")))
        for node in graph.nodes.values()
    )
    return SceneGraph.of(nodes, graph.relations)


def of_the_engine(graph: SceneGraph) -> bool:
    """Whether the engine has a word for it: nothing was grabbed before, and the agent is somewhere."""
    return bool(graph.targets(ROBOT, "INSIDE")) and not any(relation.type in REMEMBERED for relation in graph.relations)


def test_each_requirement_that_is_broken_alone_is_judged_as_in_the_reference() -> None:
    for action, graph in SITUATIONS:
        call = parse_action(action)
        if of_the_engine(graph):
            Duel(of_the_source(graph)).step(call.name, call.arguments)


@pytest.mark.parametrize("part", range(4))
def test_in_odd_situations_all_goes_as_in_the_reference(part: int) -> None:
    duels: list[Duel] = []
    for seed in range(part, WALKS, 4):
        chance = random.Random(seed)  # noqa: S311
        graph = unsettled(chance, chance.choice((FLAT, HOME)))
        duels.append(Duel(of_the_source(graph)))
        wander(duels[-1], chance, steps=STEPS)
    counted = totals(duels)
    assert sum(counted.values()) == len(duels) * STEPS
    if FULL:
        assert {action for action, verdict in counted if verdict == "feasible"} >= {*OPERATORS} - SELDOM
