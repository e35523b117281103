"""OpenTelemetry spans; nothing is imported or computed unless the program has set OpenTelemetry up."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeAlias, TypeVar

from scenecypher.errors import SceneCypherError

T = TypeVar("T")

Attributes: TypeAlias = Mapping[str, str | int | float | bool | list[str] | None]

API: Final = "opentelemetry.trace"
NAME: Final = "scenecypher"


class Span(Protocol):
    """A span to which attributes are added while it runs."""

    def note(self, attributes: Attributes) -> None:
        """Add attributes; None is left out."""
        ...

    def rename(self, name: str) -> None:
        """Replace the name."""
        ...


class _NullSpan:
    """A span that records nothing."""

    def note(self, attributes: Attributes) -> None:
        """Do nothing."""

    def rename(self, name: str) -> None:
        """Do nothing."""


class _OtelSpan:
    """A span of OpenTelemetry."""

    def __init__(self, span: Any) -> None:
        self.span = span

    def note(self, attributes: Attributes) -> None:
        """Add attributes; None is left out."""
        self.span.set_attributes({name: value for name, value in attributes.items() if value is not None})

    def rename(self, name: str) -> None:
        """Replace the name."""
        self.span.update_name(name)


_NULL_SPAN: Final = _NullSpan()


def _trace() -> Any:
    """Return OpenTelemetry's API if the program has imported it, else None."""
    return sys.modules.get(API)


@contextmanager
def span(name: str, attributes: Attributes, *, kind: str = "INTERNAL") -> Iterator[Span]:
    """Time the block as a child of the current span; an error sets its status and `error.type`."""
    trace = _trace()
    if trace is None:
        yield _NULL_SPAN
        return
    options = {"kind": trace.SpanKind[kind], "record_exception": False}
    with trace.get_tracer(NAME).start_as_current_span(name, **options) as current:
        recorded = _OtelSpan(current)
        recorded.note(attributes)
        try:
            yield recorded
        except SceneCypherError as error:
            recorded.note({"error.type": getattr(error, "code", type(error).__qualname__)})
            raise


def trace_steps(
    name: str, attributes: Attributes, steps: Iterator[T], *, attributes_of: Callable[[T], Attributes]
) -> Iterator[T]:
    """Yield `steps` and time them as one span, without the time that the consumer takes between them.

    `attributes_of` returns the attributes that a step adds to the span.
    """
    trace = _trace()
    if trace is None:
        yield from steps
        return
    current = trace.get_tracer(NAME).start_span(name)
    _OtelSpan(current).note(attributes)
    try:
        while True:
            with trace.use_span(current, record_exception=False):
                step = next(steps, None)
            if step is None:
                return
            _OtelSpan(current).note(attributes_of(step))
            yield step
    finally:
        current.end()
