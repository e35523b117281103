"""Affordances that an action needs of its arguments, read from the operator's requirements."""

from __future__ import annotations

from scenecypher.db.condition import And, Condition, HasAffordance, HasClass, HasKind, HasState, Not, disjuncts
from scenecypher.planner.actions.operator import Operator


def needed_words(operator: Operator, parameter: str) -> str:
    """Return the affordances that a parameter needs, such as ``can_open, or class desk or window``; empty if none."""
    needed = (
        _words(requirement.condition, parameter)
        for requirement in operator.requires
        if requirement.fault == "affordance"
    )
    return " and ".join(filter(None, needed))


def needed_kinds(operator: Operator, parameter: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the affordances of which a parameter needs one, and the classes that need none."""
    parts = [
        part
        for requirement in operator.requires
        if requirement.fault == "affordance"
        for part in disjuncts(requirement.condition)
    ]
    affordances = tuple(it.affordance for it in parts if isinstance(it, HasAffordance) and it.x == parameter)
    return affordances, tuple(it.class_ for it in parts if isinstance(it, HasClass) and it.x == parameter)


def _words(condition: Condition, parameter: str) -> str:
    """Return the affordances of which a condition asks one, and what may stand for them.

    Empty if the condition asks for no affordance, or is waived for another reason than what the node itself is.
    """
    given: dict[str, list[str]] = {"": [], "class": [], "state": [], "kind": []}
    silent = False
    for part in disjuncts(condition):
        match part:
            case HasAffordance(x, word) if x == parameter:
                given[""].append(word)
            case HasClass(x, word) if x == parameter:
                given["class"].append(word)
            case HasState(x, word) if x == parameter:
                given["state"].append(word)
            case HasKind(x, word) if x == parameter:
                given["kind"].append(word)
            case _ if _is_silence(part):
                silent = True
            case _:
                return ""
    if not given[""]:
        return ""
    words = [f"{name} {' or '.join(dict.fromkeys(found))}".strip() for name, found in given.items() if found]
    return ", or ".join([*words, *(["no affordances recorded"] if silent else [])])


def _is_silence(condition: Condition) -> bool:
    """Check if a condition says that affordances are not given."""
    match condition:
        case Not(part):
            return all(isinstance(it, HasAffordance) for it in disjuncts(part))
        case And(parts):
            return any(_is_silence(part) for part in parts)
        case _:
            return False
