"""The file of a cassette: JSON lines, a heading and one exchange a line, with whole requests for review."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scenecypher.chat.canonical import canonical_hash
from scenecypher.chat.model import Finish, Reply, Usage
from scenecypher.errors import DocumentError, InputError
from scenecypher.files import log_file

Origin = Literal["recorded", "scripted"]
Key = tuple[str, str, int]  # session, request hash, occurrence


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request in its canonical form and its reply: the `occurrence`-th (from 1) equal request in `session`."""

    session: str
    occurrence: int
    request: dict[str, Any]
    reply: Reply


@dataclass(frozen=True, slots=True)
class Tape:
    """A cassette in memory: the origin of its replies, and its exchanges by key in the order of the file."""

    origin: Origin
    note: str
    exchanges: Mapping[Key, Exchange]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


LineForm = TypeVar("LineForm", bound=_Line)


class _Heading(_Line):
    cassette: Literal[1]
    source: Origin
    note: str = ""


class _Usage(_Line):
    prompt_tokens: int = Field(default=0, ge=0)
    completion_tokens: int = Field(default=0, ge=0)


class _Reply(_Line):
    text: str
    model: str
    finish: Finish = "stop"
    usage: _Usage = _Usage()


class _Exchange(_Line):
    session: str
    occurrence: int = Field(ge=1)
    request: dict[str, Any]
    reply: _Reply
    request_hash: str | None = None


def read_tape(file: Path | Traversable) -> Tape:
    """Return the cassette in `file`. Raises InputError if it can't be read, DocumentError with the wrong line."""
    heading, *lines = _lines(file)
    head = _parsed(_Heading, file, heading)
    exchanges: dict[Key, Exchange] = {}
    for line in lines:
        key, exchange = _exchange(file, line, head.source)
        if key in exchanges:
            raise DocumentError(str(file), f"line {line[0]}", "the same exchange stands twice; delete one of the lines")
        exchanges[key] = exchange
    return Tape(head.source, head.note, exchanges)


def begin_tape(file: Path, *, origin: Origin, note: str) -> None:
    """Create the file of a new cassette. Raises InputError if it exists or can't be written."""
    heading = _Heading(cassette=1, source=origin, note=note)
    if file.exists():
        raise InputError(f"the cassette {file} exists; delete it to record it anew, or choose another file")
    _write(file, heading.model_dump(), is_new=True)


def write_exchange(file: Path, exchange: Exchange) -> None:
    """Append one exchange as a whole line. Raises InputError if the file can't be written."""
    reply = exchange.reply
    said = {"text": reply.text, "model": reply.model, "finish": reply.finish, "usage": asdict(reply.usage)}
    line = {"session": exchange.session, "occurrence": exchange.occurrence, "request": exchange.request, "reply": said}
    _write(file, line | {"request_hash": canonical_hash(exchange.request)})


def _lines(file: Path | Traversable) -> list[tuple[int, str]]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read the cassette {file} ({error}); check its path, or record it anew") from error
    # Lines end with line feeds only: replies may hold other line separators of Unicode.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise DocumentError(str(file), "line 1", "the cassette is empty; record it anew")
    return lines


def _exchange(file: Path | Traversable, line: tuple[int, str], origin: Origin) -> tuple[Key, Exchange]:
    row = _parsed(_Exchange, file, line)
    usage = Usage(row.reply.usage.prompt_tokens, row.reply.usage.completion_tokens)
    reply = Reply(row.reply.text, usage, row.reply.model, source=origin, finish=row.reply.finish)
    request_hash = canonical_hash(row.request)
    if row.request_hash not in {None, request_hash}:
        raise DocumentError(
            str(file),
            f"line {line[0]}",
            "the request is not the one that was recorded (its hash differs); record the cassette anew",
        )
    key = row.session, request_hash, row.occurrence
    return key, Exchange(row.session, row.occurrence, row.request, reply)


def _parsed(form: type[LineForm], file: Path | Traversable, line: tuple[int, str]) -> LineForm:
    try:
        return form.model_validate_json(line[1])
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(["$", *map(str, first["loc"])])
        raise DocumentError(
            str(file), f"line {line[0]}, {place}", f"{first['msg']}; record the cassette anew, or mend the line"
        ) from error


def _write(file: Path, line: dict[str, Any], *, is_new: bool = False) -> None:
    with log_file(file, is_new=is_new) as append:
        append(json.dumps(line, ensure_ascii=False) + "\n")
