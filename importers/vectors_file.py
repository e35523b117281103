"""Vectors of nodes: in the nodes of a map's JSON, in an npz file beside a document, or made of a node's words."""

from __future__ import annotations

import math
import zlib
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile, ZipFile

from scenecypher.db.graph.scene import Node
from scenecypher.db.graph.value import INTEGERS, InvalidValue, shown
from scenecypher.db.graph.vectors import Row, VectorSource, checked_vectors
from scenecypher.db.schema import MAX_DIMENSION, VectorSpace
from scenecypher.errors import DocumentError, InputError
from scenecypher.files import new_file
from scenecypher.importers.json_file import NotFinite
from scenecypher.meaning import Embed

IDS, MODEL, MEMBER = ".ids", ".model", ".npy"
IDS_BYTES: Final = 256 * 2**20
"""The size of the largest list of ids that is read; vectors are read one after another."""
TEXTS_AT_ONCE: Final = 256


def vectors_of_nodes(
    key: str, given: Iterable[tuple[str, Any]], nodes: Collection[str], *, file: str
) -> tuple[VectorSource, ...]:
    """Return the vectors under a key of a map's nodes, given as (id, value); none if no value is one.

    A row or a column of a matrix is a vector. Raises DocumentError.
    """
    rows = [(node_id, row) for node_id, value in given if (row := _row(value)) is not None]
    try:
        return (checked_vectors(key, "", lambda: iter(rows), nodes),) if rows else ()
    except InputError as error:
        raise DocumentError(file, "$.nodes", str(error)) from error


def _row(value: Any) -> array[float] | None:
    if isinstance(value, list) and value and all(isinstance(it, list) for it in value):
        value = value[0] if len(value) == 1 else [it for part in value if len(part) == 1 for it in part]
    is_vector = isinstance(value, list) and value and all(map(_is_number, value))
    return array("f", (math.nan if isinstance(it, NotFinite) else it for it in value)) if is_vector else None


def _is_number(it: object) -> bool:
    return isinstance(it, float | NotFinite) or (type(it) is int and it in INTEGERS)


def vectors_of_words(nodes: Iterable[Node], model: str, embed: Embed) -> VectorSource:
    """Return vectors of what is said about each node: its class, its name and its caption."""
    listed = [*nodes]

    def rows() -> Iterator[Row]:
        for start in range(0, len(listed), TEXTS_AT_ONCE):
            part = listed[start : start + TEXTS_AT_ONCE]
            for node, vector in zip(part, embed([_said(it) for it in part]), strict=True):
                if any(vector):
                    yield node.id, array("f", vector)

    return checked_vectors("words", model, rows, {node.id for node in listed})


def _said(node: Node) -> str:
    said = (node.class_, node.name.rstrip("0123456789_"), str(node.properties.get("caption", "")))
    return " ".join(dict.fromkeys(it.replace("_", " ") for it in said if it))


def read_vectors_file(path: Path, nodes: Collection[str]) -> tuple[VectorSource, ...]:
    """Return the vectors of an npz file: `NAME`, a row a vector, with `NAME.ids` and `NAME.model`.

    Raises DocumentError naming the part.
    """
    found: list[VectorSource] = []
    with _reading(path, "the file") as archive:
        members = {name.removesuffix(MEMBER) for name in archive.namelist()}
    for name in sorted(it for it in members if not it.endswith((IDS, MODEL))):
        with _reading(path, name) as archive:
            ids, model = (_texts(archive, it) if it in members else None for it in (name + IDS, name + MODEL))
            if ids is None:
                raise InvalidValue(f"has no {name}{IDS}, the ids of its rows; add it")
            rows = _rows_of(path, name, ids)
            found.append(checked_vectors(name, (model or [""])[0], rows, nodes))
    return tuple(found)


@contextmanager
def _reading(path: Path, place: str) -> Iterator[ZipFile]:
    try:
        with ZipFile(path) as archive:
            yield archive
    except InputError as error:
        raise error if isinstance(error, DocumentError) else DocumentError(str(path), place, str(error)) from error
    except (OSError, RuntimeError, BadZipFile, ValueError, KeyError, EOFError, zlib.error) as error:
        cause = f"no npz file of vectors ({error}); export the scene again, or mend the file's name"
        raise DocumentError(str(path), place, cause) from error


def _texts(archive: ZipFile, name: str) -> list[str]:
    """Return a list of texts, or one text as a list."""
    import numpy as np

    if archive.getinfo(name + MEMBER).file_size > IDS_BYTES:
        raise InvalidValue(f"{name} is over {IDS_BYTES // 2**20} MB; split the scene")
    with archive.open(name + MEMBER) as member:
        read = np.lib.format.read_array(member, allow_pickle=False)
    if read.dtype.kind != "U":
        raise InvalidValue(f"{name} holds no text; give ids as text")
    return [str(it) for it in read.reshape(-1)]


def _rows_of(path: Path, name: str, ids: Sequence[str]) -> Callable[[], Iterator[Row]]:
    """Return what reads the rows of a matrix, one at a time. Raises InvalidValue for what is no matrix of numbers."""
    import numpy as np

    def rows() -> Iterator[Row]:
        with _reading(path, name) as archive, archive.open(name + MEMBER) as member:
            version = np.lib.format.read_magic(member)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, by_columns, dtype = read(member)
            if by_columns or dtype.kind != "f" or len(shape) != 2 or not 0 < shape[1] <= MAX_DIMENSION:
                wanted = f"a matrix of floats, by rows of at most {MAX_DIMENSION:,} numbers"
                raise InvalidValue(f"should be {wanted}, not {shown(str(dtype))} of {shape}; store it so")
            if shape[0] != len(ids):
                raise InvalidValue(f"has {shape[0]:,} rows, {name}{IDS} {len(ids):,}; give each row its id")
            for node_id in ids:
                row = np.frombuffer(member.read(dtype.itemsize * shape[1]), dtype)
                with np.errstate(over="ignore"):
                    yield node_id, array("f", row.astype("f4").tobytes())

    return rows


def write_vectors_file(path: Path, sources: Iterable[tuple[VectorSpace, Sequence[str], Iterable[Row]]]) -> None:
    """Write vectors as an npz file that `read_vectors_file` reads: of each space the ids, and their rows in this order.

    Raises InputError if the file can't be written.
    """
    import numpy as np

    with new_file(path) as file, ZipFile(file, "w") as archive:
        for space, ids, rows in sources:
            for part, text in ((IDS, ids), (MODEL, space.model)):
                with archive.open(space.name + part + MEMBER, "w") as member:
                    np.lib.format.write_array(member, np.array(text, dtype="U"), allow_pickle=False)
            with archive.open(space.name + MEMBER, "w", force_zip64=True) as member:
                header = {"descr": "<f4", "fortran_order": False, "shape": (len(ids), space.dimension)}
                np.lib.format.write_array_header_1_0(member, header)
                for _, row in rows:
                    member.write(np.array(row, dtype="<f4").tobytes())
