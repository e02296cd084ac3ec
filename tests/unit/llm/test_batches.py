"""Calls that are made at once are sent as one batch of the provider, and each gets its own reply, at half the price."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from openbook import AnswerOptions, GenerationResult, Library, Settings
from openbook.costs import price_of
from openbook.errors import BadRequestError, ModelError, OverloadedError, SettingsError, TimedOutError
from openbook.llm.batches import BatchedModel
from openbook.llm.choose import connect
from openbook.llm.messages import Message, ProviderCitation, ReplyFinished, Request, ShownSource, ToolCall
from openbook.llm.protocol import acomplete, complete
from openbook.llm.providers import ANTHROPIC, OPENAI
from openbook.settings import Secret
from openbook.testing import FakeServer, ReceivedRequest, Refusal, ScriptedModel, ScriptedReply
from openbook.usage import Usage
from tests.support import write_tree
from tests.unit.llm.calls import FERRY, Clock, model_on

Start = Callable[..., FakeServer]
BOTH = pytest.mark.parametrize("provider", ["anthropic", "openai"])


def echo(received: ReceivedRequest) -> str:
    """Reply with the last word of what is asked."""
    content = received.body["messages"][-1]["content"]
    text = content if isinstance(content, str) else content[-1]["text"]
    return f"You said {text.split()[-1]}"


def batched(server: FakeServer, provider: str, **options: float) -> BatchedModel:
    return BatchedModel(model_on(server, provider), **{"gather_s": 0.1, "poll_s": 0.01, **options})  # type: ignore[arg-type]


def asks(*words: str) -> list[Request]:
    return [Request((Message.user(f"Say {word}"),)) for word in words]


def together(model: BatchedModel, requests: list[Request]) -> list[ReplyFinished | ModelError]:
    def call(request: Request) -> ReplyFinished | ModelError:
        try:
            return complete(model, request)
        except ModelError as exc:
            return exc

    with ThreadPoolExecutor(len(requests)) as threads:
        return list(threads.map(call, requests))


def texts(replies: list[ReplyFinished | ModelError]) -> list[str]:
    return [reply.message.text if isinstance(reply, ReplyFinished) else type(reply).__name__ for reply in replies]


@pytest.mark.slow
@BOTH
def test_calls_at_once_are_one_batch_and_each_gets_its_own_reply(provider: str, fake_server: Start) -> None:
    server = fake_server(echo, echo, echo)

    replies = together(batched(server, provider), asks("one", "two", "three"))

    assert texts(replies) == ["You said one", "You said two", "You said three"]
    assert server.batches.count == 1


@BOTH
def test_calls_of_an_event_loop_are_batched_too(provider: str, fake_server: Start) -> None:
    server = fake_server(echo, echo)
    model = batched(server, provider)

    async def ask() -> list[str]:
        return [
            reply.message.text for reply in await asyncio.gather(*(acomplete(model, each) for each in asks("a", "b")))
        ]

    assert asyncio.run(ask()) == ["You said a", "You said b"]
    assert server.batches.count == 1


@pytest.mark.parametrize(
    ("provider", "name"), [(ANTHROPIC, "claude-sonnet-5-5"), (OPENAI, "gpt-4.1")], ids=["anthropic", "openai"]
)
def test_a_reply_costs_half_of_what_the_same_call_costs_by_itself(
    provider: object, name: str, fake_server: Start
) -> None:
    usage = Usage(1000, 200)
    server = fake_server(ScriptedReply("Hello.", usage=usage))
    assert provider in (ANTHROPIC, OPENAI)
    row = ANTHROPIC if provider is ANTHROPIC else OPENAI
    url = server.anthropic_url if row is ANTHROPIC else server.openai_url
    inner = connect(replace(row, url=url), name, key=Secret(server.key))
    model = BatchedModel(inner, gather_s=0.01, poll_s=0.01)

    finished = complete(model, asks("hello")[0])

    alone = price_of(inner.name, usage)
    assert alone is not None
    assert price_of(model.name, finished.usage) == alone / 2


@BOTH
def test_a_request_that_is_refused_does_no_harm_to_the_others(provider: str, fake_server: Start) -> None:
    def reply(received: ReceivedRequest) -> str | Refusal:
        said = echo(received)
        return {"bad": Refusal(400, "no"), "busy": Refusal(529, "busy")}.get(said.split()[-1], said)

    replies = together(batched(fake_server(reply, reply, reply), provider), asks("bad", "good", "busy"))

    assert [type(reply) for reply in replies] == [BadRequestError, ReplyFinished, OverloadedError]


@BOTH
def test_calls_of_tools_come_through(provider: str, fake_server: Start) -> None:
    model = batched(fake_server(ScriptedReply("Wait.", ToolCall("c1", "ferry", '{"port": "Vik"}'))), provider)

    finished = complete(model, replace(asks("hello")[0], tools=(FERRY,)))

    assert (finished.message.text, finished.stop) == ("Wait.", "tools")
    assert finished.message.calls == (ToolCall("c1", "ferry", '{"port": "Vik"}'),)


def test_citations_in_the_fields_of_the_provider_come_through(fake_server: Start) -> None:
    model = batched(fake_server(ScriptedReply("At noon.", ProviderCitation(1, 1, 1, "Low at noon."))), "anthropic")
    shown = ShownSource(1, "Tides", "tides.md", ("Low at noon.",))

    finished = complete(model, Request((Message("user", (shown, *Message.user("When?").parts)),)))

    assert [part for part in finished.message.parts if isinstance(part, ProviderCitation)] == [
        ProviderCitation(1, 1, 1, "Low at noon.")
    ]


@BOTH
def test_a_batch_that_nobody_waits_for_any_more_is_cancelled(provider: str, fake_server: Start) -> None:
    server = fake_server(echo, echo)
    model = batched(server, provider, poll_s=20.0)

    async def leave() -> None:
        calls = [asyncio.create_task(acomplete(model, each)) for each in asks("a", "b")]
        await asyncio.to_thread(server.batches.began.wait, 10)
        for call in calls:
            call.cancel()
        for call in calls:
            with suppress(asyncio.CancelledError):
                await call
        await asyncio.to_thread(server.batches.left.wait, 10)

    asyncio.run(leave())

    assert server.batches.cancelled == ["batch-1"]


@BOTH
def test_a_batch_that_takes_too_long_is_cancelled_and_an_error(provider: str, fake_server: Start) -> None:
    server = fake_server(echo)
    model = batched(server, provider, max_wait_s=0.0)

    with pytest.raises(TimedOutError, match="did not finish in time"):
        complete(model, asks("a")[0])
    assert server.batches.cancelled == ["batch-1"]


@BOTH
def test_a_look_that_fails_is_tried_again_and_one_that_is_refused_is_an_error(
    provider: str, fake_server: Start
) -> None:
    server = fake_server(echo, echo)
    model = BatchedModel(model_on(server, provider, clock=Clock()), gather_s=0.01, poll_s=0.01)
    server.batches.refusals += [Refusal(529, "busy")] * 5  # one more than a call is tried

    assert complete(model, asks("a")[0]).message.text == "You said a"

    server.batches.refusals += [Refusal(404, "no such batch")]
    with pytest.raises(BadRequestError, match="no such batch"):
        complete(model, asks("b")[0])


def test_more_calls_than_a_batch_takes_are_several(fake_server: Start) -> None:
    server = fake_server(*[echo] * 5)

    replies = together(batched(server, "openai", max_requests=2), asks("a", "b", "c", "d", "e"))

    assert len(texts(replies)) == 5
    assert server.batches.count == 3


def test_a_key_that_is_refused_is_an_error_of_each_call(fake_server: Start) -> None:
    server = fake_server()
    wrong = connect(replace(ANTHROPIC, url=server.anthropic_url), "m", key=Secret("wrong"))

    replies = together(BatchedModel(wrong, gather_s=0.05, poll_s=0.01), asks("a", "b"))

    assert texts(replies) == ["KeyRefusedError", "KeyRefusedError"]


def test_a_model_that_takes_no_batches_says_which_do() -> None:
    with pytest.raises(SettingsError, match="takes no batches") as caught:
        BatchedModel(ScriptedModel())
    assert "anthropic" in caught.value.hint


@pytest.mark.slow
def test_many_questions_are_answered_by_one_batch_for_each_step(fake_server: Start, tmp_path: Path) -> None:
    pages = {f"{name}.md": f"# {name}\n\nThe {name} opens at noon.\n" for name in ("office", "kiosk", "pier")}
    server = fake_server(*[ScriptedReply("It opens at noon [1].", usage=Usage(100, 10))] * 3)
    options = AnswerOptions(model=batched(server, "openai", gather_s=1.0), verifier="off", expands_query=False)
    questions = ["When does the office open?", "When does the kiosk open?", "When does the pier open?"]
    with Library.of(
        write_tree(tmp_path / "docs", pages), settings=Settings(home=tmp_path / "home", workers=1)
    ) as library:
        answers = library.query_many(questions, at_once=3, options=options)

    assert [answer.answer for answer in answers if isinstance(answer, GenerationResult)] == [
        "It opens at noon [1]."
    ] * 3
    assert server.batches.count == 1
