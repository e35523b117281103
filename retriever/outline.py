"""The content of a schema text before formatting: names, counts and explanations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from scenecypher.db.schema import (
    CORE_PROPERTIES,
    EXTRA_PROPERTIES,
    KINDS,
    LAYER,
    MAP_KINDS,
    RELATION_TYPES,
    REMEMBERED,
)
from scenecypher.db.store.enumerations import DENSE, AgentUse, ClassUse, Enumerations, Pattern, PropertyUse, literal
from scenecypher.db.vocabulary import conventions_of
from scenecypher.retriever.notes import MAP_INTERNALS, MAP_MEANINGS, MAP_NOTES, MEANINGS, PATH_NOTES

EXAMPLES_A_KIND: Final = 3
PLACES: Final = 12
_DENSE: Final = "; between almost all neighbours"
LISTED: Final = ("classes", "states", "affordances", "patterns", "properties", "agents")

WordCounts = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Outline:
    """The content of a schema text. Pairs are (word, count) or (word, meaning)."""

    labels: tuple[tuple[str, int, str], ...]
    properties: tuple[tuple[str, str], ...]
    patterns: WordCounts
    meanings: tuple[tuple[str, str], ...]
    unused: tuple[str, ...]
    classes: tuple[tuple[str, WordCounts], ...]
    states: WordCounts
    affordances: WordCounts
    examples: tuple[tuple[str, str], ...]
    agents: tuple[str, ...]
    notes: tuple[str, ...]
    left_off: WordCounts


def outline(shown: Enumerations, whole: Enumerations, *, vocabulary: str) -> Outline:
    """Return the outline of `shown`, the part of `whole` that fits; `vocabulary` the name that the scene stores."""
    counts = dict(shown.kinds)
    is_map = is_robot_map(whole)
    kinds = {kind: meaning for kind, meaning in KINDS.items() if kind in counts or kind not in MAP_KINDS}
    uses = [use for use in shown.properties if not (is_map and _is_internal(use))]
    meanings: Mapping[str, str] = {**MEANINGS, **(MAP_MEANINGS if is_map else {}), **EXTRA_PROPERTIES}
    return Outline(
        labels=tuple((kind, counts.get(kind, 0), meaning) for kind, meaning in kinds.items()),
        properties=(*CORE_PROPERTIES.items(), *((use.name, _property(use, meanings)) for use in uses)),
        patterns=tuple((pattern_text(pattern), pattern.count) for pattern in shown.patterns),
        meanings=_meanings(shown.patterns),
        unused=_unused(whole.patterns),
        classes=_by_kind(shown.classes),
        states=tuple((use.value, use.count) for use in shown.states),
        affordances=tuple((use.value, use.count) for use in shown.affordances),
        examples=_examples(shown, conventions_of(vocabulary).structure),
        agents=tuple(map(agent_words, shown.agents)),
        notes=(*conventions_of(vocabulary).notes, *(_map_notes(whole) if is_map else ())),
        left_off=tuple((field, n) for field in LISTED if (n := _missing(field, shown, whole))),
    )


def pattern_text(pattern: Pattern) -> str:
    """Return the pattern as Cypher: ``(:Object)-[:INSIDE]->(:Asset)``."""
    return f"(:{pattern.source})-[:{pattern.type}]->(:{pattern.target})"


def _missing(field: str, shown: Enumerations, whole: Enumerations) -> int:
    return len(getattr(whole, field)) - len(getattr(shown, field))


def is_robot_map(scene: Enumerations) -> bool:
    """Check if a scene is a 3D scene graph as a robot maps it."""
    return {LAYER, "node_type"} <= {use.name for use in scene.properties}


def _map_notes(scene: Enumerations) -> tuple[str, ...]:
    """Return the notes for a map; of a robot's path only where there is one."""
    has_path = any(use.name == "path" for use in scene.properties)
    return (*MAP_NOTES, *(PATH_NOTES if has_path else ()))


def _is_internal(use: PropertyUse) -> bool:
    """Check if a map's property says nothing to a model: one for the map's software, or one value for all, no list."""
    return use.name in MAP_INTERNALS or (len(use.values) == 1 and use.name != LAYER and not use.is_list)


def _property(use: PropertyUse, meanings: Mapping[str, str]) -> str:
    meaning = meanings.get(use.name, " or ".join(use.types))
    values = f": {'some' if use.is_list else 'one'} of {', '.join(map(literal, use.values))}" if use.values else ""
    return f"{meaning}; on {use.count:,} nodes{values}"


def _meanings(patterns: Iterable[Pattern]) -> tuple[tuple[str, str], ...]:
    occurring = {pattern.type for pattern in patterns}
    known = {name: f"{meaning}{_DENSE if name == DENSE else ''}" for name, meaning in RELATION_TYPES.items()}
    return tuple((name, meaning) for name, meaning in known.items() if name in occurring)


def _unused(patterns: Iterable[Pattern]) -> tuple[str, ...]:
    occurring = {pattern.type for pattern in patterns} | {*REMEMBERED}
    return tuple(name for name in RELATION_TYPES if name not in occurring)


def _by_kind(classes: Iterable[ClassUse]) -> tuple[tuple[str, WordCounts], ...]:
    found: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for use in classes:
        found[use.kind].append((use.name, use.count))
    return tuple((kind, tuple(found[kind])) for kind in KINDS if kind in found)


def _examples(shown: Enumerations, structure: Container[str]) -> tuple[tuple[str, str], ...]:
    places = tuple((name, "Place") for name in shown.places[:PLACES])
    return places + tuple(
        (use.example, kind)
        for kind in KINDS
        if kind not in {"Place", "Agent"}
        for use in _most_frequent(use for use in shown.classes if use.kind == kind and use.name not in structure)
    )


def _most_frequent(classes: Iterable[ClassUse]) -> list[ClassUse]:
    return sorted(classes, key=lambda use: (-use.count, use.name))[:EXAMPLES_A_KIND]


def agent_words(use: AgentUse) -> str:
    """Return where an agent is and what it holds."""
    where = f" is INSIDE {', '.join(use.places)}" if use.places else " is in no place"
    held = ", ".join(f"{kind} {name}" for kind, name in use.holds) or "holds nothing"
    return f"{use.name} (class {use.class_}){where} and {held}"
