"""OpenTelemetry spans of requests, after its conventions for generative AI: each attempt at an
answer is one, whichever model answers. Whoever has set up OpenTelemetry gets them; `exported` sets
it up where the environment names a collector (OTEL_EXPORTER_OTLP_ENDPOINT).

What was asked and answered stays out of them, unless
OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true.
"""

import importlib
import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from simcounsel.llm.chat import Complaint, messages
from simcounsel.llm.models import Completion
from simcounsel.llm.question import Question
from simcounsel.secret import scrub

COLLECTORS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
PROVIDERS = {"openai": "openai", "azure": "azure.ai.openai"}
"""By the conventions' names; others go by what their models' names begin with."""

log = logging.getLogger(__name__)


@contextmanager
def exported(name: str = "simcounsel") -> Iterator[None]:
    """Meanwhile spans are sent to the collector that the environment names, if it names one; all
    have left at the end. name: the service's, where OTEL_SERVICE_NAME names none.
    """
    provider = _provider(name) if any(os.environ.get(one) for one in COLLECTORS) else None
    try:
        yield
    finally:
        if provider is not None:
            provider.shutdown()


def _provider(name: str) -> Any:
    """One that sends; None where OpenTelemetry is missing, or somebody set it up already."""
    try:
        trace = importlib.import_module("opentelemetry.trace")
        sdk = importlib.import_module("opentelemetry.sdk.trace")
        export = importlib.import_module("opentelemetry.sdk.trace.export")
        resources = importlib.import_module("opentelemetry.sdk.resources")
        otlp = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ModuleNotFoundError as error:
        log.warning(
            "no spans are sent: the package %s is missing; pip install 'simcounsel[otel]'",
            error.name,
        )
        return None
    if isinstance(trace.get_tracer_provider(), sdk.TracerProvider):
        return None
    told = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": name}
    provider = sdk.TracerProvider(resource=resources.Resource.create(told))
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider


class Attempt:
    """The span of one attempt. Without OpenTelemetry it does nothing."""

    def __init__(self, span: Any = None) -> None:
        self._span = span if span is not None and span.is_recording() else None

    def answered(self, completion: Completion) -> None:
        """The model answered."""
        if self._span is None:
            return
        finish = completion.notes.get("finish", "stop")
        told = {
            "gen_ai.usage.input_tokens": completion.tokens_in,
            "gen_ai.usage.output_tokens": completion.tokens_out,
            "gen_ai.response.finish_reasons": (str(finish),),
        }
        self._set({key: value for key, value in told.items() if value is not None})
        if _with_content():
            text = {"type": "text", "content": completion.text}
            said = [{"role": "assistant", "parts": [text], "finish_reason": str(finish)}]
            self._set({"gen_ai.output.messages": json.dumps(said, ensure_ascii=False)})

    def _set(self, attributes: dict[str, Any]) -> None:
        if self._span is not None:
            self._span.set_attributes(attributes)


@contextmanager
def attempt(
    question: Question[Any], model: str, tick: int | None, complaint: Complaint | None = None
) -> Iterator[Attempt]:
    """The span of an attempt at an answer, which ends with an error if the attempt does."""
    trace = sys.modules.get("opentelemetry.trace")  # nobody has set it up who has not imported it
    if trace is None:
        yield Attempt()
        return
    embeds = question.verb == "embed"
    with trace.get_tracer("simcounsel").start_as_current_span(
        f"{'embeddings' if embeds else 'chat'} {model}",
        kind=trace.SpanKind.CLIENT,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        if not span.is_recording():
            yield Attempt()
            return
        span.set_attributes(_attributes(question, model, tick))
        if _with_content() and not embeds:
            span.set_attribute("gen_ai.input.messages", _asked(question, complaint))
        try:
            yield Attempt(span)
        except BaseException as error:
            span.set_attribute("error.type", type(error).__name__)
            span.set_status(trace.StatusCode.ERROR, scrub(str(error))[:200])
            raise


def _attributes(question: Question[Any], model: str, tick: int | None) -> dict[str, Any]:
    kind, _, rest = model.partition(":")
    named: dict[str, Any] = {"gen_ai.request.model": rest or model}
    if kind in ("http", "https"):
        parts = urlsplit(model)
        named["gen_ai.request.model"] = parts.fragment or parts.path.rpartition("/v1/")[2]
        named |= {"server.address": parts.hostname or ""}
        named |= {"server.port": parts.port} if parts.port else {}
    if question.verb != "embed":
        named |= {
            "gen_ai.request.temperature": question.temperature,
            "gen_ai.request.max_tokens": question.max_tokens,
            "gen_ai.request.seed": question.seed,
            "gen_ai.output.type": "json" if question.verb == "fill" else "text",
        }
    return named | {
        "gen_ai.operation.name": "embeddings" if question.verb == "embed" else "chat",
        "gen_ai.provider.name": PROVIDERS.get(kind, kind),
        "simcounsel.tick": -1 if tick is None else tick,
        "simcounsel.who": question.who,
        "simcounsel.purpose": question.purpose,
        "simcounsel.call": question.key,
    }


def _asked(question: Question[Any], complaint: Complaint | None) -> str:
    told = [
        {"role": one["role"], "parts": [{"type": "text", "content": one["content"]}]}
        for one in messages(question, complaint)
    ]
    return json.dumps(told, ensure_ascii=False)


def _with_content() -> bool:
    return os.environ.get(CONTENT, "").lower() == "true"
