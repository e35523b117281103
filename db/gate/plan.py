"""The server's plan of a query as a plain tree, and as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Plan:
    """One operator, what it works on, how many rows it is thought to give, and where its rows come from."""

    operator: str
    details: str = ""
    rows: float = 0.0
    children: tuple[Plan, ...] = ()

    @classmethod
    def of(cls, source: Mapping[str, Any]) -> Self:
        """The plan that EXPLAIN returned."""
        arguments = source.get("args", {})
        return cls(
            operator=str(source["operatorType"]).partition("@")[0],
            details=str(arguments.get("Details", "")),
            rows=float(arguments.get("EstimatedRows", 0.0)),
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
        line = f"{'  ' * indent}{self.operator}{' | ' + details if details else ''} | {self.rows:.3g} rows"
        return "\n".join([line, *(child.text(indent + 1) for child in self.children)])
