"""SceneCypher's own JSON documents, as `scenes export` writes them."""

from __future__ import annotations

from pathlib import Path

from db.imported import ImportedScene
from db.scene_document import scene_from_document
from importers.json_file import read_json


def read_document(path: Path) -> ImportedScene:
    """The scene of a document, under the name that stands in it. Raises DocumentError with all its problems."""
    return scene_from_document(read_json(path), file=str(path))
