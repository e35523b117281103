"""A robot's belief beside the world: what it has right, what moved meanwhile, what is gone, and what it never saw."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from scenecypher.db.graph.scene import GraphView, Node, SceneGraph
from scenecypher.tree import PLACED

STATES: Final = ("confirmed", "changed", "moved", "gone", "never was", "unseen", "unknown")


@dataclass(frozen=True, slots=True)
class Compared:
    """A thing with the reason why it stands in its group, empty if the group says it.

    `believed` is what the robot thinks that it is in or on, `confidence` from 0 to 1 how sure it is.
    """

    id: str
    name: str
    why: str = ""
    believed: tuple[str, ...] = ()
    confidence: float = 1.0

    def document(self, state: str) -> list[object]:
        """Return what the map draws of a thing in a state of belief."""
        return [self.id, self.name, state, self.why, [*self.believed], self.confidence]


@dataclass(frozen=True, slots=True)
class Group:
    """The things that are in one state of belief."""

    state: str
    things: tuple[Compared, ...]


def compare(belief: SceneGraph, world: SceneGraph, once: Collection[str] = ()) -> tuple[Group, ...]:
    """Return all objects of both in groups, in the order of STATES.

    What is elsewhere than believed has moved, also if the robot has never looked at it. What the world lacks is gone
    if it was there `once`, given by the ids, and never was if not: then only a look has made it.
    """
    groups: dict[str, list[Compared]] = {state: [] for state in STATES}
    for node in sorted(belief.nodes.values(), key=lambda it: (it.name, it.id)):
        if node.kind == "Object":
            state, why = _state_of(node, belief, world, once)
            groups[state].append(Compared(node.id, node.name, why, _believed(belief, node.id), _sure(node)))
    unknown = (it for it in world.nodes.values() if it.kind == "Object" and it.id not in belief)
    groups["unknown"] += [Compared(it.id, it.name) for it in sorted(unknown, key=lambda it: (it.name, it.id))]
    return tuple(Group(state, tuple(things)) for state, things in groups.items())


def _believed(belief: SceneGraph, node: str) -> tuple[str, ...]:
    return tuple(sorted(_places(belief, node)))


def _sure(node: Node) -> float:
    found = node.properties.get("confidence")
    return float(found) if isinstance(found, int | float) else 1.0


def _state_of(node: Node, belief: SceneGraph, world: SceneGraph, once: Collection[str]) -> tuple[str, str]:
    now = world.nodes.get(node.id)
    is_seen = node.properties.get("seen") is not False
    if now is None:
        return ("gone", "the world has it no more") if node.id in once else ("never was", "the world never had it")
    there, believed = _places(world, node.id), _places(belief, node.id)
    if there != believed:
        names = [world.nodes[it].name for it in sorted(there) if it in world]
        where = f"now at {', '.join(names)}" if names else "held or nowhere"
        return "moved", where if is_seen else f"{where}; not seen yet"
    if not is_seen:
        return "unseen", ""
    if now.states != node.states:
        return "changed", f"now {', '.join(now.states) or 'without states'}"
    return "confirmed", ""


def _places(graph: GraphView, node: str) -> frozenset[str]:
    """Return what a thing is in or on, without the room where it is on furniture too."""
    found = {target for type_ in PLACED for target in graph.targets(node, type_)}
    furniture = {it for it in found if graph.nodes[it].kind != "Place"}
    return frozenset(furniture or found)
