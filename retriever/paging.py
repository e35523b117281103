"""All pages of a query of ours, read at one version of the scene."""

from __future__ import annotations

from typing import Any, Final

from scenecypher.errors import QueryRefused, ServiceError
from scenecypher.retriever.reader import SceneReader

MAX_ROWS: Final = 50_000
"""The most rows that are read."""
MAX_READS: Final = 5


def all_rows(reader: SceneReader, query: str) -> list[list[Any]]:
    """Return the rows of `query`, which must sort them in a total order.

    Raises QueryRefused for more than `MAX_ROWS` rows, and as the reader does.
    """
    return all_rows_with_version(reader, query)[0]


def all_rows_with_version(reader: SceneReader, query: str) -> tuple[list[list[Any]], int]:
    """Return the rows as `all_rows` does, and the version at which all of them were read."""
    for _ in range(MAX_READS):
        found = _at_one_version(reader, query)
        if found is not None:
            return found
    msg = f"scene {reader.scene.name!r} changes faster than its pages are read; ask again"
    raise ServiceError(msg, retryable=True)


def _at_one_version(reader: SceneReader, query: str) -> tuple[list[list[Any]], int] | None:
    """Return all pages and their version, or None if the scene changed between two of them."""
    answer = reader.run_own(query)
    version, rows, has_more = answer.version, [*answer.rows], answer.truncated is not None
    while has_more:
        if len(rows) >= MAX_ROWS:
            msg = f"there are more than {MAX_ROWS:,} rows"
            raise QueryRefused("size", msg, hint="ask about single nodes, or in Cypher")
        answer = reader.run_own(f"{query} SKIP {len(rows)}")
        if answer.version != version:
            return None
        rows += answer.rows
        has_more = answer.truncated is not None and bool(answer.rows)
    return rows, version
