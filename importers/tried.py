"""Tried: several readings of one value, whose problems are told together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from scenecypher.db.graph.value import InvalidValue

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tried:
    """The causes found so far."""

    causes: list[str] = field(default_factory=list)

    def value(self, read: Callable[[], T], otherwise: T) -> T:
        """Return what `read` returns, or `otherwise` if it raises InvalidValue, whose cause is noted."""
        try:
            return read()
        except InvalidValue as error:
            self.add(str(error))
            return otherwise

    def add(self, cause: str) -> None:
        """Note a cause, once."""
        if cause not in self.causes:
            self.causes.append(cause)

    def refuse(self) -> None:
        """Raise InvalidValue with all causes, if there are any."""
        if self.causes:
            raise InvalidValue("; ".join(self.causes))
