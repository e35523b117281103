"""The published JSON Schema equals the models' own, and holds for every document that is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from docs.generate.__main__ import schema_text
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Point, Properties, Relation, SceneGraph
from scenecypher.db.graph.scene_document import scene_document, scene_from_document
from scenecypher.db.schema import KINDS
from scenecypher.db.vocabulary import BUILT_IN
from scenecypher.errors import DocumentError

PUBLISHED: Final = Path(__file__).resolve().parents[2] / "docs" / "scene.schema.json"


@pytest.fixture(scope="module")
def schema() -> Any:
    return json.loads(PUBLISHED.read_text(encoding="utf-8"))


def test_the_published_schema_is_what_the_models_say() -> None:
    assert PUBLISHED.read_text(encoding="utf-8") == schema_text(), "python -m docs.generate scene.schema.json"


def test_it_lists_the_kinds_and_vocabularies_of_the_registry(schema: Any) -> None:
    assert schema["$defs"]["_NodeForm"]["properties"]["kind"]["enum"] == [*KINDS]
    assert schema["properties"]["vocabulary"]["anyOf"][0]["enum"] == [*BUILT_IN]


def test_a_document_that_is_written_has_only_what_the_schema_names(schema: Any) -> None:
    properties = Properties({"center": Point(1, 2, 3), "color": "red"})
    cup = Node("cup", "Object", "cup", "cup", ("clean",), ("grab",), properties)
    document = scene_document(ImportedScene("home", SceneGraph.of([cup], [Relation("cup", "ON", "cup")])))
    assert set(document) <= set(schema["properties"])
    assert set(schema["required"]) <= set(document)
    node = schema["$defs"]["_NodeForm"]
    assert set(document["nodes"][0]) == set(node["properties"])


@pytest.mark.parametrize("field", ["format", "version", "name", "nodes"])
def test_what_the_schema_requires_the_reader_demands(schema: Any, field: str) -> None:
    document = scene_document(ImportedScene("home", SceneGraph.of()))
    del document[field]
    assert field in schema["required"]
    with pytest.raises(DocumentError) as refused:
        scene_from_document(document, file="x.json")
    assert refused.value.problems == ((f"$.{field}", "is missing; add it"),)
