"""Spans of requests: which there are, and what they say and do not say."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from simcounsel.llm import tracing
from simcounsel.llm.models import Failure
from tests.commands import Command
from tests.stage import ROOT, live, tiny


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Those of one test; OpenTelemetry lets itself be set up once, so that it is undone by hand."""
    provider = TracerProvider()
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield exporter
    provider.shutdown()


def test_each_attempt_is_a_span_after_the_conventions(
    spans: InMemorySpanExporter, tmp_path: Path
) -> None:
    run = live(tmp_path, tiny(), ticks=3)
    calls = {call["key"]: call for call in run.calls() if call["verb"] != "embed"}
    found = [one for one in spans.get_finished_spans() if one.name.startswith("chat ")]
    assert len(found) == sum(call["tries"] for call in calls.values()) > 10
    for one in found:
        told = dict(one.attributes or {})
        call = calls[str(told["simcounsel.call"])]
        assert one.kind is trace.SpanKind.CLIENT and one.name == "chat scripted"
        assert told["gen_ai.operation.name"] == "chat"
        assert told["gen_ai.provider.name"] == told["gen_ai.request.model"] == "scripted"
        assert (told["simcounsel.who"], told["simcounsel.purpose"]) == (
            call["who"],
            call["purpose"],
        )
        assert told["simcounsel.tick"] == call["tick"]
        assert told["gen_ai.request.seed"] == call["parameters"]["seed"]
        assert not any("messages" in name for name in told), "what was said stays out"


def test_what_was_asked_comes_along_only_where_that_is_wanted(
    spans: InMemorySpanExporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(tracing.CONTENT, "true")
    run = live(tmp_path, tiny(), ticks=1)
    call = next(one for one in run.calls() if one["verb"] != "embed")
    told = next(
        dict(one.attributes or {})
        for one in spans.get_finished_spans()
        if (one.attributes or {}).get("simcounsel.call") == call["key"]
    )
    asked = json.loads(str(told["gen_ai.input.messages"]))
    assert [one["parts"][0]["content"] for one in asked] == [
        one["content"] for one in call["messages"]
    ]
    (answered,) = json.loads(str(told["gen_ai.output.messages"]))
    assert answered["parts"][0]["content"] == call["reply"]


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("openai:gpt-4o", {"gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o"}),
        ("azure:mine", {"gen_ai.provider.name": "azure.ai.openai", "gen_ai.request.model": "mine"}),
        (
            "http://localhost:8000/v1/org/name",
            {"gen_ai.provider.name": "http", "gen_ai.request.model": "org/name", "server.address": "localhost", "server.port": 8000},
        ),
        ("https://x.org/api#m", {"gen_ai.request.model": "m", "server.address": "x.org"}),
    ],
)  # fmt: skip
def test_a_models_name_in_the_conventions_terms(
    model: str, told: dict[str, object], spans: InMemorySpanExporter
) -> None:
    from tests.llm.test_openai import ask_for

    with pytest.raises(Failure), tracing.attempt(ask_for(), model, 4):
        raise Failure("HTTP 500: sk-1234567890abcdefghijkl is wrong", transport=True)
    (span,) = spans.get_finished_spans()
    assert told.items() <= dict(span.attributes or {}).items()
    assert (span.attributes or {})["error.type"] == "Failure"
    assert not span.status.is_ok and "sk-1234567890" not in str(span.status.description)


def test_nothing_is_made_where_nobody_looks() -> None:
    from tests.llm.test_openai import ask_for

    with tracing.attempt(ask_for(), "scripted", 0) as span:
        assert span._span is None


@pytest.mark.slow(6)
def test_a_run_sends_its_spans_to_the_collector_that_the_environment_names(
    simcounsel: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    came: list[bytes] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            came.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
        monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
        monkeypatch.setattr(trace._TRACER_PROVIDER_SET_ONCE, "_done", False)
        world = ROOT / "worlds" / "tiny.yaml"
        assert simcounsel("run", world, "--model", "scripted", "--ticks", 2, "--quiet").code == 0
        server.shutdown()
    sent = [ExportTraceServiceRequest.FromString(body) for body in came]
    names = [
        span.name
        for one in sent
        for resource in one.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    assert "chat scripted" in names
    assert "simcounsel" in str(sent[0].resource_spans[0].resource)
