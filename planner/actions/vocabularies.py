"""The table of actions by vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scenecypher.errors import InputError
from scenecypher.planner.actions import babyai, grasif, virtualhome, virtualhome_ext
from scenecypher.planner.actions.macro import Macro
from scenecypher.planner.actions.operator import Operator

OPERATORS: Final[Mapping[str, Mapping[str, Operator]]] = {
    "virtualhome": virtualhome.OPERATORS,
    "virtualhome_ext": virtualhome_ext.OPERATORS,
    "grasif": grasif.OPERATORS,
    "babyai": babyai.OPERATORS,
}

MACROS: Final[Mapping[str, Mapping[str, Macro]]] = {
    "grasif": grasif.MACROS,
}
"""Actions that are carried out as several others; a vocabulary without a row has none."""

DONE: Final = grasif.DONE.name
"""The action that ends an episode, in vocabularies that have it."""


def operators_of(vocabulary: str) -> Mapping[str, Operator]:
    """Return the operators of a vocabulary by name. Raises InputError if it has none."""
    if vocabulary not in OPERATORS:
        known = ", ".join(OPERATORS)
        msg = f"scenes of the vocabulary {vocabulary!r} have no actions; act on scenes of {known}"
        raise InputError(msg)
    return OPERATORS[vocabulary]


def macros_of(vocabulary: str) -> Mapping[str, Macro]:
    """Return the macros of a vocabulary by name; empty if it has none."""
    return MACROS.get(vocabulary, {})


def action_list(operators: Mapping[str, Operator], macros: Mapping[str, Macro] | None = None) -> str:
    """Return the actions as a prompt lists them, one a line."""
    actions: tuple[Operator | Macro, ...] = (*operators.values(), *(macros or {}).values())
    return "\n".join(map(_line, actions))


def _line(action: Operator | Macro) -> str:
    roles = [f"{parameter.name}: {parameter.words}" for parameter in action.parameters]
    if isinstance(action, Macro):
        roles.insert(1, f"{action.word}: {', '.join(action.expansions)}")
    return f"{action.signature}: {action.words} ({'; '.join(roles)})"
