"""The lines of an archive: one JSON document each, lossless, and strict when read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta, timezone
from typing import Any, Final, TypeAlias

from neo4j.time import DateTime

from scenecypher.db.graph.graph_json import node_document, node_from, value_document, value_from
from scenecypher.db.graph.scene import Node, Relation
from scenecypher.db.graph.value import InvalidValue, shown
from scenecypher.db.store.rows import from_driver, to_driver
from scenecypher.errors import InputError

FORMAT: Final = "scenecypher/archive"
TIME: Final = "time"
"""The key of a time in a document, as ``point`` is that of a position."""

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
Facts: TypeAlias = Mapping[str, Any]
"""Properties of a node that is no member, with the driver's values."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: the stored form of the scenes, and the time at which the archive was begun (ISO)."""

    form: int
    made: str


@dataclass(frozen=True, slots=True)
class SceneLine:
    """The beginning of a scene: its key, name and status, the scenes that it refers to, and its other facts.

    `world` and `replaced_by` are keys, `copied_from` is a key, ``@`` and a version.
    """

    key: str
    name: str
    status: str
    world: str | None
    copied_from: str | None
    replaced_by: str | None
    facts: Facts


@dataclass(frozen=True, slots=True)
class NodeLine:
    """A member and the relations that leave it, by type; both are parsed when they are asked for."""

    document: Mapping[str, Any]
    targets: Mapping[str, Sequence[str]]

    def node(self) -> Node:
        """Return the node. Raises InvalidValue, and KeyError or TypeError for another form."""
        return node_from(self.document)

    def relations(self) -> list[Relation]:
        """Return the relations, each once. Raises InvalidValue, and KeyError or TypeError for another form."""
        source = self.document["id"]
        found = [Relation(source, type_, target) for type_, targets in self.targets.items() for target in targets]
        if len({*found}) != len(found):
            msg = f"a relation of node {shown(source)} is given twice"
            raise InvalidValue(msg)
        return found


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A node that belongs to a scene and is no member, such as an event: its label and properties."""

    label: str
    values: Facts


@dataclass(frozen=True, slots=True)
class SceneEnd:
    """The end of a scene: its lines by sort, and the SHA-256 (hex) of all of its lines before this one."""

    counts: Mapping[str, int]
    digest: str


@dataclass(frozen=True, slots=True)
class End:
    """The last line: the number of scenes, and the SHA-256 (hex) of the header and of all ends of scenes."""

    scenes: int
    digest: str


Line: TypeAlias = Header | SceneLine | NodeLine | RecordLine | SceneEnd | End


def line_bytes(line: Line) -> bytes:
    """Return a line as it stands in the file, with its line break."""
    return (_ENCODER.encode(_document(line)) + "\n").encode()


def parse_line(data: bytes) -> Line:
    """Parse a line. Raises InvalidValue."""
    try:
        tag, *parts = json.loads(data, parse_constant=_no_number)
        return _READERS[tag](*parts)
    except InputError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        msg = f"{shown(data[:80].decode(errors='replace'))} is no line of an archive ({type(error).__name__})"
        raise InvalidValue(msg) from error


def node_line(node: Node, targets: Iterable[tuple[str, str]]) -> NodeLine:
    """Return the line of a node; `targets` are the type and the target's id of each relation that leaves it."""
    by_type: dict[str, list[str]] = {}
    for type_, target in sorted(targets):
        by_type.setdefault(type_, []).append(target)
    return NodeLine(node_document(node), by_type)


def _document(line: Line) -> list[Any]:
    match line:
        case Header(form, made):
            return ["archive", {"format": FORMAT, "form": form, "made": made}]
        case SceneLine(key, name, status, world, copied_from, replaced_by, facts):
            references = {"world": world, "copied_from": copied_from, "replaced_by": replaced_by}
            return ["scene", {"key": key, "name": name, "status": status, **references, "facts": _facts(facts)}]
        case NodeLine(document, targets):
            return ["node", document, targets] if targets else ["node", document]
        case RecordLine(label, values):
            return ["record", label, _facts(values)]
        case SceneEnd(counts, digest):
            return ["end of scene", {"counts": dict(sorted(counts.items())), "sha256": digest}]
        case End(scenes, digest):
            return ["end", {"scenes": scenes, "sha256": digest}]


def _header(document: Mapping[str, Any]) -> Header:
    if document["format"] != FORMAT:
        msg = f"the format is {shown(document['format'])}, not {FORMAT}"
        raise InvalidValue(msg)
    return Header(_whole(document["form"]), _text(document["made"]))


def _scene(document: Mapping[str, Any]) -> SceneLine:
    return SceneLine(
        _text(document["key"]),
        _text(document["name"]),
        _text(document["status"]),
        _text_or_none(document["world"]),
        _text_or_none(document["copied_from"]),
        _text_or_none(document["replaced_by"]),
        _facts_from(document["facts"]),
    )


def _node(document: Mapping[str, Any], targets: Mapping[str, Sequence[str]] | None = None) -> NodeLine:
    if not isinstance(document, dict) or not isinstance(targets or {}, dict):
        raise TypeError
    return NodeLine(document, targets or {})


def _record(label: str, values: Mapping[str, Any]) -> RecordLine:
    return RecordLine(_text(label), _facts_from(values))


def _scene_end(document: Mapping[str, Any]) -> SceneEnd:
    counts = {_text(name): _whole(number) for name, number in document["counts"].items()}
    return SceneEnd(counts, _text(document["sha256"]))


def _end(document: Mapping[str, Any]) -> End:
    return End(_whole(document["scenes"]), _text(document["sha256"]))


_READERS: Final[Mapping[str, Callable[..., Line]]] = {
    "archive": _header,
    "scene": _scene,
    "node": _node,
    "record": _record,
    "end of scene": _scene_end,
    "end": _end,
}


def _facts(facts: Facts) -> dict[str, Any]:
    return {name: _value_document(value) for name, value in sorted(facts.items()) if value is not None}


def _facts_from(document: Mapping[str, Any]) -> Facts:
    return {_text(name): _value_from(value, name) for name, value in document.items()}


def _value_document(value: Any) -> Any:
    return {TIME: value.iso_format()} if isinstance(value, DateTime) else value_document(from_driver(value))


def _value_from(document: Any, name: str) -> Any:
    """Return a value for the driver, text unchanged; a time keeps its offset, whatever the zone's name was."""
    match document:
        case str() | bool() | int() | float():
            return document
        case list():
            return [_value_from(item, name) for item in document]
        case {"time": str(text)}:
            return _time(text)
        case _:
            return to_driver(value_from(document, name))


def _time(text: str) -> DateTime:
    time = DateTime.from_iso_format(text)
    offset = time.utcoffset()
    return time if offset is None else time.replace(tzinfo=timezone(timedelta(seconds=offset.total_seconds())))


def _no_number(text: str) -> Any:
    raise ValueError(text)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)


def _whole(value: object) -> int:
    if type(value) is not int or value < 0:
        raise TypeError
    return value
