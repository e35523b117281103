"""Bounded reading of files of untrusted origin: bytes, text, and strict JSON, with every problem at its place."""

from __future__ import annotations

import codecs
import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any, Final, NamedTuple

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import PROBLEMS_LIMIT, document_error, json_path
from scenecypher.db.graph.value import shown
from scenecypher.errors import DocumentError
from scenecypher.importers.word_tables import tables

_GZIP: Final = b"\x1f\x8b"
_ENCODINGS: Final = {
    codecs.BOM_UTF8: "utf-8-sig",
    **dict.fromkeys((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE), "utf-32"),
    **dict.fromkeys((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-16"),
}
"""Encodings by the mark that a file begins with; UTF-8 without one."""
FILE_BYTES: Final = 512 * 2**20
"""The size of the largest file that is read; a graph takes about twelve times its file's size in memory."""
MAX_DEPTH: Final = 100
"""The greatest depth of nested lists and maps; a scene needs seven."""
TOO_DEEP: Final = f"nested over {MAX_DEPTH} deep, which no scene is; mend the file"
WHOLE: Final = frozenset({"bounding_box", "obj_transform", "axisAlignedBoundingBox"})
"""Maps of which no part has a meaning without the others."""
_NESTING: Final = frozenset({dict, list})
JSON_LINES: Final = (
    "a second document begins here; if the file has one a line, call it NAME.jsonl: each line is then imported as a "
    "scene of its own, NAME/1, NAME/2 and so on"
)
_COMMENT: Final = re.compile(r"\s*(//|/\*|#)")


def read_bytes(path: Path, *, max_bytes: int) -> bytes:
    """Return a file's bytes, at most `max_bytes`; a gzip file is unpacked. Raises DocumentError for a larger file.

    The size in the directory is not relied upon: a device or a pipe reports 0 and may never end.
    """
    try:
        with path.open("rb") as file:
            unpacked = gzip.GzipFile(fileobj=file) if file.peek(2).startswith(_GZIP) else file
            data = unpacked.read(max_bytes + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DocumentError(str(path), "the file", f"no whole gzip file ({error}); copy it again") from error
    except OSError as error:
        cause = f"can't be read ({error.strerror or error}); check its path"
        raise DocumentError(str(path), "the file", cause) from error
    if len(data) > max_bytes:
        raise DocumentError(str(path), "$", f"over {max_bytes // 2**20} MB, the most that is read: split the file")
    return data


def read_text(path: Path, *, max_bytes: int) -> str:
    """Return a file's text in the encoding that its mark tells. Raises DocumentError."""
    return _text(read_bytes(path, max_bytes=max_bytes), path)


def _text(data: bytes, path: Path) -> str:
    encoding = next((it for mark, it in _ENCODINGS.items() if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        cause = "not UTF-8 but some other encoding; save the file as UTF-8"
        cause = "no text; give a file of a format that is read" if b"\0" in data[:512] else cause
        raise DocumentError(str(path), f"byte {error.start:,}", cause) from error


@dataclass(frozen=True, slots=True)
class NotFinite:
    """NaN or Infinity in a file: a value that no form accepts."""

    text: str

    def __repr__(self) -> str:
        return self.text


class JsonLine(NamedTuple):
    """A line of a JSON Lines file, and its number."""

    number: int
    data: bytes


def json_lines(path: Path) -> list[JsonLine]:
    """Return the lines of a file that are not blank. Raises DocumentError if there are none."""
    lines = read_bytes(path, max_bytes=FILE_BYTES).splitlines()
    found = [JsonLine(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not found:
        raise DocumentError(str(path), "line 1", "no line is here; give a file with one JSON document a line")
    return found


def read_json(path: Path, *, line: JsonLine | None = None) -> Any:
    """Return the value of a JSON file, or of a line of it.

    Raises DocumentError if it is not strict JSON or can't be read.
    """
    text = read_text(path, max_bytes=FILE_BYTES) if line is None else _text(line.data, path)
    repeated: list[tuple[dict[str, Any], str]] = []

    def to_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            counts = Counter(key for key, _ in pairs)
            repeated.append((made, next(key for key, count in counts.items() if count > 1)))
        return made

    try:
        value = json.loads(text, object_pairs_hook=to_dict, parse_constant=NotFinite)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno if line is None else line.number}, column {error.colno}"
        cause = _no_json(text, error)
        raise DocumentError(str(path), place, cause) from error
    except RecursionError as error:
        raise DocumentError(str(path), "$", TOO_DEEP) from error
    except ValueError as error:
        raise DocumentError(str(path), "$", "a whole number with thousands of digits; mend the file") from error
    if repeated:
        places = {id(made): json_path(place) for place, made in _walk(value) if isinstance(made, dict)}
        causes = ((places.get(id(made), "$"), key) for made, key in repeated[:PROBLEMS_LIMIT])
        problems = [(place, f"the key {shown(key)} is given twice; keep one") for place, key in causes]
        raise document_error(str(path), problems)
    if _too_deep(value):
        raise DocumentError(str(path), "$", TOO_DEEP)
    return value


def without_gaps(read: Callable[[Any], ImportedScene], document: Any, *, strict: bool = False) -> ImportedScene:
    """Return what `read` makes of a document; if it refuses, of the document without NaN, infinity and half positions.

    A note counts what was left out. With `strict` nothing is. Raises DocumentError.
    """
    try:
        return read(document)
    except DocumentError:
        left: Counter[str] = Counter()
        whole = document if strict else _filled(document, "", left)
        if not left:
            raise
    scene = read(whole)
    keys = ", ".join(f"{key} ({count:,})" for key, count in sorted(left.items()))
    note = f"left out, as no finite numbers: {keys}; --strict refuses such a file"
    return replace(scene, notes=(*scene.notes, note))


def _filled(value: Any, key: str, left: Counter[str]) -> Any:
    """Return a value with None in place of what has NaN or infinity in it, or null among numbers; `left` counts these.

    A list, a position by axis, or a box or pose with a gap in it is left out whole.
    """
    parts = value if isinstance(value, list) else [*value.values()] if _is_position(value) else [value]
    has_numbers = any(isinstance(part, int | float) for part in parts)
    if any(map(_is_gap, parts)) or (has_numbers and any(it is None or _is_gap_as_text(it) for it in parts)):
        left[key] += 1
        return None
    if isinstance(value, dict):
        filled = {name: _filled(inner, name, left) for name, inner in value.items()}
        is_half = key in WHOLE and any(it is None and value[name] is not None for name, it in filled.items())
        return None if is_half else filled
    return [_filled(inner, key, left) for inner in value] if isinstance(value, list) else value


def _is_gap(value: Any) -> bool:
    return isinstance(value, NotFinite) or (isinstance(value, float) and not isfinite(value))


def _is_gap_as_text(value: Any) -> bool:
    return isinstance(value, str) and value.lower().lstrip("-") in {"nan", "inf", "infinity"}


def _is_position(value: Any) -> bool:
    return isinstance(value, dict) and {"x", "y"} <= value.keys() <= {"x", "y", "z", "w"}


def ending_of(path: Path) -> str:
    """Return a file's ending, in lower case; `.gz` is none."""
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()


def stem_of(path: Path) -> str:
    """Return a file's name without its endings."""
    return (path.with_suffix("") if path.suffix == ".gz" else path).stem


def read_document(path: Path, *, line: JsonLine | None = None) -> Any:
    """Return the value of a JSON or YAML file, or of a line of it. Raises DocumentError."""
    if ending_of(path) not in {".yaml", ".yml"}:
        return read_json(path, line=line)
    from yaml import MarkedYAMLError, SafeLoader, YAMLError, load, parse
    from yaml.events import AliasEvent

    text = read_text(path, max_bytes=FILE_BYTES)
    try:
        if any(isinstance(event, AliasEvent) for event in parse(text, Loader=SafeLoader)):
            raise DocumentError(str(path), "$", "it has aliases (*name), which are not read; write each value out")
        value = load(text, Loader=_plain_loader())  # noqa: S506 - it is a SafeLoader
    except MarkedYAMLError as error:
        number = error.problem_mark.line + 1 if error.problem_mark else 1
        raise DocumentError(str(path), f"line {number}", f"no valid YAML ({error.problem}); mend the file") from error
    except (YAMLError, RecursionError, ValueError) as error:
        raise DocumentError(str(path), "$", f"no valid YAML ({type(error).__name__}); mend the file") from error
    if _too_deep(value):
        raise DocumentError(str(path), "$", TOO_DEEP)
    return _with_text_keys(value)


def _plain_loader() -> type[Any]:
    from yaml import MarkedYAMLError, SafeLoader

    class PlainLoader(SafeLoader):
        """Reads on, off, yes, no and dates as text, and refuses a key that is given twice."""

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 - PyYAML's own
            keys = [key for key, _ in node.value if isinstance(key.value, str)]
            counts = Counter(key.value for key in keys)
            for key in (it for it in keys if counts[it.value] > 1):
                problem = f"the key {shown(key.value)} is given twice; keep one"
                raise MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            return super().construct_mapping(node, deep)

    words = (":timestamp", ":bool")
    PlainLoader.yaml_implicit_resolvers = {
        first: [it for it in found if first in "tTfF" or not it[0].endswith(words)]
        for first, found in SafeLoader.yaml_implicit_resolvers.items()
    }
    return PlainLoader


def _with_text_keys(value: Any) -> Any:
    """Return a value of YAML with keys of text, as in JSON."""
    if isinstance(value, dict):
        return {str(key): _with_text_keys(inner) for key, inner in value.items()}
    return [*map(_with_text_keys, value)] if isinstance(value, list) else value


def _no_json(text: str, error: json.JSONDecodeError) -> str:
    begin, before = text.lstrip()[:40].lower().replace(": ", ":"), text[: error.pos].rstrip()
    if not begin:
        return "no valid JSON, the file is empty; was it copied whole?"
    beginnings = tables("words")["looks"]["beginnings"].items()
    if looks := next((words for mark, words in beginnings if begin.startswith(mark)), ""):
        return f"no valid JSON but {looks}"
    # A whole value is followed by the beginning of another in a later line.
    if error.msg == "Extra data" and error.lineno > 1 and text[error.pos : error.pos + 1] in {"{", "["}:
        return JSON_LINES
    if _COMMENT.match(text, error.pos):
        return "no valid JSON (a comment stands here, which JSON has none of); remove it"
    if not before:
        known = "JSON, YAML, GraphML, GEXF and GraSIF's pickles are read, and docs/importing.md tells of which tools"
        return f"this is no JSON: it begins with {shown(text.strip()[:40])}; {known}"
    is_comma = before.endswith(",") and text[error.pos : error.pos + 1] in {"}", "]"}
    why = "a comma stands before this bracket); remove the comma" if is_comma else f"{error.msg}); mend the file"
    return f"no valid JSON ({why}"


def _too_deep(value: Any) -> bool:
    level = [value] if type(value) in _NESTING else []
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in _NESTING
        ]
        if not level:
            return False
    return True


def _walk(root: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), root)]
    while waiting:
        place, value = waiting.pop()
        yield place, value
        match value:
            case dict():
                waiting += [((*place, key), inner) for key, inner in value.items()]
            case list():
                waiting += [((*place, index), inner) for index, inner in enumerate(value)]
