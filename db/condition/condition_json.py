"""Conditions as JSON, for task files: ``{"op": "related", "source": {"id": "cup_1"}, "type": "ON", "target": "t"}``.

They are a tagged union of pydantic models, built from a table of operators and the types of their fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeAlias, Union

from pydantic import AfterValidator, Field, PlainValidator, TypeAdapter, ValidationError, WithJsonSchema, create_model

from scenecypher.db.condition import algebra
from scenecypher.db.condition.algebra import NODES_LIMIT, VARIABLE, Condition, Id, Term, comparable_key, variable_name
from scenecypher.db.graph.field_types import Form, JsonValue, Kind, Label, RelationType, StateText, as_validator
from scenecypher.db.graph.graph_json import value_document
from scenecypher.db.graph.problems import document_error, problems_of
from scenecypher.db.graph.value import InvalidValue, shown

DEPTH: Final = 100
"""Greatest depth of nested lists and maps; each nested condition takes one or two levels."""


def _term_from(document: Any) -> Term:
    match document:
        case str() if VARIABLE.fullmatch(document):
            return document
        case {"id": str(node_id), **rest} if not rest:
            return Id(node_id)
        case _:
            raise InvalidValue(f"{shown(document)} is no term; give a variable's name, or a node as {{'id': …}}")


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
_NAMES: Final = {kind: op for op, kind in OPERATORS.items()}

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


def condition_document(condition: Condition) -> dict[str, Any]:
    """Return a condition as JSON; `condition_from_document` gives the same condition back."""
    document: dict[str, Any] = {"op": _NAMES[type(condition)]}
    for name in FIELD_NAMES[type(condition)]:
        document[name.rstrip("_")] = _document(getattr(condition, name))
    return document


def condition_from_document(document: object, *, file: str, root: str = "$") -> Condition:
    """Return the condition of a JSON document.

    Raises DocumentError with every problem; `file` names the document, `root` is its JSON path in the file.
    """
    if _is_deep(document):
        raise document_error(file, [(root, f"nested over {DEPTH} deep; say it with fewer levels")])
    try:
        return condition_adapter().validate_python(document)
    except ValidationError as error:
        raise document_error(file, problems_of(error, document, root=root)) from None


def condition_schema() -> dict[str, Any]:
    """Return the JSON Schema of a condition."""
    return condition_adapter().json_schema()


def _document(value: Any) -> Any:
    match value:
        case Id():
            return {"id": value.id}
        case tuple():
            return [_document(item) for item in value]
        case _ if type(value) in _NAMES:
            return condition_document(value)
        case _:
            return value_document(value)


def _is_deep(document: object) -> bool:
    level = [document]
    for _ in range(DEPTH):
        level = [inner for value in level for inner in _inner(value)]
    return bool(level)


def _inner(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
