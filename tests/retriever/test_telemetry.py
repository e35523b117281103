"""OpenTelemetry: every model call, gate and query is a span if a tracer is set up; otherwise there is no cost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from scenecypher.db.store.catalog import SceneInfo
from scenecypher.errors import ModelUnavailable
from tests.retriever.conftest import Ready
from tests.retriever.test_retriever import GOOD, QUESTION
from tests.scripted_model import MODEL_NAME, Fail


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    """Set up a provider once for the whole process."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Iterator[InMemorySpanExporter]:
    exporter.clear()
    yield exporter
    exporter.clear()


def tree(spans: InMemorySpanExporter) -> list[tuple[str, str]]:
    """Return the name of each span and of its parent, in the order of their starts."""
    done = sorted(spans.get_finished_spans(), key=lambda one: one.start_time or 0)
    names = {one.context.span_id: one.name for one in done if one.context}
    return [(one.name, names[one.parent.span_id] if one.parent else "") for one in done]


def named(spans: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [one for one in spans.get_finished_spans() if one.name == name]


def test_a_question_is_a_tree_of_spans(ready: Ready, scene: SceneInfo, spans: InMemorySpanExporter) -> None:
    retriever, _ = ready(["MATCH (n:Wrong) RETURN n", GOOD, "Two things."], verifier="paper")
    retriever.ask(QUESTION, scene)
    chat = f"chat {MODEL_NAME}"
    assert tree(spans) == [
        ("retrieval", ""),
        (chat, "retrieval"),
        ("gate", "retrieval"),
        ("gate", "retrieval"),
        (chat, "retrieval"),
        ("gate", "retrieval"),
        ("query neo4j", "gate"),
        (chat, "retrieval"),
    ], "a refused name is looked at once more, with what occurs in the scene"


def test_spans_follow_the_genai_conventions(ready: Ready, scene: SceneInfo, spans: InMemorySpanExporter) -> None:
    retriever, _ = ready(["MATCH (n:Wrong) RETURN n", GOOD])
    retriever.ask(QUESTION, scene)
    (whole,), chats = named(spans, "retrieval"), named(spans, f"chat {MODEL_NAME}")
    told = dict(whole.attributes or {})
    assert (told["gen_ai.operation.name"], told["gen_ai.usage.input_tokens"]) == ("retrieval", 22)
    assert (told["scenecypher.outcome"], told["scenecypher.attempts"]) == ("answered", 2)
    assert dict(chats[0].attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.output.type": "text",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": MODEL_NAME,
        "gen_ai.request.temperature": 0.0,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.response.model": MODEL_NAME,
        "gen_ai.usage.input_tokens": 11,
        "gen_ai.usage.output_tokens": 7,
    }
    (queried,) = named(spans, "query neo4j")
    assert queried.attributes is not None
    assert (queried.attributes["db.system.name"], queried.attributes["db.response.returned_rows"]) == ("neo4j", 2)
    refused = named(spans, "gate")[0]
    assert refused.attributes is not None
    assert (refused.attributes["error.type"], refused.status.is_ok) == ("label", False)
    assert all(one.start_time and one.end_time and one.end_time > one.start_time for one in spans.get_finished_spans())


def test_spans_hold_no_secrets(ready: Ready, scene: SceneInfo, spans: InMemorySpanExporter) -> None:
    retriever, _ = ready([GOOD])
    retriever.ask(QUESTION, scene)
    everything = " ".join(str(dict(one.attributes or {})) for one in spans.get_finished_spans())
    assert not [secret for secret in (scene.key, QUESTION, "cup_7011", "'table'") if secret in everything]


def test_a_service_failure_is_traced(ready: Ready, scene: SceneInfo, spans: InMemorySpanExporter) -> None:
    retriever, _ = ready([Fail(503, "no")])
    with pytest.raises(ModelUnavailable):
        retriever.ask(QUESTION, scene)
    (chat,) = named(spans, "chat")
    assert dict(chat.attributes or {})["error.type"] == "ModelUnavailable"
    (whole,) = named(spans, "retrieval")
    assert not whole.status.is_ok


def test_the_consumers_spans_are_not_children(ready: Ready, scene: SceneInfo, spans: InMemorySpanExporter) -> None:
    retriever, _ = ready([GOOD])
    for _ in retriever.stream(QUESTION, scene):
        assert trace.get_current_span() is trace.INVALID_SPAN
    abandoned = ready([GOOD])[0].stream(QUESTION, scene)
    next(abandoned)
    abandoned.close()  # type: ignore[attr-defined]
    assert len(named(spans, "retrieval")) == 2


def test_opentelemetry_is_not_imported_by_default() -> None:
    asks = """
import sys
from scenecypher.db.telemetry import span, trace_steps
import scenecypher.retriever.retriever
with span("a", {}) as a:
    a.note({"b": 1})
assert list(trace_steps("a", {}, iter([1, 2]), attributes_of=lambda _: {})) == [1, 2]
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
"""
    subprocess.run([sys.executable, "-c", asks], check=True)
