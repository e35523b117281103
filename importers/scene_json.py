"""SceneCypher's own JSON documents, as `scenes export` writes them; run as a program, it prints their JSON Schema."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene_document import scene_from_document, scene_schema
from scenecypher.importers.json_file import read_json


def read_document(path: Path) -> ImportedScene:
    """Return the scene of a document, under the name in it. Raises DocumentError with all its problems."""
    return scene_from_document(read_json(path), file=str(path))


def json_schema_text() -> str:
    """Return the published JSON Schema of a document.

    `python -m scenecypher.importers.scene_json > docs/scene.schema.json` writes it.
    """
    return json.dumps(scene_schema(), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(json_schema_text())
