"""Export of scenes to every format that can be imported again: exact, or refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, assert_never

from scenecypher.db.graph.delta import (
    AddNode,
    AddRelation,
    Change,
    ChangeList,
    RemoveNode,
    RemoveRelation,
    SetKind,
    SetProperty,
    diff,
)
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene_document import scene_document
from scenecypher.db.graph.value import shown
from scenecypher.errors import InputError
from scenecypher.importers import dsg, dsg_export, grasif, networkx_json, virtualhome

JSON: Final = "json"


@dataclass(frozen=True, slots=True)
class Format:
    """The functions that write and read a document; `read` is None if the result need not be checked."""

    write: Callable[[ImportedScene], dict[str, Any]]
    read: Callable[..., ImportedScene] | None


def _read_grasif(document: object, *, file: str, name: str) -> ImportedScene:
    return grasif.from_document(document, file=file, name=name)[0]


FORMATS: Final[Mapping[str, Format]] = {
    JSON: Format(scene_document, None),
    "grasif": Format(grasif.to_document, _read_grasif),
    "virtualhome": Format(virtualhome.to_document, virtualhome.from_document),
    "networkx": Format(networkx_json.to_document, networkx_json.from_document),
    "dsg": Format(dsg_export.to_document, dsg.from_document),
}
"""Formats by name. Our own document holds everything; the others only what their readers know."""


def format_of(name: str) -> str:
    """Return `name` if it is a format. Raises InputError."""
    if name not in FORMATS:
        raise InputError(f"no format {shown(name)} is known; give one of {', '.join(FORMATS)}")
    return name


def export_document(scene: ImportedScene, name: str = JSON) -> dict[str, Any]:
    """Return a scene as a document of the format `name`, from which an import makes the same scene.

    Raises InputError if the format is not known or can't hold all of the scene.
    """
    chosen = FORMATS[format_of(name)]
    try:
        document = chosen.write(scene)
        if chosen.read is None:
            return document
        back = chosen.read(document, file="the export", name=scene.name)
    except InputError as error:
        raise InputError(f"{scene.name} can't be written as {name}: {error}; or give --format {JSON}") from error
    lost = _lost(scene, back)
    if lost:
        raise InputError(
            f"{scene.name} can't be written as {name}: {lost}; give --format {JSON}, which says everything"
        )
    return document


def _lost(scene: ImportedScene, back: ImportedScene) -> str:
    """Return the first difference of a scene that was written and read again, an empty text if there is none."""
    for fact in ("vocabulary", "role"):
        here, there = getattr(scene, fact), getattr(back, fact)
        if here != there:
            return f"its {fact} {here} would become {there}"
    changes = diff(scene.graph, back.graph).changes
    return f"{_about(changes[0])} would be lost or changed" if changes else ""


def _about(change: Change) -> str:
    match change:
        case AddNode(node) | RemoveNode(node):
            return f"node {shown(node.id)}"
        case AddRelation(relation) | RemoveRelation(relation):
            return f"relation {shown(relation.source)} {relation.type} {shown(relation.target)}"
        case SetKind():
            return f"the kind of {shown(change.id)}"
        case SetProperty():
            return f"{change.key} of {shown(change.id)}"
        case ChangeList():
            return f"{change.field} of {shown(change.id)}"
        case _:
            assert_never(change)
