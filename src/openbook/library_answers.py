"""Answers from a library (blocking, async, in batches), and checks of answers from elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, SupportsIndex

from openbook.answers import Answered, AnswerEvent, GenerationResult, Policy, answered
from openbook.errors import InvalidArgumentError, OpenbookError
from openbook.index.protocol import Index
from openbook.libraries.registration import check_known
from openbook.libraries.repositories import with_permalinks
from openbook.retrieval.search import EVERYTHING
from openbook.settings import Settings
from openbook.types import Filter, RetrievalResult

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from openbook.agent.toolsets import ToolLike, Tools
    from openbook.answering.checking import Retry
    from openbook.answering.generator import Generator
    from openbook.answering.options import AnswerOptions
    from openbook.grounding.protocol import Judge
    from openbook.llm.attachments import ImageLike
    from openbook.llm.protocol import Model


class LibraryAnswers(ABC):
    """The question-answering methods of `openbook.library.Library`."""

    settings: Settings
    _index: Index

    def __init__(self, judge: Judge | Model | str | None) -> None:
        """Take the default judge of claims."""
        self._judge = judge
        self._tools: list[ToolLike] = []

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a library cannot be pickled; open it in each process, by its name or its folders")

    @property
    @abstractmethod
    def generator(self) -> Generator:
        """Writes the answers, and has statistics of them."""

    def query(
        self,
        message: str,
        *,
        limit: int | None = None,
        where: Filter = EVERYTHING,
        options: AnswerOptions | None = None,
        tools: Tools = (),
        images: Iterable[ImageLike] = (),
        model: Model | str | None = None,
    ) -> GenerationResult:
        """Answer a question from the library, with checked citations.

        Args:
            message: The question.
            limit: Maximum number of results to answer from; default: 10 for quotes and 20 for a model.
            where: Which documents to use.
            options: Model, budget and earlier exchanges. Without it, answers are quotes.
            tools: Additional tools for the model, beside those of the library.
            images: Images and PDF pages for the question: see `AnswerOptions.images`.
            model: The model or its name, if `options` has none: `model="anthropic"`.

        Raises:
            QueryError: The question is empty, too long, or contains no word; or an image cannot be used.
            UnknownSourceError: The filter names a source that the library does not have.
            InvalidArgumentError: `limit` is below 1, or there are tools or images but no model.
            UnreadAttachmentError: The model does not support images.
            ModelError: The model failed.
        """
        events = self.query_stream(
            message, limit=limit, where=where, options=options, tools=tools, images=images, model=model
        )
        return answered(events)

    def query_stream(
        self,
        message: str,
        *,
        limit: int | None = None,
        where: Filter = EVERYTHING,
        options: AnswerOptions | None = None,
        tools: Tools = (),
        images: Iterable[ImageLike] = (),
        model: Model | str | None = None,
    ) -> Iterator[AnswerEvent]:
        """Answer like `query`, and yield events: text as it is written, tool calls, and finally the answer.

        The streamed text is unchecked; the answer is checked. Closing the iterator cancels the model call.
        """
        from openbook.answering.steps import run

        self._check(limit, where)
        completed = self._completed(options, tools, images, model)
        steps = self.generator.steps(message, limit, where=where, options=completed)
        return (with_permalinks(event, self._index) for event in run(steps, completed))

    async def aquery(
        self,
        message: str,
        *,
        limit: int | None = None,
        where: Filter = EVERYTHING,
        options: AnswerOptions | None = None,
        tools: Tools = (),
        images: Iterable[ImageLike] = (),
        model: Model | str | None = None,
        executor: Executor | None = None,
    ) -> GenerationResult:
        """Answer like `query`, without blocking: see `aquery_stream`."""
        events = self.aquery_stream(
            message,
            limit=limit,
            where=where,
            options=options,
            tools=tools,
            images=images,
            model=model,
            executor=executor,
        )
        return answered([event async for event in events])

    async def aquery_stream(
        self,
        message: str,
        *,
        limit: int | None = None,
        where: Filter = EVERYTHING,
        options: AnswerOptions | None = None,
        tools: Tools = (),
        images: Iterable[ImageLike] = (),
        model: Model | str | None = None,
        executor: Executor | None = None,
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Answer like `query_stream`, without blocking: model calls run in the event loop, the rest in threads.

        Closing the iterator or cancelling the task cancels the model call. `executor`: the thread pool;
        default: that of the event loop.
        """
        from asyncio import get_running_loop

        def begin() -> AsyncGenerator[AnswerEvent, None]:
            from openbook.answering.steps import arun_in_threads

            self._check(limit, where)
            made = self._completed(options, tools, images, model)
            steps = self.generator.steps(message, limit, where=where, options=made)
            return arun_in_threads(steps, made, executor)

        in_thread = partial(get_running_loop().run_in_executor, executor)
        events = await in_thread(begin)  # the first call imports a lot
        async with aclosing(events):
            async for event in events:
                yield await in_thread(with_permalinks, event, self._index) if isinstance(event, Answered) else event

    def query_many(
        self,
        messages: Iterable[str],
        *,
        at_once: int = 4,
        limit: int | None = None,
        where: Filter = EVERYTHING,
        options: AnswerOptions | None = None,
        tools: Tools = (),
        model: Model | str | None = None,
    ) -> list[GenerationResult | OpenbookError]:
        """Answer several questions independently and concurrently.

        Args:
            messages: The questions.
            at_once: Maximum number of concurrent answers.
            limit: See `query`, also for the following arguments. A budget applies to each answer.
            where: Which documents to use.
            options: The model and more.
            tools: Additional tools.
            model: The model or its name.

        Returns:
            The answers, in order. If one fails, its error takes its place, so that the others are not lost.

        Raises:
            InvalidArgumentError: `at_once` or `limit` is below 1.
            UnknownSourceError: The filter names a source that the library does not have.
        """
        _check_many(messages, at_once)
        self._check(limit, where)

        def answer(message: str) -> GenerationResult | OpenbookError:
            try:
                return self.query(message, limit=limit, where=where, options=options, tools=tools, model=model)
            except OpenbookError as exc:
                return exc

        with ThreadPoolExecutor(at_once, "openbook question") as threads:
            return list(threads.map(answer, messages))

    async def aquery_many(
        self,
        messages: Iterable[str],
        *,
        at_once: int = 4,
        limit: int | None = None,
        where: Filter = EVERYTHING,
        options: AnswerOptions | None = None,
        tools: Tools = (),
        model: Model | str | None = None,
    ) -> list[GenerationResult | OpenbookError]:
        """Answer like `query_many`, without blocking. Cancelling it cancels the model calls."""
        import asyncio

        _check_many(messages, at_once)
        await asyncio.to_thread(self._check, limit, where)
        gate = asyncio.Semaphore(at_once)

        async def answer(message: str) -> GenerationResult | OpenbookError:
            async with gate:
                try:
                    return await self.aquery(
                        message, limit=limit, where=where, options=options, tools=tools, model=model
                    )
                except OpenbookError as exc:
                    return exc

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(answer(message)) for message in messages]
        return [task.result() for task in tasks]

    def register_tool(self, tool: ToolLike) -> None:
        """Add a tool for all model answers from this library. Models then search with tools.

        Args:
            tool: A function, a `Tool`, an object with `get_tool_definition` and `execute`, or a toolset.

        Raises:
            TypeError: It cannot become a tool.
        """
        from openbook.agent.toolsets import Toolset, as_tools

        if not isinstance(tool, Toolset):  # toolsets connect when first needed
            as_tools(tool)
        self._tools.append(tool)

    def _completed(
        self,
        options: AnswerOptions | None,
        tools: Tools,
        images: Iterable[ImageLike] = (),
        model: Model | str | None = None,
    ) -> AnswerOptions:
        """Complete the options with images, the library's tools and, unless they have a verifier, its judge."""
        from openbook.answering.options import AnswerOptions
        from openbook.answering.verifiers import open_verifier

        options = options or AnswerOptions()
        if model is not None and options.writer is None:
            options = replace(options, model=model)
        options = options.with_tools(tools).with_images(images)
        options = options if options.writer is None else options.with_tools(self._tools)
        if self._judge is None or options.verifier != "model":
            return options
        if isinstance(self._judge, str):
            self._judge = open_verifier(self._judge, self.settings)
        return replace(options, verifier=self._judge)

    def _check(self, limit: int | None, where: Filter) -> None:
        """Reject requests that cannot find anything.

        Raises:
            UnknownSourceError: The library has no such source.
            InvalidArgumentError: `limit` is below 1.
        """
        if not isinstance(limit, SupportsIndex | None):
            raise TypeError(f"limit is {limit!r}, which is not an integer")
        if limit is not None and limit < 1:
            raise InvalidArgumentError(f"limit is {limit}", hint="ask for at least 1 result")
        if not isinstance(where, Filter):
            raise TypeError(f"where is {where!r}; write Filter(globs=('*.md',)), Filter(kinds=...) or the like")
        check_known(where.sources, self._index)

    def context(self, results: Sequence[RetrievalResult]) -> str:
        """Return the results as a model sees them: each in a fence, with numbered lines or sentences."""
        from openbook.extractive.context import build_context

        return str(build_context(results, self.settings.context_tokens))

    def check(
        self,
        message: str,
        answer: str,
        results: Sequence[RetrievalResult],
        *,
        policy: Policy = "flag",
        retry: Retry | None = None,
        verifier: Model | Judge | None = None,
    ) -> GenerationResult:
        """Check an answer by any model, claim by claim, and repair it where the evidence allows.

        Args:
            message: The question.
            answer: The model's text, with marks such as `[2:14-18]` that use the numbers in `context`.
            results: The results that the model saw.
            policy: What happens to claims in conflict: `flag` marks them, `drop` removes them, `retry` asks again
                once.
            retry: For `retry`: takes the claims in conflict, and returns a new answer.
            verifier: Checks whether cited lines support the claims. Without one, only words decide.

        Raises:
            QueryError: The question is empty, too long, or contains no word.
            InvalidArgumentError: The policy is unknown, or `retry` is missing for the policy of that name.
        """
        return self.generator.check(message, answer, results, policy=policy, retry=retry, verifier=verifier)


def _check_many(messages: Iterable[str], at_once: int) -> None:
    if isinstance(messages, str | bytes):  # each letter would be a question, at the price of one
        raise TypeError(f"messages is {messages!r}; give a list of questions")
    if at_once < 1:
        raise InvalidArgumentError(f"at_once is {at_once}", hint="answer at least 1 question at a time")
