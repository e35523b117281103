"""Conditions as a tagged union of pydantic models, built from a table of operators and the types of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeAlias, Union

from pydantic import AfterValidator, Field, PlainValidator, TypeAdapter, WithJsonSchema, create_model

from scenecypher.db.condition import algebra
from scenecypher.db.condition.algebra import NODES_LIMIT, VARIABLE, Condition, Id, Term, comparable_key, variable_name
from scenecypher.db.graph.field_types import Form, JsonValue, Kind, Label, RelationType, StateText, as_validator
from scenecypher.db.graph.value import InvalidValue, shown


def _term_from(document: Any) -> Term:
    match document:
        case str() if VARIABLE.fullmatch(document):
            return document
        case {"id": str(node_id), **rest} if not rest:
            return Id(node_id)
        case _:
            msg = f"{shown(document)} is no term; give a variable's name, or a node as {{'id': …}}"
            raise InvalidValue(msg)


_NODE_SCHEMA: Final = {
    "description": "a variable's name, or a node of the scene by its id",
    "anyOf": [
        {"type": "string", "pattern": f"^{VARIABLE.pattern}$"},
        {
            "type": "object",
            "properties": {"id": {"type": "string"}},
            "required": ["id"],
            "additionalProperties": False,
        },
    ],
}
TermForm: TypeAlias = Annotated[Term, PlainValidator(as_validator(_term_from)), WithJsonSchema(_NODE_SCHEMA)]

OPERATORS: Final[Mapping[str, type[Condition]]] = {
    "and": algebra.And,
    "or": algebra.Or,
    "not": algebra.Not,
    "has_state": algebra.HasState,
    "has_class": algebra.HasClass,
    "has_kind": algebra.HasKind,
    "has_affordance": algebra.HasAffordance,
    "property_equals": algebra.PropertyEquals,
    "related": algebra.Related,
    "held_by": algebra.HeldBy,
    "within": algebra.Within,
    "same": algebra.Same,
    "exists": algebra.Exists,
    "for_all": algebra.ForAll,
    "at_least": algebra.AtLeast,
    "exactly": algebra.Exactly,
}
"""The class of each `op`; its fields are the keys of the JSON map."""

FIELD_NAMES: Final = {kind: tuple(field.name for field in fields(kind)) for kind in OPERATORS.values()}

FIELDS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("x", "y", "source", "target", "agent"), TermForm),
    **dict.fromkeys(("part", "where", "then"), "ConditionForm"),
    **dict.fromkeys(("state", "affordance"), StateText),
    "parts": "ConditionForms",
    "class": Label,
    "kind": Kind,
    "key": Annotated[str, AfterValidator(as_validator(comparable_key)), WithJsonSchema({"type": "string"})],
    "value": JsonValue,
    "type": RelationType,
    "types": Annotated[tuple[RelationType, ...], Field(min_length=1, strict=False)],
    "n": Annotated[int, Field(ge=0, le=NODES_LIMIT)],
    "var": Annotated[str, AfterValidator(as_validator(variable_name)), WithJsonSchema({"type": "string"})],
}
"""The type of each field by its JSON key, the same in every operator."""


@cache
def condition_adapter() -> TypeAdapter[Condition]:
    """Return the validator of condition documents."""
    forms = tuple(_form(op, kind) for op, kind in OPERATORS.items())
    union: Any = Annotated[Union[forms], Field(discriminator="op")]  # noqa: UP007 - built from a tuple
    many = Annotated[tuple[union, ...], Field(strict=False)]
    for form in forms:
        form.__origin__.model_rebuild(_types_namespace={"ConditionForm": union, "ConditionForms": many})
    return TypeAdapter(union)


def _form(op: str, kind: type[Condition]) -> Any:
    """Return the type of an operator's document: a map of its fields, validated as the condition."""
    given: dict[str, Any] = {"op": (Literal[op], ...)}
    for field in fields(kind):
        name = field.name.rstrip("_")
        given[field.name] = (FIELDS[name], Field(... if field.default is MISSING else field.default, alias=name))
    form = create_model(f"_{kind.__name__}Form", __base__=Form, **given)
    names = FIELD_NAMES[kind]
    return Annotated[form, AfterValidator(lambda it: kind(*(getattr(it, name) for name in names)))]
