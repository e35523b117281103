"""Tiny homes compared with VirtualHome's own engine: thousands of unusual situations in seconds."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Final

import pytest

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import REMEMBERED
from scenecypher.importers.virtualhome_format import KIND_OF_CATEGORY
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.vocabularies.virtualhome.operators import OPERATORS
from tests.planner.actions.differential import SideBySide, random_walk, totals
from tests.planner.actions.flat import FLAT, FLAT_ROWS
from tests.planner.actions.randomized import randomized
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
RARELY_FEASIBLE: Final = {"cut"}
"""Requires a knife in one hand and the other hand free."""


def with_categories(graph: SceneGraph) -> SceneGraph:
    """Return the graph with the categories by which the engine knows rooms and people."""
    nodes = (
        replace(node, properties=node.properties.having("category", CATEGORIES.get(node.kind, "Props")))
        for node in graph.nodes.values()
    )
    return SceneGraph.of(nodes, graph.relations)


def is_expressible(graph: SceneGraph) -> bool:
    """Return whether the engine can represent the graph: nothing was grabbed before, and the agent is in a room."""
    return bool(graph.targets(ROBOT, "INSIDE")) and not any(relation.type in REMEMBERED for relation in graph.relations)


def test_each_broken_requirement_is_judged_as_by_the_engine() -> None:
    for action, graph in SITUATIONS:
        call = parse_action(action)
        if is_expressible(graph):
            SideBySide(with_categories(graph)).step(call.name, call.arguments)


@pytest.mark.parametrize("part", range(4))
def test_random_walks_in_unusual_situations_agree_with_the_engine(part: int) -> None:
    runs: list[SideBySide] = []
    for seed in range(part, WALKS, 4):
        rng = random.Random(seed)  # noqa: S311
        graph = randomized(rng, rng.choice((FLAT, HOME)))
        runs.append(SideBySide(with_categories(graph)))
        random_walk(runs[-1], rng, steps=STEPS)
    counted = totals(runs)
    assert sum(counted.values()) == len(runs) * STEPS
    if FULL:
        assert {action for action, verdict in counted if verdict == "feasible"} >= {*OPERATORS} - RARELY_FEASIBLE
