"""How long each stage of an answer takes, and what came of the answer: for metrics and for telemetry."""

from __future__ import annotations

import time
from asyncio import CancelledError
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from openbook.answering.options import AnswerOptions
from openbook.answers import GenerationResult
from openbook.server.metrics import Metrics
from openbook.server.telemetry import AnswerSpans

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer


class AnswerTracker:
    """Track one answer through its stages, for logs, metrics and traces. A context manager."""

    def __init__(self, metrics: Metrics, tracer: Tracer | None, session_id: str) -> None:
        self.answer: GenerationResult | None = None
        """Set when there is one."""
        self._metrics = metrics
        self._spans = AnswerSpans(tracer, session_id)
        self.name = ""
        """Of the stage that lasts; empty for none."""
        self._since_s = 0.0
        self._models: tuple[str, ...] = ()
        self._own_s = 0.0

    def watched(self, options: AnswerOptions) -> AnswerOptions:
        """Return a way of writing whose models are followed too. Without one, all the time is ours."""
        other = options.other_verifier
        is_asked = options.writer is not None and (other is not None or options.verifier == "model")
        self._models = (*(() if options.writer is None else ("rephrasing", "writing")), *("verifying",) * is_asked)
        verifier = options.verifier if other is None else self._spans.watched(other) or other
        return replace(options, model=self._spans.watched(options.writer), verifier=verifier)

    def enter(self, name: str) -> None:
        """End the stage before, and begin one; empty for none."""
        now = time.perf_counter()
        if self.name:
            self._metrics.stage(self.name, now - self._since_s)
            self._own_s += 0.0 if self.name in self._models else now - self._since_s
        self.name, self._since_s = name, now
        self._spans.enter("" if name in self._models else name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.enter("")
        outcome: Literal["answered", "cancelled", "failed"] = "answered"
        if self.answer is not None:
            self._metrics.answered(self.answer)
            self._metrics.stage("own", self._own_s)
        else:
            # Who goes away cancels the task, or closes the generator.
            outcome = "cancelled" if isinstance(error, CancelledError | GeneratorExit) else "failed"
            self._metrics.ended(outcome)
        self._spans.end(outcome, self.answer)
