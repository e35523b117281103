"""A robot's belief beside the world: what it has right, what moved meanwhile, what is gone, and what it never saw."""

from __future__ import annotations

from dataclasses import dataclass

from scenecypher.db.graph.scene import GraphView, Node, SceneGraph
from scenecypher.tree import PLACED


@dataclass(frozen=True, slots=True)
class Compared:
    """A thing with the reason why it stands in its group, empty if the group says it."""

    id: str
    name: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """The things that are in one state of belief."""

    state: str
    things: tuple[Compared, ...]


def compare(belief: SceneGraph, world: SceneGraph) -> tuple[Group, ...]:
    """Return all objects of both in groups: confirmed, changed, moved, gone, unseen, unknown."""
    groups: dict[str, list[Compared]] = {
        state: [] for state in ("confirmed", "changed", "moved", "gone", "unseen", "unknown")
    }
    for node in sorted(belief.nodes.values(), key=lambda it: (it.name, it.id)):
        if node.kind == "Object":
            state, why = _state_of(node, belief, world)
            groups[state].append(Compared(node.id, node.name, why))
    unknown = (it for it in world.nodes.values() if it.kind == "Object" and it.id not in belief)
    groups["unknown"] += [Compared(it.id, it.name) for it in sorted(unknown, key=lambda it: (it.name, it.id))]
    return tuple(Group(state, tuple(things)) for state, things in groups.items())


def _state_of(node: Node, belief: SceneGraph, world: SceneGraph) -> tuple[str, str]:
    now = world.nodes.get(node.id)
    if now is None:
        return "gone", "the world has it no more"
    if node.properties.get("seen") is False:
        return "unseen", ""
    there, believed = _places(world, node.id), _places(belief, node.id)
    if there != believed:
        names = [world.nodes[it].name for it in sorted(there) if it in world]
        return "moved", f"now at {', '.join(names)}" if names else "held or nowhere"
    if now.states != node.states:
        return "changed", f"now {', '.join(now.states) or 'without states'}"
    return "confirmed", ""


def _places(graph: GraphView, node: str) -> frozenset[str]:
    """Return what a thing is in or on, without the room where it is on furniture too."""
    found = {target for type_ in PLACED for target in graph.targets(node, type_)}
    furniture = {it for it in found if graph.nodes[it].kind != "Place"}
    return frozenset(furniture or found)
