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

# What every model would say of the same request. None: nothing was sent, because of a setting that it does not take.
_OF_THE_REQUEST = (None, 400, 413, 422)

_DECLINED: tuple[StopReason, ...] = ("refused", "filtered")


def fallback(*models: Model | str) -> FallbackModel:
    """Return a model that calls the first of several, and the next one if that fails.

    The next one is asked where a model is overloaded, limited, too late or unreachable, where its key is refused or
    has no credit, and where it or a filter of its provider declines. Not after it has begun to write, which would
    mix two replies, and not where the request itself is refused.

    Args:
        models: Objects, or names as `open_model` takes them, in order.

    Raises:
        SettingsError: There is none, or a name means nothing or no model.
        KeyMissingError, MissingExtraError: What it names lacks a key or a package.
    """
    from openbook.llm.choose import open_model

    opened = [open_model(model) if isinstance(model, str) else model for model in models]
    found = [model for model in opened if model is not None]
    if not found or len(found) < len(opened):
        raise SettingsError("a fallback needs models that write", hint="name them as `anthropic,groq`")
    return FallbackModel(*found)


class FallbackModel:
    """Several models in order as one. Thread-safe."""

    def __init__(self, *models: Model, price: Price = price_of, clock: Callable[[], float] = time.monotonic) -> None:
        """Take the models. `price`: prices each call by its own model. `clock`: seconds, for the deadline."""
        self._models = models
        self._price = price
        self._clock = clock

    @property
    def name(self) -> str:
        """The names of all, with commas between them."""
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
    """One call: who is asked next, and what all of them have cost."""

    def __init__(self, models: tuple[Model, ...], request: Request, price: Price, clock: Callable[[], float]) -> None:
        self._left = list(models)
        self._request, self._price, self._clock = request, price, clock
        self._ends_s = clock() + request.deadline_s
        self._usage = Usage()
        self._cost_usd: Decimal | None = Decimal(0)
        self._asked = models[0]
        self.has_begun = False
        """Whether whoever watches has seen something of a reply."""
        self.reply: ReplyFinished | None = None
        """Of the model that was asked last."""

    def begin(self) -> tuple[Model, Request]:
        """Return the next model, and what it is asked."""
        self._asked, self.reply = self._left.pop(0), None
        left_s = max(self._ends_s - self._clock(), 0.0)
        # With all of it, a model that is too late would leave nothing to the next one.
        return self._asked, replace(self._request, deadline_s=left_s / 2 if self._left else left_s)

    def settle(self) -> ReplyFinished | None:
        """Count a reply. Return it with what all have cost; None if its model declined and another can be asked."""
        reply = checked_reply(self.reply, self._asked)
        self._usage += reply.usage
        cost_usd = self._price(self._asked.name, reply.usage)
        self._cost_usd = None if cost_usd is None or self._cost_usd is None else self._cost_usd + cost_usd
        if reply.stop in _DECLINED and self._left and not self.has_begun:
            self._tell(reply.stop)
            return None
        return replace(reply, usage=PricedUsage(**asdict(self._usage), cost_usd=self._cost_usd))

    def go_on_after(self, error: ModelError) -> None:
        """Raise an error that ends the call: nobody is left, words were shown, or the request is to blame."""
        is_of_request = isinstance(error, BadRequestError) and error.status in _OF_THE_REQUEST
        if is_of_request or self.has_begun or not self._left:
            raise error
        self._tell(str(error))

    def _tell(self, reason: str) -> None:
        _logger.warning("%s did not answer (%s); asking %s", self._asked.name, reason, self._left[0].name)
