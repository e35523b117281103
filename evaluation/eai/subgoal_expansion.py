"""Expansion of sub-goals into actions, as in the Embodied Agent Interface, for each state, relation and action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from scenecypher.evaluation.eai.grounding import ACTIONS, GroundedStep
from scenecypher.planner.actions.text import ActionCall

Expansions: TypeAlias = tuple[tuple[GroundedStep, ...], ...]
"""Alternative sequences of actions that achieve a sub-goal; if there are none, the sub-goal is skipped."""

STATE_ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "CLOSED": ("CLOSE",),
    "OPEN": ("OPEN",),
    "ON": ("SWITCHON",),
    "OFF": ("SWITCHOFF",),
    "CLEAN": ("WIPE", "WASH"),
    "PLUGGED_IN": ("PLUGIN",),
    "PLUGGED_OUT": ("PLUGOUT",),
}
"""Actions that produce a state once the object is found; other states are skipped."""

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
"""Number of objects of a property, state or relation."""

ACTION_ARITY: Final[Mapping[str, int]] = {
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
"""Actions that may be sub-goals, with their numbers of objects."""
NEEDS_GRAB: Final = ("DRINK", "EAT", "READ")
NEEDS_TURN: Final = ("LOOKAT", "WATCH")
PLACING_ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {"ONTOP": ("PUTBACK",), "INSIDE": ("PUTIN", "POUR")}
RELATION_ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "NEXT_TO": (),
    "FACING": ("TURNTO",),
    "HOLDS_RH": ("GRAB",),
    "HOLDS_LH": ("GRAB",),
}
"""Actions done with the second object once it is found; NEXT_TO is for the agent only."""
PLUG_OPERATORS: Final = {"PLUGIN": "plug_in", "PLUGOUT": "plug_out"}


def expand(name: str, ids: tuple[str, ...], *, agent: str, holds: Callable[[str], bool]) -> Expansions:
    """Return the expansions of one sub-goal on these nodes; `holds` tells whether the agent holds an object now."""
    match ids:
        case _ if name in ACTION_ARITY:
            return (_action_steps(name, ids, holds),)
        case (x,):
            return tuple((_ground("FIND", x), _ground(action, x)) for action in STATE_ACTIONS.get(name, ()))
        case (x, y):
            return _expand_relation(name, x, y, agent=agent, holds=holds)
        case _:
            return ()


def _action_steps(name: str, ids: tuple[str, ...], holds: Callable[[str], bool]) -> tuple[GroundedStep, ...]:
    done = _ground(name, *ids)
    if not ids:
        return (done,)
    if name in NEEDS_GRAB and not holds(ids[0]):
        return (_ground("FIND", ids[0]), _ground("GRAB", ids[0]), done)
    if name in NEEDS_TURN:
        return (_ground("FIND", ids[0]), _ground("TURNTO", ids[0]), done)
    return (*(_ground("FIND", x) for x in ids), done)


def _expand_relation(name: str, x: str, y: str, *, agent: str, holds: Callable[[str], bool]) -> Expansions:
    match name:
        case "ONTOP" | "INSIDE" if x == agent:
            return _move_agent(name, y)
        case "ONTOP" if y == agent:
            return ((_ground("PUTON", x),),)
        case "ONTOP" | "INSIDE":
            brought = (*_fetch_unless_held(x, holds), _ground("FIND", y))
            return tuple((*brought, _ground(action, x, y)) for action in PLACING_ACTIONS[name])
        case _ if name in RELATION_ACTIONS and (x == agent or name != "NEXT_TO"):
            return ((_ground("FIND", y), *(_ground(action, y) for action in RELATION_ACTIONS[name])),)
        case _:
            return ()


def _move_agent(name: str, y: str) -> Expansions:
    """Return the expansions that bring the agent itself onto or into an object."""
    return (
        tuple((_ground("FIND", y), _ground(action, y)) for action in ("SIT", "LIE"))
        if name == "ONTOP"
        else ((_ground("WALK", y),),)
    )


def _fetch_unless_held(x: str, holds: Callable[[str], bool]) -> tuple[GroundedStep, ...]:
    return () if holds(x) else (_ground("FIND", x), _ground("GRAB", x))


def _ground(word: str, *ids: str) -> GroundedStep:
    operator = PLUG_OPERATORS.get(word) or ACTIONS[word][0]
    return GroundedStep(word, ActionCall(operator, ids))
