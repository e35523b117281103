"""OpenTelemetry spans for those who listen: nothing is imported or computed where the program has not set it up."""

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
    """What is being timed; `note` adds what became known meanwhile, None being nothing."""

    def note(self, attributes: Attributes) -> None:
        """Add attributes."""
        ...

    def rename(self, name: str) -> None:
        """Give it a better name."""
        ...


class _NullSpan:
    """The span that nobody listens to."""

    def note(self, attributes: Attributes) -> None:
        """Nothing."""

    def rename(self, name: str) -> None:
        """Nothing."""


class _OtelSpan:
    def __init__(self, span: Any) -> None:
        self.span = span

    def note(self, attributes: Attributes) -> None:
        """Add attributes; None is left out."""
        self.span.set_attributes({name: value for name, value in attributes.items() if value is not None})

    def rename(self, name: str) -> None:
        """Give it a better name."""
        self.span.update_name(name)


_NULL_SPAN: Final = _NullSpan()


def _trace() -> Any:
    """The API, if the program has imported it. Who has set a tracer up has; else there is no one to tell."""
    return sys.modules.get(API)


@contextmanager
def span(name: str, attributes: Attributes, *, kind: str = "INTERNAL") -> Iterator[Span]:
    """Time what is done within, as a child of the span around it; an error is its status and its `error.type`."""
    trace = _trace()
    if trace is None:
        yield _NULL_SPAN
        return
    options = {"kind": trace.SpanKind[kind], "record_exception": False}
    with trace.get_tracer(NAME).start_as_current_span(name, **options) as current:
        heard = _OtelSpan(current)
        heard.note(attributes)
        try:
            yield heard
        except SceneCypherError as error:
            heard.note({"error.type": getattr(error, "code", type(error).__qualname__)})
            raise


def trace_steps(
    name: str, attributes: Attributes, steps: Iterator[T], *, told: Callable[[T], Attributes]
) -> Iterator[T]:
    """The same steps, with what happens in each of them under one span; what the consumer does between is not.

    `told` gives what a step adds to the span's attributes.
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
            _OtelSpan(current).note(told(step))
            yield step
    finally:
        current.end()
