"""The schema of an environment: what any of its scenes may hold, without counts or classes of one scene.

SG2 and SG-RwR have one schema text an environment, "consistent across epoches with distinct scene graphs" (SG2,
"Experimental Settings"). It is read from the vocabulary: its operators name the states, affordances and relation types.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final

from scenecypher.db.condition import HasAffordance, HasState, Related, Within
from scenecypher.db.schema import CORE_PROPERTIES, EXTRA_PROPERTIES, KINDS, MAP_KINDS, RELATION_TYPES, REMEMBERED
from scenecypher.planner.actions.operator import Become, Cease, Relate, Unrelate
from scenecypher.planner.vocabularies.registry import vocabulary_named

HEADING_OF_LABELS: Final = "NODE LABELS (every node is also an :Entity)"


@cache
def environment_schema(vocabulary: str) -> str:
    """Return the schema text of a vocabulary's environment, equal for all of its scenes."""
    own = vocabulary_named(vocabulary)
    conventions, used = own.conventions, [*_parts(tuple(own.operators.values()))]
    relations = {*conventions.containment, *conventions.relations, *_relations(used)} - {*REMEMBERED}
    states = {it.state for it in used if isinstance(it, HasState | Become | Cease)}
    affordances = {it.affordance for it in used if isinstance(it, HasAffordance)}
    properties = {**CORE_PROPERTIES, **{name: EXTRA_PROPERTIES[name] for name in conventions.properties}}
    sections = (
        (HEADING_OF_LABELS, [f"(:{kind}): {words}" for kind, words in KINDS.items() if kind not in MAP_KINDS]),
        ("PROPERTIES", [f"{name}: {words}" for name, words in properties.items()]),
        ("RELATIONS", [f"{name}: {words}" for name, words in RELATION_TYPES.items() if name in relations]),
        ("VALUES of class", [", ".join(conventions.classes)]),
        ("VALUES in states", [", ".join(sorted(states))]),
        ("VALUES in affordances", [", ".join(sorted(affordances))]),
        ("NOTES", [*conventions.notes]),
    )
    return "\n".join("\n".join((title, *lines)) for title, lines in sections if any(lines))


def _relations(used: list[Any]) -> Iterator[str]:
    """Yield the relation types that conditions and effects name."""
    for part in used:
        match part:
            case Related() | Relate():
                yield part.type
            case Unrelate(types=types) | Within(types=types):
                yield from types
            case _:
                pass


def _parts(value: Any) -> Iterator[Any]:
    """Yield all conditions and effects within a value of operators."""
    if isinstance(value, tuple):
        for each in value:
            yield from _parts(each)
    elif is_dataclass(value):
        yield value
        for field in fields(value):
            yield from _parts(getattr(value, field.name))
