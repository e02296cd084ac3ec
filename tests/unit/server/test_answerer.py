"""What a child that answers does with what it is told."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import pytest

from openbook.agent.driving import Ask
from openbook.answering.writing import Writing
from openbook.assistant import Assistant
from openbook.errors import QueryError
from openbook.generation import Answered, Stage
from openbook.llm.messages import Finished, Message
from openbook.retrieval.search import EVERYTHING
from openbook.server.answerer import READY, SIZE_BYTES, Absent, Begin, GoOn, Leave, Said, attend
from openbook.server.library import Library
from openbook.settings import Settings
from tests.support import write_tree

QUESTION = "When do sessions end?"
WRITING = Writing(model=Absent("scripted:model"))


@pytest.fixture
def library(tmp_path: Path) -> Library:
    folder = write_tree(tmp_path / "harbour", {"guide.md": "# Sessions\n\nSessions end after one hour.\n"})
    return Library(Assistant.of(folder, settings=Settings(home=tmp_path / "home", workers=1)))


def begin(number: int, query: str = QUESTION, writing: Writing = WRITING) -> Begin:
    return Begin(number, query, 10, EVERYTHING, writing)


def said(library: Library, *told: Any) -> list[Said]:
    """Tell a child things, and give what it says once it is ready."""
    says = io.BytesIO()
    attend(library, io.BytesIO(b"".join(map(pickle.dumps, told))), says)
    library.close()
    spoken, packed = [], says.getvalue()
    while packed:
        end = SIZE_BYTES + int.from_bytes(packed[:SIZE_BYTES], "big")
        spoken.append(pickle.loads(packed[SIZE_BYTES:end]))
        packed = packed[end:]
    return spoken[spoken.index(READY) + 1 :]


def test_a_question_goes_to_the_model_and_on_with_its_reply(library: Library) -> None:
    reply = Finished(Message.assistant("Sessions end after one hour [1:2]."))

    steps = [each.said for each in said(library, begin(1), GoOn(1, reply))]

    searching, writing, ask, checking, answered, end = steps
    assert (searching, writing, checking, end) == (Stage("searching"), Stage("writing"), Stage("checking"), None)
    assert isinstance(ask, Ask)
    assert "Sessions end after one hour." in str(ask.request.messages)
    assert isinstance(answered, Answered)
    assert [citation.verdict for citation in answered.answer.citations] == ["exact"]
    assert answered.answer.model == "scripted:model"


def test_questions_wait_for_their_models_side_by_side(library: Library) -> None:
    reply = Finished(Message.assistant("Sessions end after one hour [1:2]."))

    spoken = said(library, begin(1), begin(2), GoOn(2, reply), GoOn(1, reply))

    assert [each.number for each in spoken if isinstance(each.said, Answered)] == [2, 1]


def test_who_has_left_is_told_nothing_more(library: Library) -> None:
    reply = Finished(Message.assistant("Sessions end after one hour [1:2]."))

    spoken = said(library, begin(1), Leave(1), GoOn(1, reply), Leave(1), begin(2, writing=Writing()))

    assert isinstance([each.said for each in spoken if each.number == 1][-1], Ask)
    assert isinstance(spoken[-2].said, Answered)


def test_an_error_ends_its_question_alone(library: Library) -> None:
    refused, *_, end = said(library, begin(1, query="  "), begin(2, writing=Writing()))

    assert (refused.number, type(refused.said)) == (1, QueryError)
    assert (end.number, end.said) == (2, None)


def test_a_fault_of_ours_is_told_without_what_it_says(library: Library, caplog: pytest.LogCaptureFixture) -> None:
    limit: Any = "ten"

    *_, failed = said(library, Begin(1, QUESTION, limit, EVERYTHING, Writing()))

    assert str(failed.said) == "this question could not be answered"
    assert [record.message for record in caplog.records] == ["a question failed"]
