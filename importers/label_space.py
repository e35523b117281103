"""Hydra's label spaces: YAML files that name the numbers of semantic labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

from scenecypher.db.graph.problems import document_error
from scenecypher.db.graph.value import InvalidValue, label, shown
from scenecypher.errors import DocumentError
from scenecypher.importers.bounded import read_bytes

FILE_BYTES: Final = 2**20
NAMES: Final = "label_names"


@dataclass(frozen=True, slots=True)
class LabelSpace:
    """The names of labels; `line` is the line of the file at which their list begins."""

    file: str
    line: int
    names: Mapping[int, str]

    def refuse_missing(self, numbers: Mapping[int, int]) -> None:
        """Check that each label is named; `numbers` maps it to how many nodes have it. Raises DocumentError."""
        missing = {number: count for number, count in sorted(numbers.items()) if number not in self.names}
        if missing:
            causes = [
                f"label {number} has no name, and {count:,} node{'' if count == 1 else 's'} of the map ha"
                f"{'s' if count == 1 else 've'} it; add `- {{label: {number}, name: ...}}`"
                for number, count in missing.items()
            ]
            raise document_error(self.file, [(f"line {self.line}", cause) for cause in causes])


def read_labels(path: Path) -> LabelSpace:
    """Return the label space of a file such as `uhumans2_apartment_label_space.yaml`.

    Only `label_names` is read. Raises DocumentError with the line of each problem.
    """
    root = _root(path)
    for key, value in root.value if _is(root, "mapping") else ():
        if key.value == NAMES and _is(value, "sequence"):
            return LabelSpace(str(path), key.start_mark.line + 1, dict(_checked(path, value.value)))
    cause = f"no list {NAMES!r} is here, with lines such as `- {{label: 5, name: chair}}`; give a label space of Hydra"
    raise DocumentError(str(path), "line 1", cause)


def _root(path: Path) -> Any:
    """Return the document as YAML nodes, which know their lines; no value of the file is constructed."""
    from yaml import MarkedYAMLError, SafeLoader, YAMLError, compose

    data = read_bytes(path, max_bytes=FILE_BYTES)
    try:
        return compose(data, Loader=SafeLoader)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        _refuse(path, line, f"no valid YAML ({error.problem or error.context})", error)
    except (YAMLError, RecursionError, UnicodeDecodeError) as error:
        _refuse(path, 1, f"no valid YAML ({type(error).__name__})", error)


def _refuse(path: Path, line: int, cause: str, error: Exception) -> NoReturn:
    raise DocumentError(str(path), f"line {line}", f"{cause}; mend the file") from error


def _checked(path: Path, items: list[Any]) -> Iterator[tuple[int, str]]:
    """Yield each label and its name. Raises DocumentError with all problems afterwards."""
    problems: list[tuple[str, str]] = []
    lines: dict[int, int] = {}
    for item in items:
        line = item.start_mark.line + 1
        try:
            number, name = _entry(item)
        except InvalidValue as error:
            problems.append((f"line {line}", str(error)))
            continue
        if number in lines:
            cause = f"label {number} has a name in line {lines[number]} already; keep one"
            problems.append((f"line {line}", cause))
        lines[number] = line
        yield number, name
    if problems:
        raise document_error(str(path), problems)


def _entry(item: Any) -> tuple[int, str]:
    pairs = item.value if _is(item, "mapping") else ()
    fields: dict[str, Any] = {key.value: value for key, value in pairs if _is(key, "scalar")}
    for name in ("label", "name"):
        found: Any = fields.get(name)
        if not _is(found, "scalar") or not found.value or found.tag.endswith(":null"):
            raise InvalidValue(f"has no {name}; an entry is such as `- {{label: 5, name: chair}}`")
    number = fields["label"].value
    if not (number.isascii() and number.isdecimal() and len(number) <= 10):
        raise InvalidValue(f"label should be a whole number, not {shown(number)}")
    return int(number), label(fields["name"].value, "name")


def _is(node: Any, kind: str) -> bool:
    return node is not None and node.id == kind
