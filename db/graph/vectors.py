"""Named vectors of nodes, such as embeddings of pictures: checked, and never kept whole in memory."""

from __future__ import annotations

import math
from array import array
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

from scenecypher.db.graph.value import InvalidValue, shown
from scenecypher.db.schema import VectorSpace

Row: TypeAlias = "tuple[str, array[float]]"
"""A node's id and its vector, in single precision as models compute them."""
Rows: TypeAlias = Callable[[], Iterator[Row]]
"""Reads all rows, each time anew."""


@dataclass(frozen=True, slots=True)
class VectorSource:
    """Checked vectors of some nodes of a scene: what a scene declares of them, how many, and the rows."""

    space: VectorSpace
    count: int
    rows: Rows

    @property
    def megabytes(self) -> int:
        """What the numbers take in the database, in MB."""
        return self.count * self.space.dimension * 4 // 1_000_000

    def __str__(self) -> str:
        by = f"by {self.space.model}" if self.space.model else "by no named model (--vectors MODEL names it)"
        return f"{self.space.name}: {self.count:,} vectors of {self.space.dimension:,} numbers, {by}"


def checked_vectors(name: str, model: str, rows: Rows, nodes: Collection[str]) -> VectorSource:
    """Read all rows once; return their source. Raises InvalidValue naming the node whose vector can't be."""
    seen, digest, dimension = set[str](), sha256(), 0
    for node_id, row in rows():
        dimension = dimension or len(row)
        cause = "is given twice" if node_id in seen else fault(row, dimension)
        cause = cause if node_id in nodes else "is no node of the scene"
        if cause:
            raise InvalidValue(f"{name} of node {shown(node_id)} {cause}; mend the vectors, or leave them out")
        seen.add(node_id)
        digest.update(f"{len(node_id)}:{node_id}".encode())
        digest.update(row.tobytes())
    if not seen:
        raise InvalidValue(f"{name} has no vector; leave it out")
    return VectorSource(VectorSpace(name, model, dimension, digest.hexdigest()), len(seen), rows)


def fault(row: array[float], dimension: int) -> str:
    """Return what is wrong with a vector that should have so many numbers; empty if nothing is."""
    if len(row) != dimension:
        return f"has {len(row):,} numbers, others {dimension:,}: two models may be mixed"
    if not all(map(math.isfinite, row)):
        return "has NaN, infinity, or a number beyond single precision"
    return "" if any(row) else "is all zeros, which is near nothing"


def vector_text(numbers: Sequence[float]) -> str:
    """Return a vector as text: its numbers in single precision, as base64."""
    return b64encode(array("f", numbers).tobytes()).decode()


def vector_of(text: str) -> array[float]:
    """Return the vector of a text. Raises ValueError."""
    return array("f", b64decode(text, validate=True))
