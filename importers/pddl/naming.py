"""The forms of predicates and types that no mapping names: what their names and a scene's own words suggest."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from scenecypher.importers.pddl.forms import FactForm, SceneWords

AGENT_TYPES: Final = frozenset({"agent", "robot"})
HELD: Final = ("holding", "holds", "hold", "carrying", "carry", "agent-hold", "agent-holds", "robot-holds", "in-hand")
AGENT_PLACE: Final = ("robot-in", "robot-at", "agent-in", "agent-at", "at-robot", "at-robby", "at-agent")
EMPTY_HAND: Final = ("hand-empty", "handempty", "arm-empty", "gripper-empty")
REGISTERED: Final[Mapping[str, tuple[str, ...]]] = {
    "INSIDE": ("inside", "in", "at"),
    "ON": ("on", "ontop", "on-top", "on-top-of"),
    "UNDER": ("under",),
    "ATTACHED_TO": ("attached-to", "attached"),
}
"""Predicates of two arguments by the relation that they are; of several in one domain the first is it."""
KIND_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("room", "place", "location", "area"), "Place"),
    **dict.fromkeys(("furniture", "appliance", "asset"), "Asset"),
    **dict.fromkeys(("item", "thing", "movable"), "Object"),
    "door": "Door",
    **dict.fromkeys(AGENT_TYPES, "Agent"),
}
STATES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("opened", "is-open"), "open"),
    **dict.fromkeys(("is-closed", "shut"), "closed"),
    **dict.fromkeys(("switched-on", "turned-on", "is-on", "on-state"), "on"),
    **dict.fromkeys(("switched-off", "turned-off", "is-off", "off-state"), "off"),
}
OPPOSITES: Final[Mapping[str, str]] = {"open": "closed", "closed": "open", "on": "off", "off": "on"}
_BREAK: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate: the types of its arguments, each with its subtypes, and its line; `changed` by some action."""

    name: str
    types: tuple[frozenset[str], ...]
    line: int
    changed: bool


def forms_by_name(
    predicates: Iterable[Predicate], words: SceneWords, *, agent_types: Collection[str], hands_agree: bool
) -> dict[str, FactForm | None]:
    """Return the form of each predicate, None where none can hold it: it has over two arguments.

    `words` are those of the scene that the actions are for. With `hands_agree`, every action that takes or puts
    something says the same of the empty hand, which therefore need not be stored.
    """
    known = {predicate.name: predicate for predicate in predicates}
    registered = {
        next((name for name in names if name in known and len(known[name].types) == 2), None): relation
        for relation, names in REGISTERED.items()
    }

    inside = known.get(next((name for name, relation in registered.items() if relation == "INSIDE"), None) or "")
    own_place = inside is None or bool(inside.types[0]) and not inside.types[0] & set(agent_types)

    def form(predicate: Predicate) -> FactForm | None:
        name = predicate.name
        of_agent = [bool(types) and types <= set(agent_types) for types in predicate.types]
        match len(predicate.types):
            case 0 | 1 if name in EMPTY_HAND and hands_agree and all(of_agent):
                return FactForm("holds nothing", of_agent=not of_agent)
            case 0:
                return FactForm("state", state_name(name), of_agent=True)
            case 1 if name in AGENT_PLACE and not all(of_agent):
                return FactForm("relation", "INSIDE", of_agent=True)
            case 1 if name in HELD and not all(of_agent):
                return FactForm("relation", "HOLDS", of_agent=True)
            case 1:
                return _unary(predicate, words, others=known)
            case 2 if name in AGENT_PLACE and of_agent[0] and own_place:
                return FactForm("relation", "INSIDE")
            case 2 if name in HELD and any(of_agent):
                return FactForm("relation", "HOLDS", reverse=of_agent[1])
            case 2:
                return FactForm("relation", registered.get(name) or relation_name(name))
        return None

    return {name: form(predicate) for name, predicate in known.items()}


def type_forms(type_: str, words: SceneWords) -> tuple[FactForm, ...]:
    """Return the forms of a type: the scene's classes of this name, else a kind of this name, else its own class."""
    classes = [word for word in sorted(words.classes) if _plain(word) == _plain(type_)]
    if classes:
        return tuple(FactForm("class", word) for word in classes)
    if words.classes and type_ in KIND_WORDS:
        return (FactForm("kind", KIND_WORDS[type_]),)
    return (FactForm("class", type_),)


def state_name(name: str) -> str:
    """Return a predicate's name as a state: ``hand_empty``."""
    return _BREAK.sub("_", name).strip("_") or "state"


def relation_name(name: str) -> str:
    """Return a predicate's name as a relation type: ``CONNECTED_TO``."""
    found = _BREAK.sub("_", name).strip("_").upper()
    return found if found[:1].isalpha() else f"R_{found}"


def _unary(predicate: Predicate, words: SceneWords, *, others: Mapping[str, Predicate]) -> FactForm:
    """Return the form of a predicate of one argument: what it never changes may be a class, affordance or kind."""
    name = predicate.name
    if not predicate.changed:
        for affordance in sorted(words.affordances):
            if _plain(affordance) == _plain(name):
                return FactForm("affordance", affordance)
        forms = type_forms(name, words)
        if words.classes and (forms[0].how == "kind" or forms[0].word in words.classes):
            return forms[0]
    state = STATES.get(name, state_name(name)) if words.classes else state_name(name)
    opposite = OPPOSITES.get(state)
    paired = opposite is not None and {state, opposite} & words.states
    told_apart = any(STATES.get(other, state_name(other)) == opposite for other in others)
    return FactForm("state", state, otherwise=opposite if paired and not told_apart else None)


def _plain(word: str) -> str:
    return _BREAK.sub("", word.casefold())
