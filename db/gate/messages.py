"""Refusals for the server's errors: the server's words for faults in the text, fixed messages for faults in values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from scenecypher.db.gate.graph import Graph
from scenecypher.db.gate.scope import ScopedQuery
from scenecypher.errors import MemoryExceeded, QueryFailed, QueryRefused, QueryTimeout, ServiceError

EXPLAIN: Final = "EXPLAIN "
POSITION: Final = re.compile(r"\s*\(line \d+, column \d+ \(offset: (\d+)\)\)")
TEXT_ERRORS: Final = frozenset({"SyntaxError", "SemanticError", "NotSystemDatabaseError"})
"""Errors found before any value is read; messages of all others may show a node with its internal id."""
VALUE_ERRORS: Final[Mapping[str, str]] = {
    "ArithmeticError": "/ by zero, or a number is out of range",
    "TypeError": "Type mismatch: a value has another type than the query takes it for",
    "ArgumentError": "a function was given a value that it can't take",
    "InvalidArgument": "a function was given a value that it can't take",
    "PropertyNotFound": "a value has no such property",
}
HINTS: Final[Mapping[str, str]] = {
    "aggregation in ORDER BY": "name it before: WITH x, count(*) AS n ORDER BY n DESC RETURN x",
    "Invalid use of aggregating function": "aggregate first, then test: WITH x, count(*) AS n WHERE n > 1 RETURN x",
    "Invalid input 'NOT'": "write NOT before the value: NOT n.class IN ['cup', 'mug']",
    "EXISTS(...) is not a pattern": "join in parentheses alone: NOT (EXISTS { … } OR EXISTS { … })",
    "same return column names": "give the columns of both parts the same names with AS",
    "colon in the separation of alternative": "write [r:ON|INSIDE], with one colon",
}
"""What to write instead, by words of the server's message."""
NO_CYPHER_25: Final = "25 is not a valid option"
"""Neo4j 5.26's answer to ``CYPHER 25``, which the parser asks for where a clause needs it."""
GENERIC_MESSAGE: Final = "the server can't run the query"
NOT_DEFINED: Final = re.compile(r"Variable `(\w+)` not defined")


def refusal_of(error: ServiceError, scoped: ScopedQuery, graph: Graph, seconds: float) -> QueryRefused | None:
    """Return the refusal for an error of the server, without what the gate put in and without internal ids.

    None if the fault is the service's.
    """
    match error:
        case QueryFailed():
            return _failed(error, scoped, graph)
        case QueryTimeout():
            hint = (
                "ask for less: fewer patterns, shorter paths, or the shortest path in place of all, such as "
                "shortestPath((a)-[:CONNECTS*..100]->(b))"
            )
            return QueryRefused("timeout", f"the query took longer than {seconds:g} seconds", hint=hint)
        case MemoryExceeded():
            hint = "collect or sort less, or add LIMIT earlier"
            return QueryRefused("memory", "the query needs more memory than one may have", hint=hint)
    return None


def _failed(error: QueryFailed, scoped: ScopedQuery, graph: Graph) -> QueryRefused:
    kind = error.code.rpartition(".")[2]
    if NO_CYPHER_25 in error.summary:
        msg = "the server has Cypher 5 only, without NEXT, FILTER, LET, match modes, and branches of WHEN and ELSE"
        return QueryRefused("failed", msg, hint="leave out CYPHER 25, and write it with WITH, WHERE and CASE")
    place = POSITION.search(error.summary) if kind in TEXT_ERRORS else None
    piece = scoped.piece_at(int(place.group(1)) - len(EXPLAIN)) if place else ""
    message = VALUE_ERRORS.get(kind, GENERIC_MESSAGE)
    if kind in TEXT_ERRORS:
        message = POSITION.sub("", error.summary).partition(": expected ")[0].strip().rstrip(".")
    if "__" in message or (graph.schema.is_scene and str(graph.key) in message):
        message = GENERIC_MESSAGE
    at = f" at `{piece}`" if piece else ""
    hint = next((hint for words, hint in HINTS.items() if words in message), "")
    if unnamed := NOT_DEFINED.match(message):
        hint = f"name it before, as ({unnamed[1]}:Label) in MATCH; WITH keeps only what it lists"
    return QueryRefused("failed", f"{message}{at}", piece=piece, hint=hint or "correct the query")
