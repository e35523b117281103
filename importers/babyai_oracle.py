"""Reference plans and answers, computed from a BabyAI scene graph alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final, Literal, TypeAlias, get_args

from scenecypher.db.graph.scene import Node, Point, SceneGraph
from scenecypher.importers.babyai_grid import AGENT, ROOT
from scenecypher.importers.task import ProgramStep

QUESTION: Final = re.compile(
    r"find the color of the (\w+) in a room next to the room with (\d+) (\w+) (key|ball|box)(?:e?s)"
)
AnswerFault: TypeAlias = Literal["counting", "spatial layout", "neither"]
ANSWER_FAULTS: Final = get_args(AnswerFault)


def oracle_plan(graph: SceneGraph, target: str) -> tuple[ProgramStep, ...] | None:
    """Return a plan in the papers' order for each door on the way: key, items before it, the door, items behind it.

    At the end an item is picked up, or a door opened. Returns None if no way leads there or a key is out of reach.
    """
    here = graph.targets(AGENT, "INSIDE")[0]
    is_door = graph.nodes[target].kind == "Door"
    ends = graph.targets(target, "CONNECTS" if is_door else "INSIDE")
    way = min(filter(None, (_shortest_way(graph, here, end) for end in ends)), key=len, default=None)
    if way is None:
        return None
    steps: list[ProgramStep] = []
    visited = [here]
    for door, beyond in way[1:]:
        opening = _opening(graph, door, visited=visited, target=target)
        if opening is None:
            return None
        steps += [*opening, *_removals(graph, door, beyond, but={target})]
        visited.append(beyond)
    if not is_door:
        return (*steps, ProgramStep("pickup", (target,)))
    opening = _opening(graph, target, visited=visited, target=target)
    return None if opening is None else (*steps, *opening)


def oracle_answer(graph: SceneGraph, question: str) -> str | None:
    """Return the one colour that answers a question of the papers' template; None for no colour or several."""
    asked = QUESTION.fullmatch(question)
    if asked is None:
        return None
    wanted, number, color, kind = asked.groups()
    known = [room for room in graph.by_class["room"] if _count(graph, room, kind, color) == int(number)]
    next_door = {beyond for room in known for _, beyond in _doors(graph, room)}
    found = [_inside(graph, room, wanted) for room in sorted(next_door)]
    colors = [str(thing.properties["color"]) for things in found for thing in things]
    return colors[0] if len(known) == 1 and len(colors) == 1 else None


def answer_fault(graph: SceneGraph, question: str, given: Collection[str]) -> AnswerFault:
    """Return the sub-task of the papers' template whose mistake explains the wrong colours that were given.

    ``counting``: a thing of such a colour is in a room next to one that has things of the counted sort, in another
    number. Otherwise ``spatial layout``: it is in a room that is not next to the right one.
    """
    asked = QUESTION.fullmatch(question)
    if asked is None:
        return "neither"
    wanted, number, color, kind = asked.groups()
    counts = {room: _count(graph, room, kind, color) for room in graph.by_class["room"]}
    next_door = {room: {beyond for _, beyond in _doors(graph, room)} for room in counts}
    right = {room for room, count in counts.items() if count == int(number)}
    found = {
        room for room in counts for thing in _inside(graph, room, wanted) if str(thing.properties["color"]) in given
    }
    if any(found & next_door[room] for room, count in counts.items() if count and room not in right):
        return "counting"
    return "spatial layout" if any(found - next_door[room] for room in right) else "neither"


def _opening(graph: SceneGraph, door: str, *, visited: list[str], target: str) -> list[ProgramStep] | None:
    """Return the steps that open a door from the last of the rooms visited, None without a key."""
    states = graph.nodes[door].states
    keys = [key.id for room in visited for key in _inside(graph, room, "key") if _same_color(graph, key.id, door)]
    if "locked" in states and not keys:
        return None
    taken = keys[:1] if "locked" in states else []
    steps = [ProgramStep("pickup", (key,)) for key in taken]
    steps += _removals(graph, door, visited[-1], but={target, *taken})
    return steps if "open" in states else [*steps, ProgramStep("open", (door,))]


def _removals(graph: SceneGraph, door: str, room: str, *, but: set[str]) -> list[ProgramStep]:
    """Return the steps that remove the items of `room` from the cell before the door."""
    found = [node.id for node in _inside(graph, room) if node.kind == "Object" and _side_by_side(graph, node.id, door)]
    return [ProgramStep("remove", (node_id,)) for node_id in found if node_id not in but]


def _shortest_way(graph: SceneGraph, start: str, end: str) -> list[tuple[str, str]] | None:
    """Return the shortest way as doors, each with the room behind it; its start has no door."""
    ways: dict[str, list[tuple[str, str]]] = {start: [("", start)]}
    waiting = [start]
    for room in waiting:
        for door, beyond in _doors(graph, room):
            if beyond not in ways:
                ways[beyond] = [*ways[room], (door, beyond)]
                waiting.append(beyond)
    return ways.get(end)


def _doors(graph: SceneGraph, room: str) -> Iterator[tuple[str, str]]:
    for door in graph.targets(room, "CONNECTS"):
        yield from ((door, beyond) for beyond in graph.targets(door, "CONNECTS") if beyond not in {room, ROOT})


def _side_by_side(graph: SceneGraph, one: str, other: str) -> bool:
    centers = [graph.nodes[node_id].properties["center"] for node_id in (one, other)]
    match centers:
        case [Point() as a, Point() as b]:
            return abs(a.x - b.x) + abs(a.y - b.y) == 1
    return False


def _inside(graph: SceneGraph, room: str, class_: str | None = None) -> list[Node]:
    found = [graph.nodes[node_id] for node_id in graph.sources(room, "INSIDE")]
    return [node for node in found if class_ in {None, node.class_}]


def _count(graph: SceneGraph, room: str, class_: str, color: str) -> int:
    return sum(node.properties["color"] == color for node in _inside(graph, room, class_))


def _same_color(graph: SceneGraph, one: str, other: str) -> bool:
    return graph.nodes[one].properties["color"] == graph.nodes[other].properties["color"]
