"""Observations in the style of ALFWorld's texts (LookPlanGraph, appendix F-5)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.prompts.graph_words import graph_words
from scenecypher.planner.prompts.layout import SceneLayout, is_confirmed
from scenecypher.planner.vocabularies.registry import vocabulary_named

LOOKING: Final = frozenset({"discover_objects", "look_at", "find"})


def describe_surroundings(graph: SceneGraph, vocabulary: str, *, inspected: Collection[str] = ()) -> str:
    """Describe all places and the furniture seen at the agent's place; in a grid, everything in view."""
    if vocabulary_named(vocabulary).looking.whole_rooms:
        return f"You look around.\n{graph_words(graph, vocabulary, inspected=inspected)}"
    layout = SceneLayout(graph, vocabulary)
    places = ", ".join(place.id for place in layout.of_kind("Place"))
    return f"You are in an environment with these places: {places}.\n{_glance(layout)}"


def describe_action(call: ActionCall, graph: SceneGraph, vocabulary: str, *, shows: Collection[str]) -> str:
    """Describe the result of an action after which `graph` is the agent's view.

    An action of LOOKING only reveals its argument; one of `shows` has an effect and reveals its argument, too.
    """
    layout, done = (
        SceneLayout(graph, vocabulary),
        f"You {call.name.replace('_', ' ')} {', '.join(call.arguments)}".strip(),
    )
    if vocabulary_named(vocabulary).looking.whole_rooms:
        return f"{done}. {graph_words(graph, vocabulary)}"
    node = graph.nodes.get(call.arguments[0]) if call.arguments else None
    if node is not None and node.kind == "Place" and node.id == layout.here:
        return _glance(layout)
    if node is not None and call.name in LOOKING:
        return f"You are at {node.id}. {_seen_at(layout, node.id)}"
    if node is not None and call.name in shows:
        return f"{done}. {_seen_at(layout, node.id)}"
    return f"{done}."


def _glance(layout: SceneLayout) -> str:
    assets = [node.id for node in layout.of_kind("Asset") if layout.room_of(node.id) == layout.here]
    held = f" You hold {', '.join(layout.held)}." if layout.held else ""
    sees = f"Looking quickly around you, you see {', '.join(assets) or 'nothing'}."
    return f"You are in the middle of {layout.here or 'no known place'}. {sees}{held}"


def _seen_at(layout: SceneLayout, of: str) -> str:
    """Describe a node's states and its visible contents."""
    states = layout.graph.nodes[of].states
    parts = [f"{of} is {', '.join(states)}."] if states else []
    return " ".join([*parts, *(_contents(layout, of) or [f"On {of} you see nothing."])])


def _contents(layout: SceneLayout, of: str) -> list[str]:
    found = ((type_, [*_seen_objects(layout, of, type_)]) for type_ in conventions_of(layout.vocabulary).containment)
    return [
        f"{_relation_heading(type_)} {of} you see {', '.join(things)}." for type_, things in sorted(found) if things
    ]


def _relation_heading(type_: str) -> str:
    """Return a relation type as the start of a sentence: ``Attached to``."""
    return type_.replace("_", " ").capitalize()


def _seen_objects(layout: SceneLayout, of: str, type_: str) -> Iterator[str]:
    nodes = (layout.graph.nodes[it] for it in sorted(layout.graph.sources(of, type_)))
    return (node.id for node in nodes if node.kind == "Object" and is_confirmed(node))
