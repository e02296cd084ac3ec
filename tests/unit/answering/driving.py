"""Answers of a generator as they come, blocking and not."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import Executor

from openbook.answering.generator import QUOTING, Generator
from openbook.answering.options import AnswerOptions
from openbook.answering.steps import arun_in_threads, run
from openbook.answers import AnswerEvent
from openbook.retrieval.search import EVERYTHING
from openbook.types import Filter


def stream(
    generator: Generator, question: str, *, where: Filter = EVERYTHING, options: AnswerOptions = QUOTING
) -> Iterator[AnswerEvent]:
    """Answer a question, and tell what happens."""
    return run(generator.steps(question, where=where, options=options), options)


def astream(
    generator: Generator, question: str, *, options: AnswerOptions = QUOTING, executor: Executor | None = None
) -> AsyncGenerator[AnswerEvent, None]:
    """Do what `stream` does, without blocking."""
    return arun_in_threads(generator.steps(question, options=options), options, executor)
