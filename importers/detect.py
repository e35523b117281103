"""Scene files whose format is recognized by their content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene_document import FORMAT, scene_from_document
from scenecypher.errors import DocumentError, InputError, did_you_mean
from scenecypher.importers import dsg, grasif, grasif_pickle, networkx_json, virtualhome
from scenecypher.importers.json_file import read_json

JSON: Final = "json"


def _is_virtualhome(document: Mapping[str, Any]) -> bool:
    edges = document.get("edges")
    first = edges[0] if isinstance(edges, list) and edges else None
    return (
        "init_graph" in document or "graph_state_list" in document or (isinstance(first, dict) and "from_id" in first)
    )


SIGNS: Final[Mapping[str, Callable[[Mapping[str, Any]], bool]]] = {
    JSON: lambda document: document.get("format") == FORMAT,
    "dsg": lambda document: "layer_names" in document or "mesh_layer_id" in document,
    "grasif": lambda document: isinstance(document.get("nodes"), dict),
    "virtualhome": _is_virtualhome,
    "networkx": lambda document: "nodes" in document and ("directed" in document or "links" in document),
}
"""Test for each format's documents, tried in this order; the names are those of `scenecypher import`."""


def read_any(path: Path, *, name: str | None = None, file_format: str | None = None) -> ImportedScene:
    """Return the scene of a file of any format that `scenecypher import` reads from one file.

    `name` is the scene's name; by default the document's own, or the format's prefix and the file's stem. Without
    `file_format` the content decides. Raises DocumentError for a file that can't be read, with all its problems.
    """
    if path.suffix in grasif_pickle.SUFFIXES:
        return grasif_pickle.read_scene(path, name=name)
    document = read_json(path)
    match file_format or _format_of(document, path):
        case "json":
            scene = scene_from_document(document, file=str(path))
            return scene if name is None else replace(scene, name=name)
        case "dsg":
            return dsg.from_document(document, file=str(path), name=name or dsg.NAME_PREFIX + path.stem)
        case "grasif":
            return grasif.from_document(document, file=str(path), name=name or grasif.NAME_PREFIX + path.stem)[0]
        case "virtualhome":
            return virtualhome.from_document(document, file=str(path), name=name or virtualhome.scene_name(path))
        case "networkx":
            return networkx_json.from_document(
                document, file=str(path), name=name or networkx_json.NAME_PREFIX + path.stem
            )
        case other:
            raise InputError(f"no format {other!r} is known{did_you_mean(other, tuple(SIGNS))}; give one of {_FORMATS}")


_FORMATS: Final = ", ".join(SIGNS)


def _format_of(document: object, path: Path) -> str:
    """Return the first format whose test the document passes. Raises DocumentError."""
    if isinstance(document, dict):
        for name, has_sign in SIGNS.items():
            if has_sign(document):
                return name
    cause = f"the content is of no format that is known by its form; say which of {_FORMATS} it is"
    raise DocumentError(str(path), "$", cause)
