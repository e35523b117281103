"""Parser of action sequences as the Embodied Agent Interface reads them, with names grounded in objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from scenecypher.planner.actions.text import ActionCall

Fault: TypeAlias = Literal["parsing", "hallucination", "arguments"]
"""Reason why nothing is executed: no step can be read; an action or object does not exist; too many or too few objects.
"""

ACTIONS: Final[Mapping[str, tuple[str, int]]] = {
    "CLOSE": ("close", 1),
    "CUT": ("cut", 1),
    "DRINK": ("drink", 1),
    "DROP": ("drop", 1),
    "EAT": ("eat", 1),
    "FIND": ("find", 1),
    "GRAB": ("grab", 1),
    "GREET": ("greet", 1),
    "LIE": ("lie", 1),
    "LOOKAT": ("look_at", 1),
    "LOOKAT_LONG": ("look_at", 1),
    "LOOKAT_MEDIUM": ("look_at", 1),
    "LOOKAT_SHORT": ("look_at", 1),
    "MOVE": ("move", 1),
    "OPEN": ("open", 1),
    "POINTAT": ("point_at", 1),
    "POUR": ("pour", 2),
    "PULL": ("pull", 1),
    "PUSH": ("push", 1),
    "PUTBACK": ("put_on", 2),
    "PUTIN": ("put_in", 2),
    "PUTOBJBACK": ("put_back", 1),
    "PUTOFF": ("put_off", 1),
    "PUTON": ("wear", 1),
    "READ": ("read", 1),
    "RINSE": ("rinse", 1),
    "RUN": ("run", 1),
    "SCRUB": ("scrub", 1),
    "SIT": ("sit", 1),
    "SLEEP": ("sleep", 0),
    "SQUEEZE": ("squeeze", 1),
    "STANDUP": ("stand_up", 0),
    "SWITCHOFF": ("switch_off", 1),
    "SWITCHON": ("switch_on", 1),
    "TOUCH": ("touch", 1),
    "TURNTO": ("turn_to", 1),
    "TYPE": ("type", 1),
    "WAKEUP": ("wake_up", 0),
    "WALK": ("walk", 1),
    "WASH": ("wash", 1),
    "WATCH": ("watch", 1),
    "WIPE": ("wipe", 1),
}
"""Actions that the original's scorer accepts: our operator, and the number of objects.

The original's prompt also offers PLUGIN, PLUGOUT and RELEASE, which its scorer counts as hallucinations (345 in the
recorded outputs); this reproduces the published figures.
"""

MAX_CHARACTERS: Final = 100_000
"""Characters of an output; the longest recorded one has about a thousand."""
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
        return Unreadable("parsing", "what stands in a step's brackets is no JSON list")
    if not pairs:
        return Unreadable("parsing", "no step can be read")
    unknown = next((word for word, _ in pairs if word.upper() not in ACTIONS), None)
    if unknown is not None:
        return Unreadable("hallucination", f"there is no action {unknown[:60]!r}")
    try:
        ids = [_object_ids(named, objects) for _, named in pairs]
    except _UnknownObject as error:
        return Unreadable("hallucination", f"no object of the task is called {error}")
    return _build_steps([word for word, _ in pairs], ids)


def _pairs(output: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield the pairs of a word and a list. Raises ValueError, RecursionError for an invalid list."""
    for word, listed in _PAIR.findall(_BLANKS.sub(" ", output.replace("\n", "").replace("'", '"'))):
        yield word, json.loads(listed)


class _UnknownObject(Exception):
    """A step names an object that the task does not have."""


def _object_ids(named: Sequence[Any], objects: Mapping[str, Mapping[int, str]]) -> tuple[str, ...]:
    """Return the ids of the nodes that a step names, by class alone or by class and number. Raises _UnknownObject."""
    with_numbers = len(named) % 2 == 0 and any(parse_object_number(item) is not None for item in named[1::2])
    wanted = list(zip(named[::2], named[1::2], strict=True)) if with_numbers else [(name, None) for name in named]
    ids: list[str] = []
    for name, number in wanted:
        numbered = objects.get(name, {}) if isinstance(name, str) else {}
        key = max(numbered, default=None) if number is None else parse_object_number(number)
        if key is None or key not in numbered:
            raise _UnknownObject(str(name if number is None else f"{name} {number}")[:60])
        ids.append(numbered[key])
    return tuple(ids)


def parse_object_number(item: Any) -> int | None:
    """Return the number that an object is written with; None if the item is not a number."""
    if isinstance(item, str) and item.isascii() and item.isdecimal() and len(item) < 18:
        return int(item)
    return item if isinstance(item, int) and not isinstance(item, bool) else None


def _build_steps(words: Sequence[str], ids: Sequence[tuple[str, ...]]) -> tuple[GroundedStep, ...] | Unreadable:
    plan: list[GroundedStep] = []
    for word, arguments in zip(words, ids, strict=True):
        operator, number = ACTIONS[word.upper()]
        if len(arguments) != number:
            return Unreadable("arguments", f"{word} takes {number} objects, not {len(arguments)}")
        plan.append(GroundedStep(word.upper(), ActionCall(operator, arguments)))
    return tuple(plan)
