"""Measures the stages of an answer and its outcome, for metrics and, if enabled, for OpenTelemetry.

Spans follow the semantic conventions for generative AI. They contain no questions or texts. Nothing is sent, and no
package of the extra is needed, unless `OPENBOOK_TELEMETRY` is set.
"""

from __future__ import annotations

import time
from asyncio import CancelledError
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from openbook.answering.options import AnswerOptions
from openbook.answers import GenerationResult
from openbook.llm.messages import Event, Request
from openbook.llm.protocol import Model, ModelWrapper, aclosing_stream
from openbook.server.metrics import Metrics
from openbook.server.question_queue import NoTurnError
from openbook.server.shutdown import ServerStoppedError

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


import sys
from typing import TYPE_CHECKING, Any, cast

from openbook.errors import MissingExtraError, SettingsError
from openbook.llm.tracing import TracedModel

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span, Tracer


def open_tracer(where: str) -> Tracer | None:
    """Build the tracer; None if telemetry is off."""
    if not where:
        return None
    exporter = open_exporter(where)
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": "openbook"}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider.get_tracer("openbook")


def open_exporter(where: str) -> SpanExporter:
    """Open what sends spans. Sends nothing yet.

    Raises:
        SettingsError: There is no exporter of this name.
        MissingExtraError: The packages it needs are not installed.
    """
    try:
        return _exporter(where)
    except ModuleNotFoundError as exc:
        raise MissingExtraError(
            f"telemetry needs {exc.name}",
            hint="pip install 'openbook[telemetry]', and opentelemetry-exporter-otlp-proto-http for `otlp`",
        ) from exc


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
    """The spans of one answer: a root span, one for each stage, and one for each model call."""

    def __init__(self, tracer: Tracer | None, session_id: str) -> None:
        """Start the root span. Without a tracer, all methods do nothing."""
        self._tracer = tracer
        self._stage: Span | None = None
        self._whole = self._start("invoke_agent openbook", session_id) if tracer else None

    def watched(self, model: Model | None) -> Model | None:
        """Wrap a model so that each of its calls becomes a span."""
        if model is None or self._tracer is None or self._whole is None:
            return model
        return TracedModel(model, self._tracer, _inside(self._whole))

    def enter(self, stage: str) -> None:
        """End the current stage and start another one; an empty name starts none."""
        if self._stage is not None:
            self._stage.end()
            self._stage = None
        if self._tracer is not None and stage not in ("", "writing", "rephrasing"):  # model calls have own spans
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


QUEUED = "queued"
"""The stage in which an answer waits for its turn, or for a process to run its next step."""


class AnswerTracker:
    """Track one answer through its stages, for logs, metrics and traces. A context manager."""

    def __init__(
        self,
        metrics: Metrics,
        tracer: Tracer | None,
        session_id: str,
        arrived_s: float,
        *,
        waits: Callable[[], None] = lambda: None,
    ) -> None:
        """Begin with the stage `queued`, at the arrival of the question (`time.perf_counter`).

        `waits` is called when a model has finished and the answer waits for a process to check it.
        """
        self._waits = waits
        self.answer: GenerationResult | None = None
        """Set once the answer is complete."""
        self.has_replied = False
        """Whether a model has sent anything, which may cost something."""
        self._metrics = metrics
        self._spans = AnswerSpans(tracer, session_id)
        self.name = QUEUED
        """The current stage; empty for none."""
        self.took_s: defaultdict[str, float] = defaultdict(float)
        """Seconds of each finished stage."""
        self._arrived_s = self._since_s = arrived_s
        self._models: tuple[str, ...] = ()

    def watched(self, options: AnswerOptions) -> AnswerOptions:
        """Return options whose models are tracked. Without a model, the server takes all the time itself."""
        other = options.other_verifier
        is_asked = options.writer is not None and (other is not None or options.verifier == "model")
        self._models = (*(() if options.writer is None else ("rephrasing", "writing")), *("verifying",) * is_asked)
        verifier = options.verifier if other is None else self._followed(other) or other
        return replace(options, model=self._followed(options.writer), verifier=verifier)

    def _followed(self, model: Model | None) -> Model | None:
        watched = self._spans.watched(model)
        return None if watched is None else _FollowedModel(watched, self)

    def wait(self) -> None:
        """Wait in the queue for a process, because a model has finished."""
        self.enter(QUEUED)
        self._waits()

    @property
    def is_of_model(self) -> bool:
        """Whether the current stage waits for a model."""
        return self.name in self._models

    @property
    def total_s(self) -> float:
        return time.perf_counter() - self._arrived_s

    def enter(self, name: str) -> None:
        """End the current stage and start another one; an empty name starts none."""
        now = time.perf_counter()
        if self.name:
            self.took_s[self.name] += now - self._since_s
            self._metrics.stage(self.name, now - self._since_s)
        self.name, self._since_s = name, now
        self._spans.enter("" if name in (*self._models, QUEUED) else name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.enter("")
        outcome: Literal["answered", "cancelled", "overloaded", "failed"] = "answered"
        if self.answer is not None:
            self._metrics.answered(self.answer)
            self._metrics.stage("own", sum(s for name, s in self.took_s.items() if name not in self._models))
        else:
            # A client that disconnects cancels the task, or closes the generator.
            outcome = (
                "cancelled" if isinstance(error, CancelledError | GeneratorExit | ServerStoppedError) else "failed"
            )
            outcome = "overloaded" if isinstance(error, NoTurnError) else outcome
            self._metrics.ended(outcome)
        self._spans.end(outcome, self.answer)


class _FollowedModel(ModelWrapper):
    """A model that reports the first event and the end of each call."""

    def __init__(self, model: Model, tracker: AnswerTracker) -> None:
        super().__init__(model)
        self._tracker = tracker

    def stream(self, request: Request) -> Iterator[Event]:
        """Call the model without tracking: the server makes only async calls."""
        return self._model.stream(request)

    async def astream(self, request: Request) -> AsyncGenerator[Event, None]:
        try:
            async with aclosing_stream(self._model.astream(request)) as events:
                async for event in events:
                    self._tracker.has_replied = True
                    yield event
        finally:
            self._tracker.wait()
