"""Calls of one event loop share a client, however many begin at once, and none stays open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from openbook.llm.protocol import acomplete
from openbook.llm.transport import WireModel
from openbook.testing import FakeServer
from tests.unit.llm.calls import HELLO, WIRES, model_on

Start = Callable[..., FakeServer]

wires = pytest.mark.parametrize("wire", WIRES)


@wires
def test_calls_of_one_loop_share_a_client_that_is_closed_behind_the_last(fake_server: Start, wire: str) -> None:
    model = model_on(fake_server("Hello."), wire)

    async def main() -> list[Any]:
        async with model.keep_open() as outer:
            async with model.keep_open() as inner:
                pass
            was_closed = outer.is_closed()
            await acomplete(model, HELLO)
        async with model.keep_open() as later:
            return [outer is inner, was_closed, outer.is_closed(), later is outer]

    assert asyncio.run(main()) == [True, False, True, False]


class Remembering(WireModel):
    """Remembers the clients that it made."""

    def __init__(self, model: WireModel) -> None:
        super().__init__(model.provider, "test-model", wire=model.wire, key=model.key)
        self.made: list[Any] = []

    def _connect(self) -> Any:
        client = super()._connect()
        self.made.append(client)
        return client


@wires
def test_first_calls_at_once_leave_no_client_open(fake_server: Start, wire: str) -> None:
    model = Remembering(model_on(fake_server(), wire))

    async def one(together: asyncio.Barrier) -> Any:
        async with model.keep_open() as client:
            await together.wait()
            return client

    async def main() -> list[Any]:
        together = asyncio.Barrier(4)
        return await asyncio.gather(*(one(together) for _ in range(4)))

    clients = asyncio.run(main())

    assert len(set(map(id, clients))) == 1
    assert [client.is_closed() for client in model.made] == [True] * 4
