"""OpenTelemetry spans of model calls, by its semantic conventions for generative AI. They contain no text.

`opentelemetry` is imported only if a tracer is used.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from openbook.llm.messages import Event, ReplyFinished, Request
from openbook.llm.protocol import Model, ModelWrapper, aclosing_stream, closing_stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opentelemetry.context import Context
    from opentelemetry.trace import Span, Tracer


class TracedModel(ModelWrapper):
    """A model whose calls become spans named `chat MODEL`, with tokens, limits and outcome."""

    def __init__(self, model: Model, tracer: Tracer, context: Context | None = None) -> None:
        """Trace a model.

        Args:
            model: The model.
            tracer: For example `opentelemetry.trace.get_tracer("my-program")`.
            context: Parent context of the spans. Default: the current context of each call.
        """
        super().__init__(model)
        self._tracer = tracer
        self._context = context

    def stream(self, request: Request) -> Generator[Event, None, None]:
        with self._span(request) as span, closing_stream(self._model.stream(request)) as events:
            for event in events:
                _note(span, event)
                yield event

    async def astream(self, request: Request) -> AsyncGenerator[Event, None]:
        with self._span(request) as span:
            async with aclosing_stream(self._model.astream(request)) as events:
                async for event in events:
                    _note(span, event)
                    yield event

    @contextmanager
    def _span(self, request: Request) -> Iterator[Span]:
        # Not made the current span, because the caller's own work runs between the deltas of a reply.
        from opentelemetry.trace import SpanKind

        _, model, _ = read_model_name(self.name)
        attributes = model_attributes(self.name) | _asked(request)
        span = self._tracer.start_span(f"chat {model}", self._context, SpanKind.CLIENT, attributes)
        with ending(span):
            yield span


@contextmanager
def ending(span: Span) -> Iterator[None]:
    """Context manager that ends a span. An exception or early exit is recorded as its error."""
    from opentelemetry.trace import StatusCode

    try:
        yield
    except BaseException as exc:
        span.set_attribute("error.type", type(exc).__name__)
        span.set_status(StatusCode.ERROR)
        raise
    finally:
        span.end()


def read_model_name(name: str) -> tuple[str, str, dict[str, Any]]:
    """Return provider, model, and known attributes of the server.

    Example:
        >>> read_model_name("groq:openai/gpt-oss-120b")
        ('groq', 'openai/gpt-oss-120b', {})
        >>> read_model_name("http://127.0.0.1:9000/v1#tiny")
        ('openai_compatible', 'tiny', {'server.address': '127.0.0.1', 'server.port': 9000})
    """
    if not name.startswith(("http://", "https://")):
        provider, _, model = name.partition(":")
        return provider, model or provider, {}
    url, _, model = name.partition("#")
    server = urlsplit(url)
    known = {"server.address": server.hostname, "server.port": server.port}
    return "openai_compatible", model, {key: value for key, value in known.items() if value}


def model_attributes(name: str) -> dict[str, Any]:
    """Return the span attributes of a model."""
    provider, model, server = read_model_name(name)
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        **server,
    }


def usage_attributes(usage: Any) -> dict[str, Any]:
    """Return the span attributes of token usage."""
    return {
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_input_tokens,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write_tokens,
    }


def _asked(request: Request) -> dict[str, Any]:
    sampling = request.sampling
    given = {
        "gen_ai.request.max_tokens": request.max_tokens,
        "gen_ai.request.temperature": sampling.temperature,
        "gen_ai.request.top_p": sampling.top_p,
        "gen_ai.request.seed": sampling.seed,
        "gen_ai.request.stop_sequences": sampling.stop or None,
    }
    return {key: value for key, value in given.items() if value is not None}


def _note(span: Span, event: Event) -> None:
    if isinstance(event, ReplyFinished):
        told = {"gen_ai.response.model": event.model} if event.model else {}
        span.set_attributes({**told, "gen_ai.response.finish_reasons": (event.stop,), **usage_attributes(event.usage)})
