"""What a model is told of the server's errors: of faults in the text as the server says, of values by our own words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from scenecypher.db.gate.scope import Scoped
from scenecypher.errors import QueryFailed, QueryRefused

EXPLAIN: Final = "EXPLAIN "
PLACE: Final = re.compile(r"\s*\(line \d+, column \d+ \(offset: (\d+)\)\)")
OF_TEXT: Final = frozenset({"SyntaxError", "SemanticError", "NotSystemDatabaseError"})
"""Errors that are found before any value is read; all others may show a node, internal id included."""
OF_VALUES: Final[Mapping[str, str]] = {
    "ArithmeticError": "/ by zero, or a number is out of range",
    "TypeError": "Type mismatch: a value has another type than the query takes it for",
    "ArgumentError": "a function was given a value that it can't take",
    "InvalidArgument": "a function was given a value that it can't take",
    "PropertyNotFound": "a value has no such property",
}
CANT: Final = "the server can't run the query"


def refusal_of(error: QueryFailed, scoped: Scoped, key: str) -> QueryRefused:
    """Return the refusal for an error of the server, without what the gate put in and without internal ids."""
    kind = error.code.rpartition(".")[2]
    place = PLACE.search(error.summary) if kind in OF_TEXT else None
    piece = scoped.piece_at(int(place.group(1)) - len(EXPLAIN)) if place else ""
    message = OF_VALUES.get(kind, CANT)
    if kind in OF_TEXT:
        message = PLACE.sub("", error.summary).partition(": expected ")[0].strip().rstrip(".")
    if "__" in message or key in message:
        message = CANT
    at = f" at `{piece}`" if piece else ""
    return QueryRefused("failed", f"{message}{at}", piece=piece, hint="correct the query")
