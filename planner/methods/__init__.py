"""Planning methods, one file each; `METHODS` names them, and what each is made of.

A method is a small object that yields decisions (`planner/method.py`); the session runs them. To add one, write it in a
file of its own, with the paper and section that it follows, and give it a row in one of the tables: `table_graphs` has
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
"""Each method by the name that `--method` takes."""


def recipe_named(name: str) -> Recipe:
    """The method's recipe. Raises InputError for an unknown name."""
    if name not in METHODS:
        msg = f"there is no method {name!r}{did_you_mean(name, tuple(METHODS))}; choose one of {', '.join(METHODS)}"
        raise InputError(msg)
    return METHODS[name]
