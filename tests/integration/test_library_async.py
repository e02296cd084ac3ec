"""A library in an event loop: the same answers, while others are served."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openbook.answering.options import AnswerOptions
from openbook.answers import Answered, GenerationResult, Stage, Written
from openbook.errors import QueryError
from openbook.index.sqlite import SqliteIndex
from openbook.library import Library
from openbook.llm.messages import Event, Message, ReplyFinished, Request
from openbook.testing import ScriptedModel
from tests.integration.support_cli import copy_sample


class Counting:
    """A model that counts its calls, and how many of them are under way at once."""

    name = "counting:model"

    def __init__(self) -> None:
        self.calls = self.most = self._now = 0
        self._lock = threading.Lock()

    def stream(self, request: Request) -> Iterator[Event]:
        self._count(1)
        threading.Event().wait(0.02)
        self._count(-1)
        yield ReplyFinished(Message.assistant("A parcel is lost after 14 days."))

    async def astream(self, request: Request) -> AsyncIterator[Event]:
        self._count(1)
        await asyncio.sleep(0.02)
        self._count(-1)
        yield ReplyFinished(Message.assistant("A parcel is lost after 14 days."))

    def _count(self, change: int) -> None:
        with self._lock:
            self._now += change
            self.calls += change > 0
            self.most = max(self.most, self._now)


QUESTION = "When does a parcel count as lost?"


@pytest.fixture
def assistant(tmp_path: Path) -> Iterator[Library]:
    with Library.of(copy_sample(tmp_path)) as made:
        yield made


def test_an_answer_is_the_same_without_blocking(assistant: Library) -> None:
    awaited = asyncio.run(assistant.aquery(QUESTION))

    assert replace(awaited, took_ms=0) == replace(assistant.query(QUESTION), took_ms=0)
    assert awaited.sources_cited


@pytest.mark.slow
def test_several_questions_are_answered_at_once(assistant: Library) -> None:
    async def ask_all() -> list[str]:
        with ScriptedModel(*["A parcel is lost after 14 days."] * 5) as model:
            asked = (
                assistant.aquery(QUESTION, options=AnswerOptions(model=model, expands_query=False)) for _ in range(5)
            )
            return [answer.answer for answer in await asyncio.gather(*asked)]

    assert len(set(asyncio.run(ask_all()))) == 1


@pytest.mark.slow
def test_what_happens_can_be_followed(assistant: Library) -> None:
    async def follow() -> list[object]:
        return [event async for event in assistant.aquery_stream(QUESTION)]

    *stages, last = asyncio.run(follow())

    assert isinstance(last, Answered)
    quoted = Written(last.answer.answer, is_checked=True)
    assert stages == [Stage("searching"), Stage("writing"), quoted]
    assert list(assistant.query_stream("Who painted the Mona Lisa?"))[-2:-1] == [
        Written(assistant.query("Who painted the Mona Lisa?").answer, is_checked=True)
    ]


def test_the_library_is_read_in_other_threads_alone(assistant: Library) -> None:
    threads = set[threading.Thread]()
    assert isinstance(assistant.index, SqliteIndex)
    assistant.index._connection.set_trace_callback(lambda _: threads.add(threading.current_thread()))

    asyncio.run(assistant.aquery(QUESTION))

    assert threads
    assert threading.current_thread() not in threads


def test_a_question_that_cannot_be_asked_raises(assistant: Library) -> None:
    with pytest.raises(QueryError):
        asyncio.run(assistant.aquery("?!"))


@pytest.mark.parametrize("is_async", [False, True])
def test_many_questions_are_answered_in_order_and_one_that_fails_costs_no_other(
    assistant: Library, is_async: bool
) -> None:
    questions = [QUESTION, " ", "Who weighs parcels?"]
    answers = asyncio.run(assistant.aquery_many(questions, at_once=2)) if is_async else assistant.query_many(questions)

    first, failed, last = answers
    assert isinstance(first, GenerationResult)
    assert isinstance(last, GenerationResult)
    assert replace(first, took_ms=0) == replace(assistant.query(QUESTION), took_ms=0)
    assert isinstance(failed, QueryError)
    assert last.query == "Who weighs parcels?"


@pytest.mark.slow
@pytest.mark.parametrize("is_async", [False, True])
def test_no_more_questions_are_answered_at_once_than_allowed(assistant: Library, is_async: bool) -> None:
    counting = Counting()
    options = AnswerOptions(model=counting, verifier="off", expands_query=False)

    if is_async:
        asyncio.run(assistant.aquery_many([QUESTION] * 5, at_once=2, options=options))
    else:
        assistant.query_many([QUESTION] * 5, at_once=2, options=options)

    assert counting.most <= 2
    assert counting.calls == 5


@pytest.mark.parametrize("wrong", [{"at_once": 0}, {"limit": 0}])
def test_limits_of_many_questions_are_checked_before_any_is_asked(assistant: Library, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        assistant.query_many([QUESTION], **wrong)
    with pytest.raises(ValueError, match=next(iter(wrong))):
        asyncio.run(assistant.aquery_many([QUESTION], **wrong))
