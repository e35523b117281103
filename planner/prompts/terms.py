"""Words of scene graphs: relations and states, a scene's own words, and the schema of an environment.

SG2 and SG-RwR have one schema text an environment, "consistent across epoches with distinct scene graphs" (SG2,
"Experimental Settings"). It is read from the vocabulary: its operators name the states, affordances and relation types.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final

from scenecypher.db.condition import HasAffordance, HasState, Related, Within
from scenecypher.db.schema import CORE_PROPERTIES, EXTRA_PROPERTIES, KINDS, MAP_KINDS, RELATION_TYPES, REMEMBERED
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.planner.actions import operator as op
from scenecypher.planner.prompts.layout import RELATION_WORDS
from scenecypher.planner.prompts.texts import prompts_beside
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named


def relation_terms(vocabulary: str, *, types: bool) -> str:
    """Return a line for each relation: by its `types`, else by LookPlanGraph's words.

    A grid has none: it has cells.
    """
    chosen = vocabulary_named(vocabulary)
    used = () if chosen.looking.whole_rooms else chosen.conventions.containment
    names = {type_: type_ if types else RELATION_WORDS.get(type_, type_.lower()) for type_ in used}
    return "\n".join(f"x {names[type_]} y: {words}" for type_, words in PROMPTS["relations"].items() if type_ in used)


def state_terms(vocabulary: str) -> str:
    """Return a line for each state that the vocabulary's actions change and whose meaning is more than its name."""
    chosen = vocabulary_named(vocabulary)
    known = PROMPTS["door_states"] if chosen.looking.whole_rooms else PROMPTS["states"]
    effects = op.simple_effects(effect for operator in chosen.operators.values() for effect in operator.effects)
    changes = [it for it in effects if isinstance(it, op.Become | op.Cease)]
    changed = {it.state for it in changes} | {it.instead_of for it in changes if isinstance(it, op.Become)}
    return "\n".join(f"{state}: {words}" for state, words in known.items() if state in changed)


def class_lists(occurring: Enumerations) -> dict[str, Collection[str]]:
    """Return the classes by kind, the places and the agents, each list under its title.

    A number stands where there are several, as the first title says; classes of places and agents that are named below
    are left out.
    """
    named = {"Places": occurring.places, "Agents": [agent.name for agent in occurring.agents]}
    told = [it.casefold() for names in named.values() for it in names]
    of_kind: dict[str, list[str]] = {}
    for use in occurring.classes:
        if use.kind not in {"Place", "Agent"} or not any(use.name.casefold() in it for it in told):
            of_kind.setdefault(use.kind, []).append(f"{use.name} {use.count}" if use.count > 1 else use.name)
    noted = (PROMPTS["classes_of"][kind] + ("" if n else ", and how many if several") for n, kind in enumerate(of_kind))
    return {**dict(zip(noted, of_kind.values(), strict=True)), **named}


def colors(occurring: Enumerations) -> Collection[str]:
    """Return the colours that occur."""
    return [str(value) for use in occurring.properties if use.name == "color" for value in use.values]


def as_lines(lists: Mapping[str, Iterable[object]]) -> str:
    """Return lists as text, a line each; empty ones are left out."""
    lines = (f"{title}: {', '.join(map(str, listed))}" for title, words in lists.items() if (listed := [*words]))
    return "\n".join(lines)


def states_given(operators: Mapping[str, op.Operator]) -> tuple[str, ...]:
    """Return the states that actions give to something."""
    effects = (it for operator in operators.values() for it in op.simple_effects(operator.effects))
    return tuple(sorted({it.state for it in effects if isinstance(it, op.Become)}))


def scene_words(occurring: Enumerations, operators: Mapping[str, op.Operator]) -> str:
    """Return the words of a scene for who asks about it and sees the agents; carrying things about changes none."""
    states = {*(use.value for use in occurring.states), *states_given(operators)}
    lists = {**class_lists(occurring), "Agents": ()}
    return as_lines({**lists, "States": sorted(states), "Colours": colors(occurring)})


PROMPTS: Final = prompts_beside(__name__)
HEADING_OF_LABELS: Final = "NODE LABELS (every node is also an :Entity)"


@cache
def environment_schema(vocabulary: str) -> str:
    """Return the schema text of a vocabulary's environment, equal for all of its scenes."""
    own = vocabulary_named(vocabulary)
    conventions, used = own.conventions, [*_parts(tuple(own.operators.values()))]
    relations = {*conventions.containment, *conventions.relations, *_relations(used)} - {*REMEMBERED}
    states = {it.state for it in used if isinstance(it, HasState | op.Become | op.Cease)}
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
            case Related() | op.Relate():
                yield part.type
            case op.Unrelate(types=types) | Within(types=types):
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
