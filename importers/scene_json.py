"""SceneCypher's own JSON documents, as `scenes export` writes them; run as a program, it prints their JSON Schema."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene_document import scene_from_document, scene_schema
from scenecypher.importers.json_file import read_json
from scenecypher.importers.vectors_file import read_vectors_file


def read_document(path: Path) -> ImportedScene:
    """Return the scene of a document, under the name in it. Raises DocumentError with all its problems."""
    return from_document(read_json(path), path)


def from_document(document: Any, path: Path) -> ImportedScene:
    """Return the scene of a document that stands in a file, with the vectors beside it. Raises DocumentError."""
    scene, name = scene_from_document(document, file=str(path)), document.get("vectors")
    return replace(scene, vectors=read_vectors_file(path.with_name(name), scene.graph.nodes)) if name else scene


def json_schema_text() -> str:
    """Return the published JSON Schema of a document.

    `python -m scenecypher.importers.scene_json > docs/scene.schema.json` writes it.
    """
    return json.dumps(scene_schema(), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(json_schema_text())
