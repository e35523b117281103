"""HOV-SG's maps: a folder of floors, rooms and objects, with a JSON file for each (its `Graph.save_graph`)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import Field

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import validated
from scenecypher.db.graph.value import class_of_name
from scenecypher.errors import DocumentError
from scenecypher.importers import networkx_json
from scenecypher.importers.assembly import Read
from scenecypher.importers.json_file import read_json

NAME_PREFIX: Final = "hovsg/"
TURNED: Final = "positions turned from y up to ours (z up): x, -z, y of the files"
PARTS: Final = (("floor", "Place"), ("room", "Place"), ("object", "Object"))
"""Words of parts, whose folders are their plurals, and kinds of their nodes; each is in one of the sort before."""


class _Part(Read):
    floor_id: str | int | None = None
    room_id: str | int | None = None
    object_id: str | int | None = None
    name: str | None = None
    corners: list[Annotated[list[float], Field(min_length=3, max_length=3)]] = Field([], alias="vertices")
    embedding: list[Any] | str | None = None


def is_folder(path: Path) -> bool:
    """Check if a folder is a map."""
    return all((path / name).is_dir() for name in ("rooms", "objects"))


def is_part(document: Any) -> bool:
    """Check if a document is a floor, a room or an object of a map."""
    marks = ({"floor_zero_level"}, {"room_zero_level"}, {"object_id", "room_id", "vertices"})
    return isinstance(document, dict) and any(mark <= document.keys() for mark in marks)


def read_folder(path: Path, *, name: str | None = None, strict: bool = False) -> ImportedScene:
    """Return the scene of a map: floors, rooms, and objects with their boxes and vectors.

    Its axes are right-handed with y up, as Habitat's. Raises DocumentError for the first file with problems.
    """
    if not path.is_dir():
        words = (
            f"this is a part of a map of HOV-SG; give its folder: `scenecypher import {path.resolve().parent.parent}`"
        )
        raise DocumentError(str(path), "$", words)
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    for level, (word, kind) in enumerate(PARTS):
        known = {it["id"] for it in nodes}
        for file in sorted((path / f"{word}s").glob("*.json")):
            part = validated(_Part, read_json(file), str(file))
            if (id_ := getattr(part, f"{word}_id")) is None:
                raise DocumentError(str(file), f"$.{word}_id", "is missing; add it")
            nodes.append(_node(part, str(id_), kind, word))
            if level and (parent := str(getattr(part, f"{PARTS[level - 1][0]}_id"))) in known:
                edges.append({"source": str(id_), "relation": "INSIDE", "target": parent})
    document = {"directed": True, "nodes": nodes, "edges": edges}
    named = name or NAME_PREFIX + path.resolve().name
    scene = networkx_json.from_document(document, file=str(path), name=named, strict=strict)
    return replace(scene, notes=(TURNED, *scene.notes))


def _node(part: _Part, id_: str, kind: str, word: str) -> dict[str, Any]:
    """Return a node; of its box, the corners with the least and the greatest coordinates."""
    name = part.name or word
    node: dict[str, Any] = {"id": id_, "kind": kind, "name": f"{name}_{id_}", "class": class_of_name(name)}
    if part.corners:
        x, y, z = zip(*part.corners, strict=True)
        node["bbox"] = [[min(x), -max(z), min(y)], [max(x), -min(z), max(y)]]
    if isinstance(part.embedding, list):
        node["embedding"] = part.embedding
    return node
