"""Size check of records on arrival, before they are converted: a record that is too large costs no more memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from neo4j.graph import Entity, Path

from scenecypher.db.gate.words import SCENE_KEY


def exceeds(values: Iterable[Any], most: int) -> bool:
    """Check whether values of the driver have more than `most` bytes as JSON.

    The count is a lower bound of the JSON text's length (a text counts its characters, anything else one byte), so a
    value just above `most` may pass. Counting stops at `most`, however large the values are.
    """
    size, open_ = 0, list(values)
    while open_ and size <= most:
        value = open_.pop()
        size += len(value) if isinstance(value, str) else 1
        match value:
            case list():
                open_ += value[: most - size + 1]
            case Entity() | Mapping():
                open_ += [part for item in value.items() if item[0] != SCENE_KEY for part in item]
            case Path():
                open_ += [*value.nodes, *value.relationships]
    return size > most
