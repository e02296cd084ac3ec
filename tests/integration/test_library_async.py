"""A library in an event loop: the same answers, while others are served."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from openbook.answering.options import AnswerOptions
from openbook.answers import Answered, Stage, Written
from openbook.errors import QueryError
from openbook.index.sqlite import SqliteIndex
from openbook.library import Library
from openbook.testing import ScriptedModel
from tests.integration.support_cli import copy_sample

QUESTION = "When does a parcel count as lost?"


@pytest.fixture
def assistant(tmp_path: Path) -> Iterator[Library]:
    with Library.of(copy_sample(tmp_path)) as made:
        yield made


def test_an_answer_is_the_same_without_blocking(assistant: Library) -> None:
    awaited = asyncio.run(assistant.aquery(QUESTION))

    assert replace(awaited, took_ms=0) == replace(assistant.query(QUESTION), took_ms=0)
    assert awaited.sources_cited


def test_several_questions_are_answered_at_once(assistant: Library) -> None:
    async def ask_all() -> list[str]:
        with ScriptedModel(*["A parcel is lost after 14 days."] * 5) as model:
            asked = (assistant.aquery(QUESTION, options=AnswerOptions(model=model)) for _ in range(5))
            return [answer.answer for answer in await asyncio.gather(*asked)]

    assert len(set(asyncio.run(ask_all()))) == 1


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
