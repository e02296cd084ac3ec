"""Answering as sans-I/O steps: model calls within a budget, with a blocking and an async driver."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import aclosing, closing
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from openbook.agent.driving import CallModel, Delta, Role, StepRunner, ThreadStepRunner, Wait, adrive, drive
from openbook.answering.options import AnswerOptions
from openbook.answers import Answered, AnswerEvent, Written
from openbook.costs import Budget, BudgetExceeded, BudgetLedger, Price, price_of
from openbook.llm.messages import (
    CitationDelta,
    Part,
    ProviderCitation,
    ReplyFinished,
    Request,
    StopReason,
    TextBlock,
    TextDelta,
)
from openbook.llm.request_tokens import TokenEstimator

_FENCES = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The reply of a model to one call."""

    text: str
    """With a mark for each of its citations."""
    stop: StopReason = "end"
    stopped: str = ""
    """The limit of the budget that prevented the call, such as `max_usd`; else empty."""
    reason: str = ""
    """Why it was prevented, for people."""


class ModelCaller:
    """Call one model for one answer, within its budget. The clock starts when this is made."""

    def __init__(self, model: str, budget: Budget, *, price: Price = price_of) -> None:
        """Take the name of the model, and what its calls may cost."""
        self.ledger: BudgetLedger = BudgetLedger(budget, model, price=price)
        self._meter = TokenEstimator()

    def allows(self, request: Request, input_tokens: int, output_tokens: int) -> bool:
        """Return whether the budget allows a call, and after it one of this size."""
        input_tokens += self._meter.max_input_tokens(request)
        return self.ledger.allows(input_tokens, request.max_tokens + output_tokens)

    def ask(
        self,
        request: Request,
        *,
        is_answer: bool = False,
        by: Role = "writer",
        may_fail: bool = False,
        is_before_answer: bool = False,
    ) -> Generator[CallModel, ReplyFinished | None, ModelReply]:
        """Call the model, and return the whole reply.

        Text of `is_answer` is shown as it comes. `may_fail`: a failure is no error; the reply has no words then, and
        says why. `is_before_answer`: unless the answer would fail for the same reason.
        """
        granted = self.ledger.reserve(self._meter.max_input_tokens(request), request.max_tokens, request.deadline_s)
        if isinstance(granted, BudgetExceeded):
            return ModelReply("", "other", granted.limit, granted.reason)
        asked = replace(request, max_tokens=granted.output_tokens, deadline_s=granted.deadline_s)
        try:
            finished = yield CallModel(asked, is_answer, by, may_fail, is_before_answer)
        except BaseException:
            self.ledger.abandon()
            raise
        if finished is None or finished.failure:
            self.ledger.abandon()
            return ModelReply("", "other", reason=finished.failure if finished else "it did not reply")
        self.ledger.settle(finished.usage)
        self._meter.learn(asked, finished)
        return ModelReply(with_marks(finished.message.parts), finished.stop)


class CitationMarker:
    """Insert marks behind the words that a provider cites, while they stream.

    White space at the end is held back: a mark belongs before it.

    Example:
        >>> marker = CitationMarker()
        >>> [marker.text("It waits. "), marker.cite(ProviderCitation(2, 1, 3)), marker.text("Then"), marker.close()]
        ['It waits.', ' [2:1-3]', ' Then', '']
    """

    def __init__(self) -> None:
        self._blanks = ""
        self._line = ""
        self._run: list[str] = []

    def text(self, text: str) -> str:
        """Add text, and return the part that can be shown."""
        kept = text.rstrip()
        if not kept:
            self._blanks += text
            return ""
        parts = self._blanks + kept
        self._blanks = text[len(kept) :]
        self._line = (self._line + parts).rpartition("\n")[2]
        self._run = []
        return parts

    def cite(self, cited: ProviderCitation) -> str:
        """Add a citation of the text before, and return its mark; empty if the text already has it."""
        mark = str(cited)
        if mark in self._run:
            return ""
        # A mark on the last line of a fence would open it again.
        before = "" if self._run else "\n" if self._line.lstrip().startswith(_FENCES) else " "
        self._run.append(mark)
        self._line = "" if before == "\n" else self._line
        return before + mark

    def close(self) -> str:
        """Return the rest."""
        return self._blanks


def with_marks(parts: Iterable[Part]) -> str:
    """Return the parts of a reply as one text, with a mark for each citation.

    Example:
        >>> with_marks([TextBlock("It waits."), ProviderCitation(1, 2, 2), TextBlock(" It ends.")])
        'It waits. [1:2] It ends.'
    """
    marker, written = CitationMarker(), []
    for part in parts:
        if isinstance(part, TextBlock):
            written.append(marker.text(part.text))
        elif isinstance(part, ProviderCitation):
            written.append(marker.cite(part))
    return "".join((*written, marker.close()))


T = TypeVar("T")

Steps = Generator[AnswerEvent | CallModel | Wait, ReplyFinished | None, T]
"""Yields events and actions, receives the reply to each `CallModel`, and returns a value."""


def run(steps: Steps[Any], options: AnswerOptions) -> Generator[AnswerEvent, None, None]:
    """Run steps with the models of options, and yield events. Closing the generator ends a call of the model.

    Raises:
        ModelError: The model did not answer.
    """
    teller = _Teller()
    happening: Generator[AnswerEvent | Delta, None, None] = drive(steps, options.writer, options.other_verifier)
    with closing(happening):
        for event in happening:
            yield from teller.tell(event)


async def arun(steps: StepRunner[AnswerEvent], options: AnswerOptions) -> AsyncGenerator[AnswerEvent, None]:
    """Do what `run` does, without blocking."""
    teller = _Teller()
    happening: AsyncGenerator[AnswerEvent | Delta, None] = adrive(steps, options.writer, options.other_verifier)
    async with aclosing(happening):
        async for event in happening:
            for told in teller.tell(event):
                yield told


def arun_in_threads(
    steps: Steps[Any], options: AnswerOptions, executor: Executor | None = None
) -> AsyncGenerator[AnswerEvent, None]:
    """Do what `run` does, without blocking: models are called in the event loop, all else is done in threads.

    `executor`: whose threads are used; the loop's own if not given.
    """
    return arun(ThreadStepRunner(steps, executor, ahead=True), options)


class _Teller:
    """Turns the stream of a model into text with marks."""

    def __init__(self) -> None:
        self._marker = CitationMarker()
        self._has_written = False

    def tell(self, event: AnswerEvent | Delta) -> Iterator[AnswerEvent]:
        """Yield the events to show for an event; none if there is nothing to show yet."""
        match event:
            case TextDelta(text):
                words = self._marker.text(text)
            case CitationDelta(cited):
                words = self._marker.cite(cited)
            case _:
                self._marker = CitationMarker()
                if isinstance(event, Answered) and not self._has_written and event.answer.answer:
                    yield Written(event.answer.answer, is_checked=True)
                yield event
                return
        if words:
            self._has_written = True
            yield Written(words)
