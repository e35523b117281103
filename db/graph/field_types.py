"""Types of the fields of JSON documents, validated by pydantic with our limits and messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from scenecypher.db.graph.graph_json import value_from
from scenecypher.db.graph.scene import kind_name, relation_type
from scenecypher.db.graph.value import NAME_LENGTH, STATE_LENGTH, Value, label, property_name
from scenecypher.db.schema import KINDS, PROPERTY_NAME, RELATION_NAME
from scenecypher.errors import InputError

Checked = TypeVar("Checked")


def as_validator(check: Callable[[Any], Checked]) -> Callable[[Any], Checked]:
    """Wrap `check` for pydantic: an InputError becomes a pydantic error, reported with the others."""

    def validator(value: Any) -> Checked:
        try:
            return check(value)
        except InputError as error:
            raise PydanticCustomError("value", "{cause}", {"cause": str(error)}) from None

    return validator


def text_schema(longest: int, **more: object) -> WithJsonSchema:
    """Return the JSON Schema of text of at most `longest` characters."""
    return WithJsonSchema({"type": "string", "minLength": 1, "maxLength": longest, **more})


_SCALARS: Final = [{"type": "string"}, {"type": "boolean"}, {"type": "integer"}, {"type": "number"}]
_POINT: Final = {
    "type": "object",
    "description": "a position in metres (grids: cells)",
    "properties": {"point": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 3}},
    "required": ["point"],
    "additionalProperties": False,
}
_VALUE_SCHEMA: Final = {
    "description": "text, boolean, 64-bit whole number, finite number, position, or a flat list of one of these",
    "anyOf": [*_SCALARS, _POINT, {"type": "array", "items": {"anyOf": [*_SCALARS, _POINT]}}],
}

Label: TypeAlias = Annotated[
    str, AfterValidator(as_validator(lambda value: label(value, "text"))), text_schema(NAME_LENGTH)
]
StateText: TypeAlias = Annotated[
    str,
    AfterValidator(as_validator(lambda value: label(value, "text", longest=STATE_LENGTH))),
    text_schema(STATE_LENGTH),
]
Kind: TypeAlias = Annotated[str, AfterValidator(as_validator(kind_name)), WithJsonSchema({"enum": [*KINDS]})]
RelationType: TypeAlias = Annotated[
    str, AfterValidator(as_validator(relation_type)), text_schema(64, pattern=f"^{RELATION_NAME.pattern}$")
]
PropertyName: TypeAlias = Annotated[
    str, AfterValidator(as_validator(property_name)), text_schema(64, pattern=f"^{PROPERTY_NAME.pattern}$")
]
JsonValue: TypeAlias = Annotated[
    Value, PlainValidator(as_validator(lambda value: value_from(value, "value"))), WithJsonSchema(_VALUE_SCHEMA)
]


class Form(BaseModel):
    """A map with exactly these fields, each of exactly its type."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
