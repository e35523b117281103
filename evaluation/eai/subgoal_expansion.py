"""How the Embodied Agent Interface brings a sub-goal about: its actions for each state, relation and action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from scenecypher.evaluation.eai.grounding import ACTIONS, Planned
from scenecypher.planner.actions.text import ActionCall

Ways: TypeAlias = tuple[tuple[Planned, ...], ...]
"""Ways to bring a sub-goal about, each a few actions in order. None at all: the sub-goal is passed over."""

STATES: Final[Mapping[str, tuple[str, ...]]] = {
    "CLOSED": ("CLOSE",),
    "OPEN": ("OPEN",),
    "ON": ("SWITCHON",),
    "OFF": ("SWITCHOFF",),
    "CLEAN": ("WIPE", "WASH"),
    "PLUGGED_IN": ("PLUGIN",),
    "PLUGGED_OUT": ("PLUGOUT",),
}
"""The actions of which one brings a state about, once the thing is found. Other states are passed over."""

ARITY: Final[Mapping[str, int]] = {
    **dict.fromkeys(
        (
            *("GRABBABLE", "CUTTABLE", "CAN_OPEN", "READABLE", "HAS_PAPER", "MOVABLE", "POURABLE", "CREAM"),
            *("HAS_SWITCH", "LOOKABLE", "HAS_PLUG", "DRINKABLE", "BODY_PART", "RECIPIENT", "CONTAINERS"),
            *("COVER_OBJECT", "SURFACES", "SITTABLE", "LIEABLE", "PERSON", "HANGABLE", "CLOTHES", "EATABLE"),
            *("CLOSED", "OPEN", "ON", "OFF", "SITTING", "DIRTY", "CLEAN", "LYING", "PLUGGED_IN", "PLUGGED_OUT"),
        ),
        1,
    ),
    **dict.fromkeys(("ONTOP", "INSIDE", "BETWEEN", "NEXT_TO", "FACING", "HOLDS_RH", "HOLDS_LH"), 2),
}
"""Objects that a property, state or relation is about."""

DEEDS: Final[Mapping[str, int]] = {
    **dict.fromkeys(
        (
            *("DRINK", "EAT", "CUT", "TOUCH", "LOOKAT", "WATCH", "READ", "TYPE", "PUSH", "PULL", "MOVE", "SQUEEZE"),
            *("RINSE", "SCRUB", "WASH", "WIPE", "GRAB", "SWITCHOFF"),
        ),
        1,
    ),
    "SLEEP": 0,
    "WAKEUP": 0,
}
"""Actions that may be sub-goals, and the objects that each is done with."""
WITH_HELD: Final = ("DRINK", "EAT", "READ")
WITH_A_LOOK: Final = ("LOOKAT", "WATCH")
LAYING: Final[Mapping[str, tuple[str, ...]]] = {"ONTOP": ("PUTBACK",), "INSIDE": ("PUTIN", "POUR")}
NEARNESS: Final[Mapping[str, tuple[str, ...]]] = {
    "NEXT_TO": (),
    "FACING": ("TURNTO",),
    "HOLDS_RH": ("GRAB",),
    "HOLDS_LH": ("GRAB",),
}
"""What is done with the second thing once it is found; being next to is for the agent alone."""
PLUGGING: Final = {"PLUGIN": "plug_in", "PLUGOUT": "plug_out"}


def ways(name: str, ids: tuple[str, ...], *, agent: str, holds: Callable[[str], bool]) -> Ways:
    """The ways to bring about one sub-goal on these nodes; `holds` tells whether the agent has a thing in hand now."""
    match ids:
        case _ if name in DEEDS:
            return (_deed(name, ids, holds),)
        case (x,):
            return tuple((_do("FIND", x), _do(action, x)) for action in STATES.get(name, ()))
        case (x, y):
            return _relation(name, x, y, agent=agent, holds=holds)
        case _:
            return ()


def _deed(name: str, ids: tuple[str, ...], holds: Callable[[str], bool]) -> tuple[Planned, ...]:
    done = _do(name, *ids)
    if not ids:
        return (done,)
    if name in WITH_HELD and not holds(ids[0]):
        return (_do("FIND", ids[0]), _do("GRAB", ids[0]), done)
    if name in WITH_A_LOOK:
        return (_do("FIND", ids[0]), _do("TURNTO", ids[0]), done)
    return (*(_do("FIND", x) for x in ids), done)


def _relation(name: str, x: str, y: str, *, agent: str, holds: Callable[[str], bool]) -> Ways:
    match name:
        case "ONTOP" | "INSIDE" if x == agent:
            return _go(name, y)
        case "ONTOP" if y == agent:
            return ((_do("PUTON", x),),)
        case "ONTOP" | "INSIDE":
            brought = (*_in_hand(x, holds), _do("FIND", y))
            return tuple((*brought, _do(action, x, y)) for action in LAYING[name])
        case _ if name in NEARNESS and (x == agent or name != "NEXT_TO"):
            return ((_do("FIND", y), *(_do(action, y) for action in NEARNESS[name])),)
        case _:
            return ()


def _go(name: str, y: str) -> Ways:
    """The agent itself on or inside a thing."""
    return (
        tuple((_do("FIND", y), _do(action, y)) for action in ("SIT", "LIE"))
        if name == "ONTOP"
        else ((_do("WALK", y),),)
    )


def _in_hand(x: str, holds: Callable[[str], bool]) -> tuple[Planned, ...]:
    return () if holds(x) else (_do("FIND", x), _do("GRAB", x))


def _do(word: str, *ids: str) -> Planned:
    operator = PLUGGING.get(word) or ACTIONS[word][0]
    return Planned(word, ActionCall(operator, ids))
