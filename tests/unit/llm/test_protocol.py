from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from openbook.errors import BadResponseError
from openbook.llm.messages import Event, Message, ReplyFinished, Request, TextDelta
from openbook.llm.protocol import Model, acomplete, complete
from openbook.testing import ScriptedModel
from tests.unit.llm.calls import HELLO


class Mute:
    """A model that never ends."""

    name = "mute:model"

    def stream(self, request: Request) -> Iterator[Event]:
        yield TextDelta("Hello")

    async def astream(self, request: Request) -> AsyncIterator[Event]:
        yield TextDelta("Hello")


def test_a_stream_is_read_to_its_result() -> None:
    replies = [
        complete(ScriptedModel("Hello."), HELLO),
        asyncio.run(acomplete(ScriptedModel("Hello."), HELLO)),
    ]

    assert [reply.message for reply in replies] == [Message.assistant("Hello.")] * 2
    assert all(isinstance(reply, ReplyFinished) for reply in replies)


def test_a_stream_without_a_result_is_an_error() -> None:
    with pytest.raises(BadResponseError, match="mute:model"):
        complete(Mute(), HELLO)
    with pytest.raises(BadResponseError, match="mute:model"):
        asyncio.run(acomplete(Mute(), HELLO))


def test_any_object_with_the_methods_is_a_model() -> None:
    assert isinstance(Mute(), Model)
    assert not isinstance("mute:model", Model)
