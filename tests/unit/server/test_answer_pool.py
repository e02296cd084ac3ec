"""What a child that answers does with what it is told."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from openbook.agent.driving import CallModel
from openbook.answering.options import AnswerOptions
from openbook.answers import Answered, Stage
from openbook.errors import QueryError
from openbook.library import Library
from openbook.llm.messages import Message, ReplyFinished
from openbook.retrieval.search import EVERYTHING
from openbook.server.answer_pool import (
    READY,
    CancelAnswer,
    ChildMessage,
    RemoteModel,
    ResumeAnswer,
    StartAnswer,
    serve_answers,
)
from openbook.server.served_library import ServedLibrary
from openbook.settings import Settings
from tests.support import write_tree

QUESTION = "When do sessions end?"
WRITING = AnswerOptions(model=RemoteModel("scripted:model"))


@pytest.fixture
def library(tmp_path: Path) -> ServedLibrary:
    folder = write_tree(tmp_path / "harbour", {"guide.md": "# Sessions\n\nSessions end after one hour.\n"})
    return ServedLibrary(Library.of(folder, settings=Settings(home=tmp_path / "home", workers=1)))


def begin(number: int, query: str = QUESTION, options: AnswerOptions = WRITING) -> StartAnswer:
    return StartAnswer(number, query, 10, EVERYTHING, options)


def said(library: ServedLibrary, *told: Any) -> list[ChildMessage]:
    """Tell a child things, and give what it says once it is ready."""
    spoken: list[ChildMessage] = []
    serve_answers(library, (pickle.loads(pickle.dumps(each)) for each in told), spoken.append)
    library.close()
    return [pickle.loads(pickle.dumps(each)) for each in spoken[spoken.index(READY) + 1 :]]  # as they cross the border


def test_a_question_goes_to_the_model_and_on_with_its_reply(library: ServedLibrary) -> None:
    reply = ReplyFinished(Message.assistant("Sessions end after one hour [1:2]."))

    steps = [each.said for each in said(library, begin(1), ResumeAnswer(1, reply))]

    searching, options, ask, checking, answered, end = steps
    assert (searching, options, checking, end) == (Stage("searching"), Stage("writing"), Stage("checking"), None)
    assert isinstance(ask, CallModel)
    assert "Sessions end after one hour." in str(ask.request.messages)
    assert isinstance(answered, Answered)
    assert [citation.verdict for citation in answered.answer.citations] == ["exact"]
    assert answered.answer.model == "scripted:model"


def test_questions_wait_for_their_models_side_by_side(library: ServedLibrary) -> None:
    reply = ReplyFinished(Message.assistant("Sessions end after one hour [1:2]."))

    spoken = said(library, begin(1), begin(2), ResumeAnswer(2, reply), ResumeAnswer(1, reply))

    assert [each.number for each in spoken if isinstance(each.said, Answered)] == [2, 1]


def test_a_cancelled_question_gets_no_more_events(library: ServedLibrary) -> None:
    reply = ReplyFinished(Message.assistant("Sessions end after one hour [1:2]."))

    spoken = said(
        library, begin(1), CancelAnswer(1), ResumeAnswer(1, reply), CancelAnswer(1), begin(2, options=AnswerOptions())
    )

    assert isinstance([each.said for each in spoken if each.number == 1][-1], CallModel)
    assert isinstance(spoken[-2].said, Answered)


def test_an_error_ends_its_question_alone(library: ServedLibrary) -> None:
    refused, *_, end = said(library, begin(1, query="  "), begin(2, options=AnswerOptions()))

    assert (refused.number, type(refused.said)) == (1, QueryError)
    assert (end.number, end.said) == (2, None)


def test_an_internal_error_of_a_worker_is_reported_without_its_message(
    library: ServedLibrary, caplog: pytest.LogCaptureFixture
) -> None:
    limit: Any = "ten"

    *_, failed = said(library, StartAnswer(1, QUESTION, limit, EVERYTHING, AnswerOptions()))

    assert str(failed.said) == "this question could not be answered"
    assert [record.message for record in caplog.records] == ["a question failed"]
