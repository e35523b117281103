"""Knowledge about a node before its picture is read, the prompts that tell it, and the meaning of names in replies.

LookPlanGraph's appendix on prompts; `methods/differences.py` lists how ours differ.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Final

from scenecypher.db.graph.scene import NO_PROPERTIES, GraphView, Node, Properties
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import UnknownReference, did_you_mean
from scenecypher.planner.perception.draft import SEEN
from scenecypher.planner.perception.matching import joined
from scenecypher.planner.perception.observation import Observation, Sighting
from scenecypher.planner.perception.placing import fixtures_of, is_shut_in
from scenecypher.planner.perception.wording import NO_THINGS, NUMBERED, compact, is_name, normal_form, singular_forms
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named

TEXTS: Final[Mapping[str, str]] = tomllib.loads(
    files("scenecypher.planner.perception").joinpath("prompts.toml").read_text(encoding="utf-8")
)
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

    `words` fill the prompts: the node's name, the `names` of all objects, which of those believed on or in the node (in
    a room: and in nothing closed there) were `seen` there, and which are `priors`, and a room's furniture and doors.
    `things` are the classes by names, ids and classes (compact), `fixed` the names of nodes that can't be on or in
    another. `gap` stands between the words of a class. Without `tells_earlier`, a model is not told what was or may
    be there.
    """

    id: str
    words: Mapping[str, str]
    furniture: tuple[str, ...]
    things: dict[str, str]
    fixed: frozenset[str]
    belief: GraphView
    vocabulary: str
    gap: str
    tells_earlier: bool

    @property
    def node(self) -> Node:
        """The observed node as it is believed."""
        return self.belief.nodes[self.id]

    def is_itself(self, name: str) -> bool:
        """Check if a name means the observed node."""
        return name.strip().casefold() in {self.id.casefold(), self.node.name.casefold()}


def known_node(belief: GraphView, of: str, *, vocabulary: str, tells_earlier: bool = True) -> KnownNode:
    """Return the knowledge of a belief about a node. Raises UnknownReference if it has no such node."""
    node = belief.nodes.get(of)
    if node is None:
        msg = f"no node {of[:100]!r} to look at{did_you_mean(of[:100], tuple(belief.nodes))}; use the id of a node"
        raise UnknownReference(msg)
    objects = [belief.nodes[it] for it in sorted(belief.by_kind.get("Object", ()))]
    kinds = conventions_of(vocabulary).containment
    below, is_room = belief.reaching(of, *kinds), node.kind == "Place"
    shut = {it for it in below if is_room and is_shut_in(belief, it, of=of, containment=kinds)}
    here = [it for it in objects if it.id in below - shut]
    fixtures = [belief.nodes[it] for it in fixtures_of(belief, of, vocabulary=vocabulary)]
    groups = {
        "names": objects,
        "seen": [it for it in here if it.properties.get(SEEN) is True],
        "priors": [it for it in here if it.properties.get(SEEN) is not True],
        "furniture": [it for it in fixtures if it.kind == "Asset"],
        "doors": [it for it in fixtures if it.kind == "Door"],
    }
    names = {group: sorted({it.name for it in nodes if it.id != of}) for group, nodes in groups.items()}
    classes = {compact(it.class_): it.class_ for it in objects}
    furniture = names["furniture"] = names["furniture"][:MAX_SUPPORTS]
    return KnownNode(
        id=of,
        words={"name": node.name, **{group: _listed(found) for group, found in names.items()}},
        furniture=tuple(furniture),
        things=classes | {word: it.class_ for it in objects for word in _words(it)},
        fixed=frozenset(word for it in belief.nodes.values() if it.kind != "Object" for word in _words(it)),
        belief=belief,
        vocabulary=vocabulary,
        gap=" " if any(" " in it.class_ for it in objects) else "_",
        tells_earlier=tells_earlier,
    )


def known_node_reader(
    load: Callable[[], GraphView], *, vocabulary: str, tells_earlier: bool = True
) -> Callable[[str], KnownNode]:
    """Return `known_node` as a function of a node, on a graph that is loaded at each call."""
    return lambda of: known_node(load(), of, vocabulary=vocabulary, tells_earlier=tells_earlier)


def describe_prompt(known: KnownNode, vanished: Iterable[str] = ()) -> str:
    """Return the prompt of the first stage, for the picture; things that `vanished` are asked for again."""
    earlier = TEXTS["earlier" if known.tells_earlier else "only_seen"].format_map(known.words)
    room = TEXTS["room"].format_map(known.words) if known.node.kind == "Place" else ""
    gone = [known.belief.nodes[it].name for it in vanished]
    again = TEXTS["vanished"].format(name=known.node.name, vanished=_listed(gone)) if gone else ""
    return TEXTS["describe"].format_map({**known.words, "earlier": earlier, "room": room}) + again


def parse_prompt(known: KnownNode, description: str) -> str:
    """Return the prompt of the second stage, for the description."""
    is_room = known.node.kind == "Place"
    supports = TEXTS["room_supports" if is_room else "supports"].format_map(known.words)
    doors = TEXTS["furniture"] if is_room else ""
    fields = {"description": description, "supports": supports, "doors": doors}
    return TEXTS["parse"].format_map({**known.words, **fields})


def place_prompt(known: KnownNode, unclear: Sequence[Sighting], observation: Observation) -> str:
    """Return the question where things are, with the possible supports."""
    others = (it.name for it in observation.sightings if it not in unclear)
    candidates = _listed(dict.fromkeys((known.node.name, *known.furniture, *others)))
    return TEXTS["place"].format(unclear=_listed(dict.fromkeys(it.name for it in unclear)), candidates=candidates)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def meaning_of_name(name: str, known: KnownNode, *, plural: bool = False) -> ThingMeaning:
    """Return the meaning of a name: a known object, else a class, maybe in the plural, without a final number.

    A new class is in the singular if the name is known to be `plural`.
    """
    words = normal_form(name)
    color, _, rest = words.partition(" ")
    if rest and color in vocabulary_named(known.vocabulary).looking.colors:
        meaning = meaning_of_name(rest, known, plural=plural)
        return ThingMeaning(meaning.class_, Properties({"color": color}))
    forms = singular_forms(words, plural=plural)
    for form in (words, *forms):
        if compact(form) in known.things:
            return ThingMeaning(known.things[compact(form)])
    return ThingMeaning(forms[0].replace(" ", known.gap) or name)


def with_names(observation: Observation, known: KnownNode) -> Observation:
    """Return an observation in which each thing has a name, and what is named by an id is named once.

    Left out are persons and furniture of a class that is not known, and sightings whose name or class is neither known
    nor a name of a thing: so no sentence that stands in a picture becomes an id, or reaches a later prompt.
    """
    classes = {*map(compact, known.belief.by_class)}
    unknown = (it for it in observation.sightings if it.id is None and compact(it.class_) not in classes)
    others = {normal_form(it.class_) for it in unknown if NO_THINGS & {*singular_forms(it.class_)}}
    things = [it for it in observation.sightings if it.id is not None or normal_form(it.class_) not in others]
    named = [it for it in things if _is_named(it, known)]
    once: dict[str | int, Sighting] = {}
    for number, seen in enumerate(named):
        key = _own_name(seen, known) or number
        once[key] = joined(once[key], seen) if key in once else seen
    notes = [f"persons and furniture are not merged: {', '.join(sorted(others))}"] if others else []
    if nameless := len(things) - len(named):
        notes.append(f"{nameless} seen there have a sentence for a name: not merged")
    return replace(observation, sightings=tuple(once.values()), notes=(*observation.notes, *notes))


def _own_name(seen: Sighting, known: KnownNode) -> str | None:
    """Return the id by which a sighting names its thing, compact; None if the name is a class."""
    words = compact(seen.id or seen.name)
    is_id = seen.id or NUMBERED.search(seen.name) or compact(known.things.get(words, words)) != words
    return words if is_id else None


def _is_named(seen: Sighting, known: KnownNode) -> bool:
    if seen.id in known.belief:
        return True
    words = (word for word in (seen.id, seen.name, seen.class_) if word is not None)
    return all(is_name(it) or {compact(it)} & (known.things.keys() | known.fixed) for it in words)


def _words(node: Node) -> tuple[str, str]:
    return compact(node.id), compact(node.name)
