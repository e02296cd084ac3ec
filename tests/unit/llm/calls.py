"""What the tests of models have in common: models on a fake server, and time that does not pass by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from openbook.llm.choose import connect
from openbook.llm.messages import Event, Message, Request, ToolSpec
from openbook.llm.providers import PROVIDERS
from openbook.llm.retry import RetryPolicy
from openbook.llm.transport import WireModel
from openbook.settings import Secret
from openbook.testing import FakeServer

WIRES = ("anthropic", "openai", "groq")

HELLO = Request((Message.user("Say hello."),))
FERRY = ToolSpec("ferry", "Finds a ferry.", {"type": "object", "properties": {"port": {"type": "string"}}})


@dataclass
class Clock:
    """Time that passes only while somebody sleeps."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def retries(self, **options: Any) -> RetryPolicy:
        """Retry by this clock, without jitter."""
        return RetryPolicy(clock=lambda: self.now, sleep=self.sleep, asleep=self.asleep, random=lambda: 0.5, **options)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def sleep_for_ever(self, pause_s: Callable[[], float]) -> None:
        while True:
            self.sleep(pause_s())

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)


def model_on(server: FakeServer, provider: str, *, clock: Clock | None = None, **options: Any) -> WireModel:
    """Return a model of the server's, on the wire of a provider."""
    url = {"anthropic": server.anthropic_url, "groq": server.groq_url}.get(provider, server.openai_url)
    row = replace(PROVIDERS[provider], url=url)
    retries = clock.retries() if clock else None
    return connect(row, "test-model", key=Secret(server.key), retries=retries, **options)


async def read_async(model: WireModel, request: Request) -> list[Event]:
    return [event async for event in model.astream(request)]
