"""OpenTelemetry spans and metrics; nothing is imported or computed unless the program has set OpenTelemetry up.

Names are those of the semantic conventions at SCHEMA_URL: of databases, and of generative AI, which is in development
there. What they have no name for begins with ``scenecypher.``.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypeVar

from scenecypher.errors import SceneCypherError

T = TypeVar("T")

Attributes: TypeAlias = Mapping[str, str | int | float | bool | list[str] | None]

API: Final = "opentelemetry.trace"
METRICS_API: Final = "opentelemetry.metrics"
NAME: Final = "scenecypher"
SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.44.0"
"""The version of the semantic conventions."""

SECONDS: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 50.0, 100.0)
TOKENS: Final = (1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576)
"""Bounds of the histograms' buckets."""


class Instrument(NamedTuple):
    """A metric: its kind, unit and description; a histogram with the bounds of its buckets."""

    kind: Literal["counter", "histogram"]
    unit: str
    description: str
    bounds: tuple[float, ...] = ()


INSTRUMENTS: Final[Mapping[str, Instrument]] = {
    "gen_ai.client.token.usage": Instrument("histogram", "{token}", "Tokens of a model call", TOKENS),
    "gen_ai.client.operation.duration": Instrument("histogram", "s", "Time of a model call", SECONDS),
    "db.client.operation.duration": Instrument("histogram", "s", "Time of a model's query in the server", SECONDS),
    "scenecypher.action.duration": Instrument("histogram", "s", "Time of an action, refused or not", SECONDS),
    "scenecypher.actions": Instrument("counter", "{action}", "Actions that were carried out"),
    "scenecypher.refusals": Instrument("counter", "{action}", "Actions that were refused"),
}


class Span:
    """A span to which attributes are added while it runs: of OpenTelemetry, or one that records nothing."""

    def __init__(self, span: Any = None) -> None:
        self.span = span

    def note(self, attributes: Attributes) -> None:
        """Add attributes; None is left out."""
        if self.span is not None:
            self.span.set_attributes({name: value for name, value in attributes.items() if value is not None})

    def rename(self, name: str) -> None:
        """Replace the name."""
        if self.span is not None:
            self.span.update_name(name)


_NULL_SPAN: Final = Span()


def measure(name: str, amount: float, attributes: Attributes) -> None:
    """Add to a counter, or record in a histogram, of INSTRUMENTS."""
    metrics = sys.modules.get(METRICS_API)
    if metrics is None:
        return
    given = {key: value for key, value in attributes.items() if value is not None}
    instrument = _instrument(metrics.get_meter_provider(), name)
    (instrument.add if INSTRUMENTS[name].kind == "counter" else instrument.record)(amount, given)


@contextmanager
def timed(name: str, attributes: Attributes) -> Iterator[dict[str, Any]]:
    """Record the seconds of the block in a histogram; the block may add attributes, an error adds `error.type`."""
    found, started = dict(attributes), time.perf_counter()
    try:
        yield found
    except SceneCypherError as error:
        found["error.type"] = error_type(error)
        raise
    finally:
        measure(name, time.perf_counter() - started, found)


def error_type(error: SceneCypherError) -> str:
    """Return what tells errors of one kind from others."""
    return str(getattr(error, "code", type(error).__qualname__))


@lru_cache(maxsize=64)
def _instrument(provider: Any, name: str) -> Any:
    """Return the instrument of a provider, which may be made once."""
    made, meter = INSTRUMENTS[name], provider.get_meter(NAME, schema_url=SCHEMA_URL)
    if made.kind == "counter":
        return meter.create_counter(name, unit=made.unit, description=made.description)
    return meter.create_histogram(
        name, unit=made.unit, description=made.description, explicit_bucket_boundaries_advisory=made.bounds
    )


@contextmanager
def span(name: str, attributes: Attributes, *, kind: str = "INTERNAL") -> Iterator[Span]:
    """Time the block as a child of the current span; an error sets its status and `error.type`."""
    trace = sys.modules.get(API)
    if trace is None:
        yield _NULL_SPAN
        return
    options = {"kind": trace.SpanKind[kind], "record_exception": False}
    with trace.get_tracer(NAME, schema_url=SCHEMA_URL).start_as_current_span(name, **options) as current:
        recorded = Span(current)
        recorded.note(attributes)
        try:
            yield recorded
        except SceneCypherError as error:
            recorded.note({"error.type": error_type(error)})
            raise


def trace_steps(
    name: str, attributes: Attributes, steps: Iterator[T], *, attributes_of: Callable[[T], Attributes]
) -> Iterator[T]:
    """Yield `steps` and time them as one span, without the time that the consumer takes between them.

    `attributes_of` returns the attributes that a step adds to the span.
    """
    trace = sys.modules.get(API)
    if trace is None:
        yield from steps
        return
    current = trace.get_tracer(NAME, schema_url=SCHEMA_URL).start_span(name)
    Span(current).note(attributes)
    try:
        while True:
            with trace.use_span(current, record_exception=False):
                step = next(steps, None)
            if step is None:
                return
            Span(current).note(attributes_of(step))
            yield step
    finally:
        current.end()
