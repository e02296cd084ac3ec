"""A client-side rate limit: excess calls wait instead of failing."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from dataclasses import dataclass

from openbook.errors import InvalidArgumentError, RateLimitedError
from openbook.llm.messages import Event, ReplyFinished, Request
from openbook.llm.protocol import Model, ModelWrapper, aclosing_stream, closing_stream
from openbook.llm.request_tokens import estimate_request
from openbook.llm.retry import async_sleep
from openbook.settings import Settings

_MINUTE_S = 60.0


@dataclass(slots=True)
class _Turn:
    """A call within the window, made or reserved."""

    at_s: float
    tokens: int


def rate_limited(model: Model, settings: Settings) -> Model:
    """Wrap a model with the rate limits of the settings; without any, return it unchanged."""
    requests, tokens = settings.model_requests_per_minute, settings.model_tokens_per_minute
    if not (requests or tokens):
        return model
    return RateLimitedModel(model, requests_per_minute=requests or math.inf, tokens_per_minute=tokens or math.inf)


class RateLimitedModel(ModelWrapper):
    """A model with a limit of calls and tokens per minute. Threads and event loops may share it.

    Calls are made in the order of their arrival. A call first counts with the estimated tokens of its request and its
    maximum output tokens, and after its end with the reported tokens.
    """

    def __init__(
        self,
        model: Model,
        *,
        requests_per_minute: float = math.inf,
        tokens_per_minute: float = math.inf,
        max_wait_s: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        asleep: Callable[[float], Awaitable[None]] = async_sleep,
    ) -> None:
        """Limit the calls of a model.

        Args:
            model: The model. Each model needs its own wrapper.
            requests_per_minute: Maximum calls that begin within any 60 seconds.
            tokens_per_minute: Maximum input and output tokens of the calls that begin within any 60 seconds. A call
                that exceeds it alone waits until nothing else counts.
            max_wait_s: Maximum seconds that a call waits. The wait is not part of its deadline.
            clock: Returns seconds.
            sleep: Sleeps.
            asleep: Sleeps without blocking.

        Raises:
            InvalidArgumentError: A limit allows no call.
        """
        if not (requests_per_minute >= 1 and tokens_per_minute >= 1):
            raise InvalidArgumentError(
                "a rate limit allows at least one request and one token a minute", hint="raise it, or leave it out"
            )
        super().__init__(model)
        self._requests = requests_per_minute
        self._tokens = tokens_per_minute
        self._max_wait_s = max_wait_s
        self._clock, self._sleep, self._asleep = clock, sleep, asleep
        self._turns: deque[_Turn] = deque()
        self._lock = threading.Lock()

    def stream(self, request: Request) -> Generator[Event, None, None]:
        turn = self._take(request)
        self._wait(turn)
        with closing_stream(self._model.stream(request)) as events:
            for event in events:
                self._count(turn, event)
                yield event

    async def astream(self, request: Request) -> AsyncGenerator[Event, None]:
        """Call the model like `stream`, without blocking. Cancelling ends the wait, and the call does not count."""
        turn = self._take(request)
        await self._await(turn)
        async with aclosing_stream(self._model.astream(request)) as events:
            async for event in events:
                self._count(turn, event)
                yield event

    def _take(self, request: Request) -> _Turn:
        """Reserve the earliest time that previous calls allow."""
        tokens = estimate_request(request) + request.max_tokens
        with self._lock:
            now = self._clock()
            while self._turns and self._turns[0].at_s <= now - _MINUTE_S:
                self._turns.popleft()
            at_s = self._first_room(now, tokens)
            if at_s - now > self._max_wait_s:
                raise RateLimitedError(
                    f"{self.name} is called as often as its rate limit allows; the next turn is in {at_s - now:.0f} s",
                    hint="raise the limit, or let calls wait longer",
                    retry_after_s=at_s - now,
                )
            turn = _Turn(at_s, tokens)
            self._turns.append(turn)
            return turn

    def _first_room(self, now: float, tokens: int) -> float:
        at_s = max(now, self._turns[-1].at_s) if self._turns else now
        counted, total = deque(self._turns), sum(turn.tokens for turn in self._turns)
        while counted and (
            counted[0].at_s <= at_s - _MINUTE_S or len(counted) >= self._requests or total + tokens > self._tokens
        ):
            first = counted.popleft()
            total -= first.tokens
            at_s = max(at_s, first.at_s + _MINUTE_S)
        return at_s

    def _wait(self, turn: _Turn) -> None:
        try:
            while (left_s := turn.at_s - self._clock()) > 0:
                self._sleep(left_s)
        except BaseException:  # such as Ctrl-C
            self._return(turn)
            raise

    async def _await(self, turn: _Turn) -> None:
        try:
            while (left_s := turn.at_s - self._clock()) > 0:
                await self._asleep(left_s)
        except BaseException:
            self._return(turn)
            raise

    def _return(self, turn: _Turn) -> None:
        """Release a reservation without a call. Later ones keep their times."""
        with self._lock:
            self._turns = deque(each for each in self._turns if each is not turn)

    def _count(self, turn: _Turn, event: Event) -> None:
        # Zero input tokens means that the model does not count them.
        if isinstance(event, ReplyFinished) and event.usage.known and event.usage.input_tokens:
            turn.tokens = event.usage.input_tokens + event.usage.output_tokens
