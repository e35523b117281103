"""Scene files whose format is recognized by their content or ending, and the formats that packages bring."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene_document import FORMAT, scene_from_document
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers import dsg, grasif, grasif_pickle, networkx_json, virtualhome
from scenecypher.importers.json_file import read_json
from scenecypher.plugins import Plugins

_log: Final = logging.getLogger("scenecypher.importers")


@dataclass(frozen=True, slots=True)
class SceneFile:
    """A file with a scene, and the `document` in it if it is JSON.

    `name` is the scene's, None if the format chooses one.
    """

    path: Path
    name: str | None
    document: Any = None

    def name_after(self, prefix: str) -> str:
        """Return the scene's name: the one that was asked for, else the `prefix` and the file's stem."""
        return self.name or prefix + self.path.stem


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of scene files; `read` raises DocumentError with all problems of a file.

    `is_one` tells its JSON documents from those of other formats, `suffixes` are the endings of its other files.
    """

    words: str
    read: Callable[[SceneFile], ImportedScene]
    is_one: Callable[[Mapping[str, Any]], bool] = lambda _: False
    suffixes: tuple[str, ...] = ()


def _read_document(file: SceneFile) -> ImportedScene:
    scene = scene_from_document(file.document, file=str(file.path))
    return scene if file.name is None else replace(scene, name=file.name)


def _read_map(file: SceneFile) -> ImportedScene:
    return dsg.from_document(file.document, file=str(file.path), name=file.name_after(dsg.NAME_PREFIX))


def _read_grasif(file: SceneFile) -> ImportedScene:
    if file.path.suffix in grasif_pickle.SUFFIXES:
        return grasif_pickle.read_scene(file.path, name=file.name)
    name = file.name_after(grasif.NAME_PREFIX)
    return grasif.from_document(file.document, file=str(file.path), name=name)[0]


def _read_virtualhome(file: SceneFile) -> ImportedScene:
    name = file.name or virtualhome.scene_name(file.path)
    return virtualhome.from_document(file.document, file=str(file.path), name=name)


def _read_networkx(file: SceneFile) -> ImportedScene:
    name = file.name_after(networkx_json.NAME_PREFIX)
    return networkx_json.from_document(file.document, file=str(file.path), name=name)


def _is_virtualhome(document: Mapping[str, Any]) -> bool:
    edges = document.get("edges")
    first = edges[0] if isinstance(edges, list) and edges else None
    return (
        "init_graph" in document or "graph_state_list" in document or (isinstance(first, dict) and "from_id" in first)
    )


OURS: Final[Mapping[str, FileFormat]] = {
    "json": FileFormat(
        "SceneCypher's own documents", _read_document, lambda document: document.get("format") == FORMAT
    ),
    "dsg": FileFormat(
        "3D scene graphs of Hydra and spark-dsg",
        _read_map,
        lambda document: "layer_names" in document or "mesh_layer_id" in document,
    ),
    "grasif": FileFormat(
        "GraSIF's JSON and pickled graphs",
        _read_grasif,
        lambda document: isinstance(document.get("nodes"), dict),
        grasif_pickle.SUFFIXES,
    ),
    "virtualhome": FileFormat("environment graphs of VirtualHome", _read_virtualhome, _is_virtualhome),
    "networkx": FileFormat(
        "node-link JSON of NetworkX",
        _read_networkx,
        lambda document: "nodes" in document and ("directed" in document or "links" in document),
    ),
}
"""Our formats, whose tests are tried in this order; the names are those of `scenecypher import`."""
FORMATS: Final = Plugins("scenecypher.importers", "format", FileFormat, OURS)
"""Our formats, and those that installed packages bring."""


def read_any(path: Path, *, name: str | None = None, file_format: str | None = None) -> ImportedScene:
    """Return the scene of a file of any format that `scenecypher import` reads from one file.

    `name` is the scene's name; by default the document's own, or the format's prefix and the file's stem. Without
    `file_format` ending and content decide. Raises DocumentError for a file that can't be read, with all its problems;
    InputError for a format that is not known.
    """
    asked = None if file_format is None else FORMATS.named(file_format)
    by_ending = _format_of_ending(path) if asked is None else asked if path.suffix in asked.suffixes else None
    if by_ending is not None:
        return by_ending.read(SceneFile(path, name))
    document = read_json(path)
    return (asked or _format_of(document, path)).read(SceneFile(path, name, document))


def suffixes() -> tuple[str, ...]:
    """Return the endings of files of all formats; a package that can't be read is left out, with a warning."""
    return (".json", *(suffix for each in _readable() for suffix in each.suffixes))


def _format_of_ending(path: Path) -> FileFormat | None:
    """Return the format whose files end so, None if that is JSON or nobody's."""
    if path.suffix in {"", ".json", ".jsonl"}:
        return None
    return next((each for each in _readable() if path.suffix in each.suffixes), None)


def _readable() -> Iterator[FileFormat]:
    """Yield all formats, ours first; warn of those of packages that can't be read."""
    for name in FORMATS:
        try:
            yield FORMATS[name]
        except InputError as error:
            _log.warning("%s", error)


def _format_of(document: object, path: Path) -> FileFormat:
    """Return the first format whose test the document passes. Raises DocumentError."""
    if isinstance(document, dict):
        for each in _readable():
            if each.is_one(document):
                return each
    cause = f"the content is of no format that is known by its form; say which of {', '.join(FORMATS)} it is"
    raise DocumentError(str(path), "$", cause)
