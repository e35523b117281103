"""Conditions as JSON, for task files: ``{"op": "related", "source": {"id": "cup_1"}, "type": "ON", "target": "t"}``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final, assert_never

from pydantic import TypeAdapter, ValidationError

from scenecypher.db.condition.algebra import (
    And,
    AtLeast,
    Atom,
    Condition,
    Exactly,
    Exists,
    ForAll,
    HasAffordance,
    HasClass,
    HasKind,
    HasState,
    HeldBy,
    Id,
    Not,
    Or,
    PropertyEquals,
    Related,
    Same,
    Term,
    Within,
)
from scenecypher.db.condition.forms import ConditionForm
from scenecypher.db.graph.document import value_document
from scenecypher.db.graph.problems import problems_of, refusal

DEPTH: Final = 100
"""How deep the lists and maps of a document may be nested: a condition in a condition takes one or two levels."""


def condition_document(condition: Condition) -> dict[str, Any]:
    """A condition as JSON; `condition_from_document` gives the same condition back."""
    match condition:
        case And() | Or():
            op = "and" if isinstance(condition, And) else "or"
            return {"op": op, "parts": [condition_document(part) for part in condition.parts]}
        case Not():
            return {"op": "not", "part": condition_document(condition.part)}
        case ForAll():
            where, then = condition_document(condition.where), condition_document(condition.then)
            return {"op": "for_all", "var": condition.var, "where": where, "then": then}
        case Exists():
            return {"op": "exists", "var": condition.var, "where": condition_document(condition.where)}
        case AtLeast() | Exactly():
            op = "at_least" if isinstance(condition, AtLeast) else "exactly"
            return {"op": op, "n": condition.n, "var": condition.var, "where": condition_document(condition.where)}
        case _:
            return _atom_document(condition)


def condition_from_document(document: object, *, file: str, root: str = "$") -> Condition:
    """The condition of a JSON document.

    Raises DocumentError with every problem; `file` names it, `root` is the JSON path of `document` in it.
    """
    if _is_deep(document):
        raise refusal(file, [(root, f"nested over {DEPTH} deep; say it with fewer levels")])
    try:
        return _adapter().validate_python(document).condition()
    except ValidationError as error:
        raise refusal(file, problems_of(error, document, root=root)) from None


def condition_schema() -> dict[str, Any]:
    """The JSON Schema of a condition."""
    return _adapter().json_schema()


def _atom_document(atom: Atom) -> dict[str, Any]:
    match atom:
        case HasState():
            return {"op": "has_state", "x": _term(atom.x), "state": atom.state}
        case HasClass():
            return {"op": "has_class", "x": _term(atom.x), "class": atom.class_}
        case HasKind():
            return {"op": "has_kind", "x": _term(atom.x), "kind": atom.kind}
        case HasAffordance():
            return {"op": "has_affordance", "x": _term(atom.x), "affordance": atom.affordance}
        case PropertyEquals():
            return {"op": "property_equals", "x": _term(atom.x), "key": atom.key, "value": value_document(atom.value)}
        case Related() | HeldBy() | Within() | Same():
            return _link_document(atom)
        case _:
            assert_never(atom)


def _link_document(atom: Related | HeldBy | Within | Same) -> dict[str, Any]:
    match atom:
        case Related():
            return {"op": "related", "source": _term(atom.source), "type": atom.type, "target": _term(atom.target)}
        case HeldBy():
            return {"op": "held_by", "x": _term(atom.x), "agent": _term(atom.agent)}
        case Within():
            return {"op": "within", "x": _term(atom.x), "y": _term(atom.y), "types": [*atom.types]}
        case Same():
            return {"op": "same", "x": _term(atom.x), "y": _term(atom.y)}
        case _:
            assert_never(atom)


def _term(term: Term) -> str | dict[str, str]:
    return {"id": term.id} if isinstance(term, Id) else term


def _is_deep(document: object) -> bool:
    level = [document]
    for _ in range(DEPTH):
        level = [inner for value in level for inner in _inner(value)]
    return bool(level)


def _inner(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


@cache
def _adapter() -> TypeAdapter[ConditionForm]:
    return TypeAdapter(ConditionForm)
