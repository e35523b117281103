"""The fixed sample that `make test` takes of a proof that runs whole only in `make test-full`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final, TypeVar

Row = TypeVar("Row")

FULL: Final = os.environ.get("SCENECYPHER_TEST_FULL") == "1"


def sample(rows: Sequence[Row], size: int) -> list[Row]:
    """All of `rows` in a full run, else `size` of them, evenly spread and the same every time."""
    if FULL or len(rows) <= size:
        return list(rows)
    return [rows[index * len(rows) // size] for index in range(size)]
