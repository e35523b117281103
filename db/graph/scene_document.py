"""The JSON document of a whole scene: versioned, strict, lossless, all problems reported at once."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, ConfigDict, Field, ValidationError, WithJsonSchema

from scenecypher.db.graph.axes import UP, Up, upright
from scenecypher.db.graph.field_types import (
    Form,
    JsonValue,
    Kind,
    Label,
    PropertyName,
    RelationType,
    StateText,
    as_validator,
)
from scenecypher.db.graph.graph_json import canonical_json, node_document
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.invariants import broken_rules
from scenecypher.db.graph.problems import Problem, document_error, document_faults, json_path, problems_of
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.graph.value import LIST_LENGTH, InvalidValue, Properties, checked, class_of_name, shown
from scenecypher.db.rules import rules_of
from scenecypher.db.schema import Declared
from scenecypher.db.vocabulary import (
    BUILT_IN,
    DEFAULT,
    base_name,
    current_name,
    is_known,
    vocabulary_names,
    with_own_actions,
)
from scenecypher.errors import InputError

FORMAT: Final = "scenecypher/scene"
VERSION: Final = 1
_NODE_PLACE: Final = re.compile(r"\$\.nodes\[\d+\]")


def scene_document(scene: ImportedScene) -> dict[str, Any]:
    """Return a scene as JSON: sorted nodes, sorted relations as ``[source, type, target]``, no empty fields."""
    declared = {
        "relation_types": [*scene.declared.relation_types],
        "properties": [*scene.declared.properties],
        **({"actions": json.loads(scene.declared.actions)} if scene.declared.actions else {}),
        **({"domain": scene.declared.domain} if scene.declared.domain else {}),
        **({"rules": json.loads(scene.declared.rules)} if scene.declared.rules else {}),
    }
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": scene.name,
        "vocabulary": base_name(scene.vocabulary),
        "role": scene.role,
        "source": scene.source,
        "up": UP,
        "declared": declared,
        "nodes": [node_document(scene.graph.nodes[node_id]) for node_id in sorted(scene.graph.nodes)],
        "relations": sorted([r.source, r.type, r.target] for r in scene.graph.relations),
    }


def scene_from_document(document: object, *, file: str) -> ImportedScene:
    """Parse a JSON document. Raises DocumentError with every problem and its JSON path; `file` names it."""
    try:
        form = _SceneForm.model_validate(document)
    except ValidationError as error:
        raise document_error(file, _one_a_node([*problems_of(error, document), *document_faults(document)])) from None
    found = [*document_faults(document)]
    if found:
        raise document_error(file, _one_a_node(found))
    scene = form.scene()
    vocabulary = with_own_actions(scene.vocabulary, scene.declared.actions)
    try:
        rules_of(scene.declared)
    except InputError as error:
        raise document_error(file, [("$.declared.rules", str(error))]) from error
    try:
        broken = [*broken_rules(scene.graph, vocabulary)]
    except InputError as error:
        raise document_error(file, [("$.declared.actions", str(error))]) from error
    if broken:
        places = {node_id: json_path(("nodes", index)) for index, node_id in enumerate(scene.graph.nodes)}
        raise document_error(file, [(places[node_id], cause) for node_id, cause in broken])
    return upright(scene, form.up)


def _one_a_node(problems: list[Problem]) -> list[Problem]:
    """Return the problems with those of each node as one, at the place of the first."""
    found: dict[str, list[Problem]] = {}
    for place, cause in problems:
        of_node = _NODE_PLACE.match(place)
        found.setdefault(of_node[0] if of_node else place + cause, []).append((place, cause))
    return [_together(place, group) for place, group in found.items()]


def _together(node: str, group: list[Problem]) -> Problem:
    if len(group) == 1:
        return group[0]
    return node, "; ".join(f"{place.removeprefix(node).removeprefix('.') or 'it'}: {cause}" for place, cause in group)


def scene_schema() -> dict[str, Any]:
    """Return the JSON Schema of the document, for editors and other programs."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_SceneForm.model_json_schema()}


def _version(number: int) -> int:
    if number != VERSION:
        msg = f"version {shown(number)} is not known here, only {VERSION}; upgrade SceneCypher, or export again"
        raise InvalidValue(msg)
    return number


def _source(words: str) -> str:
    checked(words, "text")
    return words


def _file_beside(name: str) -> str:
    if name in {".", ".."} or not name.isprintable() or {*"/\\"} & {*name}:
        raise InvalidValue(f"{shown(name)} is no file's name; give that of a file beside the document")
    return name


def _vocabulary(name: str) -> str:
    if not is_known(name):
        raise InvalidValue(f"{shown(name)} is none of {', '.join(vocabulary_names())}")
    return current_name(name)


_VOCABULARY_SCHEMA: Final[dict[str, Any]] = {"anyOf": [{"enum": [*BUILT_IN]}, {"type": "string"}]}
"""A built-in vocabulary, which editors can offer, or another's name."""


class _NodeForm(Form):
    """One node."""

    id: Label
    kind: Kind
    name: Label = Field("", description="the id by default")
    class_: Label = Field("", alias="class", description="the name without its number by default")
    states: list[StateText] = Field(default_factory=list, max_length=LIST_LENGTH)
    affordances: list[StateText] = Field(default_factory=list, max_length=LIST_LENGTH)
    properties: dict[PropertyName, JsonValue] = Field(default_factory=dict)

    def node(self) -> Node:
        name = self.name or self.id
        return Node(
            self.id,
            self.kind,
            name,
            self.class_ or class_of_name(name),
            tuple(self.states),
            tuple(self.affordances),
            Properties(self.properties),
        )


class _DeclaredForm(Form):
    """What the scene brings beyond the common: relation types, properties, actions with their PDDL, and rules."""

    relation_types: list[RelationType] = Field(default_factory=list)
    properties: list[PropertyName] = Field(default_factory=list)
    actions: dict[str, Any] = Field(default_factory=dict)
    domain: Annotated[str, AfterValidator(as_validator(_source))] = ""
    rules: list[dict[str, Any]] = Field(default_factory=list)

    def declared(self) -> Declared:
        actions, rules = (canonical_json(it) if it else "" for it in (self.actions, self.rules))
        return Declared(tuple(self.relation_types), tuple(self.properties), actions, self.domain, rules)


class _SceneForm(Form):
    """A scene graph: nodes, and relations as [source id, type, target id]."""

    model_config = ConfigDict(title="SceneCypher scene")

    format: Literal["scenecypher/scene"]
    version: Annotated[int, AfterValidator(as_validator(_version)), WithJsonSchema({"const": VERSION})]
    name: Label
    vocabulary: Annotated[str, AfterValidator(as_validator(_vocabulary)), WithJsonSchema(_VOCABULARY_SCHEMA)] = DEFAULT
    role: Literal["world", "belief"] = "world"
    source: Annotated[str, AfterValidator(as_validator(_source))] = ""
    up: Up | None = Field(None, description="the axis that points up: z, or y as in Unity; VirtualHome's y by default")
    declared: _DeclaredForm = _DeclaredForm()
    vectors: Annotated[str, AfterValidator(as_validator(_file_beside))] = Field(
        "", description="an npz file beside the document: of vectors NAME the rows, NAME.ids and NAME.model"
    )
    nodes: list[_NodeForm]
    relations: list[Annotated[tuple[Label, RelationType, Label], Field(strict=False)]] = Field(default_factory=list)

    def scene(self) -> ImportedScene:
        return ImportedScene(
            self.name,
            SceneGraph.of(
                (node.node() for node in self.nodes),
                (Relation(source, type_, target) for source, type_, target in self.relations),
            ),
            self.vocabulary,
            role=self.role,
            declared=self.declared.declared(),
            source=self.source,
        )
