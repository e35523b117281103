"""Which actions there are in the scenes of each dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from planner.actions import virtualhome, virtualhome_ext
from planner.actions.operator import Operator
from scenecypher.errors import InputError

OPERATORS: Final[Mapping[str, Mapping[str, Operator]]] = {
    "virtualhome": virtualhome.OPERATORS,
    "virtualhome_ext": virtualhome_ext.OPERATORS,
}


def operators_of(vocabulary: str) -> Mapping[str, Operator]:
    """The actions by name. Raises InputError for a vocabulary that has none."""
    if vocabulary not in OPERATORS:
        known = ", ".join(OPERATORS)
        msg = f"scenes of the vocabulary {vocabulary!r} have no actions; act on scenes of {known}"
        raise InputError(msg)
    return OPERATORS[vocabulary]


def action_list(operators: Mapping[str, Operator]) -> str:
    """What a model is told of the actions: one a line."""
    return "\n".join(_line(operator) for operator in operators.values())


def _line(operator: Operator) -> str:
    roles = "; ".join(f"{parameter.name}: {parameter.words}" for parameter in operator.parameters)
    return f"{operator.signature}: {operator.words} ({roles})"
