"""Knowledge about a node before its picture is read, and the meaning of names in a description."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from scenecypher.db.graph.scene import NO_PROPERTIES, Node, Properties, SceneGraph
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import UnknownReference, did_you_mean
from scenecypher.planner.vocabularies.registry import vocabulary_named

NUMBERED: Final = re.compile(r"[-_ ]?\d+$")
"""Number at the end of a name."""


@dataclass(frozen=True, slots=True)
class ThingMeaning:
    """Meaning of a name: a class with affordances and traits."""

    class_: str
    affordances: tuple[str, ...] = ()
    traits: Properties = NO_PROPERTIES


@dataclass(frozen=True, slots=True)
class KnownNode:
    """Belief about an observed node, as a model is told it.

    `names` are the names of all objects, `priors` of those believed on or in the node. `things` are the meanings of
    names, ids and classes (casefolded), `fixed` the names of nodes that can't be on or in another, and
    `colors` those that tell things of one class apart.
    """

    id: str
    name: str
    states: tuple[str, ...]
    names: tuple[str, ...]
    priors: tuple[str, ...]
    things: dict[str, ThingMeaning]
    fixed: frozenset[str]
    colors: tuple[str, ...] = ()

    def is_itself(self, name: str) -> bool:
        """Check if a name means the observed node."""
        return name.strip().casefold() in {self.id.casefold(), self.name.casefold()}


def known_node(belief: SceneGraph, of: str, *, vocabulary: str) -> KnownNode:
    """Return the knowledge of a belief about a node. Raises UnknownReference if it has no such node."""
    node = belief.nodes.get(of)
    if node is None:
        msg = f"no node {of[:100]!r} to look at{did_you_mean(of[:100], tuple(belief.nodes))}; use the id of a node"
        raise UnknownReference(msg)
    objects = [belief.nodes[it] for it in belief.by_kind.get("Object", ())]
    containment = conventions_of(vocabulary).containment
    below = belief.reaching(of, *containment)
    return KnownNode(
        id=node.id,
        name=node.name,
        states=node.states,
        names=_names(objects, but=node.id),
        priors=_names([it for it in objects if it.id in below], but=node.id),
        things=_meanings(objects),
        fixed=frozenset(word for it in belief.nodes.values() if it.kind != "Object" for word in _words(it)),
        colors=vocabulary_named(vocabulary).looking.colors,
    )


def known_node_reader(load: Callable[[], SceneGraph], *, vocabulary: str) -> Callable[[str], KnownNode]:
    """Return `known_node` as a function of a node, on a graph that is loaded at each call."""
    return lambda of: known_node(load(), of, vocabulary=vocabulary)


def meaning_of_name(name: str, known: KnownNode) -> ThingMeaning:
    """Return the meaning of a name: a known object, else a class, maybe plural, without a final number."""
    words = name.strip().casefold()
    color, _, rest = words.partition(" ")
    if color in known.colors and rest:
        meaning = meaning_of_name(rest, known)
        return ThingMeaning(meaning.class_, meaning.affordances, Properties({"color": color}))
    bare = NUMBERED.sub("", words)
    for form in (words, bare, bare.removesuffix("s"), bare.removesuffix("es")):
        if form in known.things:
            return known.things[form]
    return ThingMeaning(bare or words)


def _names(nodes: list[Node], *, but: str) -> tuple[str, ...]:
    return tuple(sorted({node.name for node in nodes if node.id != but}))


def _words(node: Node) -> tuple[str, str]:
    return node.id.casefold(), node.name.casefold()


def _meanings(objects: list[Node]) -> dict[str, ThingMeaning]:
    """Return the meanings of classes, ids and names; names override classes."""
    ordered = sorted(objects, key=lambda node: node.id)
    classes = {node.class_.casefold(): ThingMeaning(node.class_, node.affordances) for node in ordered}
    return classes | {word: ThingMeaning(node.class_, node.affordances) for node in ordered for word in _words(node)}
