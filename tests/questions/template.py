"""Templates of questions: a filling has a question, its answer by plain Python, and a query that returns the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.evaluation.histories import Kind


@dataclass(frozen=True, slots=True)
class Filling:
    """Filling of a template."""

    question: str
    rows: list[list[Any]]
    cypher: str


@dataclass(frozen=True, slots=True)
class Template:
    """Template; `fill` yields every filling that makes sense in a scene, in a fixed order, without running Cypher."""

    kind: Kind
    fill: Callable[[SceneGraph], Iterator[Filling]]


def column(values: Iterable[Any]) -> list[list[Any]]:
    """Return distinct values, sorted, as rows of one column."""
    return [[value] for value in sorted({*values})]


def choose_filling(template: Template, graph: SceneGraph, *, turn: int, turns: int) -> Filling:
    """Return the filling for the `turn`-th of `turns` scenes, so that similar scenes get different questions."""
    fillings = list(template.fill(graph))
    assert fillings, f"{template.kind}: {template.fill.__name__} fits nothing in this scene; choose another scene"
    return fillings[(2 * turn + 1) * len(fillings) // (2 * turns)]
