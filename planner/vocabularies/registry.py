"""Vocabularies and their actions by the name that a scene stores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scenecypher.db.vocabulary import load_vocabulary
from scenecypher.errors import InputError
from scenecypher.planner.actions.macro import Macro
from scenecypher.planner.actions.needed import needed_words
from scenecypher.planner.actions.operator import Operator, Parameter
from scenecypher.planner.vocabularies.vocabulary import Vocabulary

DONE: Final = "done"
"""The action that ends an episode, in vocabularies that have it."""


def vocabulary_named(name: str) -> Vocabulary:
    """Return a vocabulary by its name. Raises InputError for an unknown one, or one that is no Vocabulary."""
    found = load_vocabulary(name)
    if not isinstance(found, Vocabulary):
        msg = f"the vocabulary {name!r} is a {type(found).__name__}, no Vocabulary; mend the package that brings it"
        raise InputError(msg)
    return found


def operators_of(vocabulary: str) -> Mapping[str, Operator]:
    """Return the operators of a vocabulary by name. Raises InputError for an unknown vocabulary."""
    return vocabulary_named(vocabulary).operators


def macros_of(vocabulary: str) -> Mapping[str, Macro]:
    """Return the macros of a vocabulary by name; empty if it has none."""
    return vocabulary_named(vocabulary).macros


def action_list(operators: Mapping[str, Operator], macros: Mapping[str, Macro] | None = None) -> str:
    """Return the actions as a prompt lists them, one a line."""
    return "\n".join([*map(_line, operators.values()), *map(_macro_line, (macros or {}).values())])


def brief_action_list(operators: Mapping[str, Operator], macros: Mapping[str, Macro]) -> str:
    """Return the actions but `done` in few words: equal effects on one line, those without any by their names."""
    alike: dict[tuple[object, ...], list[Operator]] = {}
    for operator in (it for name, it in operators.items() if name != DONE):
        alike.setdefault((len(operator.parameters), operator.effects), []).append(operator)
    groups = [(", ".join(it.signature for it in group), group[0]) for group in alike.values()]
    lines = [f"{names}: {first.words}" for names, first in groups if first.effects]
    idle = ", ".join(names for names, first in groups if not first.effects)
    lines += [f"changing nothing that is recorded: {idle}"] if idle else []
    for macro in macros.values():
        words = (word for word, steps in macro.expansions.items() if all(name in operators for name, _ in steps))
        lines.append(f"{macro.signature}: {macro.words.partition(':')[0]} ({macro.word}: {', '.join(words)})")
    return "\n".join(lines)


def _line(action: Operator) -> str:
    """Return a line for an action: what it does, its arguments, and the affordances that they need."""
    roles = "; ".join(_role(action, parameter) for parameter in action.parameters)
    return f"{action.signature}: {action.words}{f' ({roles})' if roles else ''}"


def _role(operator: Operator, parameter: Parameter) -> str:
    needed = needed_words(operator, parameter.name)
    return f"{parameter.name}: {parameter.words}{f', needs {needed}' if needed else ''}"


def _macro_line(macro: Macro) -> str:
    roles = [f"{parameter.name}: {parameter.words}" for parameter in macro.parameters]
    roles.insert(1, f"{macro.word}: {', '.join(macro.expansions)}")
    return f"{macro.signature}: {macro.words} ({'; '.join(roles)})"
