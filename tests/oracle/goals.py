"""Scripted models that state goals: right, by class, wrong at first, partly, or wrong for good."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from scenecypher.chat.model import Message

WORDS: Final = {"on": "ON", "inside": "INSIDE", "under": "UNDER", "attached to": "ATTACHED_TO"}
FACT: Final = re.compile(r"(\S+) is (?:(on|inside|under|attached to) (?:the )?(\S+)|(\w+))")
DESIRED: Final = re.compile(r"([a-z]+) (?:(ON|INSIDE|UNDER|ATTACHED_TO) ([a-z]+)|([A-Z_]+))")


Fact: TypeAlias = tuple[str, str, str]
"""What a fact is about, the words after it, and what it is related to, if anything."""


def _facts(messages: Sequence[Message]) -> list[Fact]:
    """Return the facts of an instruction in the goal's own words, such as ``cup-1 is on table-1; lamp-1 is on``."""
    found = [FACT.fullmatch(part) for part in _instruction(messages).split("; ")]
    return [_fact(it[1], WORDS.get(it[2]), it[3], it[4]) for it in found if it]


def _desired(messages: Sequence[Message]) -> list[Fact]:
    """Return the facts of desired states of classes, such as ``breadslice INSIDE toaster, breadslice HEATED``."""
    found = [DESIRED.fullmatch(part) for part in _instruction(messages).split(", ")]
    return [_fact(*it.groups()) for it in found if it]


def _instruction(messages: Sequence[Message]) -> str:
    return messages[1].text.removeprefix("Instruction: ")


def _fact(what: str, relation: str | None, to: str | None, state: str | None) -> Fact:
    return (what, relation or f"is {state}", to or "")


def _reply(facts: Sequence[Fact], variables: Sequence[str] = ()) -> str:
    goal = [*variables, *(" ".join(filter(None, fact)) for fact in facts)]
    return json.dumps({"reason": "as it is asked", "impossible": False, "goal": goal})


def _class_of(id_: str) -> str:
    return re.sub(r"[-_]\d+$", "", id_)


def right(messages: Sequence[Message]) -> str:
    """State the goal by ids, or desired states by classes; keep it if it is shown what that matches."""
    return _kept(messages) or (_by_class(desired) if (desired := _desired(messages)) else _reply(_facts(messages)))


def by_class(messages: Sequence[Message]) -> str:
    """State the goal by the classes of its things; by their ids if several match."""
    facts = _facts(messages)
    return _reply(facts) if _kept(messages) else _by_class(facts)


def _by_class(facts: Sequence[Fact]) -> str:
    names = {it: f"v{number}" for number, it in enumerate(dict.fromkeys(what for what, _, _ in facts))}
    variables: list[str] = []
    for number, (id_, name) in enumerate(names.items()):
        same = [names[other] for other in [*names][:number] if _class_of(other) == _class_of(id_)]
        others = f" other than {', '.join(same)}" if same else ""
        variables.append(f"{name}: one {_class_of(id_)}{others}")
    return _reply([(names[what], words, names.get(to, to)) for what, words, to in facts], variables)


def wrong_first(messages: Sequence[Message]) -> str:
    """Name things that the scene does not have, then state the right goal."""
    facts = _facts(messages)
    return right(messages) if len(messages) > 2 else _reply([(f"{what}x", words, to) for what, words, to in facts])


def ambiguous(messages: Sequence[Message]) -> str:
    """State the goal by class, and keep it whatever it matches."""
    return _kept(messages) or by_class(messages)


def partial(messages: Sequence[Message]) -> str:
    """Leave out the last of several facts."""
    facts = _facts(messages)
    return _reply(facts[: max(1, len(facts) - 1)])


def wrong(messages: Sequence[Message]) -> str:
    """State the opposite of the first fact, which holds already."""
    (what, words, to), *_ = _facts(messages)
    return _reply([(f"not {what}", words, to)])


def _kept(messages: Sequence[Message]) -> str:
    """Return the goal that was stated before, if it is shown what that matches."""
    return messages[-2].text if "that goal matches:" in messages[-1].text else ""


GOALS: Final[Mapping[str, Callable[[Sequence[Message]], str]]] = {
    "right": right,
    "by class": by_class,
    "wrong name first": wrong_first,
    "ambiguous, kept": ambiguous,
    "partial": partial,
    "wrong": wrong,
}


def reply(stated: str, messages: Sequence[Message]) -> str:
    """Return the reply of the scripted model called `stated`; asked for places, it ranks none."""
    if messages[0].text.startswith("You say where things are likely"):
        return '{"places": []}'
    return GOALS[stated](messages)
