"""The registry of kinds, relation types and properties; indexes and the gate's vocabulary are derived from it."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any, Final, LiteralString, cast

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

SHELL: Final[tuple[LiteralString, ...]] = ("wall", "walls", "floor", "floors", "ceiling", "ceilings")
"""Classes of a building's shell, in lower case: views leave them off."""

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
    "center": "point, the middle of its bounding box, in metres, z up (grids: cells)",
    "size_x": "number, width in metres (grids: cells)",
    "size_y": "number, depth in metres (grids: cells)",
    "size_z": "number, height in metres",
    "seen": "boolean, belief only: whether it has been seen where the graph says it is",
    "last_seen": "whole number, belief only: the step at which it was last seen",
    "confidence": "number from 0 to 1, belief only",
    "assumed": "list of text, belief only: affordances that are assumed until an action shows them",
}

PAST: Final = "Past"
"""Label beside the kind of every node of the past that a query may read; such a node is never an `Entity`, and none of
its relations touches an Entity or the Scene."""

PAST_KINDS: Final[Mapping[LiteralString, str]] = {
    "Run": "a task, a question or a session in this scene, and how it ended",
    "Step": "one step of a run: a question, a proposal, a refusal or an action",
    "PastEvent": "a change of the scene",
    "PastFact": "what was so for a time: a relation, a state or a property of one node",
    "PastNode": "stands for a node of the scene, present or gone",
}

PAST_RELATIONS: Final[Mapping[LiteralString, str]] = {
    "HAS_STEP": "from a Run to its Steps",
    "LED_TO": "from a Step to its PastEvent",
    "CHANGED": "from a PastEvent to each PastNode that it changed, moved, or gave or took something",
    "BEGAN": "from a PastEvent to each PastFact that it made so; those of the import have none",
    "ENDED": "from a PastEvent to each PastFact that it ended",
    "ABOUT": "from a PastFact to its PastNode, the source of a relation",
    "TARGET": "from a PastFact of a relation to the PastNode at its end",
}
"""Relation types of the past; none joins it with the present."""

# JSON, since each command reads it: TOML's parser takes longer to import than all of this module.
PAST_PROPERTIES: Final[Mapping[str, Mapping[str, str]]] = json.loads(Path(__file__).with_name("past.json").read_bytes())
"""Properties by kind of the past that queries may read; every other property of these kinds stays hidden.

Numbers of runs come from `(:Counter {name: 'run'})`.
"""

UNIQUE: Final[tuple[tuple[LiteralString, LiteralString, LiteralString], ...]] = (
    ("Scene", "scene_key", "n.key"),
    ("Scene", "scene_name", "n.name"),
    ("Entity", "entity_id", "n.scene, n.id"),
    ("Event", "event_version", "n.scene, n.version"),
    ("Event", "event_action", "n.scene, n.action_id"),
    ("StoredForm", "stored_form", "n.of"),
    ("RestoredRun", "restored_run", "n.scene, n.number"),
    ("Scene", "scene_past", "n.past"),
    ("Snapshot", "snapshot_part", "n.scene, n.version, n.part"),
    ("Counter", "counter_name", "n.name"),
    ("Run", "run_number", "n.number"),
    ("Step", "step_number", "n.run, n.number"),
    ("PastHead", "pasthead_scene", "n.scene"),
    ("VectorSet", "vector_set", "n.key"),
    ("Vector", "vector_id", "n.set, n.id"),
)
"""Constraints of uniqueness as (label, name, properties)."""

INDEXES: Final[tuple[tuple[LiteralString, LiteralString, LiteralString], ...]] = (
    ("Scene", "scene_status", "n.status"),
    ("Scene", "scene_copied_from", "n.copied_from"),
    ("Run", "run_scene_name", "n.scene_name, n.number"),
    ("Run", "run_touched", "n.touched"),
    ("Step", "step_scene_version", "n.scene, n.version"),
    ("PastEvent", "pastevent_version", "n.scene, n.version"),
    ("PastEvent", "pastevent_at", "n.scene, n.at"),
    ("PastFact", "pastfact_relation", "n.scene, n.relation"),
    ("PastFact", "pastfact_state", "n.scene, n.state"),
    ("PastFact", "pastfact_open", "n.scene, n._open"),
    ("PastNode", "pastnode_id", "n.scene, n.id"),
    ("PastNode", "pastnode_name", "n.scene, n.name"),
    ("PastNode", "pastnode_class", "n.scene, n.class"),
    # A belief has few seen objects among many possible ones; a world has none, so the index is empty.
    ("Object", "object_scene_seen", "n.scene, n.seen"),
)
"""Range indexes as (label, name, properties); each kind has one of the scene besides."""

PAST_HIDDEN: Final = frozenset(
    {"scene_name", "host", "pid", "started", "space", "touched", "line", "_open", "_since", "_since_at"}
)
"""Properties of the past that no query reads, besides `scene`: a generation's key.

They are the name that a run's scene had, its process and when that stored something last; `line`: the heading of a
run's log, or a step's event, as JSON; `_open`, the text by which the fact that still holds is found; and since when a
node that was removed is there again.
"""


ENTITY: Final = "Entity"
LAYER: Final = "layer"
"""The property by which a robot's map tells its layers apart."""
SCENE_KEY: Final = "scene"
RESERVED_PROPERTIES: Final = frozenset({*CORE_PROPERTIES, SCENE_KEY})

RELATION_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
PROPERTY_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
PLAIN_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
MODEL_LENGTH: Final = 200
VECTOR_SET: Final = re.compile(r"[0-9a-f]{32}|[0-9a-f]{64}")
"""The key of a set of vectors: generated, never from data."""
MAX_DIMENSION: Final = 4_096
"""The most numbers of a vector that the server compares."""


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """Vectors of a scene's nodes, such as a picture's embeddings: a name, the model that made them, and their length.

    `digest` is that of all of them, `set` the key under which the database has them; both are empty before they are
    written. Many are `indexed`: queries then read the nearest only. Raises InputError for a name, a model or a length
    that can't be.
    """

    name: str
    model: str
    dimension: int
    digest: str = ""
    set: str = ""
    indexed: bool = False

    def __post_init__(self) -> None:
        _check_name(self.name, PROPERTY_NAME, "vectors", "lower_snake_case")
        is_number = type(self.dimension) is int and type(self.indexed) is bool
        if not is_number or not 0 < self.dimension <= MAX_DIMENSION:
            dimension = short_repr(self.dimension)
            raise InputError(f"{self.name} of {dimension} numbers can't be stored: give 1 to {MAX_DIMENSION:,}")
        if not isinstance(self.model, str) or not self.model.isprintable() or len(self.model) > MODEL_LENGTH:
            raise InputError(f"{short_repr(self.model)} is no name of a model: give at most {MODEL_LENGTH} characters")


@dataclass(frozen=True, slots=True)
class Declared:
    """What one scene brings: relation types and properties beyond the registry, each name checked, and own actions.

    `actions` is a canonical JSON text (`scenecypher.importers.pddl.domain_data`), `domain` the PDDL that it was read
    from; both are empty if the scene has the actions of its vocabulary. `rules` is a canonical JSON text
    (`scenecypher.db.rules`), empty if the scene never had a rule. `vectors` are those that its nodes have.
    """

    relation_types: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    actions: str = ""
    domain: str = ""
    rules: str = ""
    vectors: tuple[VectorSpace, ...] = dataclasses.field(default=(), repr=False)

    def __post_init__(self) -> None:
        for name in self.relation_types:
            _check_name(name, RELATION_NAME, "relation type", "UPPER_SNAKE_CASE")
        for name in self.properties:
            _check_name(name, PROPERTY_NAME, "property", "lower_snake_case")
            if name in RESERVED_PROPERTIES:
                raise InputError(f"property {name!r} is reserved and can't be declared; choose another name")
        object.__setattr__(self, "relation_types", tuple(sorted({*self.relation_types} - {*RELATION_TYPES})))
        object.__setattr__(self, "properties", tuple(sorted({*self.properties} - {*EXTRA_PROPERTIES})))

    @classmethod
    def of_names(cls, names: Iterable[str]) -> Declared:
        """Return the declaration of `names`: relation types if in capitals, otherwise properties."""
        names = [*names]
        types = tuple(name for name in names if RELATION_NAME.fullmatch(name))
        return cls(types, tuple(name for name in names if name not in types))


@dataclass(frozen=True, slots=True)
class Schema:
    """The names that a query about a graph may use, and the mark of the nodes that it may read.

    `scope` is a property: a query reads the nodes that have one value of it, and never names it; empty, it reads all.
    `member` is a label that each node has, with an index of `scope`; empty if there is none. A graph that `is_scene`
    has a past, texts for times, and nodes whose `id` is unique; `vectors` are those that its nodes have. Raises
    InputError for a `scope` that is no plain name.
    """

    labels: AbstractSet[str]
    relation_types: AbstractSet[str]
    properties: AbstractSet[str]
    scope: str = ""
    member: str = ""
    is_scene: bool = False
    vectors: tuple[VectorSpace, ...] = ()

    def __post_init__(self) -> None:
        for name in ("labels", "relation_types", "properties"):
            object.__setattr__(self, name, frozenset(getattr(self, name)))
        for name in filter(None, (self.scope, self.member)):
            if not PLAIN_NAME.fullmatch(name):
                raise InputError(
                    f"{short_repr(name)} can't mark a part of a graph: use ASCII letters, digits and _, a letter first"
                )


@lru_cache(maxsize=64)
def vocabulary_of(declared: Declared) -> Schema:
    """Return the registry and the names that a scene declares; the same object for equal declarations."""
    kinds = KINDS.keys() if LAYER in declared.properties else KINDS.keys() - MAP_KINDS
    return Schema(
        labels=frozenset({ENTITY, *kinds}),
        relation_types=frozenset({*RELATION_TYPES, *declared.relation_types}),
        properties=frozenset({*CORE_PROPERTIES, *EXTRA_PROPERTIES, *declared.properties}),
        scope=SCENE_KEY,
        member=ENTITY,
        is_scene=True,
        vectors=declared.vectors,
    )


SCENES: Final = vocabulary_of(Declared())
"""The schema of a scene that declares nothing of its own."""


def definitions() -> Iterator[tuple[LiteralString, LiteralString]]:
    """Yield every constraint and index as (name, idempotent Cypher), in order of creation."""
    for label, name, keys in UNIQUE:
        yield (
            name,
            "CREATE CONSTRAINT " + name + " IF NOT EXISTS FOR (n:" + label + ") REQUIRE (" + keys + ") IS UNIQUE",
        )
    for label, name, keys in (*_indexes_by_scene(), *INDEXES):
        yield name, "CREATE INDEX " + name + " IF NOT EXISTS FOR (n:" + label + ") ON (" + keys + ")"


def _indexes_by_scene() -> Iterator[tuple[LiteralString, LiteralString, LiteralString]]:
    """Yield the index of each kind by scene, and of members by scene and name or class too."""
    for label in (ENTITY, *KINDS, PAST, *PAST_KINDS):
        stem: LiteralString = label.lower() + "_scene"
        yield label, stem, "n.scene"
        if label not in {PAST, *PAST_KINDS}:
            yield label, stem + "_name", "n.scene, n.name"
            yield label, stem + "_class", "n.scene, n.class"


def vector_label(key: str) -> LiteralString:
    """Return the label of the vectors of an indexed set, and its index's name. Raises InputError for no set's key."""
    if not VECTOR_SET.fullmatch(key):
        raise InputError(f"{short_repr(key)} is no key of vectors; import the scene again")
    label: LiteralString = "Vectors_" + cast("Any", key)
    return label


def _check_name(name: object, pattern: re.Pattern[str], what: str, style: str) -> None:
    if not isinstance(name, str) or not pattern.fullmatch(name):
        raise InputError(f"{what} {short_repr(name)} can't be declared: use {style}, ASCII, at most 64 characters")
