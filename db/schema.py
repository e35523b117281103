"""The registry of kinds, relation types and properties; indexes and the gate's vocabulary are derived from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from reprlib import repr as short_repr
from typing import Final, LiteralString

from scenecypher.errors import InputError

KINDS: Final[Mapping[LiteralString, str]] = {
    "Place": "a room or another region that an agent can be in",
    "Asset": "furniture or an appliance: it stays where it is",
    "Object": "a thing that can be moved",
    "Agent": "a robot, a person or an animal that acts",
    "Door": "what joins two places",
    "Waypoint": "a spot of free space or ground in a place, through which a robot moves",
}

MAP_KINDS: Final[frozenset[LiteralString]] = frozenset({"Waypoint"})
"""Kinds of scenes that declare the property `layer`; models are told of them in no other scene."""

RELATION_TYPES: Final[Mapping[LiteralString, str]] = {
    "INSIDE": "source is in target (a container or a place)",
    "ON": "source lies on target",
    "UNDER": "source is below target",
    "ATTACHED_TO": "source is fixed to target",
    "CLOSE": "source is near target; stored both ways",
    "FACING": "source looks at target, or target can be seen from it",
    "BETWEEN": "source (a door) is between target and another place",
    "CONNECTS": "source joins target: place, door, place; stored both ways",
    "HOLDS": "agent source has target in its hand",
    "HOLDS_LH": "agent source has target in its left hand",
    "HOLDS_RH": "agent source has target in its right hand",
    "TAKEN_OFF": "source lay on target before an agent took it",
    "TAKEN_OUT_OF": "source was in target before an agent took it",
    "TAKEN_FROM": "source was near target before an agent took it",
}

HOLDING: Final[tuple[LiteralString, ...]] = ("HOLDS", "HOLDS_LH", "HOLDS_RH")

REMEMBERED: Final[tuple[LiteralString, ...]] = ("TAKEN_OFF", "TAKEN_OUT_OF", "TAKEN_FROM")
"""The place of a thing before an agent took it; stored until it is put down, so that it can be put back."""

CORE_PROPERTIES: Final[Mapping[LiteralString, str]] = {
    "id": "text, unique in the scene",
    "name": "text, what people call it; may repeat",
    "class": "text, what sort of thing it is",
    "states": "list of text such as 'open', 'on', 'dirty'; maybe empty",
    "affordances": "list of text: what can be done with it, such as 'grabbable', 'can_open'; maybe empty",
}

EXTRA_PROPERTIES: Final[Mapping[LiteralString, str]] = {
    "category": "text, the source's own category",
    "prefab": "text, the 3D model's name",
    "color": "text, its colour",
    "center": "point, the middle of its bounding box, in metres (grids: cells)",
    "size_x": "number, width in metres (grids: cells)",
    "size_y": "number, height in metres (grids: cells)",
    "size_z": "number, depth in metres",
    "seen": "boolean, belief only: whether it has been seen where the graph says it is",
    "last_seen": "whole number, belief only: the step at which it was last seen",
    "confidence": "number from 0 to 1, belief only",
    "assumed": "list of text, belief only: affordances that are assumed until an action shows them",
}

ENTITY: Final = "Entity"
LAYER: Final = "layer"
"""The property by which a robot's map tells its layers apart."""
SCENE_KEY: Final = "scene"
RESERVED_PROPERTIES: Final = frozenset({*CORE_PROPERTIES, SCENE_KEY})

RELATION_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
PROPERTY_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Declared:
    """What one scene brings: relation types and properties beyond the registry, each name checked, and own actions.

    `actions` is a canonical JSON text (`scenecypher.importers.pddl.document`), `domain` the PDDL that it was read from;
    both are empty if the scene has the actions of its vocabulary.
    """

    relation_types: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    actions: str = ""
    domain: str = ""

    def __post_init__(self) -> None:
        for name in self.relation_types:
            _check_name(name, RELATION_NAME, "relation type", "UPPER_SNAKE_CASE")
        for name in self.properties:
            _check_name(name, PROPERTY_NAME, "property", "lower_snake_case")
            if name in RESERVED_PROPERTIES:
                msg = f"property {name!r} is reserved and can't be declared; choose another name"
                raise InputError(msg)
        object.__setattr__(self, "relation_types", tuple(sorted({*self.relation_types} - {*RELATION_TYPES})))
        object.__setattr__(self, "properties", tuple(sorted({*self.properties} - {*EXTRA_PROPERTIES})))


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that a query about one scene may use."""

    labels: frozenset[str]
    relation_types: frozenset[str]
    properties: frozenset[str]


def vocabulary_of(declared: Declared) -> Vocabulary:
    """Return the registry and the names that a scene declares."""
    kinds = KINDS.keys() if LAYER in declared.properties else KINDS.keys() - MAP_KINDS
    return Vocabulary(
        labels=frozenset({ENTITY, *kinds}),
        relation_types=frozenset({*RELATION_TYPES, *declared.relation_types}),
        properties=frozenset({*CORE_PROPERTIES, *EXTRA_PROPERTIES, *declared.properties}),
    )


def definitions() -> Iterator[tuple[LiteralString, LiteralString]]:
    """Yield every constraint and index as (name, idempotent Cypher), in order of creation."""
    yield "scene_key", "CREATE CONSTRAINT scene_key IF NOT EXISTS FOR (s:Scene) REQUIRE s.key IS UNIQUE"
    yield "scene_name", "CREATE CONSTRAINT scene_name IF NOT EXISTS FOR (s:Scene) REQUIRE s.name IS UNIQUE"
    yield (
        "entity_id",
        "CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE (n.scene, n.id) IS UNIQUE",
    )
    yield (
        "event_version",
        "CREATE CONSTRAINT event_version IF NOT EXISTS FOR (e:Event) REQUIRE (e.scene, e.version) IS UNIQUE",
    )
    yield (
        "event_action",
        "CREATE CONSTRAINT event_action IF NOT EXISTS FOR (e:Event) REQUIRE (e.scene, e.action_id) IS UNIQUE",
    )
    yield "scene_status", "CREATE INDEX scene_status IF NOT EXISTS FOR (s:Scene) ON (s.status)"
    yield "scene_copied_from", "CREATE INDEX scene_copied_from IF NOT EXISTS FOR (s:Scene) ON (s.copied_from)"
    for label in (ENTITY, *KINDS):
        for field in ("", "name", "class"):
            name, keys = _index_of(label, field)
            yield name, "CREATE INDEX " + name + " IF NOT EXISTS FOR (n:" + label + ") ON (" + keys + ")"
    # A belief has few seen objects among many possible ones; a world has none, so the index is empty.
    yield "object_scene_seen", "CREATE INDEX object_scene_seen IF NOT EXISTS FOR (n:Object) ON (n.scene, n.seen)"


def _index_of(label: LiteralString, field: LiteralString) -> tuple[LiteralString, LiteralString]:
    stem: LiteralString = label.lower() + "_scene"
    return (stem + "_" + field, "n.scene, n." + field) if field else (stem, "n.scene")


def _check_name(name: object, pattern: re.Pattern[str], what: str, style: str) -> None:
    if not isinstance(name, str) or not pattern.fullmatch(name):
        msg = f"{what} {short_repr(name)} can't be declared: use {style}, ASCII, at most 64 characters"
        raise InputError(msg)
