"""Conditions as JSON, for task files: ``{"op": "related", "source": {"id": "cup_1"}, "type": "ON", "target": "t"}``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pydantic import ValidationError

from scenecypher.db.condition.algebra import Condition, Id
from scenecypher.db.condition.condition_models import FIELD_NAMES, OPERATORS, condition_adapter
from scenecypher.db.graph.graph_json import value_document
from scenecypher.db.graph.problems import document_error, problems_of

_NAMES: Final = {kind: op for op, kind in OPERATORS.items()}
DEPTH: Final = 100
"""Greatest depth of nested lists and maps; each nested condition takes one or two levels."""


def condition_document(condition: Condition) -> dict[str, Any]:
    """Return a condition as JSON; `condition_from_document` gives the same condition back."""
    document: dict[str, Any] = {"op": _NAMES[type(condition)]}
    for name in FIELD_NAMES[type(condition)]:
        document[name.rstrip("_")] = _document(getattr(condition, name))
    return document


def condition_from_document(document: object, *, file: str, root: str = "$") -> Condition:
    """Return the condition of a JSON document.

    Raises DocumentError with every problem; `file` names the document, `root` is its JSON path in the file.
    """
    if _is_deep(document):
        raise document_error(file, [(root, f"nested over {DEPTH} deep; say it with fewer levels")])
    try:
        return condition_adapter().validate_python(document)
    except ValidationError as error:
        raise document_error(file, problems_of(error, document, root=root)) from None


def condition_schema() -> dict[str, Any]:
    """Return the JSON Schema of a condition."""
    return condition_adapter().json_schema()


def _document(value: Any) -> Any:
    match value:
        case Id():
            return {"id": value.id}
        case tuple():
            return [_document(item) for item in value]
        case _ if type(value) in _NAMES:
            return condition_document(value)
        case _:
            return value_document(value)


def _is_deep(document: object) -> bool:
    level = [document]
    for _ in range(DEPTH):
        level = [inner for value in level for inner in _inner(value)]
    return bool(level)


def _inner(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
