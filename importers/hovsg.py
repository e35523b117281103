"""HOV-SG's maps: a folder of floors, rooms and objects, with a JSON file for each (its `Graph.save_graph`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

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
_Corner = Annotated[list[float], Field(min_length=3, max_length=3)]


class _Part(Read):
    id: str | int
    parent: str | int | None = None
    name: str | None = None
    corners: list[_Corner] = Field([], alias="vertices")


class _Floor(_Part):
    id: str | int = Field(alias="floor_id")


class _Room(_Part):
    id: str | int = Field(alias="room_id")
    parent: str | int | None = Field(None, alias="floor_id")


class _Object(_Part):
    id: str | int = Field(alias="object_id")
    parent: str | int | None = Field(None, alias="room_id")
    embedding: list[Any] | str | None = None


PartT = TypeVar("PartT", _Floor, _Room, _Object)
FOLDERS: Final[Mapping[type[_Part], str]] = {_Floor: "floors", _Room: "rooms", _Object: "objects"}


def is_folder(path: Path) -> bool:
    """Check if a folder is a map."""
    return all((path / FOLDERS[form]).is_dir() for form in (_Room, _Object))


def is_part(document: Any) -> bool:
    """Check if a document is a floor, a room or an object of a map."""
    marks = ({"floor_zero_level"}, {"room_zero_level"}, {"object_id", "room_id", "vertices"})
    return isinstance(document, dict) and any(mark <= document.keys() for mark in marks)


def read_folder(path: Path, *, name: str | None = None, strict: bool = False) -> ImportedScene:
    """Return the scene of a map: floors, rooms, and objects with their boxes and vectors.

    Its axes are right-handed with y up, as Habitat's. Raises DocumentError for the first file with problems.
    """
    if not path.is_dir():
        cause = (
            f"this is a part of a map of HOV-SG; give its folder: `scenecypher import {path.resolve().parent.parent}`"
        )
        raise DocumentError(str(path), "$", cause)
    floors, rooms, objects = _read(_Floor, path), _read(_Room, path), _read(_Object, path)
    nodes = [
        *(_node(it, "Place", "floor") for it in floors),
        *(_node(it, "Place", "room") for it in rooms),
        *(_node(it, "Object", "object") for it in objects),
    ]
    known = {it["id"] for it in nodes}
    ends = ((str(it.id), str(it.parent)) for it in (*rooms, *objects))
    edges = [{"source": it, "relation": "INSIDE", "target": parent} for it, parent in ends if parent in known]
    document = {"directed": True, "nodes": nodes, "edges": edges}
    scene = networkx_json.from_document(
        document, file=str(path), name=name or NAME_PREFIX + path.resolve().name, strict=strict
    )
    return replace(scene, notes=(TURNED, *scene.notes))


def _read(form: type[PartT], path: Path) -> list[PartT]:
    files = sorted((path / FOLDERS[form]).glob("*.json"))
    return [validated(form, read_json(file), str(file)) for file in files]


def _node(part: _Floor | _Room | _Object, kind: str, word: str) -> dict[str, Any]:
    """Return a node; of its box, the corners with the least and the greatest coordinates."""
    name = part.name or word
    node: dict[str, Any] = {"id": str(part.id), "kind": kind, "name": f"{name}_{part.id}", "class": class_of_name(name)}
    if part.corners:
        x, y, z = zip(*part.corners, strict=True)
        node["bbox"] = [[min(x), -max(z), min(y)], [max(x), -min(z), max(y)]]
    if isinstance(part, _Object) and isinstance(part.embedding, list):
        node["embedding"] = part.embedding
    return node
