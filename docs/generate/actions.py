"""Page of all actions, from the operators of all vocabularies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, assert_never

from scenecypher.db.condition import Condition, explain
from scenecypher.db.graph.scene import EMPTY
from scenecypher.db.vocabulary import BUILT_IN
from scenecypher.planner.actions.execution import MISTAKE_OF_FAULT
from scenecypher.planner.actions.operator import (
    Assign,
    Become,
    Cease,
    Choose,
    Effect,
    ForEach,
    Forget,
    Operator,
    Relate,
    Repair,
    Requirement,
    Unrelate,
    When,
)
from scenecypher.planner.actions.text import Macro
from scenecypher.planner.vocabularies.vocabulary import Vocabulary, vocabulary_named

HEAD: Final = """\
# Actions

Every action of every vocabulary, with its checks and effects. This page is generated from the operators by
`python -m docs.generate actions`; a test compares the two. [Acting](acting.md) explains how to use actions.

Each row of a table is one requirement: the message of a refusal if it does not hold, the kind of mistake, and the
action that repairs it, which rule-based correction can insert. The first row that does not hold decides the kind of
mistake. A missing step counts as *wrong order* if the missing condition held earlier. Below the table: the other nodes
involved, and the effects. All conditions are evaluated before any change, and a fact that is both removed and added
remains.
"""
_SAME_TERM: Final = re.compile(r"\b(\w+) is (not )?\1\b")


def page() -> str:
    """Return the whole page."""
    return "\n".join([HEAD, *(line for name in BUILT_IN for line in _section(vocabulary_named(name)))])


def _section(vocabulary: Vocabulary) -> Iterator[str]:
    base = {} if vocabulary.base is None else vocabulary.base.operators
    yield f"## {vocabulary.name}\n"
    yield f"{vocabulary.about}\n"
    if vocabulary.base is not None:
        yield f"Actions that are not listed here are as in {vocabulary.base.name}.\n"
    for name, operator in vocabulary.operators.items():
        if operator != base.get(name):
            yield from _action(operator)
    for macro in vocabulary.macros.values():
        yield from _macro(macro)


def _action(operator: Operator) -> Iterator[str]:
    yield f"### `{operator.signature}`\n"
    roles = "; ".join(f"`{parameter.name}`: {parameter.words}" for parameter in operator.parameters)
    yield f"{_sentence(operator.words)}{' ' + _sentence(roles, capital=False) if roles else ''}\n"
    rows = [_requirement(requirement) for requirement in operator.requires]
    if rows:
        yield "\n".join(["| refusal | mistake | repaired by |", "|---|---|---|", *rows, ""])
    yield "\n".join([*map(_choice, operator.choose), *_changes(operator.effects), ""])


def _macro(macro: Macro) -> Iterator[str]:
    yield f"### `{macro.signature}`\n"
    yield f"{_sentence(macro.words)}\n"
    for word, steps in macro.expansions.items():
        yield f"- {macro.word} `{word}`: " + ", then ".join(f"`{name}({x})`" for name, x in steps)
    yield ""


def _requirement(requirement: Requirement) -> str:
    message = re.sub(r"[{}]", "", requirement.message).replace("|", "\\|")
    mistake = MISTAKE_OF_FAULT[requirement.fault].replace("_", " ")
    repair = _repair(requirement.repair) if requirement.repair else ""
    return f"| {message} | {mistake} | {repair} |"


def _repair(repair: Repair) -> str:
    return f"`{repair.action}({', '.join(repair.arguments)})`"


def _choice(choice: Choose) -> str:
    return f"- `{choice.var}` is the first node by id such that: " + "; else ".join(map(_describe, choice.among))


def _changes(effects: tuple[Effect, ...]) -> list[str]:
    return [line for effect in effects for line in _effect(effect, "")] or ["- no effect"]


def _effect(effect: Effect, indent: str) -> Iterator[str]:
    match effect:
        case ForEach():
            yield f"{indent}- for each `{effect.var}` such that {_describe(effect.where)}:"
            yield from _nested(effect.effects, indent)
        case When():
            yield f"{indent}- if {_describe(effect.condition)}:"
            yield from _nested(effect.effects, indent)
            yield from _otherwise(effect, indent)
        case _:
            yield f"{indent}- {_fact(effect)}"


def _fact(effect: Become | Cease | Assign | Forget | Relate | Unrelate) -> str:
    match effect:
        case Become():
            removed = f", no longer {effect.instead_of}" if effect.instead_of else ""
            return f"`{effect.x}` becomes {effect.state}{removed}"
        case Cease():
            return f"`{effect.x}` is no longer {effect.state}"
        case Assign():
            return f"`{effect.x}` gets `{effect.key}` {effect.value}"
        case Forget():
            return f"`{effect.x}` loses `{effect.key}`"
        case Relate():
            back = ", and vice versa" if effect.mutual else ""
            return f"`{effect.source}` {effect.type} `{effect.target}`{back}"
        case Unrelate():
            return _unrelate(effect)
        case _:
            assert_never(effect)


def _otherwise(effect: When, indent: str) -> Iterator[str]:
    if effect.otherwise:
        yield f"{indent}- else:"
        yield from _nested(effect.otherwise, indent)


def _nested(effects: Iterable[Effect], indent: str) -> Iterator[str]:
    lines = [line for effect in effects for line in _effect(effect, indent + "  ")]
    yield from lines or [f"{indent}  - no effect"]


def _unrelate(effect: Unrelate) -> str:
    direction = "to" if effect.directed else "to and from"
    other = f"`{effect.other}`" if effect.other else "everything"
    return f"`{effect.x}` loses {', '.join(effect.types)} {direction} {other}"


def _describe(condition: Condition) -> str:
    """Describe a condition in words; ``box is box`` becomes "box is found"."""
    return _SAME_TERM.sub(
        lambda found: f"{found[1]} is not found" if found[2] else f"{found[1]} is found", explain(condition, EMPTY, {})
    )


def _sentence(words: str, *, capital: bool = True) -> str:
    return f"{words[:1].upper() if capital else words[:1]}{words[1:]}."
