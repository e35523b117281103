"""The server's plan of a query as a plain tree, and as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Plan:
    """An operator, its details, and its children, whose rows it takes.

    The server's estimates of rows are left out: they depend on the whole database, other scenes included.
    """

    operator: str
    details: str = ""
    children: tuple[Plan, ...] = ()

    @classmethod
    def of(cls, source: Mapping[str, Any]) -> Self:
        """Return the plan from EXPLAIN's result."""
        arguments = source.get("args", {})
        return cls(
            operator=str(source["operatorType"]).partition("@")[0],
            details=str(arguments.get("Details", "")),
            children=tuple(cls.of(child) for child in source.get("children", ())),
        )

    def __iter__(self) -> Iterator[Plan]:
        """Yield the operator and all below it."""
        yield self
        for child in self.children:
            yield from child

    def text(self, indent: int = 0) -> str:
        """Return the plan as text, one operator per line, its children below and indented."""
        details = " ".join(self.details.split())
        line = f"{'  ' * indent}{self.operator}{' | ' + details if details else ''}"
        return "\n".join([line, *(child.text(indent + 1) for child in self.children)])
