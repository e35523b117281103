"""The JSON document of a whole scene: versioned, strict, exact both ways, every problem told at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, ValidationError, WithJsonSchema
from pydantic_core import PydanticCustomError

from db.document import node_document, value_from
from db.imported import ImportedScene
from db.problems import problems_of, refusal
from db.scene import Node, Relation, SceneGraph, kind_name, relation_type
from db.scene_check import faults
from db.schema import KINDS, PROPERTY_NAME, RELATION_NAME, VOCABULARIES, Declared
from db.value import (
    LIST_LENGTH,
    NAME_LENGTH,
    STATE_LENGTH,
    InvalidValue,
    Properties,
    Value,
    checked,
    label,
    property_name,
    shown,
)
from scenecypher.errors import InputError

FORMAT: Final = "scenecypher/scene"
VERSION: Final = 1


def scene_document(scene: ImportedScene) -> dict[str, Any]:
    """A scene as JSON: nodes by id, relations as ``[source, type, target]``, both sorted; what is empty is left out."""
    declared = {
        "relation_types": [*scene.declared.relation_types],
        "properties": [*scene.declared.properties],
    }
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": scene.name,
        "vocabulary": scene.vocabulary,
        "role": scene.role,
        "source": scene.source,
        "declared": declared,
        "nodes": [node_document(scene.graph.nodes[node_id]) for node_id in sorted(scene.graph.nodes)],
        "relations": sorted([r.source, r.type, r.target] for r in scene.graph.relations),
    }


def scene_from_document(document: object, *, file: str) -> ImportedScene:
    """The scene of a JSON document. Raises DocumentError with every problem and its JSON path; `file` names it."""
    try:
        form = _SceneForm.model_validate(document)
    except ValidationError as error:
        raise refusal(file, [*problems_of(error, document), *faults(document)]) from None
    found = [*faults(document)]
    if found:
        raise refusal(file, found)
    return form.scene()


def scene_schema() -> dict[str, Any]:
    """The JSON Schema of the document, for editors and for other programs."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_SceneForm.model_json_schema()}


Checked = TypeVar("Checked")


def _version(number: int) -> int:
    if number != VERSION:
        msg = f"version {shown(number)} is not known here, only {VERSION}; upgrade SceneCypher, or export again"
        raise InvalidValue(msg)
    return number


def _source(words: str) -> str:
    checked(words, "text")
    return words


def _vocabulary(name: str) -> str:
    if name not in VOCABULARIES:
        msg = f"{shown(name)} is none of {', '.join(VOCABULARIES)}"
        raise InvalidValue(msg)
    return name


def _by(check: Callable[[Any], Checked]) -> Callable[[Any], Checked]:
    """`check` as pydantic calls it: our error becomes one of its own, so that it is reported with the others."""

    def validator(value: Any) -> Checked:
        try:
            return check(value)
        except InputError as error:
            raise PydanticCustomError("value", "{cause}", {"cause": str(error)}) from None

    return validator


def _text_schema(longest: int, **more: object) -> WithJsonSchema:
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

_Label = Annotated[str, AfterValidator(_by(lambda value: label(value, "text"))), _text_schema(NAME_LENGTH)]
_State = Annotated[
    str, AfterValidator(_by(lambda value: label(value, "text", longest=STATE_LENGTH))), _text_schema(STATE_LENGTH)
]
_Kind = Annotated[str, AfterValidator(_by(kind_name)), WithJsonSchema({"enum": [*KINDS]})]
_RelationType = Annotated[
    str, AfterValidator(_by(relation_type)), _text_schema(64, pattern=f"^{RELATION_NAME.pattern}$")
]
_PropertyName = Annotated[
    str, AfterValidator(_by(property_name)), _text_schema(64, pattern=f"^{PROPERTY_NAME.pattern}$")
]
_Value = Annotated[Value, PlainValidator(_by(lambda value: value_from(value, "value"))), WithJsonSchema(_VALUE_SCHEMA)]


class _Form(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _NodeForm(_Form):
    """One node."""

    id: _Label
    kind: _Kind
    name: _Label
    class_: _Label = Field(alias="class")
    states: list[_State] = Field(default=[], max_length=LIST_LENGTH)
    affordances: list[_State] = Field(default=[], max_length=LIST_LENGTH)
    properties: dict[_PropertyName, _Value] = {}

    def node(self) -> Node:
        return Node(
            self.id,
            self.kind,
            self.name,
            self.class_,
            tuple(self.states),
            tuple(self.affordances),
            Properties(self.properties),
        )


class _DeclaredForm(_Form):
    """The relation types and properties that the scene brings beyond the common ones."""

    relation_types: list[_RelationType] = []
    properties: list[_PropertyName] = []


class _SceneForm(_Form):
    """A scene graph: nodes, and relations as [source id, type, target id]."""

    model_config = ConfigDict(title="SceneCypher scene")

    format: Literal["scenecypher/scene"]
    version: Annotated[int, AfterValidator(_by(_version)), WithJsonSchema({"const": VERSION})]
    name: _Label
    vocabulary: Annotated[str, AfterValidator(_by(_vocabulary)), WithJsonSchema({"enum": [*VOCABULARIES]})] = "generic"
    role: Literal["world", "belief"] = "world"
    source: Annotated[str, AfterValidator(_by(_source))] = ""
    declared: _DeclaredForm = _DeclaredForm()
    nodes: list[_NodeForm]
    relations: list[Annotated[tuple[_Label, _RelationType, _Label], Field(strict=False)]] = []

    def scene(self) -> ImportedScene:
        return ImportedScene(
            self.name,
            SceneGraph.of(
                (node.node() for node in self.nodes),
                (Relation(source, type_, target) for source, type_, target in self.relations),
            ),
            self.vocabulary,
            role=self.role,
            declared=Declared(tuple(self.declared.relation_types), tuple(self.declared.properties)),
            source=self.source,
        )
