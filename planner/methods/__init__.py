"""Planning methods, one file each; `METHODS` names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from chat.model import Model
from planner.method import Method
from planner.methods.stepwise import Stepwise
from scenecypher.errors import InputError, did_you_mean

METHODS: Final[Mapping[str, Callable[[Model], Method]]] = {
    "stepwise": Stepwise,
}
"""Each method by the name that `--method` takes."""


def method_named(name: str, model: Model) -> Method:
    """A method that decides by `model`. Raises InputError for an unknown name."""
    if name not in METHODS:
        msg = f"there is no method {name!r}{did_you_mean(name, tuple(METHODS))}; choose one of {', '.join(METHODS)}"
        raise InputError(msg)
    return METHODS[name](model)
