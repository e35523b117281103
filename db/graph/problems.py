"""Problems of a JSON document: a place and a cause each, from pydantic's errors or our own checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from scenecypher.db.graph.value import shown
from scenecypher.errors import PROBLEMS_SHOWN, DocumentError, did_you_mean

FormT = TypeVar("FormT", bound=BaseModel)
Problem: TypeAlias = tuple[str, str]
"""A place (JSON path) and a cause."""

PROBLEMS_LIMIT: Final = 1_000
NAMES_COMPARED: Final = 10_000
"""The most names that a misspelt one is compared with."""
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


@dataclass(slots=True)
class NearestNames:
    """Hints at the nearest of the `known` names, for as many problems as a message shows: each takes a comparison."""

    known: Sequence[str]
    _left: int = field(default=PROBLEMS_SHOWN, init=False)

    @classmethod
    def of(cls, known: Iterable[str]) -> NearestNames:
        """Return hints at names of any collection."""
        return cls(tuple(known))

    def hint(self, name: str) -> str:
        """Return ``(did you mean 'a'?)``, empty if no name is near; no number, as VirtualHome's ids are, is near."""
        self._left -= 1
        is_told = self._left >= 0 and len(self.known) <= NAMES_COMPARED and isinstance(name, str)
        return did_you_mean(name, self.known) if is_told else ""


def json_path(keys: Sequence[str | int], *, root: str = "$") -> str:
    """Return the JSON path ``$.nodes[3].id`` of (nodes, 3, id); odd keys are quoted, long ones cut."""
    return root + "".join(_path_step(key) for key in keys)


def problems_of(error: ValidationError, document: object, *, root: str = "$") -> list[Problem]:
    """Return pydantic's errors in plain words, at JSON paths of `document`."""
    details = error.errors(include_url=False, include_context=True)
    return [(json_path(_place(detail, document), root=root), _cause(detail)) for detail in details[:PROBLEMS_LIMIT]]


def document_error(file: str, problems: Sequence[Problem]) -> DocumentError:
    """Return the error that lists all `problems` of a file, at least one."""
    (place, cause), *more = problems[:PROBLEMS_LIMIT]
    return DocumentError(file, place, cause, more=more)


def validated(form: type[FormT], document: object, file: str) -> FormT:
    """Return a document of a file as a form. Raises DocumentError with all its problems."""
    try:
        return form.model_validate(document)
    except ValidationError as error:
        raise document_error(file, problems_of(error, document)) from error


def _path_step(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{shown(key)}]"


def _place(detail: ErrorDetails, document: object) -> list[str | int]:
    """Return pydantic's location without the names of its models, which are in no document."""
    steps: list[str | int] = []
    here: Any = document
    for key in detail["loc"]:
        inner = here.get(key) if isinstance(here, dict) else None
        if isinstance(here, list) and isinstance(key, int) and key < len(here):
            inner = here[key]
        elif not (isinstance(here, dict) and key in here):
            continue
        steps.append(key)
        here = inner
    if detail["type"] == "missing":
        steps.append(detail["loc"][-1])
    return steps


def _cause(detail: ErrorDetails) -> str:
    words = _CAUSES.get(detail["type"])
    return words(detail) if words else f"{detail['msg'][:1].lower()}{detail['msg'][1:]}"


def _unknown_field(value: object) -> str:
    if isinstance(value, list | dict) and value:
        count = f"{len(value):,} entr{'y' if len(value) == 1 else 'ies'}"
        return f"is no field that is known here, and holds {count}: is this the right format, and the name right?"
    return "is no field that is known here; mend its name, or remove it"


def _expected(what: str) -> Callable[[ErrorDetails], str]:
    return lambda detail: f"should be {what}, not {shown(detail['input'])}"


_CAUSES: Final[Mapping[str, Callable[[ErrorDetails], str]]] = {
    "missing": lambda _: "is missing; add it",
    **dict.fromkeys(("extra_forbidden", "unexpected_keyword_argument"), lambda detail: _unknown_field(detail["input"])),
    "string_type": _expected("text"),
    "int_type": _expected("a whole number"),
    "list_type": _expected("a list"),
    "tuple_type": _expected("a list"),
    "dict_type": _expected("a map"),
    "model_type": _expected("a map"),
    "dataclass_type": _expected("a map"),
    "model_attributes_type": _expected("a map"),
    "literal_error": lambda detail: f"should be {detail['ctx']['expected']}, not {shown(detail['input'])}",
    "float_type": _expected("a number"),
    "finite_number": _expected("a finite number"),
    "bool_type": _expected("true or false"),
    "greater_than_equal": lambda detail: f"should be at least {detail['ctx']['ge']}, not {shown(detail['input'])}",
    "less_than_equal": lambda detail: f"should be at most {detail['ctx']['le']:,}, not {shown(detail['input'])}",
    "less_than": lambda detail: f"should be below {detail['ctx']['lt']}, not {shown(detail['input'])}",
    "union_tag_not_found": lambda detail: f"has no {detail['ctx']['discriminator']}; add it",
    "union_tag_invalid": lambda detail: (
        f"{detail['ctx']['discriminator']} is {shown(detail['ctx']['tag'])}, none of {detail['ctx']['expected_tags']}"
    ),
    "too_long": lambda detail: f"has {detail['ctx']['actual_length']} items; {detail['ctx']['max_length']} are needed",
    "too_short": lambda detail: f"has {detail['ctx']['actual_length']} items; {detail['ctx']['min_length']} are needed",
}
