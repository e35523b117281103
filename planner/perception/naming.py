"""Knowledge about a node before its picture is read, and the meaning of names in a description."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from scenecypher.db.graph.scene import NO_PROPERTIES, GraphView, Node, Properties
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import UnknownReference, did_you_mean
from scenecypher.planner.perception.draft import SEEN
from scenecypher.planner.perception.matching import joined
from scenecypher.planner.perception.observation import Observation, Sighting
from scenecypher.planner.perception.placing import fixtures_of, is_shut_in
from scenecypher.planner.perception.wording import NUMBERED, is_name, likely_singular, normal_form, singular_forms
from scenecypher.planner.vocabularies.registry import vocabulary_named

MAX_SUPPORTS: Final = 100
"""Pieces of furniture that a prompt names at most."""


@dataclass(frozen=True, slots=True)
class ThingMeaning:
    """Meaning of a name: a class with traits."""

    class_: str
    traits: Properties = NO_PROPERTIES


@dataclass(frozen=True, slots=True)
class KnownNode:
    """Belief about an observed node, as a model is told it.

    `names` are the names of all objects; of those believed on or in the node (in a room: and in nothing closed there),
    `seen` were seen there, `priors` were not. `furniture` and `doors` are those of a room. `things` are the classes by
    names, ids and classes (in normal form), `fixed` the names of nodes that can't be on or in another, and `colors`
    those that tell things of one class apart. `gap` stands between the words of a class. Without `tells_earlier`, a
    model is not told what was or may be there.
    """

    id: str
    name: str
    states: tuple[str, ...]
    names: tuple[str, ...]
    seen: tuple[str, ...]
    priors: tuple[str, ...]
    furniture: tuple[str, ...]
    doors: tuple[str, ...]
    things: dict[str, str]
    fixed: frozenset[str]
    belief: GraphView
    vocabulary: str
    colors: tuple[str, ...] = ()
    gap: str = "_"
    tells_earlier: bool = True

    @property
    def is_room(self) -> bool:
        """Return True if the observed node is a room."""
        return self.belief.nodes[self.id].kind == "Place"

    def is_itself(self, name: str) -> bool:
        """Check if a name means the observed node."""
        return name.strip().casefold() in {self.id.casefold(), self.name.casefold()}


def known_node(belief: GraphView, of: str, *, vocabulary: str, tells_earlier: bool = True) -> KnownNode:
    """Return the knowledge of a belief about a node. Raises UnknownReference if it has no such node."""
    node = belief.nodes.get(of)
    if node is None:
        msg = f"no node {of[:100]!r} to look at{did_you_mean(of[:100], tuple(belief.nodes))}; use the id of a node"
        raise UnknownReference(msg)
    objects = [belief.nodes[it] for it in belief.by_kind.get("Object", ())]
    containment = conventions_of(vocabulary).containment
    below = belief.reaching(of, *containment)
    is_room = node.kind == "Place"
    here = [
        it for it in objects if it.id in below and not (is_room and is_shut_in(belief, it.id, containment=containment))
    ]
    fixtures = [belief.nodes[it] for it in fixtures_of(belief, of, vocabulary=vocabulary)]
    return KnownNode(
        id=node.id,
        name=node.name,
        states=node.states,
        names=_names(objects, but=node.id),
        seen=_names([it for it in here if it.properties.get(SEEN) is True], but=node.id),
        priors=_names([it for it in here if it.properties.get(SEEN) is not True], but=node.id),
        furniture=_names([it for it in fixtures if it.kind == "Asset"], but=node.id)[:MAX_SUPPORTS],
        doors=_names([it for it in fixtures if it.kind == "Door"], but=node.id),
        things=_meanings(objects),
        fixed=frozenset(word for it in belief.nodes.values() if it.kind != "Object" for word in _words(it)),
        belief=belief,
        vocabulary=vocabulary,
        colors=vocabulary_named(vocabulary).looking.colors,
        gap=" " if any(" " in it.class_ for it in objects) else "_",
        tells_earlier=tells_earlier,
    )


def known_node_reader(
    load: Callable[[], GraphView], *, vocabulary: str, tells_earlier: bool = True
) -> Callable[[str], KnownNode]:
    """Return `known_node` as a function of a node, on a graph that is loaded at each call."""
    return lambda of: known_node(load(), of, vocabulary=vocabulary, tells_earlier=tells_earlier)


def meaning_of_name(name: str, known: KnownNode, *, plural: bool = False) -> ThingMeaning:
    """Return the meaning of a name: a known object, else a class, maybe in the plural, without a final number.

    A new class is in the singular if the name is known to be `plural`.
    """
    words = normal_form(name)
    color, _, rest = words.partition(" ")
    if color in known.colors and rest:
        meaning = meaning_of_name(rest, known, plural=plural)
        return ThingMeaning(meaning.class_, Properties({"color": color}))
    forms = singular_forms(words)
    for form in (words, *forms):
        if form in known.things:
            return ThingMeaning(known.things[form])
    new = likely_singular(words) if plural else forms[0]
    return ThingMeaning(new.replace(" ", known.gap) or name)


def with_names(observation: Observation, known: KnownNode) -> Observation:
    """Return an observation in which each thing has a name, and what is named by an id is named once.

    Left out are sightings whose name or class is neither known nor a name of a thing: so no sentence that stands in a
    picture becomes an id, or reaches a later prompt.
    """
    named = [it for it in observation.sightings if _is_named(it, known)]
    once: dict[str | int, Sighting] = {}
    for number, seen in enumerate(named):
        key = _own_name(seen, known) or number
        once[key] = joined(once[key], seen) if key in once else seen
    nameless = len(observation.sightings) - len(named)
    notes = (*observation.notes, f"{nameless} seen there have a sentence for a name: not merged")
    return replace(observation, sightings=tuple(once.values()), notes=notes if nameless else observation.notes)


def _own_name(seen: Sighting, known: KnownNode) -> str | None:
    """Return the id by which a sighting names its thing, in normal form; None if the name is a class."""
    words = normal_form(seen.id or seen.name)
    is_id = seen.id or NUMBERED.search(seen.name) or normal_form(known.things.get(words, words)) != words
    return words if is_id else None


def _is_named(seen: Sighting, known: KnownNode) -> bool:
    if seen.id in known.belief:
        return True
    words = (word for word in (seen.id, seen.name, seen.class_) if word is not None)
    return all(is_name(it) or {normal_form(it)} & (known.things.keys() | known.fixed) for it in words)


def _names(nodes: Iterable[Node], *, but: str) -> tuple[str, ...]:
    return tuple(sorted({node.name for node in nodes if node.id != but}))


def _words(node: Node) -> tuple[str, str]:
    return normal_form(node.id), normal_form(node.name)


def _meanings(objects: list[Node]) -> dict[str, str]:
    """Return the classes of classes, ids and names; names override classes."""
    ordered = sorted(objects, key=lambda node: node.id)
    classes = {normal_form(node.class_): node.class_ for node in ordered}
    return classes | {word: node.class_ for node in ordered for word in _words(node)}
