"""Actions of the Embodied Agent Interface: sequences grounded in objects as it reads them, and sub-goals expanded."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from scenecypher.evaluation.published import data_table
from scenecypher.planner.actions.text import ActionCall

Fault: TypeAlias = Literal["parsing", "hallucination", "arguments"]
"""Reason why nothing is executed: no step can be read; an action or object does not exist; too many or too few objects.
"""

WORDS: Final = data_table("eai/words")
ACTIONS: Final[Mapping[str, tuple[str, int]]] = {
    word: (ours, count) for word, (ours, count) in WORDS["actions"].items()
}
"""Actions that the original's scorer accepts: our operator, and the number of objects.

The original's prompt also offers PLUGIN, PLUGOUT and RELEASE, which its scorer counts as hallucinations (345 in the
recorded outputs); this reproduces the published figures.
"""

MAX_CHARACTERS: Final = 100_000
"""Characters of an output that are read, in all tasks; recorded ones have at most 30,000."""
_PAIR: Final = re.compile(r'"(\w+)"\s*:\s*(\[[^\]]+\])')
_BLANKS: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class GroundedStep:
    """Step of a plan: the source's word for the action, and our action with the objects' ids."""

    word: str
    call: ActionCall


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Output that is not executed, with the reason."""

    fault: Fault
    why: str


def ground_plan(output: str, objects: Mapping[str, Mapping[int, str]]) -> tuple[GroundedStep, ...] | Unreadable:
    """Return the plan in an output; `objects` maps the relevant classes and the source's numbers to node ids.

    The text is a JSON-like object with repeated keys, maybe fenced, maybe in single quotes. As in the original, only
    pairs with non-empty brackets are steps, wherever they occur: ``"STANDUP": []`` is no step, and a trailing comma is
    harmless. A name refers to the relevant object of that class with the largest number; newer outputs have the number
    after the name.
    """
    if len(output) > MAX_CHARACTERS:
        return Unreadable("parsing", f"over {MAX_CHARACTERS:,} characters")
    try:
        pairs = [*_pairs(output)]
    except (ValueError, RecursionError):
        pairs = []
    if not pairs:
        return Unreadable("parsing", "no step can be read, or what stands in one's brackets is no JSON list")
    unknown = next((word for word, _ in pairs if word.upper() not in ACTIONS), None)
    if unknown is not None:
        return Unreadable("hallucination", f"there is no action {unknown[:60]!r}")
    ids = [_object_ids(named, objects) for _, named in pairs]
    if lost := next((it for it in ids if isinstance(it, str)), None):
        return Unreadable("hallucination", f"no object of the task is called {lost}")
    steps = [(word, *ACTIONS[word.upper()], arguments) for (word, _), arguments in zip(pairs, ids, strict=True)]
    for word, _, number, arguments in steps:
        if len(arguments) != number:
            return Unreadable("arguments", f"{word} takes {number} objects, not {len(arguments)}")
    return tuple(GroundedStep(word.upper(), ActionCall(name, tuple(arguments))) for word, name, _, arguments in steps)


def _pairs(output: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield the pairs of a word and a list. Raises ValueError, RecursionError for an invalid list."""
    for word, listed in _PAIR.findall(_BLANKS.sub(" ", output.replace("\n", "").replace("'", '"'))):
        yield word, json.loads(listed)


def _object_ids(named: Sequence[Any], objects: Mapping[str, Mapping[int, str]]) -> list[str] | str:
    """Return the ids of the nodes that a step names, by class alone or by class and number; or a name of none."""
    with_numbers = len(named) % 2 == 0 and any(parse_object_number(item) is not None for item in named[1::2])
    wanted = list(zip(named[::2], named[1::2], strict=True)) if with_numbers else [(name, None) for name in named]
    ids: list[str] = []
    for name, number in wanted:
        numbered = objects.get(name, {}) if isinstance(name, str) else {}
        key = max(numbered, default=None) if number is None else parse_object_number(number)
        if key is None or key not in numbered:
            return str(name if number is None else f"{name} {number}")[:60] or "nothing"
        ids.append(numbered[key])
    return ids


def parse_object_number(item: Any) -> int | None:
    """Return the number that an object is written with; None if the item is not a number."""
    if isinstance(item, str) and item.isascii() and item.isdecimal() and len(item) < 18:
        return int(item)
    return item if isinstance(item, int) and not isinstance(item, bool) else None


Expansions: TypeAlias = tuple[tuple[GroundedStep, ...], ...]
"""Alternative sequences of actions that achieve a sub-goal; if there are none, the sub-goal is skipped."""

STATE_ACTIONS: Final[Mapping[str, Sequence[str]]] = WORDS["states"]
"""Actions that produce a state once the object is found; other states are skipped."""

ARITY, ACTION_ARITY = (
    {word: int(count) for count, words in WORDS[kind].items() for word in words}
    for kind in ("words", "subgoal_actions")
)
"""Numbers of objects of a property, state or relation, and of actions that may be sub-goals."""
SUBGOALS: Final[Mapping[str, int]] = {**ARITY, **ACTION_ARITY}
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
        case "ONTOP" if x == agent:
            return tuple((_ground("FIND", y), _ground(action, y)) for action in ("SIT", "LIE"))
        case "INSIDE" if x == agent:
            return ((_ground("WALK", y),),)
        case "ONTOP" if y == agent:
            return ((_ground("PUTON", x),),)
        case "ONTOP" | "INSIDE":
            fetched = () if holds(x) else (_ground("FIND", x), _ground("GRAB", x))
            brought = (*fetched, _ground("FIND", y))
            return tuple((*brought, _ground(action, x, y)) for action in PLACING_ACTIONS[name])
        case _ if name in RELATION_ACTIONS and (x == agent or name != "NEXT_TO"):
            return ((_ground("FIND", y), *(_ground(action, y) for action in RELATION_ACTIONS[name])),)
        case _:
            return ()


def _ground(word: str, *ids: str) -> GroundedStep:
    operator = PLUG_OPERATORS.get(word) or ACTIONS[word][0]
    return GroundedStep(word, ActionCall(operator, ids))
