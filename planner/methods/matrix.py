"""Matrix of methods and data sets: run as in the paper, as an addition of ours, or meaningless for a reason."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from scenecypher.importers.datasets import DATASETS

_TABLE: Final = tomllib.loads((files("scenecypher.planner.methods") / "matrix.toml").read_text(encoding="utf-8"))
IN_PAPERS: Final[Mapping[str, tuple[str, ...]]] = {
    method: tuple(row["data_sets"]) for row in _TABLE["papers"] for method in row["methods"]
}
"""Data sets on which a paper evaluates a method."""
NO_MEANING: Final[Mapping[tuple[str, str], str]] = {
    (method, family): row["why"]
    for row in _TABLE["no_meaning"]
    for method in row["methods"]
    for family in row["families"]
}
"""Combinations of a method and a family of tasks without a meaning, with the reason."""


def matrix_cell(method: str, data_set: str) -> str:
    """Return ``paper``, ``ours``, or ``no meaning: REASON`` for a method on a data set."""
    why = NO_MEANING.get((method, DATASETS[data_set].family))
    if why is not None:
        return f"no meaning: {why}"
    return "paper" if data_set in IN_PAPERS.get(method, ()) else "ours"
