"""Images that belong to a question: the model sees them before it searches and while it answers, and cites none."""

from __future__ import annotations

import asyncio
import base64
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openbook.agent import image
from openbook.answering.generator import Generator
from openbook.answering.options import AnswerOptions
from openbook.answers import Answered, Exchange
from openbook.costs import Budget
from openbook.errors import BadRequestError
from openbook.llm.messages import Attachment, Message, Request, ToolCall
from openbook.testing import FakeServer, HashEmbedder, ScriptedModel, ScriptedReply
from tests.unit.answering.driving import astream
from tests.unit.llm.calls import model_on
from tests.unit.retrieval.material import Library

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
UNDERSTOOD = 'What does the error "SessionExpired: log in again. (code 7)" mean?'
ANSWER = "Its session is over [1:1]."


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "lib.db", HashEmbedder())
    made.put("a.md", "SessionExpired is raised when a session is over.", "Roses need sun.")
    yield made
    made.close()


def generator(library: Library) -> Generator:
    return Generator(library.index, library.embedder, text_now=library.text_now, context_tokens=4000)


def options(model: ScriptedModel, **more: Any) -> AnswerOptions:
    made = AnswerOptions(model=model, verifier="off", expands_query=False, images=[PNG])
    return replace(made, **more)


def images_of(message: Message) -> list[Attachment]:
    return [part for part in message.parts if isinstance(part, Attachment)]


def test_the_model_puts_the_question_into_words_that_are_searched_for_and_sees_the_image_again(
    library: Library,
) -> None:
    model = ScriptedModel(UNDERSTOOD, ANSWER)

    answer = generator(library).generate_with_retrieval("What does this mean?", options=options(model))

    rephrasing, writing = model.requests
    assert answer.searched == UNDERSTOOD
    assert (answer.refused, [cited.place for cited in answer.citations]) == (False, ["a.md:1"])
    assert [len(images_of(request.messages[-1])) for request in (rephrasing, writing)] == [1, 1]
    assert "no source" in writing.messages[-1].text
    assert UNDERSTOOD in writing.messages[-1].text


def test_without_an_image_the_same_question_reaches_no_model(library: Library) -> None:
    model = ScriptedModel()

    answer = generator(library).generate_with_retrieval("What does this mean?", options=options(model, images=()))

    assert (answer.refused, model.requests) == (True, [])


def test_small_talk_beside_an_image_is_a_question(library: Library) -> None:
    model = ScriptedModel(UNDERSTOOD.replace("What", "Hello, what"), ANSWER)

    answer = generator(library).generate_with_retrieval("Hello, what is this?", options=options(model))

    assert not answer.refused


def test_a_reply_that_is_no_question_leaves_the_question_as_it_was(library: Library) -> None:
    model = ScriptedModel("It shows an error.", ANSWER)

    answer = generator(library).generate_with_retrieval("When is SessionExpired raised?", options=options(model))

    assert (answer.searched, answer.refused) == ("", False)


def test_a_follow_up_is_asked_with_the_last_images_of_the_conversation(library: Library) -> None:
    model = ScriptedModel("When is SessionExpired raised?", ANSWER)
    older, newer = image(PNG), replace(image(PNG), name="newer.png")
    before = (
        Exchange("What is this?", "A rose.", (older,)),
        Exchange("And this?", "SessionExpired.", (newer,)),
        Exchange("Thanks.", "(refused: nothing asked)"),
    )

    generator(library).generate_with_retrieval("When is it raised?", options=options(model, images=(), history=before))

    rephrasing, writing = model.requests
    assert images_of(rephrasing.messages[0]) == [newer]
    assert [images_of(message) for message in writing.messages if message.role == "user"] == [[], [newer], [], []]


def test_an_agent_is_shown_the_image_with_the_question(library: Library) -> None:
    search = ScriptedReply(ToolCall("1", "search", '{"query": "SessionExpired"}'))
    model = ScriptedModel(search, ANSWER)

    answer = generator(library).generate_with_retrieval("What is this?", options=options(model, tools=True))

    assert len(images_of(model.requests[0].messages[-1])) == 1
    assert [cited.place for cited in answer.citations] == ["a.md:1"]


def test_images_count_in_the_budget_before_anything_is_sent(library: Library) -> None:
    model = ScriptedModel()

    answer = generator(library).generate_with_retrieval(
        "When is SessionExpired raised?", options=options(model, budget=Budget(max_tokens=4_000))
    )

    assert (answer.stopped, model.requests) == ("max_tokens", [])


def test_a_model_that_reads_no_images_is_told_before_anything_is_sent(
    library: Library, fake_server: Callable[..., FakeServer]
) -> None:
    server = fake_server()
    asked = AnswerOptions(model=model_on(server, "groq"), images=[PNG])

    with pytest.raises(BadRequestError, match="does not read images") as caught:
        generator(library).generate_with_retrieval("What is this?", options=asked)

    assert (caught.value.hint, server.requests) == ("send text, or name another model", [])


def test_quotes_have_no_use_for_images() -> None:
    with pytest.raises(ValueError, match="images need a model that reads them"):
        AnswerOptions(images=[PNG])


def test_beside_an_event_loop_and_in_another_process_it_is_the_same(library: Library) -> None:
    model = ScriptedModel(UNDERSTOOD, ANSWER)
    packed = pickle.loads(pickle.dumps(options(model).attached))

    async def ask() -> list[Request]:
        events = astream(generator(library), "What does this mean?", options=options(model))
        assert [event async for event in events if isinstance(event, Answered)]
        return model.requests

    assert images_of(asyncio.run(ask())[-1].messages[-1]) == list(packed)
