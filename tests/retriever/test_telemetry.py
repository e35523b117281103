"""OpenTelemetry: runs, model calls, queries and actions are spans and metrics if it is set up; else nothing is done."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import db_attributes, gen_ai_attributes
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics
from opentelemetry.semconv.attributes import error_attributes, server_attributes
from opentelemetry.semconv.metrics import db_metrics
from opentelemetry.semconv.schemas import Schemas

import scenecypher as sc
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.telemetry import INSTRUMENTS, SCHEMA_URL
from scenecypher.errors import ModelUnavailable
from tests.planner.actions.grasif_worlds import home as kitchen
from tests.planner.actions.test_operators import put
from tests.retriever.conftest import Ready
from tests.retriever.test_retriever import GOOD, QUESTION
from tests.scenecypher.test_home import decision
from tests.scripted_model import MODEL_NAME, Fail

CONVENTIONS = (gen_ai_attributes, db_attributes, error_attributes, server_attributes, gen_ai_metrics, db_metrics)
NAMES = {value for module in CONVENTIONS for value in vars(module).values() if isinstance(value, str)}


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


@pytest.fixture(scope="module")
def reader() -> InMemoryMetricReader:
    """Set up a provider of metrics once for the whole process."""
    reader = InMemoryMetricReader()
    metrics.set_meter_provider(MeterProvider([reader]))
    return reader


def points(reader: InMemoryMetricReader) -> dict[str, list[tuple[dict[str, object], float]]]:
    """Return attributes and sum (of a histogram: of its values) by metric, of all so far."""
    found = reader.get_metrics_data()
    scopes = [scope for it in found.resource_metrics for scope in it.scope_metrics] if found else []
    return {
        metric.name: [
            (dict(point.attributes or {}), float(getattr(point, "value", 0) or getattr(point, "sum", 0)))
            for point in metric.data.data_points
        ]
        for scope in scopes
        for metric in scope.metrics
    }


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
        "gen_ai.request.max_tokens": 800,
        "gen_ai.request.model": MODEL_NAME,
        "gen_ai.request.temperature": 0.0,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.response.model": MODEL_NAME,
        "gen_ai.usage.input_tokens": 11,
        "gen_ai.usage.output_tokens": 7,
    }
    (queried,) = named(spans, "query neo4j")
    assert queried.attributes is not None
    assert (queried.attributes["db.system.name"], queried.attributes["db.namespace"]) == ("neo4j", "neo4j")
    assert (queried.attributes["server.address"], queried.attributes["db.response.returned_rows"]) == ("127.0.0.1", 2)
    refused = named(spans, "gate")[0]
    assert refused.attributes is not None
    assert (refused.attributes["error.type"], refused.status.is_ok) == ("label", False)
    assert all(one.start_time and one.end_time and one.end_time > one.start_time for one in spans.get_finished_spans())


def test_a_plan_is_one_trace_of_its_model_calls_questions_and_actions(
    store: SceneStore,
    user_env: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    spans: InMemorySpanExporter,
    reader: InMemoryMetricReader,
) -> None:
    for name, value in user_env.items():
        monkeypatch.setenv(name, value)
    scene = put(store, kitchen(), vocabulary="grasif").name
    script = sc.Scripted(
        [
            decision(1, "act", "pick_up(cup-1)", "That is the task."),
            decision(2, "act", "open(cup-1)", "Why not?"),
            decision(3, "done", None, "the cup is held"),
        ]
    )
    with sc.connect(tell=lambda _: None) as db:
        assert db.home(scene).plan("Take the cup.", model=script, fix=True).is_done
    run, chat = "invoke_agent stepwise", "chat scripted"
    assert tree(spans) == [
        (run, ""),
        (chat, run),
        ("execute_tool pick_up", run),
        ("execute_tool go_to", run),
        ("execute_tool pick_up", run),
        (chat, run),
        ("execute_tool open", run),
        (chat, run),
    ], "the first action is refused, and corrected by going to the kitchen"
    (whole,) = named(spans, run)
    told = dict(whole.attributes or {})
    assert (told["gen_ai.agent.name"], told["scenecypher.outcome"], told["scenecypher.actions"]) == (
        "stepwise",
        "done",
        2,
    )
    opened = dict(named(spans, "execute_tool open")[0].attributes or {})
    assert (opened["gen_ai.tool.name"], opened["error.type"]) == ("open", "Infeasible")
    counted = points(reader)
    here = {name: [it for it in found if it[0].get("scenecypher.scene") == scene] for name, found in counted.items()}
    assert sum(value for _, value in here["scenecypher.actions"]) == 2
    assert {str(it["error.type"]): value for it, value in here["scenecypher.refusals"]} == {"Infeasible": 1.0}
    assert len(here["scenecypher.action.duration"]) == 4, "by action, done and refused"
    assert {str(it["gen_ai.token.type"]) for it, _ in counted["gen_ai.client.token.usage"]} == {"input", "output"}
    assert {*counted} <= {*INSTRUMENTS}


def test_all_names_are_the_conventions_or_ours(
    ready: Ready, scene: SceneInfo, spans: InMemorySpanExporter, reader: InMemoryMetricReader
) -> None:
    assert SCHEMA_URL in {it.value for it in Schemas}
    assert [name for name in INSTRUMENTS if name not in NAMES and not name.startswith("scenecypher.")] == []
    retriever, _ = ready(["MATCH (n:Wrong) RETURN n", GOOD])
    retriever.ask(QUESTION, scene)
    assert "db.client.operation.duration" in points(reader)
    used = {key for one in spans.get_finished_spans() for key in one.attributes or {}}
    used |= {key for found in points(reader).values() for attributes, _ in found for key in attributes}
    assert [key for key in used if key not in NAMES and not key.startswith("scenecypher.")] == []
    scopes = {one.instrumentation_scope.schema_url for one in spans.get_finished_spans() if one.instrumentation_scope}
    assert scopes == {SCHEMA_URL}


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
