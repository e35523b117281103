"""The lines of an archive: one JSON document each, lossless, and strict when read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta, timezone
from typing import Annotated, Any, Final, Literal, TypeAlias

from neo4j.time import DateTime
from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError
from pydantic_core import ArgsKwargs

from scenecypher.db.archive.records import Text, Whole
from scenecypher.db.graph.graph_json import node_document, node_from, value_document, value_from
from scenecypher.db.graph.problems import problems_of
from scenecypher.db.graph.scene import Node, Relation
from scenecypher.db.graph.value import InvalidValue, shown
from scenecypher.db.store.load import from_driver, to_driver
from scenecypher.errors import InputError

FORMAT: Final = "scenecypher/archive"
TIME: Final = "time"
"""The key of a time in a document, as ``point`` is that of a position."""

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _of_format(name: str) -> str:
    if name != FORMAT:
        raise InvalidValue(f"the format is {shown(name)}, not {FORMAT}")
    return name


def _facts_from(document: dict[str, Any]) -> dict[str, Any]:
    return {name: _value_from(value, name) for name, value in document.items()}


Facts: TypeAlias = Mapping[str, Any]
"""Properties of a node that is no member, with the driver's values."""
ReadFacts: TypeAlias = Annotated[Facts, BeforeValidator(_facts_from)]


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: the stored form of the scenes, and the time at which the archive was begun (ISO)."""

    format: Annotated[Text, AfterValidator(_of_format)] = field(default=FORMAT, kw_only=True)
    form: Whole
    made: Text


@dataclass(frozen=True, slots=True)
class SceneLine:
    """The beginning of a scene: its key, name and status, the scenes that it refers to, and its other facts.

    `world` and `replaced_by` are keys, `copied_from` is a key, ``@`` and a version.
    """

    key: Text
    name: Text
    status: Literal["ready", "retired"]
    world: Text | None
    copied_from: Annotated[Text, Field(pattern=r"^[^@]*@[0-9]{1,15}$")] | None
    replaced_by: Text | None
    facts: ReadFacts


@dataclass(frozen=True, slots=True)
class NodeLine:
    """A member and the relations that leave it, by type; both are parsed when they are asked for."""

    document: dict[str, Any]
    targets: Mapping[str, list[str]] = field(default_factory=dict)

    def node(self) -> Node:
        """Return the node. Raises InvalidValue, and KeyError or TypeError for another form."""
        return node_from(self.document)

    def relations(self) -> list[Relation]:
        """Return the relations, each once. Raises InvalidValue, and KeyError or TypeError for another form."""
        source = self.document["id"]
        found = [Relation(source, type_, target) for type_, targets in self.targets.items() for target in targets]
        if len({*found}) != len(found):
            raise InvalidValue(f"a relation of node {shown(source)} is given twice")
        return found


@dataclass(frozen=True, slots=True)
class RecordLine:
    """A node that belongs to a scene and is no member, such as an event: its label and properties."""

    label: Text
    values: ReadFacts


@dataclass(frozen=True, slots=True)
class SceneEnd:
    """The end of a scene: its lines by sort, and the SHA-256 (hex) of all of its lines before this one."""

    counts: Mapping[str, Whole]
    sha256: Text


@dataclass(frozen=True, slots=True)
class End:
    """The last line: the number of scenes, and the SHA-256 (hex) of the header and of all ends of scenes."""

    scenes: Whole
    sha256: Text


Line: TypeAlias = Header | SceneLine | NodeLine | RecordLine | SceneEnd | End

_FORMS: Final[Mapping[str, TypeAdapter[Line]]] = {
    "archive": TypeAdapter(Header),
    "scene": TypeAdapter(SceneLine),
    "node": TypeAdapter(NodeLine),
    "record": TypeAdapter(RecordLine),
    "end of scene": TypeAdapter(SceneEnd),
    "end": TypeAdapter(End),
}
"""The form of each tag: the rest of a line is a map of its fields, or they stand one after another."""
_BY_PLACE: Final = frozenset({"node", "record"})
_TAGS: Final = {Header: "archive", SceneLine: "scene", SceneEnd: "end of scene", End: "end"}


def line_bytes(line: Line) -> bytes:
    """Return a line as it stands in the file, with its line break."""
    return (_ENCODER.encode(_document(line)) + "\n").encode()


def parse_line(data: bytes) -> Line:
    """Parse a line. Raises InvalidValue."""
    try:
        tag, *parts = json.loads(data, parse_constant=_no_number)
        (given,) = (ArgsKwargs(tuple(parts)),) if tag in _BY_PLACE else parts
        return _FORMS[tag].validate_python(given)
    except InputError:
        raise
    except ValidationError as error:
        place, cause = problems_of(error, parts if tag in _BY_PLACE else parts[0])[0]
        raise InvalidValue(f"{place} {cause}: not of the form that an archive has; make another backup") from error
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
        case NodeLine(document, targets):
            return ["node", document, targets] if targets else ["node", document]
        case RecordLine(label, values):
            return ["record", label, _facts(values)]
        case _:
            found = {it.name: getattr(line, it.name) for it in fields(line)}
            found |= {name: _facts(value) for name, value in found.items() if isinstance(value, Mapping)}
            return [_TAGS[type(line)], found]


def _facts(facts: Facts) -> dict[str, Any]:
    return {name: _value_document(value) for name, value in sorted(facts.items()) if value is not None}


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
