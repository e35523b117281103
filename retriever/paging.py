"""All rows of a query of ours at one version of the scene, however many pages the gate makes of them."""

from __future__ import annotations

from typing import Any, Final

from scenecypher.errors import QueryRefused, ServiceError
from scenecypher.retriever.reader import SceneReader

MAX_ROWS: Final = 50_000
"""Rows; beyond that nobody reads a list."""
MAX_READS: Final = 5


def all_rows(reader: SceneReader, query: str) -> list[list[Any]]:
    """The rows of `query`, which sorts them so that no two are level.

    Raises QueryRefused where there are more than `MOST`, and as the reader does.
    """
    return all_rows_with_version(reader, query)[0]


def all_rows_with_version(reader: SceneReader, query: str) -> tuple[list[list[Any]], int]:
    """The same, and the version at which all of them were read."""
    for _ in range(MAX_READS):
        found = _at_one_version(reader, query)
        if found is not None:
            return found
    msg = f"scene {reader.scene.name!r} changes faster than its pages are read; ask again"
    raise ServiceError(msg, retryable=True)


def _at_one_version(reader: SceneReader, query: str) -> tuple[list[list[Any]], int] | None:
    """All pages, or nothing where the scene moved between two of them."""
    answer = reader.run(query)
    version, rows, has_more = answer.version, [*answer.rows], answer.truncated is not None
    while has_more:
        if len(rows) >= MAX_ROWS:
            msg = f"there are more than {MAX_ROWS:,} rows"
            raise QueryRefused("size", msg, hint="ask about single nodes, or in Cypher")
        answer = reader.run(f"{query} SKIP {len(rows)}")
        if answer.version != version:
            return None
        rows += answer.rows
        has_more = answer.truncated is not None and bool(answer.rows)
    return rows, version
