"""Named vectors of nodes, such as embeddings of pictures, in single precision as models compute them."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scenecypher.db.graph.value import InvalidValue, shown
from scenecypher.db.schema import VectorSpace

Row: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class NodeVectors:
    """Checked vectors of some nodes of a scene: what a scene declares of them, and a row for each node's id."""

    space: VectorSpace
    rows: Mapping[str, Row]

    def __str__(self) -> str:
        by = f"by {self.space.model}" if self.space.model else "by no named model (--vectors MODEL names it)"
        return f"{self.space.name}: {len(self.rows):,} vectors of {self.space.dimension:,} numbers, {by}"


def checked_vectors(
    name: str, model: str, given: Iterable[tuple[str, ArrayLike]], nodes: Collection[str]
) -> NodeVectors:
    """Return the vectors of some of a scene's nodes. Raises InvalidValue naming the node whose vector can't be."""
    rows, digest, dimension = dict[str, Row](), sha256(), 0
    for node_id, numbers in given:
        row = single(numbers)
        dimension = dimension or len(row)
        cause = "is given twice" if node_id in rows else fault(row, dimension)
        cause = cause if node_id in nodes else "is no node of the scene"
        if cause:
            raise InvalidValue(f"{name} of node {shown(node_id)} {cause}; mend the vectors, or leave them out")
        rows[node_id] = row
        digest.update(f"{len(node_id)}:{node_id}".encode() + row.tobytes())
    if not rows:
        raise InvalidValue(f"{name} has no vector; leave it out")
    return NodeVectors(VectorSpace(name, model, dimension, digest.hexdigest()), rows)


def fault(row: Row, dimension: int) -> str:
    """Return what is wrong with a vector that should have so many numbers; empty if nothing is."""
    if len(row) != dimension:
        return f"has {len(row):,} numbers, others {dimension:,}: two models may be mixed"
    if not np.isfinite(row).all():
        return "has NaN, infinity, or a number beyond single precision"
    return "" if row.any() else "is all zeros, which is near nothing"


def single(numbers: ArrayLike) -> Row:
    """Return numbers in single precision; those beyond it become infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(numbers, "<f4")


def vector_of(text: str) -> Row:
    """Return the vector whose bytes are a text in base64. Raises ValueError."""
    return np.frombuffer(b64decode(text, validate=True), "<f4")
