"""Check that an instruction in plain English names everything in its goal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.graph.value import class_of_name
from scenecypher.importers.grasif import GoalNode

NUMBERS: Final = {2: ("two", "both"), 3: ("three",), 4: ("four",), 5: ("five",), 6: ("six",)}
STATES: Final = {
    "on": r"\bon\b",
    "off": r"\boff\b",
    "open": r"\bopen\b",
    "closed": r"\bclosed?\b",
}
CONTAINMENT: Final = ("INSIDE", "ON")


def unsaid(instruction: str, wanted: GoalNode, graph: SceneGraph) -> Iterator[str]:
    """Return the parts of one goal node that the instruction lacks."""
    text = plain(instruction)
    if wanted.name is not None and graph.nodes[wanted.name].kind == "Agent":
        if not any(word in text for word in known_by(wanted.related_to or "", graph)):
            yield f"nothing says that it is {wanted.related_to}"
        return
    yield from uncounted(text, wanted)
    for name in filter(None, (wanted.name, wanted.related_to)):
        yield from unnamed(text, graph.nodes[name], graph)
    for state in wanted.states:
        if not re.search(STATES[state], text):
            yield f"{wanted.name} {state}"


def uncounted(text: str, wanted: GoalNode) -> Iterator[str]:
    """Return the class and its count if the text lacks them."""
    if wanted.class_ is not None and not is_said(wanted.class_, text):
        yield wanted.class_
    if wanted.count > 1 and not any(f" {word} " in f" {text}" for word in NUMBERS[wanted.count]):
        yield f"{wanted.count} times {wanted.class_}"


def unnamed(text: str, node: Node, graph: SceneGraph) -> Iterator[str]:
    """Return the node's class and distinguishing marks if the text lacks them."""
    if not is_said(node.class_, text):
        yield node.id
    if len(graph.by_class[node.class_]) > 1 and not any(word in text for word in marks(node, graph)):
        yield f"which {node.class_} ({node.id})"


def is_said(class_: str, text: str) -> bool:
    """Return True if the text has the class, in singular or plural."""
    words = plain(class_)
    return words in text or (words.endswith("y") and f"{words[:-1]}ies" in text)


def marks(node: Node, graph: SceneGraph) -> Iterator[str]:
    """Return a node's distinguishing marks within its class: number, unique property, room, support or container."""
    yield plain(node.name.replace("-", " "))
    traits = traits_of(node)
    others = [graph.nodes[other] for other in graph.by_class[node.class_] if other != node.id]
    yield from (plain(trait) for trait in traits if any(trait not in traits_of(other) for other in others))
    for above in graph.reached(node.id, *CONTAINMENT):
        if all(above not in graph.reached(other.id, *CONTAINMENT) for other in others):
            yield plain(class_of_name(above))


def traits_of(node: Node) -> tuple[str, ...]:
    traits = node.properties.get("traits", ())
    assert isinstance(traits, tuple)
    return tuple(map(str, traits))


def known_by(room: str, graph: SceneGraph) -> Iterator[str]:
    """Return the classes of items in a room that are in no other."""
    here = graph.reaching(room, *CONTAINMENT)
    for node_id in here:
        class_ = graph.nodes[node_id].class_
        told = {*graph.by_class[class_]}
        if told <= here:
            yield plain(class_)
        else:
            for word in (*traits_of(graph.nodes[node_id]), *graph.nodes[node_id].states):
                yield from (f"{plain(word)} {plain(class_)}", f"{plain(class_)} {plain(word)}")
                yield f"{plain(class_)} is {word}"


def plain(text: str) -> str:
    """Return lower-case words with single blanks and no apostrophes: ``Nora's lunch_box`` is ``noras lunch box``."""
    return " ".join(re.sub(r"[^a-z0-9]+", " ", text.casefold().replace("'", "")).split())
