"""OpenTelemetry spans of answers, by its conventions for generative AI. No question and no text is in them.

Nothing is sent, and no package of the extra is needed, unless `OPENBOOK_TELEMETRY` asks for it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from openbook.answers import GenerationResult
from openbook.errors import MissingExtraError, SettingsError
from openbook.llm.protocol import Model
from openbook.llm.tracing import TracedModel

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span, Tracer


def open_tracer(where: str) -> Tracer | None:
    """Build the tracer; None if spans go nowhere."""
    if not where:
        return None
    try:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        provider = TracerProvider(resource=Resource.create({"service.name": "openbook"}))
        provider.add_span_processor(BatchSpanProcessor(_exporter(where)))
    except ModuleNotFoundError as exc:
        raise MissingExtraError(
            f"telemetry needs {exc.name}",
            hint="pip install 'openbook[telemetry]', and opentelemetry-exporter-otlp-proto-http for `otlp`",
        ) from exc
    return provider.get_tracer("openbook")


def _exporter(where: str) -> SpanExporter:
    if where == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stderr, formatter=lambda span: f"{span.to_json(indent=None)}\n")
    if where == "otlp":
        from importlib import import_module

        module = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        return cast("SpanExporter", module.OTLPSpanExporter())
    raise SettingsError(f"telemetry is {where!r}", hint="set OPENBOOK_TELEMETRY to console or otlp")


class AnswerSpans:
    """The spans of one answer: one around it, one for each stage, and one for each call of a model."""

    def __init__(self, tracer: Tracer | None, session_id: str) -> None:
        """Begin. Without a tracer, nothing happens here."""
        self._tracer = tracer
        self._stage: Span | None = None
        self._whole = self._start("invoke_agent openbook", session_id) if tracer else None

    def watched(self, model: Model | None) -> Model | None:
        """Return a model whose calls become spans."""
        if model is None or self._tracer is None or self._whole is None:
            return model
        return TracedModel(model, self._tracer, _inside(self._whole))

    def enter(self, stage: str) -> None:
        """End the stage before, and begin one; empty for none."""
        if self._stage is not None:
            self._stage.end()
            self._stage = None
        if self._tracer is not None and stage not in ("", "writing", "rephrasing"):  # those are calls of a model
            attributes = {"gen_ai.operation.name": "retrieval"} if stage == "searching" else {}
            name = "retrieval" if stage == "searching" else stage
            self._stage = self._tracer.start_span(name, context=_inside(self._whole), attributes=attributes)

    def end(self, outcome: str, answer: GenerationResult | None) -> None:
        self.enter("")
        if self._whole is None:
            return
        self._whole.set_attribute("openbook.outcome", outcome)
        if answer is not None:
            self._whole.set_attributes(
                {
                    "gen_ai.usage.input_tokens": answer.usage.input_tokens,
                    "gen_ai.usage.output_tokens": answer.usage.output_tokens,
                    "openbook.refused": answer.refused,
                }
            )
            if answer.quality_score is not None:
                self._whole.set_attribute("openbook.quality_score", answer.quality_score)
        self._whole.end()

    def _start(self, name: str, session_id: str) -> Span:
        assert self._tracer is not None
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "openbook",
            "gen_ai.conversation.id": session_id,
        }
        return self._tracer.start_span(name, attributes=attributes)


def _inside(span: Span | None) -> Any:
    from opentelemetry.trace import set_span_in_context

    return None if span is None else set_span_in_context(span)
