"""The server's plan of a query as a plain tree, and as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Plan:
    """One operator, what it works on, and where its rows come from.

    The server's estimates of rows are left out: they are of the whole database, other scenes included.
    """

    operator: str
    details: str = ""
    children: tuple[Plan, ...] = ()

    @classmethod
    def of(cls, source: Mapping[str, Any]) -> Self:
        """The plan that EXPLAIN returned."""
        arguments = source.get("args", {})
        return cls(
            operator=str(source["operatorType"]).partition("@")[0],
            details=str(arguments.get("Details", "")),
            children=tuple(cls.of(child) for child in source.get("children", ())),
        )

    def __iter__(self) -> Iterator[Plan]:
        """The operator itself and all below it."""
        yield self
        for child in self.children:
            yield from child

    def text(self, indent: int = 0) -> str:
        """One operator a line, those that feed it below and further right."""
        details = " ".join(self.details.split())
        line = f"{'  ' * indent}{self.operator}{' | ' + details if details else ''}"
        return "\n".join([line, *(child.text(indent + 1) for child in self.children)])
