"""The questions that a library answers: blocking, async, many at once, and the check of answers of others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from openbook.answers import Answered, AnswerEvent, GenerationResult, Policy, answered
from openbook.errors import OpenbookError
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
    """What a library answers. `openbook.library.Library` is one."""

    settings: Settings
    _index: Index

    def __init__(self, judge: Judge | Model | str | None) -> None:
        """Take what checks claims, where answers name nothing else."""
        self._judge = judge
        self._tools: list[ToolLike] = []

    @property
    @abstractmethod
    def generator(self) -> Generator:
        """What writes the answers, with its statistics."""

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
        """Answer a question from the library, with citations that have been checked.

        Args:
            message: The question.
            limit: Most results to answer from; 10 for quotes and 20 for a model unless said.
            where: Documents that may be used.
            options: The model, what it may spend, and what was asked before. Without it, answers are quotes.
            tools: Tools of yours that the model may call, beside those of the library.
            images: Images and pages of PDF that the question is about: see `AnswerOptions.images`.
            model: What writes, or its name, where `options` name nothing else: `model="anthropic"`.

        Raises:
            QueryError: The question is empty, too long, or holds no word; or an image cannot be used.
            UnknownSourceError: The filter names a source that the library does not have.
            ValueError: `limit` is below 1, or there are tools or images and no model.
            UnreadAttachmentError: The model does not read images.
            ModelError: The model did not answer.
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
        """Answer as `query` does, and tell what happens: words while they are written, tools, at last the answer.

        The words have not been checked; the answer has. Closing the iterator ends the call of the model.
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
        """Do what `query` does, without blocking: see `aquery_stream`."""
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
        """Do what `query_stream` does, without blocking: the model is called in the event loop, all else in threads.

        Closing the iterator, or cancelling the task, ends the call of the model. `executor`: whose
        threads are used; the loop's own if not given.
        """
        from asyncio import get_running_loop

        def begin() -> AsyncGenerator[AnswerEvent, None]:
            from openbook.answering.steps import arun_in_threads

            self._check(limit, where)
            made = self._completed(options, tools, images, model)
            steps = self.generator.steps(message, limit, where=where, options=made)
            return arun_in_threads(steps, made, executor)

        in_thread = partial(get_running_loop().run_in_executor, executor)
        events = await in_thread(begin)  # the first time, it imports a lot
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
        """Answer questions, each by itself, several at once.

        Args:
            messages: The questions.
            at_once: Most that are answered at the same time.
            limit: See `query`, as for those that follow. A budget is for each answer.
            where: Documents that may be used.
            options: The model and the rest.
            tools: Tools of yours.
            model: What writes, or its name.

        Returns:
            The answers, in order; in the place of one that failed, its error, so that the others are not lost.

        Raises:
            ValueError: `at_once` or `limit` is below 1.
            UnknownSourceError: The filter names a source that the library does not have.
        """
        _check_at_once(at_once)
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
        """Do what `query_many` does, without blocking. Cancelling it ends the calls of the model."""
        import asyncio

        _check_at_once(at_once)
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
        """Add a tool to all answers that a model writes from this library, which then looks for sources with tools.

        Args:
            tool: A function, a `Tool`, an object with `get_tool_definition` and `execute`, or a set of tools.

        Raises:
            TypeError: It cannot become a tool.
        """
        from openbook.agent.toolsets import Toolset, as_tools

        if not isinstance(tool, Toolset):  # its server is started when it is needed
            as_tools(tool)
        self._tools.append(tool)

    def _completed(
        self,
        options: AnswerOptions | None,
        tools: Tools,
        images: Iterable[ImageLike] = (),
        model: Model | str | None = None,
    ) -> AnswerOptions:
        """Return options with images, and the tools and the judge of the library, unless they name a verifier."""
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
        """Refuse what could only find nothing.

        Raises:
            UnknownSourceError: The library has no such source.
            ValueError: No result was asked for.
        """
        if limit is not None and limit < 1:
            raise ValueError(f"limit is {limit}; at least 1 result has to be asked for")
        if not isinstance(where, Filter):
            raise TypeError(f"where is {where!r}; write Filter(globs=('*.md',)), Filter(kinds=...) or the like")
        check_known(where.sources, self._index)

    def context(self, results: Sequence[RetrievalResult]) -> str:
        """Return what a model is shown of results: each in a fence, its lines or sentences numbered."""
        from openbook.answering.context import build_context

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
        """Check an answer that any model wrote, claim by claim, and repair it where there is evidence.

        Args:
            message: The question.
            answer: The model's words, with marks such as `[2:14-18]` that count what `context` gives.
            results: What the model was shown.
            policy: What happens to claims in conflict: `flag` shows them, `drop` takes them out, `retry` asks
                once more.
            retry: For `retry`: takes the claims in conflict, returns another answer.
            verifier: Checks whether the cited lines say what the claims say. Without one, words alone decide.

        Raises:
            QueryError: The question is empty, too long, or holds no word.
            ValueError: The policy is none, or `retry` without anything to call.
        """
        return self.generator.check(message, answer, results, policy=policy, retry=retry, verifier=verifier)


def _check_at_once(at_once: int) -> None:
    if at_once < 1:
        raise ValueError(f"at_once is {at_once}; at least 1 question has to be answered at a time")
