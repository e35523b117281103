"""Vectors of nodes: in the nodes of a map's JSON, in an npz file beside a document, or made of a node's words."""

from __future__ import annotations

import math
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

import numpy as np

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node
from scenecypher.db.graph.value import InvalidValue, shown
from scenecypher.db.graph.vectors import NodeVectors, Row, checked_vectors, single
from scenecypher.errors import DocumentError, InputError
from scenecypher.files import new_file
from scenecypher.importers.json_file import NotFinite
from scenecypher.meaning import Embed

IDS, MODEL = ".ids", ".model"
FILE_BYTES: Final = 2 * 2**30
"""The size of the largest file, unpacked: all of it is kept in memory."""
TEXTS_AT_ONCE: Final = 256
SPOILT: Final = (OSError, BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, LookupError, MemoryError)
"""What is raised for a file that can't be read; TypeError and AttributeError are, where a part is no matrix."""


def with_vectors_of_nodes(scene: ImportedScene, key: str, given: Sequence[tuple[str, Any]]) -> ImportedScene:
    """Return the scene with the vectors under a key of its file's nodes, given as (id, value).

    A note tells of values that are none. Raises DocumentError.
    """
    rows = [(node_id, row) for node_id, value in given if (row := _row(value)) is not None]
    left_out = len(given) - len(rows)
    notes = (f"{key} of {left_out:,} nodes left out: no vectors",) if left_out else ()
    try:
        found = (checked_vectors(key, "", rows, scene.graph.nodes),) if rows else ()
    except InputError as error:
        raise DocumentError(scene.source, "$.nodes", str(error)) from error
    return replace(scene, notes=(*scene.notes, *notes), vectors=(*scene.vectors, *found))


def _row(value: Any) -> Row | None:
    """Return a list of numbers, or a matrix of one row or column, as a vector; None for any other value."""
    try:
        made = np.array(value, dtype=object)
        row = single([math.nan if isinstance(it, NotFinite) else it for it in made.flat])
    except (TypeError, ValueError, OverflowError):
        return None
    return row if 0 < made.size == max(made.shape, default=0) else None


def vectors_of_words(nodes: Sequence[Node], model: str, embed: Embed) -> NodeVectors:
    """Return vectors of what is said about each node: its class, its name and its caption."""
    parts = (nodes[start : start + TEXTS_AT_ONCE] for start in range(0, len(nodes), TEXTS_AT_ONCE))
    made = (pair for part in parts for pair in zip(part, embed([*map(_said, part)]), strict=True))
    given = ((node.id, vector) for node, vector in made if any(vector))
    return checked_vectors("words", model, given, {node.id for node in nodes})


def _said(node: Node) -> str:
    said = (node.class_, node.name.rstrip("0123456789_"), str(node.properties.get("caption", "")))
    return " ".join(dict.fromkeys(it.replace("_", " ") for it in said if it))


def read_vectors_file(path: Path, nodes: Collection[str]) -> tuple[NodeVectors, ...]:
    """Return the vectors of an npz file: `NAME`, a row a vector, with `NAME.ids` and `NAME.model`.

    Raises DocumentError naming the part.
    """
    place, found = "the file", list[NodeVectors]()
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as parts:
            if sum(it.file_size for it in parts.zip.infolist()) > FILE_BYTES:
                raise InvalidValue(f"has over {FILE_BYTES // 2**30} GB of vectors; split the scene")
            for place in sorted(it for it in parts if not it.endswith((IDS, MODEL))):
                found.append(_vectors_in(parts, place, nodes))
    except InputError as error:
        raise DocumentError(str(path), place, str(error)) from error
    except (*SPOILT, TypeError, AttributeError) as error:
        cause = f"no npz file of vectors ({error}); export the scene again, or mend the file's name"
        raise DocumentError(str(path), place, cause) from error
    return tuple(found)


def _vectors_in(parts: Any, name: str, nodes: Collection[str]) -> NodeVectors:
    if name + IDS not in parts:
        raise InvalidValue(f"has no {name}{IDS}, the ids of its rows; add it")
    rows, ids = parts[name], parts[name + IDS]
    if rows.dtype.kind != "f" or rows.ndim != 2:
        raise InvalidValue(f"should be a matrix of floats, not {shown(str(rows.dtype))} of {rows.shape}; store it so")
    if ids.dtype.kind != "U":
        raise InvalidValue(f"{name}{IDS} holds no text; give ids as text")
    if len(rows) != ids.size:
        raise InvalidValue(f"has {len(rows):,} rows, {name}{IDS} {ids.size:,}; give each row its id")
    model = " ".join(map(str, parts[name + MODEL].flat)) if name + MODEL in parts else ""
    return checked_vectors(name, model, zip(map(str, ids.flat), single(rows), strict=True), nodes)


def write_vectors_file(path: Path, sets: Iterable[NodeVectors]) -> None:
    """Write vectors as an npz file that `read_vectors_file` reads. Raises InputError if the file can't be written."""
    with new_file(path) as file, ZipFile(file, "w") as archive:
        for it in sets:
            ids, rows = np.array([*it.rows]), np.stack([*it.rows.values()])
            for ending, part in (("", rows), (IDS, ids), (MODEL, np.array(it.space.model))):
                with archive.open(f"{it.space.name}{ending}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, part, allow_pickle=False)
