"""What a template gives: a question, its answer by plain Python, and a query that should give the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.evaluation.question_set import Kind


@dataclass(frozen=True, slots=True)
class Filling:
    """One filling of a template."""

    question: str
    rows: list[list[Any]]
    cypher: str


@dataclass(frozen=True, slots=True)
class Template:
    """`fill` yields every filling that makes sense in a scene, always in the same order; no Cypher is run for it."""

    kind: Kind
    fill: Callable[[SceneGraph], Iterator[Filling]]


def column(values: Iterable[Any]) -> list[list[Any]]:
    """Distinct values as rows of one column, sorted."""
    return [[value] for value in sorted({*values})]


def choose_filling(template: Template, graph: SceneGraph, *, turn: int, turns: int) -> Filling:
    """The filling for the `turn`-th of `turns` scenes, so that like scenes get unlike questions."""
    fillings = list(template.fill(graph))
    assert fillings, f"{template.kind}: {template.fill.__name__} fits nothing in this scene; choose another scene"
    return fillings[(2 * turn + 1) * len(fillings) // (2 * turns)]
