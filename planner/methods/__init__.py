"""Planning methods, one file each; `METHODS` has the recipe of each.

A method is a small object that makes decisions (`planner/method.py`); the session executes them. To add a method, write
a file of its own that names the paper and section it follows, and add a row to one of the tables: `table_graphs` has
LookPlanGraph's methods and those without a paper, `table_queries` those of SG2 and SG-RwR.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scenecypher.errors import InputError, did_you_mean
from scenecypher.planner.methods.table_graphs import GRAPH_METHODS
from scenecypher.planner.methods.table_queries import QUERY_METHODS
from scenecypher.planner.recipe import Recipe

METHODS: Final[Mapping[str, Recipe]] = {**GRAPH_METHODS, **QUERY_METHODS}
"""Recipes by the method names of `--method`."""


def recipe_named(name: str) -> Recipe:
    """Return the recipe of a method. Raises InputError for an unknown name."""
    if name not in METHODS:
        msg = f"there is no method {name!r}{did_you_mean(name, tuple(METHODS))}; choose one of {', '.join(METHODS)}"
        raise InputError(msg)
    return METHODS[name]
