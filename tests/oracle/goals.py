"""Scripted models that state goals: right, by class, wrong at first, partly, or wrong for good."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from scenecypher.chat.model import Message

WORDS: Final = {"on": "ON", "inside": "INSIDE", "under": "UNDER", "attached to": "ATTACHED_TO"}
FACT: Final = re.compile(r"(\S+) is (?:(on|inside|under|attached to) (?:the )?(\S+)|(\w+))")
DESIRED: Final = re.compile(r"([a-z]+) (?:(ON|INSIDE|UNDER|ATTACHED_TO) ([a-z]+)|([A-Z_]+))")


def _facts(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the facts of an instruction in the goal's own words, such as ``cup-1 is on table-1; lamp-1 is on``."""
    found = [FACT.fullmatch(part) for part in _instruction(messages).split("; ")]
    return [_fact(it[1], WORDS.get(it[2]), it[3], it[4]) for it in found if it]


def _desired(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the facts of desired states of classes, such as ``breadslice INSIDE toaster, breadslice HEATED``."""
    found = [DESIRED.fullmatch(part) for part in _instruction(messages).split(", ")]
    return [_fact(*it.groups()) for it in found if it]


def _instruction(messages: Sequence[Message]) -> str:
    return messages[1].text.removeprefix("Instruction: ")


def _fact(what: str, relation: str | None, to: str | None, state: str | None) -> dict[str, Any]:
    return {"what": what, "relation": relation, "to": to, "state": state, "negated": False}


def _reply(facts: list[dict[str, Any]], variables: Sequence[Mapping[str, Any]] = ()) -> str:
    return json.dumps({"reason": "as it is asked", "variables": [*variables], "goal": facts})


def _class_of(id_: str) -> str:
    return re.sub(r"[-_]\d+$", "", id_)


def right(messages: Sequence[Message]) -> str:
    """State the goal by ids, or desired states by classes; keep it if it is shown what that matches."""
    if not _is_shown(messages) and (desired := _desired(messages)):
        return _by_class(desired)
    return _reply([] if _is_shown(messages) else _facts(messages))


def by_class(messages: Sequence[Message]) -> str:
    """State the goal by the classes of its things; by their ids if several match."""
    facts = _facts(messages)
    return _reply(facts) if _is_shown(messages) else _by_class(facts)


def _by_class(facts: Sequence[Mapping[str, Any]]) -> str:
    names = {it: f"v{number}" for number, it in enumerate(dict.fromkeys(fact["what"] for fact in facts))}
    plain: dict[str, Any] = {**dict.fromkeys(("color", "number", "of")), "quantity": "one"}
    variables: list[dict[str, Any]] = []
    for id_, name in names.items():
        same = [it["name"] for it in variables if it["class"] == _class_of(id_)]
        variables.append({**plain, "name": name, "class": _class_of(id_), "not_same_as": same})
    return _reply(
        [{**fact, "what": names[fact["what"]], "to": names.get(fact["to"], fact["to"])} for fact in facts], variables
    )


def wrong_first(messages: Sequence[Message]) -> str:
    """Name things that the scene does not have, then state the right goal."""
    facts = _facts(messages)
    return right(messages) if len(messages) > 2 else _reply([{**fact, "what": f"{fact['what']}x"} for fact in facts])


def ambiguous(messages: Sequence[Message]) -> str:
    """State the goal by class, and keep it whatever it matches."""
    return _reply([]) if _is_shown(messages) else by_class(messages)


def partial(messages: Sequence[Message]) -> str:
    """Leave out the last of several facts."""
    facts = _facts(messages)
    return _reply([] if _is_shown(messages) else facts[: max(1, len(facts) - 1)])


def wrong(messages: Sequence[Message]) -> str:
    """State the opposite of the first fact, which holds already."""
    return _reply([] if _is_shown(messages) else [{**_facts(messages)[0], "negated": True}])


def _is_shown(messages: Sequence[Message]) -> bool:
    return "that goal matches:" in messages[-1].text


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
