"""One call wires an assistant for repositories; conversations, documents and chunks are at hand."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

import openbook
from openbook.answering.options import AnswerOptions
from openbook.answers import Answered
from openbook.codebase import CodebaseAssistant, create_assistant
from openbook.errors import UnknownSourceError
from openbook.library import Library
from openbook.testing import ScriptedModel
from openbook.types import Attachment
from tests.repositories import Repository

TILL = {"README.md": "# Till\n\nRefunds are booked by the till.\n", "till.py": "def book_refund(): ...\n"}
DOOR = {"README.md": "# Door\n\nRefunds are announced at the door.\n"}


@pytest.fixture
def codebase(github: Path) -> Iterator[CodebaseAssistant]:
    Repository(github / "octo" / "till").commit(TILL)
    Repository(github / "octo" / "door").commit(DOOR)
    with create_assistant(model="extractive") as codebase:
        codebase.load_repository("octo/till")
        codebase.load_repository("octo/door")
        yield codebase


@pytest.mark.slow
def test_questions_go_to_all_repositories_or_to_some(codebase: CodebaseAssistant) -> None:
    everywhere = codebase.query("What happens with refunds?")
    one = codebase.query("What happens with refunds?", sources=["door"])

    assert {citation.source for citation in everywhere.citations} == {"door", "till"}
    assert {citation.source for citation in one.citations} == {"door"}


@pytest.mark.slow
def test_a_repository_that_is_not_there_is_an_error_that_names_those_that_are(codebase: CodebaseAssistant) -> None:
    with pytest.raises(UnknownSourceError) as caught:
        codebase.query("What happens with refunds?", sources=["window"])

    assert caught.value.hint == "it has: door, till"


@pytest.mark.slow
def test_repositories_documents_and_chunks_are_at_hand(codebase: CodebaseAssistant) -> None:
    door, till = codebase.repositories()

    assert (door.name, till.name, till.total_files) == ("door", "till", 2)
    document = codebase.get_document("till", "README.md")
    assert document is not None
    assert document.text == TILL["README.md"]
    assert [chunk.symbol for chunk in codebase.get_document_chunks("till", "till.py")] == ["book_refund"]
    assert codebase.get_document("till", "nowhere.md") is None
    assert codebase.get_document_chunks("window", "README.md") == []


@pytest.mark.slow
def test_a_question_of_a_session_is_asked_in_the_light_of_the_ones_before(codebase: CodebaseAssistant) -> None:
    codebase.query("Who books refunds?", "one", sources=["till"])

    followed = codebase.query("And why does it do that with refunds?", "one")
    alone = codebase.query("And why does it do that with refunds?", "two")
    codebase.reset("one")
    forgotten = codebase.query("And why does it do that with refunds?", "one")

    assert "books" in followed.searched
    assert "books" not in alone.searched + forgotten.searched


@pytest.mark.slow
def test_the_last_event_of_a_stream_is_the_answer(codebase: CodebaseAssistant) -> None:
    *_, last = codebase.query_stream("Who books refunds?")

    assert isinstance(last, Answered)
    assert last.answer.citations


def test_the_package_offers_what_loads_repositories() -> None:
    assert openbook.create_assistant is create_assistant
    assert openbook.LoadOptions(file_patterns=("*.md",)).refusal("a.md", 1) is None


@pytest.mark.slow
def test_folders_of_this_machine_are_searched_beside_repositories(codebase: CodebaseAssistant, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Window\n\nRefunds are announced at the window.\n", encoding="utf-8")

    report = codebase.add(tmp_path / "notes")

    found = codebase.search("Where are refunds announced?")
    assert {result.chunk.source for result in found} >= {report.source, "door"}
    assert [result.chunk.source for result in codebase.search("refunds", sources=["till"], limit=1)] == ["till"]


@pytest.mark.slow
def test_questions_of_a_session_can_be_asked_without_blocking(codebase: CodebaseAssistant) -> None:
    async def ask() -> str:
        await codebase.aquery("Who books refunds?", "one", sources=["till"])
        return (await codebase.aquery("And why does it do that with refunds?", "one")).searched

    async def ask_nobody() -> None:
        await codebase.aquery("Who books refunds?", sources=["window"])

    assert asyncio.run(ask())
    with pytest.raises(UnknownSourceError):
        asyncio.run(ask_nobody())


def test_a_tool_joins_the_answers_of_a_model() -> None:
    def tide() -> str:
        """Return the time of high water."""
        return "11:40"

    with ScriptedModel("At 11:40.") as model, Library.open("tides") as library:
        assistant = CodebaseAssistant(library, AnswerOptions(model=model, verifier="off"))
        assistant.register_tool(tide)
        assistant.query("When is high water?")

    assert "tide" in [tool.name for tool in model.requests[0].tools]


PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


@pytest.mark.slow
def test_an_image_of_a_conversation_is_remembered_for_the_next_question(codebase: CodebaseAssistant) -> None:
    model = ScriptedModel("Who books refunds?", "The till [1:3].", "Where are refunds booked?", "At the till [1:3].")
    options = AnswerOptions(model=model, verifier="off", expands_query=False)
    assistant = CodebaseAssistant(codebase.assistant, options)

    assistant.query("Who does this?", "one", images=[PNG])
    asyncio.run(assistant.aquery("And where?", "one"))

    sent = [[part for message in request.messages for part in message.parts] for request in model.requests]
    assert [sum(isinstance(part, Attachment) for part in parts) for parts in sent] == [1, 1, 1, 1]
