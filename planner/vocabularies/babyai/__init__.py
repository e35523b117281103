"""BabyAI's vocabulary: grids of MiniGrid, and three actions as in the papers: pick up, remove, open.

Each walks to its node first. The graph states rooms, the hand's content and open doors; an open door into a room counts
as a path to it. Obstacles are a matter of cells, which `minigrid.py` decides: the graph does not know in which cell the
agent and what it moved end up, so an operator forgets their `center`. For planning, obstacles before doors are derived
from the cells.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.condition import And, Exists, HasState, Not, Or, Related, Same
from scenecypher.db.graph.scene import Point, Relation, SceneGraph
from scenecypher.db.vocabulary import Conventions
from scenecypher.planner.actions import operator as op
from scenecypher.planner.vocabularies.babyai import traversal
from scenecypher.planner.vocabularies.vocabulary import (
    Looking,
    Operators,
    Planning,
    ReasoningTool,
    Vocabulary,
    words_beside,
)

COLORS: Final = ("red", "green", "blue", "purple", "yellow", "grey")
"""All colours of MiniGrid."""

HERE: Final = op.Choose("here", (c.Related(op.AGENT, "INSIDE", "here"),))
THERE: Final = op.Choose("there", (c.Related("x", "INSIDE", "there"),))
HELD: Final = op.Choose("held", (c.Related(op.AGENT, "HOLDS", "held"),))

_OPEN_DOOR: Final = c.And((c.Related("door", "CONNECTS", "there"), c.HasState("door", "open")))
IN_REACH: Final = op.Requirement(
    c.Or((c.Same("here", "there"), c.Exists("door", _OPEN_DOOR))),
    "no open door leads to where {x} is",
    repair=op.Repair("open", ("shut",)),
)
SHUT: Final = op.Choose("shut", (c.And((c.Related("there", "CONNECTS", "shut"), c.HasState("shut", "closed"))),))
LIFTABLE: Final = op.Requirement(c.HasAffordance("x", "grabbable"), "{x} can not be lifted", "affordance")
NOT_IN_HAND: Final = op.Requirement(c.Not(c.Related(op.AGENT, "HOLDS", "x")), "{agent} holds {x} already", "already")
ENTER_ROOM: Final[tuple[op.Effect, ...]] = (
    op.Unrelate(op.AGENT, ("INSIDE",)),
    op.Relate(op.AGENT, "INSIDE", "there"),
    op.Forget(op.AGENT, "center"),
)


def key_fits(key: str, door: str) -> tuple[c.Condition, ...]:
    """Return the conditions that `key` is a key of the colour of `door`, one a colour."""
    return tuple(
        c.And((c.PropertyEquals(door, "color", color), c.HasClass(key, "key"), c.PropertyEquals(key, "color", color)))
        for color in COLORS
    )


OPERATORS: Final = op.by_name(
    op.on_thing(
        "pickup",
        "walk to a thing and take it into the hand; what was in the hand is put down first",
        LIFTABLE,
        NOT_IN_HAND,
        IN_REACH,
        x="a key, a ball or a box",
        effects=(
            op.Unrelate("held", ("HOLDS",)),
            op.Relate("held", "INSIDE", "here"),
            op.Unrelate("x", ("INSIDE",)),
            op.Relate(op.AGENT, "HOLDS", "x"),
            op.Forget("x", "center"),
            op.Forget("held", "center"),
            *ENTER_ROOM,
        ),
        choose=(HERE, THERE, HELD, SHUT),
    ),
    op.on_thing(
        "remove",
        "walk to a thing and put it aside, where it is in the way of nothing; what is in the hand stays there",
        LIFTABLE,
        NOT_IN_HAND,
        IN_REACH,
        x="a key, a ball or a box",
        effects=(
            op.Forget("x", "center"),
            op.Forget("held", "center"),
            op.Forget(op.AGENT, "center"),
            op.When(op.is_bound("held"), (), ENTER_ROOM),
        ),
        choose=(HERE, THERE, HELD, SHUT),
    ),
    op.on_thing(
        "open",
        "walk to a door and open it; a locked one takes the key of its colour in the hand, where it stays",
        op.Requirement(c.HasAffordance("x", "can_open"), "{x} is no door", "affordance"),
        op.Requirement(c.HasState("x", "closed"), "{x} is open: there is nothing to open", "already"),
        replace(IN_REACH, repair=None),
        op.Requirement(
            c.Or((c.Not(c.HasState("x", "locked")), *key_fits("held", "x"))),
            "{x} is locked, and {agent} does not hold a key of its colour",
            repair=op.Repair("pickup", ("key",)),
        ),
        x="a door",
        effects=(op.Become("x", "open", instead_of="closed"), op.Become("x", "open", instead_of="locked"), *ENTER_ROOM),
        choose=(
            HERE,
            op.Choose(
                "there",
                (
                    c.And((c.Related("x", "CONNECTS", "there"), c.Same("there", "here"))),
                    c.And((c.Related("x", "CONNECTS", "there"), c.Exists("door", _OPEN_DOOR))),
                    c.Related("x", "CONNECTS", "there"),
                ),
            ),
            HELD,
            op.Choose("key", key_fits("key", "x")),
        ),
    ),
)


BLOCKS: Final = "BLOCKS"
"""An item in the cell before a door. Scenes do not have this relation, only the copy that is planned on."""

_OBSTACLE: Final = And((Related("obstacle", BLOCKS, "door"), Not(Same("obstacle", "x"))))
_OPEN_CLEAR_DOOR: Final = And(
    (Related("door", "CONNECTS", "there"), HasState("door", "open"), Not(Exists("obstacle", _OBSTACLE)))
)
CLEAR_PATH: Final = op.Requirement(
    Or((Same("here", "there"), Exists("door", _OPEN_CLEAR_DOOR))), "something stands in the way to {x}: remove it first"
)
CLEAR_DOOR: Final = op.Requirement(
    Not(Exists("obstacle", And((Related("obstacle", BLOCKS, "x"), Related("obstacle", "INSIDE", "there"))))),
    "something stands before {x}: remove it first",
)


def with_obstacles(operators: Operators, graph: SceneGraph) -> tuple[Operators, SceneGraph]:
    """Return the operators with MiniGrid's requirements about obstacles, and the graph with these as far as known."""
    doors, items = graph.by_kind.get("Door", ()), graph.by_kind.get("Object", ())
    obstacles = {Relation(item, BLOCKS, door) for door in doors for item in items if _adjacent(graph, item, door)}
    opening, clearing = operators["open"], (operators["pickup"], operators["remove"])
    kept = op.by_name(
        *(
            replace(it, requires=(*it.requires, CLEAR_PATH), effects=(*it.effects, op.Unrelate("x", (BLOCKS,))))
            for it in clearing
        ),
        replace(opening, requires=(*opening.requires, CLEAR_PATH, CLEAR_DOOR)),
    )
    return kept, SceneGraph.of(graph.nodes.values(), graph.relations | obstacles)


def _adjacent(graph: SceneGraph, one: str, other: str) -> bool:
    match [graph.nodes[node].properties.get("center") for node in (one, other)]:
        case [Point() as a, Point() as b]:
            return abs(a.x - b.x) + abs(a.y - b.y) == 1
    return False


SMALL_SCENE_NODES: Final = 1_000
"""Goals don't name the keys and obstacles on the way: a grid is planned on whole."""


VOCABULARY: Final = Vocabulary(
    name="babyai",
    about="BabyAI's actions; each walks up to its node first.",
    conventions=Conventions(
        containment=("INSIDE", "ON"),
        one_parent=True,
        notes=(
            "Doors join rooms: (:Place)-[:CONNECTS]-(:Door)-[:CONNECTS]-(:Place).",
            "A locked door has the state 'locked' and opens with a key of its color.",
            "center is a grid cell: center.x and center.y.",
        ),
        texts=__name__,
        properties=("color", "center", "size_x", "size_y"),
        classes=("root", "room", "agent", "door", "key", "ball", "box"),
    ),
    operators=OPERATORS,
    looking=Looking(whole_rooms=True, colors=COLORS, affordances_of=lambda _: ("grabbable",)),
    **words_beside(__name__),
    planning=Planning(keeps_one_parent=True, prepare=with_obstacles, rehearsed=False, small_scene=SMALL_SCENE_NODES),
    tools={traversal.NAME: ReasoningTool(traversal.traverse_room, traversal.ARGUMENTS, traversal.ANNOTATION)},
)
