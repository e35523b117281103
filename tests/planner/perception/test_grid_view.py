"""Walks through MiniGrid by its own steps: observations on the way, with or without pictures, make the belief true."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any, Final

import pytest

from scenecypher.db.graph.delta import apply, invert
from scenecypher.db.graph.scene import Node, Point, Properties, Relation, SceneGraph
from scenecypher.importers.babyai import LevelInstance, level_instance
from scenecypher.importers.babyai_grid import GridCell, grid_scene_graph, neighbors, position
from scenecypher.planner.perception.draft import MergeResult
from scenecypher.planner.perception.merge import merge_all
from scenecypher.planner.worlds.belief import initial_belief
from scenecypher.planner.worlds.minigrid import MOVES, GridLayout, turns
from scenecypher.planner.worlds.minigrid_world import (
    GridView,
    observations,
    simulator_view,
)
from tests.sampling import sample

pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")

SEEDS: Final = range(50)
ENOUGH: Final = 5_000
"""Limit of low-level steps of a walk; MiniGrid's own limit is too small for exploration."""

ViewReader = Callable[[Any], GridView]
ObjectAt = tuple[str, str, int, int]


class Walk:
    """A belief with stale priors, and an agent that explores unseen cells."""

    def __init__(self, level: str, seed: int, eyes: ViewReader) -> None:
        begun = walkable(level, seed)
        self.env, self.things, self.eyes = begun.env, begun.things, eyes
        self.env.max_steps = ENOUGH
        for thing in self.things.values():
            if thing.type == "door":
                thing.is_locked = False
        self.world = grid_scene_graph(self.env, self.things)
        self.belief, self.seen, self.looks = stale(self.world, seed), frozenset[GridCell](), 0
        self.findings: list[str] = []

    def explore(self) -> None:
        """Look at every visible cell, checking after each look that the belief is true of the cells in view."""
        self.look()
        while (goal := self._goal()) is not None:
            stand, beside, shut = goal
            for cell in GridLayout.of(self.env).path_to(position(self.env), stand):
                self._step(*turns(int(self.env.agent_dir), position(self.env), cell), "forward")
            self._step(*turns(int(self.env.agent_dir), position(self.env), beside), *(["toggle"] if shut else []))

    def look(self) -> MergeResult:
        view = self.eyes(self.env)
        found = merge_all(self.belief, observations(self.belief, view, step=self.looks), vocabulary="babyai")
        after = apply(self.belief, found.delta)
        assert apply(after, invert(found.delta)) == self.belief, "one Delta, reversible"
        self.belief, self.looks = after, self.looks + 1
        self.seen |= view.cells
        self.findings += [finding.kind for finding in found.findings]
        truth = whereabouts(grid_scene_graph(self.env, self.things))
        assert whereabouts(self.belief, view.cells) == [it for it in truth if it[2:] in view.cells], "corrected at once"
        return found

    def _step(self, *moves: str) -> None:
        for move in moves:
            self.env.step(MOVES[move])
            if not simulator_view(self.env).cells <= self.seen or move == "toggle":
                self.look()

    def _goal(self) -> tuple[GridCell, GridCell, bool] | None:
        """Return the nearest cell beside an unseen cell or a closed door, that cell, and True for a door."""
        layout = GridLayout.of(self.env)
        for stand in layout.reachable(position(self.env)):
            for beside in neighbors(stand):
                if beside in layout.shut or beside not in self.seen | {position(self.env)}:
                    return stand, beside, beside in layout.shut
        return None


def walkable(level: str, number: int) -> LevelInstance:
    """Return the first instance, from ten times the number on, in which nothing blocks a way."""
    for seed in count(10 * number):
        begun = level_instance(level, seed)
        layout = GridLayout.of(begun.env).with_doors_open()
        if layout.touchable(position(begun.env)) == layout.things | layout.open:
            return begun
    raise AssertionError


def stale(world: SceneGraph, seed: int) -> SceneGraph:
    """Return a partly wrong belief: things at other places, missing or invented, and doors in other states."""
    chance, belief = random.Random(seed), initial_belief(world)  # noqa: S311
    nodes, relations = dict(belief.nodes), set(belief.relations)
    rooms = [it for it in sorted(world.by_kind["Place"]) if "size_x" in world.nodes[it].properties]
    ghosts = [Node(f"ghost_{n}", "Object", "red ball", "ball", properties=Properties({"color": "red"})) for n in (1, 2)]
    nodes |= {ghost.id: ghost for ghost in ghosts}
    for thing in sorted(belief.by_kind["Object"]) + [ghost.id for ghost in ghosts]:
        fate = chance.random() if thing in world else 0.0
        if fate < 0.6:
            relations -= {it for it in relations if it.source == thing}
        if 0.4 < fate < 0.6:
            del nodes[thing]
        elif fate <= 0.4:
            room, center = place(world, chance.choice(rooms), chance)
            nodes[thing] = replace(nodes[thing], properties=Properties({**nodes[thing].properties, "center": center}))
            relations.add(Relation(thing, "INSIDE", room))
    for door in world.by_kind["Door"]:
        nodes[door] = replace(nodes[door], states=chance.choice([("open",), ("closed",), ("closed", "locked")]))
    return SceneGraph.of(nodes.values(), relations)


def place(world: SceneGraph, room: str, chance: random.Random) -> tuple[str, Point]:
    facts: Any = world.nodes[room].properties
    half = ((facts["size_x"] - 3) / 2, (facts["size_y"] - 3) / 2)
    middle = facts["center"]
    x, y = (chance.randint(round(at - by), round(at + by)) for at, by in zip((middle.x, middle.y), half, strict=True))
    return room, Point(x, y)


def whereabouts(graph: SceneGraph, within: frozenset[GridCell] | None = None) -> list[ObjectAt]:
    """Return class, colour and cell of each object that has a place."""
    found = []
    for node_id in graph.by_kind.get("Object", ()):
        facts: Any = graph.nodes[node_id].properties
        if graph.targets(node_id, "INSIDE"):
            cell = round(facts["center"].x), round(facts["center"].y)
            found += [(graph.nodes[node_id].class_, facts["color"], *cell)] if within is None or cell in within else []
    return sorted(found)


def explored(level: str, seed: int, eyes: ViewReader) -> Walk:
    walk = Walk(level, seed, eyes)
    walk.explore()
    truth = grid_scene_graph(walk.env, walk.things)
    assert whereabouts(walk.belief) == whereabouts(truth), "recall 1.0, and nothing false"
    assert {walk.belief.nodes[it].states == truth.nodes[it].states for it in truth.by_kind["Door"]} == {True}
    absent = [walk.belief.nodes[it] for it in walk.belief.by_kind["Object"] if not walk.belief.targets(it)]
    assert not any(node.properties["seen"] for node in absent)
    return walk


LEVELS: Final = ("numqa", "MiniGrid-UnlockPickup-v0", "MiniGrid-KeyCorridorS6R3-v0")
"""Levels whose rooms are reachable without moving anything; Trv-1 and Trv-2 have blocked doors."""


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", sample(SEEDS, 2))
def test_after_a_walk_all_is_believed_and_nothing_false(level: str, seed: int) -> None:
    assert {"absent", "changed"} & {*explored(level, seed, simulator_view).findings}, "there was something to correct"


def test_the_simulator_s_ids_make_a_moved_thing_the_same() -> None:
    begun = level_instance("numqa", 1)
    view = simulator_view(begun.env, begun.things)
    belief = initial_belief(begun.scene.graph)
    thing = next(it.id for it in view.things if it.id in begun.scene.graph.by_kind["Object"])
    node = belief.nodes[str(thing)]
    elsewhere = replace(node, properties=Properties({**node.properties, "center": Point(99, 99)}))
    nodes = [*(it for it in belief.nodes.values() if it.id != node.id), elsewhere]
    found = merge_all(SceneGraph.of(nodes, belief.relations), observations(belief, view, step=1), vocabulary="babyai")
    assert {it.kind for it in found.findings} == {"confirmed"}
