"""Answering as sans-IO steps, with a blocking and an async driver."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import aclosing, closing
from typing import Any, TypeVar

from openbook.agent.driving import CallModel, Delta, StepRunner, Wait, adrive, drive
from openbook.answering.model_calls import CitationMarker
from openbook.answers import Answered, AnswerEvent, Written
from openbook.llm.messages import CitationDelta, ReplyFinished, TextDelta
from openbook.llm.protocol import Model

T = TypeVar("T")

Steps = Generator[AnswerEvent | CallModel | Wait, ReplyFinished | None, T]
"""Gives what happens and what is to be done, takes the reply to each `CallModel`, and ends with a value."""


def run(steps: Steps[Any], model: Model | None, verifier: Model | None = None) -> Generator[AnswerEvent, None, None]:
    """Take steps, and tell what happens. Closing the generator ends a call of the model.

    Raises:
        ModelError: The model did not answer.
    """
    teller = _Teller()
    happening: Generator[AnswerEvent | Delta, None, None] = drive(steps, model, verifier)
    with closing(happening):
        for event in happening:
            yield from teller.tell(event)


async def arun(
    steps: StepRunner[AnswerEvent], model: Model | None, verifier: Model | None = None
) -> AsyncGenerator[AnswerEvent, None]:
    """Do what `run` does, without blocking."""
    teller = _Teller()
    happening: AsyncGenerator[AnswerEvent | Delta, None] = adrive(steps, model, verifier)
    async with aclosing(happening):
        async for event in happening:
            for told in teller.tell(event):
                yield told


class _Teller:
    """Turns what a model says while it writes into words with marks."""

    def __init__(self) -> None:
        self._marker = CitationMarker()
        self._has_written = False

    def tell(self, event: AnswerEvent | Delta) -> Iterator[AnswerEvent]:
        """Yield what whoever watches is told of an event; nothing if there is nothing to show yet."""
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
