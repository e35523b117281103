"""JSON files read strictly: UTF-8, no repeated keys, no NaN, and every problem at its place."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any, Final, TypeAlias

from pydantic import ValidationError

from scenecypher.errors import DocumentError

Problem: TypeAlias = tuple[str, str]
"""A place (JSON path) and a cause."""

FILE_BYTES: Final = 512 * 2**20
"""The largest file that is read; a graph takes about twelve times its file's size in memory."""
PROBLEMS_KEPT: Final = 1_000

CAUSES: Final = {
    "missing": "the field is missing; add it",
    "extra_forbidden": "the format has no such field; remove it",
    "int_type": "{value} is no whole number",
    "less_than": "{value} is no 64-bit whole number",
    "greater_than_equal": "{value} is no 64-bit whole number",
    "finite_number": "{value} is no finite number",
    "float_type": "{value} is no finite number",
    "string_type": "{value} is no text",
    "list_type": "{value} is no list",
    "model_type": "{value} is no object with named fields",
    "dict_type": "{value} is no object with named fields",
    "tuple_type": "{value} is no list",
    "too_long": "{value} has too many numbers",
}
"""Pydantic's verdicts in our words; for the rest its own stand."""

_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_OTHER_ENCODINGS: Final = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


@dataclass(frozen=True, slots=True)
class NotFinite:
    """Where the file says NaN or Infinity: a value that no form accepts."""

    text: str

    def __repr__(self) -> str:
        return self.text


def read_json(path: Path) -> Any:
    """The value of a JSON file. Raises DocumentError for what is no strict JSON, or can't be read."""
    text = _decoded(path)
    repeated: list[tuple[dict[str, Any], str]] = []

    def to_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            repeated.append((made, _first_repeated(pairs)))
        return made

    try:
        value = json.loads(text, object_pairs_hook=to_dict, parse_constant=NotFinite)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise DocumentError(str(path), place, f"no valid JSON ({error.msg}); mend the file") from error
    except RecursionError as error:
        raise DocumentError(str(path), "$", "nested far over 100 deep, which no scene is") from error
    except ValueError as error:
        raise DocumentError(str(path), "$", "a whole number with thousands of digits; mend the file") from error
    if repeated:
        raise refusal(path, [_repetition(value, made, key) for made, key in repeated[:PROBLEMS_KEPT]])
    return value


def refusal(path: Path, problems: Sequence[Problem]) -> DocumentError:
    """The error that says all `problems` of a file, at least one."""
    (place, cause), *more = problems[:PROBLEMS_KEPT]
    return DocumentError(str(path), place, cause, more=more)


def form_problems(error: ValidationError, root: str) -> list[Problem]:
    """What pydantic found wrong with the value that stands at `root`, such as ``$.init_graph``, in our words."""
    return [
        (
            json_path(root, details["loc"]),
            CAUSES.get(details["type"], details["msg"]).replace("{value}", shown(details["input"])),
        )
        for details in error.errors(include_url=False)
    ]


def json_path(root: str, keys: Sequence[str | int]) -> str:
    """``$.nodes[3].id`` from ``$`` and (nodes, 3, id); odd keys are quoted, long ones cut."""
    return root + "".join(_step(key) for key in keys)


def shown(value: object) -> str:
    """A value as a message shows it: short, on one line, printable."""
    return short_repr(value)


def _decoded(path: Path) -> str:
    try:
        if path.stat().st_size > FILE_BYTES:
            cause = f"{path.stat().st_size / 2**20:,.0f} MB; at most {FILE_BYTES // 2**20} are read: split the file"
            raise DocumentError(str(path), "$", cause)
        data = path.read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise DocumentError(str(path), "the file", f"can't be read ({error.strerror}); check its path") from error
    except UnicodeDecodeError as error:
        names = (name for mark, name in _OTHER_ENCODINGS.items() if data.startswith(mark))
        cause = f"not UTF-8 but {next(names, 'some other encoding')}; save the file as UTF-8"
        raise DocumentError(str(path), f"byte {error.start:,}", cause) from error


def _first_repeated(pairs: Sequence[tuple[str, Any]]) -> str:
    seen: set[str] = set()
    return next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]


def _repetition(root: Any, made: dict[str, Any], key: str) -> Problem:
    place = next((where for where, value in _walk(root) if value is made), ())
    return json_path("$", place), f"the key {shown(key)} is given twice; keep one"


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


def _step(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{shown(key)}]"
