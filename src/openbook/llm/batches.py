"""Model calls through the provider's batch API: at half the price, but replies may take a day."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Protocol

from openbook.costs import price_of
from openbook.errors import BadResponseError, CutOffError, ModelError, SettingsError, TimedOutError
from openbook.llm.failures import explain
from openbook.llm.messages import Event, Request
from openbook.llm.protocol import Model
from openbook.llm.retry import is_passing
from openbook.llm.transport import ReplyReader, WireModel, fetched_text
from openbook.usage import PricedUsage

_DAY_S = 86_400.0

# Price relative to a normal call, at both providers.
_SHARE = Decimal("0.5")

# Below the limits of both: 100,000 and 50,000 requests, 256 and 200 MB.
_MAX_REQUESTS, _MAX_BYTES = 10_000, 100_000_000


@dataclass(slots=True, eq=False)
class _Waiting:
    """A call that waits for its reply."""

    body: Mapping[str, Any]
    reader: ReplyReader
    reply: Future[list[Event]] = field(default_factory=Future)

    def fail(self, error: ModelError) -> None:
        """Fail the call, unless it was cancelled."""
        with suppress(InvalidStateError):
            self.reply.set_exception(error)


class BatchedModel:
    """A model whose calls are collected and sent as batches. Threads and event loops may share it.

    Each call waits for its batch, so make many at once: `aquery_many(..., at_once=500)`. Deadlines of calls are
    ignored; `max_wait_s` applies. A batch is cancelled when all of its callers have given up.
    """

    def __init__(
        self,
        model: Model | str,
        *,
        gather_s: float = 5.0,
        poll_s: float = 30.0,
        max_wait_s: float = _DAY_S,
        max_requests: int = _MAX_REQUESTS,
    ) -> None:
        """Batch the calls of a model.

        Args:
            model: A model of Anthropic or OpenAI, or its name.
            gather_s: A batch is sent after so many seconds without a new call.
            poll_s: Seconds between polls of a batch.
            max_wait_s: Maximum seconds per batch.
            max_requests: Maximum requests per batch; more are split.

        Raises:
            SettingsError: The model has no batch API.
            KeyMissingError: The provider needs a key.
        """
        if isinstance(model, str):
            from openbook.llm.choose import require_model

            model = require_model(model)
        kind = _KINDS.get(model.provider.name) if isinstance(model, WireModel) else None
        if kind is None or not isinstance(model, WireModel):
            raise SettingsError(f"{model.name} takes no batches", hint="name a model of `anthropic` or `openai`")
        self._model = model
        self._batches = kind
        self._gather_s, self._poll_s, self._max_wait_s = gather_s, poll_s, max_wait_s
        self._max_requests = max_requests
        self._lock = threading.Lock()
        self._waiting: list[_Waiting] = []

    @property
    def name(self) -> str:
        return self._model.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r})"

    def stream(self, request: Request) -> Iterator[Event]:
        waiting = self._add(request)
        try:
            events = waiting.reply.result()
        finally:
            waiting.reply.cancel()
        yield from events

    async def astream(self, request: Request) -> AsyncIterator[Event]:
        """Call the model like `stream`, without blocking. Cancelling ends the wait."""
        import asyncio

        for event in await asyncio.wrap_future(self._add(request).reply):
            yield event

    def _add(self, request: Request) -> _Waiting:
        waiting = _Waiting(*self._model.encoded(request))
        with self._lock:
            is_first = not self._waiting
            self._waiting.append(waiting)
        if is_first:
            # Not a daemon thread: at exit, the program must cancel abandoned batches.
            threading.Thread(target=self._gather, name=f"batch of {self.name}").start()
        return waiting

    def _gather(self) -> None:
        """Send the waiting calls once no more arrive."""
        seen = 0
        while len(self._waiting) > seen:
            seen = len(self._waiting)
            time.sleep(self._gather_s)
        with self._lock:
            taken, self._waiting = self._waiting, []
        for calls in _batches_of([each for each in taken if not each.reply.cancelled()], self._max_requests):
            threading.Thread(target=self._work, args=(calls,), name=f"batch of {self.name}").start()

    def _work(self, calls: Sequence[_Waiting]) -> None:
        try:
            self._run(calls)
        except ModelError as exc:
            for each in calls:
                each.fail(exc)
        except BaseException as exc:
            for each in calls:
                each.fail(BadResponseError(f"{self.name} sent a batch that cannot be read: {type(exc).__name__}"))
            raise

    def _run(self, calls: Sequence[_Waiting]) -> None:
        """Send a batch, wait until it ends, and deliver the replies."""
        ask, kind = self._model.ask, self._batches
        is_left = threading.Event()

        def look(_: Future[list[Event]]) -> None:
            if all(each.reply.cancelled() for each in calls):
                is_left.set()

        for each in calls:
            each.reply.add_done_callback(look)
        ends_s = time.monotonic() + self._max_wait_s
        batch = ask(lambda client: kind.send(client, [each.body for each in calls]))
        while not self._is_over(batch):
            if is_left.wait(self._poll_s) or time.monotonic() > ends_s:
                ask(lambda client: kind.cancel(client, batch))
                raise TimedOutError(f"a batch of {self.name} did not finish in time", hint="raise `max_wait_s`")
        for number, result in ask(lambda client: list(kind.results(client, batch))):
            if 0 <= number < len(calls):
                self._deliver(calls[number], result)
        for each in calls:
            each.fail(
                BadResponseError(f"{self.name} sent a batch without a reply to a request of it", hint="try again")
            )

    def _is_over(self, batch: str) -> bool:
        try:
            return self._model.ask(lambda client: self._batches.is_over(client, batch))
        except ModelError as exc:
            if is_passing(exc):  # the batch continues, even if polling fails
                return False
            raise

    def _deliver(self, waiting: _Waiting, result: Mapping[str, Any] | Exception) -> None:
        model = self._model
        if isinstance(result, Exception):
            waiting.fail(explain(result, provider=model.provider, key=model.key.reveal(), late=False, streaming=False))
            return
        try:
            events = [event for chunk in model.wire.chunks(result) for event in waiting.reader.read(chunk)]
            finished = waiting.reader.finish()
        except ModelError as exc:
            waiting.fail(exc)
            return
        if finished is None:
            waiting.fail(CutOffError(f"{self.name} sent half a reply", hint="try again"))
            return
        price = price_of(self.name, finished.usage)
        if price is not None:
            used = finished.usage
            counts = (used.input_tokens, used.output_tokens, used.cached_input_tokens, used.cache_write_tokens)
            finished = replace(finished, usage=PricedUsage(*counts, used.known, cost_usd=price * _SHARE))
        with suppress(InvalidStateError):
            waiting.reply.set_result([*events, finished])


def _batches_of(calls: Sequence[_Waiting], max_requests: int) -> Iterator[list[_Waiting]]:
    """Split calls if one batch would be too large."""
    batch: list[_Waiting] = []
    size = 0
    for each in calls:
        length = len(json.dumps(each.body))
        if batch and (len(batch) == max_requests or size + length > _MAX_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(each)
        size += length
    if batch:
        yield batch


class _ItemError(Exception):
    """The error of one request of a batch, with the attributes of an SDK exception."""

    def __init__(self, body: object, status: object = None) -> None:
        super().__init__("a request of a batch failed")
        self.body = body
        if isinstance(status, int):
            self.status_code = status


Result = tuple[int, Mapping[str, Any] | Exception]


class _Batches(Protocol):
    """The batch API of a provider. Clients are those of its SDK."""

    def send(self, client: Any, bodies: Sequence[Mapping[str, Any]]) -> str:
        """Send requests, and return the id of their batch."""

    def is_over(self, client: Any, batch: str) -> bool: ...

    def cancel(self, client: Any, batch: str) -> object: ...

    def results(self, client: Any, batch: str) -> Iterator[Result]:
        """Yield the index of each request, with its reply or error."""


class _AnthropicBatches:
    """Anthropic's Message Batches."""

    def send(self, client: Any, bodies: Sequence[Mapping[str, Any]]) -> str:
        requests = [{"custom_id": f"request-{number}", "params": body} for number, body in enumerate(bodies)]
        return str(client.messages.batches.create(requests=requests).id)

    def is_over(self, client: Any, batch: str) -> bool:
        return bool(client.messages.batches.retrieve(batch).processing_status == "ended")

    def cancel(self, client: Any, batch: str) -> object:
        return client.messages.batches.cancel(batch)

    def results(self, client: Any, batch: str) -> Iterator[Result]:
        # Not the SDK's own method, which sends the key to any address that the batch names.
        text = fetched_text(client, f"/v1/messages/batches/{batch}/results")
        for line in filter(None, text.split("\n")):
            entry = json.loads(line)
            result = entry["result"]
            told = result.get("error") or {"error": {"type": "timeout_error", "message": f"it was {result['type']}"}}
            yield _number(entry["custom_id"]), result["message"] if "message" in result else _ItemError(told)


class _OpenAIBatches:
    """OpenAI's Batch API, with requests and replies in files."""

    def send(self, client: Any, bodies: Sequence[Mapping[str, Any]]) -> str:
        where = {"method": "POST", "url": "/v1/chat/completions"}
        lines = (
            json.dumps({"custom_id": f"request-{number}", **where, "body": body}) for number, body in enumerate(bodies)
        )
        file = client.files.create(file=("requests.jsonl", "\n".join(lines).encode()), purpose="batch")
        return str(client.batches.create(input_file_id=file.id, endpoint=where["url"], completion_window="24h").id)

    def is_over(self, client: Any, batch: str) -> bool:
        return client.batches.retrieve(batch).status in ("completed", "failed", "expired", "cancelled")

    def cancel(self, client: Any, batch: str) -> object:
        return client.batches.cancel(batch)

    def results(self, client: Any, batch: str) -> Iterator[Result]:
        ended = client.batches.retrieve(batch)
        if ended.status == "failed":
            said = "; ".join(str(error.message) for error in (ended.errors.data if ended.errors else None) or ())
            raise BadResponseError(f"openai refused a batch: {said[:200]}", hint="see the batch on the provider's page")
        for file in filter(None, (ended.output_file_id, ended.error_file_id)):
            for line in filter(None, client.files.content(file).text.split("\n")):
                entry = json.loads(line)
                response = entry.get("response") or {}
                body, status = response.get("body"), response.get("status_code")
                result = body if status == 200 else _ItemError(entry.get("error") or body, status)
                yield _number(entry["custom_id"]), result or {}


def _number(custom_id: object) -> int:
    text = str(custom_id).rpartition("-")[2]
    return int(text) if text.isdecimal() else -1


_KINDS: Mapping[str, _Batches] = {"anthropic": _AnthropicBatches(), "openai": _OpenAIBatches()}
