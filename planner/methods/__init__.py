"""Planning methods, a folder a paper; `METHODS` has the recipe of each, and of those that installed packages bring.

A method is a small object that makes decisions (`planner/sessions/method.py`); the session executes them. To add a
method, write a file of its own that names the paper and section it follows, and add a row to `table`. A package of
one's own brings its recipe as an entry point of the group ``scenecypher.methods``.
"""

from __future__ import annotations

from typing import Final

from scenecypher.planner.methods.table import GRAPH_METHODS, QUERY_METHODS
from scenecypher.planner.sessions.recipe import Recipe
from scenecypher.plugins import Plugins

OURS: Final[dict[str, Recipe]] = {**GRAPH_METHODS, **QUERY_METHODS}
METHODS: Final = Plugins("scenecypher.methods", "method", Recipe, OURS)
"""Recipes by the method names of `--method`."""


def recipe_named(name: str) -> Recipe:
    """Return the recipe of a method. Raises InputError for an unknown name."""
    return METHODS.named(name)
