"""Fallback models: the next one is called if one is overloaded, late, or declines."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import asdict, replace
from decimal import Decimal

from openbook.costs import Price, price_of
from openbook.errors import BadRequestError, ModelError, SettingsError
from openbook.llm.messages import Event, ReplyFinished, Request, StopReason
from openbook.llm.protocol import Model, aclosing_stream, checked_reply, closing_stream
from openbook.usage import PricedUsage, Usage

_logger = logging.getLogger(__name__)

# Errors that every model would report for the same request. None: nothing was sent, because of an unsupported setting.
_OF_THE_REQUEST = (None, 400, 413, 422)

_DECLINED: tuple[StopReason, ...] = ("refused", "filtered")


def fallback(*models: Model | str) -> FallbackModel:
    """Return a model that calls the first of several models, and the next one if it fails.

    The next one is called if a model is overloaded, rate-limited, late or unreachable, if its key is rejected or has no
    credit, or if it or a content filter declines. Not after it has begun to write, which would mix two replies, and not
    if the request itself is invalid.

    Args:
        models: Objects, or names as `open_model` takes them, in order.

    Raises:
        SettingsError: There is none, or a name is unknown or `extractive`.
        KeyMissingError, MissingExtraError: A named model lacks its key or package.
    """
    from openbook.llm.choose import open_model

    opened = [open_model(model) if isinstance(model, str) else model for model in models]
    found = [model for model in opened if model is not None]
    if not found or len(found) < len(opened):
        raise SettingsError("a fallback needs language models", hint="name them as `anthropic,groq`")
    return FallbackModel(*found)


class FallbackModel:
    """Several models in order as one. Thread-safe."""

    def __init__(self, *models: Model, price: Price = price_of, clock: Callable[[], float] = time.monotonic) -> None:
        """Combine models. `price` prices each call by its own model. `clock` returns seconds, for the deadline."""
        self._models = models
        self._price = price
        self._clock = clock

    @property
    def name(self) -> str:
        """The names of all models, separated by commas."""
        return ",".join(model.name for model in self._models)

    def __repr__(self) -> str:
        return f"fallback({self.name!r})"

    def stream(self, request: Request) -> Iterator[Event]:
        """Call the models in turn. Usage and cost include all that replied."""
        turns = _Turns(self._models, request, self._price, self._clock)
        finished = None
        while finished is None:
            model, asked = turns.begin()
            try:
                with closing_stream(model.stream(asked)) as events:
                    for event in events:
                        if not isinstance(event, ReplyFinished):
                            turns.has_begun = True
                            yield event
                            continue
                        turns.reply = event
                finished = turns.settle()
            except ModelError as exc:
                turns.go_on_after(exc)
        yield finished

    async def astream(self, request: Request) -> AsyncIterator[Event]:
        turns = _Turns(self._models, request, self._price, self._clock)
        finished = None
        while finished is None:
            model, asked = turns.begin()
            try:
                async with aclosing_stream(model.astream(asked)) as events:
                    async for event in events:
                        if not isinstance(event, ReplyFinished):
                            turns.has_begun = True
                            yield event
                            continue
                        turns.reply = event
                finished = turns.settle()
            except ModelError as exc:
                turns.go_on_after(exc)
        yield finished


class _Turns:
    """One call: the remaining models, and the cost of all so far."""

    def __init__(self, models: tuple[Model, ...], request: Request, price: Price, clock: Callable[[], float]) -> None:
        self._left = list(models)
        self._request, self._price, self._clock = request, price, clock
        self._ends_s = clock() + request.deadline_s
        self._usage = Usage()
        self._cost_usd: Decimal | None = Decimal(0)
        self._asked = models[0]
        self.has_begun = False
        """Whether the caller has received part of a reply."""
        self.reply: ReplyFinished | None = None
        """The reply of the last called model."""

    def begin(self) -> tuple[Model, Request]:
        """Return the next model, and its request."""
        self._asked, self.reply = self._left.pop(0), None
        left_s = max(self._ends_s - self._clock(), 0.0)
        # Only half of the remaining time, so that a late model leaves some to the next one.
        return self._asked, replace(self._request, deadline_s=left_s / 2 if self._left else left_s)

    def settle(self) -> ReplyFinished | None:
        """Count a reply. Return it with the total cost; None if its model declined and another is left."""
        reply = checked_reply(self.reply, self._asked)
        self._usage += reply.usage
        cost_usd = self._price(self._asked.name, reply.usage)
        self._cost_usd = None if cost_usd is None or self._cost_usd is None else self._cost_usd + cost_usd
        if reply.stop in _DECLINED and self._left and not self.has_begun:
            self._tell(reply.stop)
            return None
        return replace(reply, usage=PricedUsage(**asdict(self._usage), cost_usd=self._cost_usd))

    def go_on_after(self, error: ModelError) -> None:
        """Raise errors that end the call: no model is left, text was shown, or the request is invalid."""
        is_of_request = isinstance(error, BadRequestError) and error.status in _OF_THE_REQUEST
        if is_of_request or self.has_begun or not self._left:
            raise error
        self._tell(str(error))

    def _tell(self, reason: str) -> None:
        _logger.warning("%s did not answer (%s); asking %s", self._asked.name, reason, self._left[0].name)
