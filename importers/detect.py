"""Scene files whose format is recognized by their content or ending, and the formats that packages bring."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import Problem, document_error, json_path
from scenecypher.db.graph.scene_document import FORMAT, scene_from_document
from scenecypher.db.graph.value import shown
from scenecypher.db.schema import Declared
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers import (
    dsg,
    grasif,
    grasif_pickle,
    networkx_json,
    open_vocabulary,
    room_trees,
    scans,
    thor,
    virtualhome,
)
from scenecypher.importers.json_file import JsonLine, ending_of, read_document, stem_of, without_gaps
from scenecypher.importers.vectors_file import read_vectors_file
from scenecypher.importers.word_tables import listed, tables
from scenecypher.plugins import Plugins

_log: Final = logging.getLogger("scenecypher.importers")
PAGE: Final = "docs/importing.md tells of each"
COMMANDS: Final = ("json", "dsg", "grasif", "virtualhome", "networkx")
"""The formats that have a command of their own."""
TAKEN: Final = "taken for {}"
_LOOKS: Final = tables("words")["looks"]
_OF_LISTS: Final[frozenset[Any]] = frozenset((thor.is_metadata, scans.is_one, room_trees.is_tree, networkx_json.is_one))
AROUND: Final = frozenset(listed(_LOOKS["around"]))
"""Keys, in lower case, under which a list of objects may stand with other things beside it; a graph, under any key."""


@dataclass(frozen=True, slots=True)
class SceneFile:
    """A file with a scene, and the `document` in it if it is JSON or YAML.

    `name` is the scene's, None if the format chooses one. The format may take the words that are `declared`; a `strict`
    reader leaves nothing out.
    """

    path: Path
    name: str | None
    document: Any = None
    declared: Declared = field(default_factory=Declared)
    strict: bool = False

    def name_after(self, prefix: str) -> str:
        """Return the scene's name: the one that was asked for, else the `prefix` and the file's stem."""
        return self.name or prefix + stem_of(self.path)


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format of scene files; `read` raises DocumentError with all problems of a file.

    `is_one` tells its JSON documents from those of other formats, `suffixes` are the endings of its other files.
    `parts` yields a document for each scene of one, and `join` makes one of two scenes of the same name. `is_folder`
    tells folders that are one scene.
    """

    words: str
    read: Callable[[SceneFile], ImportedScene]
    is_one: Callable[[Mapping[str, Any]], bool] = lambda _: False
    suffixes: tuple[str, ...] = ()
    parts: Callable[[Any], Iterable[Any]] = lambda document: (document,)
    join: Callable[[ImportedScene, ImportedScene], ImportedScene] | None = None
    is_folder: Callable[[Path], bool] = lambda _: False


def _read_document(file: SceneFile) -> ImportedScene:
    """Return the scene of a document of ours, under the name in it, with the vectors beside the file."""
    scene = scene_from_document(file.document, file=str(file.path))
    if vectors := file.document.get("vectors"):
        scene = replace(scene, vectors=read_vectors_file(file.path.with_name(vectors), scene.graph.nodes))
    return replace(scene, name=file.name or scene.name)


def _read_grasif(file: SceneFile) -> ImportedScene:
    if ending_of(file.path) in grasif_pickle.SUFFIXES:
        return grasif_pickle.read_scene(file.path, name=file.name)
    name = file.name_after(grasif.NAME_PREFIX)
    return grasif.from_document(file.document, file=str(file.path), name=name)[0]


def _read_virtualhome(file: SceneFile) -> ImportedScene:
    read = _with(virtualhome.from_document, None)
    return read(replace(file, name=file.name or virtualhome.scene_name(file.path)))


def _read_networkx(file: SceneFile) -> ImportedScene:
    is_other = ending_of(file.path) in open_vocabulary.SUFFIXES
    return networkx_json.from_document(
        open_vocabulary.node_link(file.path) if is_other else file.document,
        file=str(file.path),
        name=file.name_after(networkx_json.NAME_PREFIX),
        declare=file.declared,
        strict=file.strict,
    )


def _with(reader: Callable[..., ImportedScene], prefix: str | None) -> Callable[[SceneFile], ImportedScene]:
    """Return the `read` of a format whose `reader` takes a document, its file and a name."""

    def read(file: SceneFile) -> ImportedScene:
        name = file.name if prefix is None else file.name_after(prefix)
        return without_gaps(partial(reader, file=str(file.path), name=name), file.document, strict=file.strict)

    return read


def _is_virtualhome(document: Mapping[str, Any]) -> bool:
    if "init_graph" in document or "graph_state_list" in document:
        return True
    given = (document.get(key) for key in ("edges", "nodes"))
    edge, node = (it[0] if isinstance(it, list) and it and isinstance(it[0], dict) else {} for it in given)
    return "class_name" in node and ("from_id" in edge or {"properties", "states"} <= node.keys())


OURS: Final[Mapping[str, FileFormat]] = {
    "json": FileFormat(
        "SceneCypher's own documents", _read_document, lambda document: document.get("format") == FORMAT
    ),
    "dsg": FileFormat(
        "3D scene graphs of Hydra and spark-dsg",
        _with(dsg.from_document, dsg.NAME_PREFIX),
        lambda document: "layer_names" in document or "mesh_layer_id" in document,
    ),
    "hovsg": FileFormat(
        "HOV-SG's folder of floors, rooms and objects",
        lambda file: scans.read_folder(file.path, name=file.name, strict=file.strict),
        scans.is_part,
        is_folder=scans.is_folder,
    ),
    "3rscan": FileFormat(
        "3RScan's relationships.json or objects.json (3DSSG)",
        _with(scans.from_document, None),
        scans.is_one,
        parts=scans.scans,
        join=scans.joined,
    ),
    "thor": FileFormat("AI2-THOR's metadata", _with(thor.from_metadata, thor.NAME_PREFIX), thor.is_metadata),
    "procthor": FileFormat("houses of ProcTHOR and Holodeck", _with(thor.from_house, thor.NAME_PREFIX), thor.is_house),
    "sayplan": FileFormat(
        "SayPlan's nodes by kind", _with(room_trees.from_document, room_trees.NAME_PREFIX), room_trees.is_sayplan
    ),
    "grasif": FileFormat("GraSIF's JSON and pickled graphs", _read_grasif, grasif.is_one, grasif_pickle.SUFFIXES),
    "virtualhome": FileFormat("environment graphs of VirtualHome", _read_virtualhome, _is_virtualhome),
    "nested-rooms": FileFormat(
        "rooms with nested objects", _with(room_trees.from_document, room_trees.NAME_PREFIX), room_trees.is_tree
    ),
    "networkx": FileFormat("node-link JSON of NetworkX, or a map of objects", _read_networkx, networkx_json.is_one),
    "graphml": FileFormat("GraphML, GEXF and GML", _read_networkx, suffixes=open_vocabulary.SUFFIXES),
}
"""Our formats, whose tests are tried in this order; the first names are those of `scenecypher import`."""
FORMATS: Final = Plugins("scenecypher.importers", "format", FileFormat, OURS)
"""Our formats, and those that installed packages bring."""


def read_any(
    path: Path,
    *,
    name: str | None = None,
    file_format: str | None = None,
    declared: Declared | None = None,
    strict: bool = False,
) -> ImportedScene:
    """Return the scene of a file of any format that `scenecypher import` reads, or of a folder with one scene.

    `name` is the scene's name; by default the document's own, or the format's prefix and the file's stem; of a file of
    several scenes it is that of one of them. Without `file_format` ending and content decide. Raises DocumentError for
    a file that can't be read, with all its problems; InputError for a format that is not known.
    """
    is_many = path.is_dir() and not is_scene_folder(path)
    files = sorted(it for it in path.iterdir() if it.name.endswith(suffixes())) if is_many else [path]
    read = partial(read_scenes, file_format=file_format, declared=declared or Declared(), strict=strict)
    found = joined([(path, it) for file in files for it in read(file)])
    if len(found) == 1 and name is not None and not is_many:
        return next(read(path, name=name))
    chosen = [scene for _, scene in found if name is None or name in {scene.name, scene.name.rpartition("/")[2]}]
    if not found:
        raise DocumentError(str(path), "$", f"no file that ends in {', '.join(suffixes())} is in it; check the path")
    if len(chosen) != 1:
        names = ", ".join(scene.name for _, scene in found[:5])
        cause = f"here are {len(found):,} scenes, such as {names}; name one, or import all: `scenecypher import {path}`"
        raise DocumentError(str(path), "$", cause)
    return chosen[0]


def is_scene_folder(path: Path) -> bool:
    """Check if a folder is one scene, of a format whose files are its parts."""
    return path.is_dir() and any(it.is_folder(path) for it in _readable())


def joined(found: Sequence[tuple[Path, ImportedScene]]) -> list[tuple[Path, ImportedScene]]:
    """Return scenes with their files, those made one that several files of one format tell of."""
    kept: list[tuple[Path, ImportedScene]] = []
    for path, scene in found:
        join = next((it.join for it in OURS.values() if it.join and TAKEN.format(it.words) in scene.notes), None)
        at = next((n for n, (_, other) in enumerate(kept) if join and other.name == scene.name), None)
        if at is None or join is None:
            kept.append((path, scene))
        else:
            kept[at] = (kept[at][0], join(kept[at][1], scene))
    return kept


def prefix_of(path: Path, line: JsonLine) -> str:
    """Return what names of the scenes of a JSON Lines file begin with. Raises DocumentError."""
    document, _ = _unwrapped(read_document(path, line=line))
    chosen = _format_of(document, path)
    name = chosen.read(SceneFile(path, None, next(iter(chosen.parts(document))))).name
    return name if name.endswith(stem_of(path)) else name.rpartition("/")[0]


def read_scenes(
    path: Path,
    *,
    name: str | None = None,
    file_format: str | None = None,
    declared: Declared,
    strict: bool,
    line: JsonLine | None = None,
) -> Iterator[ImportedScene]:
    """Yield the scenes of a file, or of a line of it, and what it was taken for as a note.

    A list or map of documents has a scene for each, NAME/1 or NAME/KEY. Raises DocumentError, after the scenes that can
    be read, with the problems of all others.
    """
    asked = None if file_format is None else FORMATS.named(file_format)
    is_other = asked is not None and (ending_of(path) in asked.suffixes or path.is_dir())
    by_ending = _format_of_ending(path) if asked is None else asked if is_other else None
    document = None if by_ending is not None else read_document(path, line=line)
    is_whole = line is not None or by_ending is not None or asked is not None
    file = path if line is None else path.with_name(f"{path.name}:{line.number}")
    problems, of_file = list[Problem](), str(file)
    for key, given in [(None, document)] if is_whole else _several(document):
        inner, left = (given, ()) if asked is not None else _unwrapped(given)
        chosen = by_ending or asked or _format_of(inner, path)
        notes: tuple[str, ...] = () if asked is not None else (TAKEN.format(chosen.words), *left)
        notes += ("gzip: unpacked and read",) if path.suffix == ".gz" else ()
        for part in chosen.parts(inner):
            try:
                scene = chosen.read(SceneFile(file, name, part, declared, strict))
            except DocumentError as error:
                root, of_file = "" if key is None else json_path((key,)), error.file
                problems += ((where.replace("$", root, 1) if root else where, why) for where, why in error.problems)
            else:
                named = scene.name if key is None else f"{scene.name}/{key if isinstance(key, str) else key + 1}"
                yield replace(scene, name=named, notes=(*notes, *scene.notes))
    if problems:
        raise document_error(of_file, problems)


def suffixes() -> tuple[str, ...]:
    """Return the endings of files of all formats; a package that can't be read is left out, with a warning."""
    named = (".json", *(suffix for each in _readable() for suffix in each.suffixes))
    return (*named, ".yaml", ".yml", ".json.gz", ".jsonl", ".jsonl.gz", ".ndjson")


def told_form(error: InputError, command: str) -> InputError:
    """Return the error of a file that a format's command can't read; if the file is of another format, which it is."""
    if not isinstance(error, DocumentError) or command not in COMMANDS:
        return error
    try:
        document = read_document(Path(error.file))
        inner, _ = _unwrapped(_several(document)[0][1])
        found = next((name for name, each in OURS.items() if _is_of(each, inner)), command)
    except InputError:
        return error
    is_both = command == "virtualhome" and isinstance(document, dict) and document.get("edges") == []
    is_inside = inner is not document
    if (found == command and not is_inside) or is_both:
        return error
    which = f" {found}" if found in COMMANDS and not is_inside else ""
    how = "several, or under another key" if is_inside else f"no {command}"
    cause = f"this looks like {OURS[found].words}, {how}; if so, give it to `scenecypher import{which} {error.file}`"
    return DocumentError(error.file, "$", cause, more=error.problems)


def _format_of_ending(path: Path) -> FileFormat | None:
    """Return the format whose files end so, None if they are JSON or nobody's. Raises DocumentError for others."""
    if path.is_dir():
        return next((each for each in _readable() if each.is_folder(path)), None)
    ending = ending_of(path)
    other = next((words for endings, words in _LOOKS["endings"].items() if ending in endings.split()), None)
    if other is not None:
        raise _unknown(path, f"this is {other}")
    if ending in {"", ".json", ".jsonl", ".ndjson", ".yaml", ".yml"}:
        return None
    return next((each for each in _readable() if ending in each.suffixes), None)


def _readable() -> Iterator[FileFormat]:
    """Yield all formats, ours first; warn of those of packages that can't be read."""
    for name in FORMATS:
        try:
            yield FORMATS[name]
        except InputError as error:
            _log.warning("%s", error)


def _format_of(document: object, path: Path) -> FileFormat:
    """Return the first format whose test the document passes. Raises DocumentError."""
    for each in _readable():
        if _is_of(each, document):
            return each
    first = document[0] if isinstance(document, list) and document else document
    keys = first if isinstance(first, dict) else {}
    known = (f"this is {words}" for key, words in _LOOKS["keys"].items() if key in keys)
    raise _unknown(path, next(known, f"{_described(document)} is of no format that is known by its form"))


def _described(document: object) -> str:
    match document:
        case {}:
            keys = ", ".join(shown(key) for key in [*document][:8])
            return f"a map with the keys {keys}" if document else "an empty map"
        case []:
            return "an empty list"
        case [first, *_]:
            what = _described(first) if isinstance(first, dict) else f"{shown(first)},"
            return f"a list of {len(document):,}, the first {what}" if isinstance(document, list) else "it"
    return f"the content, {shown(document)},"


def _unwrapped(document: Any, depth: int = 3) -> tuple[Any, tuple[str, ...]]:
    """Return a document of a known format that stands in another, with a note; any other document as it is."""
    if isinstance(document, list) and len(document) == 2 and isinstance(document[0], bool):
        return _unwrapped(document[1], depth)  # as VirtualHome's simulator answers
    if not isinstance(document, dict) or _is_any(document):
        return document, ()
    inside = [key for key, it in document.items() if isinstance(it, dict) or (key.lower() in AROUND)]
    for key in inside if depth else ():
        inner, notes = _unwrapped(document[key], depth - 1)
        if _is_any(inner):
            left = [shown(it) for it in document if it != key]
            words = f"read from {key}" + (f"; {', '.join(left[:5])} beside it left out" if left else "")
            return inner, (words, *notes)
    return document, ()


def _several(document: Any) -> list[tuple[str | int | None, Any]]:
    """Return the documents of a list or map of nothing else, each with its place; any other document alone."""
    places = (
        enumerate(document) if isinstance(document, list) else document.items() if isinstance(document, dict) else ()
    )
    parts: list[tuple[str | int | None, Any]] = [*places]
    is_one = len(parts) < (1 if isinstance(document, list) else 2) or _is_any(document)
    are_all = not is_one and all(isinstance(it, dict) and _is_any(_unwrapped(it)[0]) for _, it in parts)
    return parts if are_all else [(None, document)]


def _is_any(document: object) -> bool:
    return any(_is_of(each, document) for each in _readable())


def _is_of(each: FileFormat, document: object) -> bool:
    """Check if a document is of a format; lists are of ours alone."""
    if isinstance(document, dict):
        return bool(each.is_one(document))
    test: Callable[[Any], bool] = each.is_one
    return isinstance(document, list) and test in _OF_LISTS and test(document)


def _unknown(path: Path, what: str) -> DocumentError:
    known = "; ".join(f"{name}: {FORMATS.ours[name].words}" if name in OURS else name for name in FORMATS)
    return DocumentError(str(path), "$", f"{what}. Formats that are read: {known}. {PAGE}")
