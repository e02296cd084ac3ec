"""Model calls over HTTP: open, stream, retry and cancel, blocking and async. Wire formats are sans-IO."""

from __future__ import annotations

import json
import re
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Protocol, TypeVar

from openbook.errors import (
    BadRequestError,
    BadResponseError,
    CutOffError,
    MissingExtraError,
    ModelError,
    UnreachableError,
)
from openbook.llm.attachments import check_attachments, has_attachments
from openbook.llm.connecting import make_client
from openbook.llm.encoding import json_safe
from openbook.llm.failures import NO_KEY, explain, is_failed_call, is_in_stream, missing_key
from openbook.llm.messages import DEADLINE_S, Event, ReplyFinished, Request, ShownSource, TextDelta
from openbook.llm.providers import Provider
from openbook.llm.retry import RetryPolicy, RetryState
from openbook.llm.sampling import check_sampling
from openbook.settings import Secret

T = TypeVar("T")

_CONNECT_S = 10.0  # TCP and TLS around the world take one second

# Text has about 4 characters a token. A server that ignores `max_tokens` may let its model repeat itself: to check and
# render 65,536 characters with 1,800 marks takes 5 s, and 262,144 with 7,300 take 168 s (by hand, 27 November 2026).
_MAX_CHARS_PER_TOKEN = 16
_MAX_CHARS = 65_536

_DEADLINE = "OPENBOOK_MODEL_TIMEOUT_S"
_DONE = "[DONE]"
_STREAM, _WHOLE = "text/event-stream", "application/json"
_OF_STREAM = (b"data:", b"event:")

# JSON around the text of a reply that comes as a whole, and escapes in it.
_MAX_WHOLE_BYTES = 16 * _MAX_CHARS

# Errors of providers that lack the fields for sources.
_NO_CITATIONS = re.compile(r"search_result|citation|documents", re.IGNORECASE)

# Errors of servers whose model reads no images: llama.cpp names its projector, others the image or the type of the
# part.
_NO_IMAGES = re.compile(r"image|mmproj|vision|multi-?modal|content", re.IGNORECASE)


class ReplyReader(Protocol):
    """Decodes the chunks of one reply into events."""

    def read(self, chunk: Mapping[str, Any]) -> Iterator[Event]:
        """Return the events of a chunk.

        Raises:
            ModelError: The chunk reports an error, or does not follow the format.
        """

    def finish(self, *, is_done: bool = False) -> ReplyFinished | None:
        """Return the whole reply; None if it is incomplete.

        `is_done`: the stream ended as one of Chat Completions does, with `[DONE]`.
        """


class Wire(Protocol):
    """The wire format of a provider: encodes requests, decodes replies. Sans-IO."""

    @property
    def sdk(self) -> str:
        """Package to import, and the extra that installs it."""

    @property
    def clients(self) -> tuple[str, str]:
        """Its client classes: blocking and async."""

    @property
    def path(self) -> str:
        """Path of requests, below the provider's base URL."""

    def body(self, request: Request, *, native: bool) -> dict[str, Any]:
        """Encode a request. `native`: send sources in the API's own fields, if it has any."""

    def reader(self, request: Request, *, native: bool) -> ReplyReader: ...

    def chunks(self, reply: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Convert a complete reply to the chunks of a stream, for the stream reader."""


@dataclass(slots=True)
class _Call:
    """The state of one call, for both transports."""

    model: WireModel
    request: Request
    attempts: RetryState
    native: bool
    _reader: ReplyReader = field(init=False)
    _chars: int = 0
    _whole: bytearray = field(default_factory=bytearray)
    _is_complete: bool = False
    """Whether a reply that does not say why it ended is complete: it came as a whole, or said that it is done."""

    def body(self) -> dict[str, Any]:
        """Start an attempt."""
        self._chars = 0
        self._whole.clear()
        self._is_complete = False
        self._reader = self.model.wire.reader(self.request, native=self.native)
        return self.model.wire.body(self.request, native=self.native)

    def read(self, chunk: Any) -> Iterator[Event]:
        self.attempts.streaming = True
        if not isinstance(chunk, dict):
            raise BadResponseError(f"{self.model.provider.name} sent a chunk that is not an object")
        return self._within_limit(self._reader.read(chunk))

    def take(self, piece: bytes) -> None:
        """Take a piece of a reply that comes as a whole, from a server that ignores `stream`."""
        self._whole += piece
        if len(self._whole) > max(_MAX_WHOLE_BYTES, self.request.max_tokens * _MAX_CHARS_PER_TOKEN):
            raise BadResponseError(
                f"{self.model.provider.name} sent a reply that is too long", hint="check its address"
            )

    def read_whole(self, response: Any) -> Iterator[Event]:
        """Read the reply, which may be a stream after all, whatever its type says."""
        if self._whole.lstrip().startswith(_OF_STREAM):
            data = [line[5:].strip() for line in self._whole.splitlines() if line.startswith(b"data:")]
            chunks = [self._without_error(each, response) for each in data if each != _DONE.encode()]
            self._is_complete = len(chunks) < len(data)
        else:
            reply = self._without_error(self._whole, response)
            self._is_complete = True
            try:
                chunks = list(self.model.wire.chunks(reply))
            except (KeyError, TypeError, AttributeError):  # no reply: `finish` says so
                return
        for chunk in chunks:
            yield from self.read(chunk)

    def _without_error(self, text: bytes | bytearray, response: Any) -> Any:
        reply = json.loads(text)
        if isinstance(reply, dict) and reply.get("error"):  # as the SDK does within a stream
            sdk = import_module(self.model.wire.sdk)
            raise sdk.APIError("an error in place of a reply", response.request, body=reply["error"])
        return reply

    def _within_limit(self, events: Iterator[Event]) -> Iterator[Event]:
        most = max(_MAX_CHARS, self.request.max_tokens * _MAX_CHARS_PER_TOKEN)
        for event in events:
            self._chars += len(event.text) if isinstance(event, TextDelta) else 0
            if self._chars > most:
                name = self.model.provider.name
                hint = "its server ignores `max_tokens`: limit the output there, or name another model"
                raise BadResponseError(f"{name} wrote more than {most:,} characters, and was ended", hint=hint)
            yield event

    def finish(self, chunks: Any) -> ReplyFinished:
        provider = self.model.provider.name
        finished = self._reader.finish(is_done=chunks.is_done or self._is_complete)
        if finished is None and self.attempts.streaming:
            raise CutOffError(f"{provider} ended its reply without saying why", hint="try again")
        kind = _kind_of(chunks.response)
        if finished is None and kind not in ("", _STREAM):
            raise BadResponseError(f"{provider} sent {kind[:40]!r} in place of a stream", hint="check its address")
        if finished is None:
            raise UnreachableError(f"{provider} closed the connection without a response", hint="try again")
        return finished

    def pause_s(self, fault: Exception) -> float:
        """Return the pause before the next attempt."""
        model = self.model
        if is_in_stream(fault) and not is_failed_call(fault):
            self.attempts.streaming = True
        error = explain(
            fault,
            provider=model.provider,
            key=model.key.reveal(),
            late=self.attempts.left_s == 0,
            streaming=self.attempts.streaming,
            deadline=_DEADLINE,
        )
        if isinstance(error, BadRequestError) and self.native and _NO_CITATIONS.search(str(error)):
            self.native = model.native_citations = False
            return 0.0
        if isinstance(error, BadRequestError) and has_attachments(self.request) and _NO_IMAGES.search(str(error)):
            error.hint = f"{model.name} may not read images; name a model that does"
        return self.attempts.pause_s(error)


@dataclass(slots=True)
class _Shared:
    """An async client, shared by the calls of one event loop."""

    client: Any
    users: int = 0


class ProviderClient:
    """The blocking client of a provider's SDK, created on first use, with retries. Thread-safe."""

    def __init__(self, provider: Provider, key: Secret | None, retries: RetryPolicy, *, sdk: str, kind: str) -> None:
        """Configure a provider, and the package and class of its client. Nothing is sent yet.

        Raises:
            KeyMissingError: The provider needs a key.
            MissingExtraError: The package is not installed.
        """
        if find_spec(sdk) is None:
            raise MissingExtraError(f"the package {sdk!r} is not installed", hint=f"pip install 'openbook[{sdk}]'")
        if provider.needs_key and not key:
            raise missing_key(provider)
        self.provider = provider
        self.key: Secret = key or Secret(NO_KEY)
        self._retries = retries
        self._sdk_name, self._kind = sdk, kind
        self._lock = threading.Lock()
        self._client: Any = None

    @cached_property
    def sdk(self) -> ModuleType:
        """The SDK, imported on first use."""
        return import_module(self._sdk_name)

    def connected(self) -> Any:
        """Return the client: one for all calls, to reuse connections."""
        with self._lock:
            if self._client is None:
                self._client = make_client(self.sdk, self._kind, self.provider, self.key, blocking=True)
                weakref.finalize(self, self._client.close)
            return self._client

    def ask(self, question: Callable[[Any, float], T], deadline_s: float = DEADLINE_S) -> T:
        """Call a function with the client and the remaining seconds, with retries."""
        attempts = RetryState(self._retries, deadline_s)
        while True:
            try:
                return question(self.connected(), attempts.left_s)
            except faults_of(self.sdk) as exc:
                fault = exc
            late = attempts.left_s == 0
            error = explain(fault, provider=self.provider, key=self.key.reveal(), late=late, streaming=False)
            self._retries.sleep(attempts.pause_s(error))

    def post(self, path: str, body: Any, deadline_s: float) -> Any:
        """Post JSON, and return the JSON of the response."""

        def posted(client: Any, left_s: float) -> Any:
            return client.post(path=path, cast_to=object, body=body, options={"timeout": timeout_within(left_s)})

        return self.ask(posted, deadline_s)


class WireModel:
    """A model behind a wire format. Thread-safe."""

    def __init__(
        self,
        provider: Provider,
        name: str,
        *,
        wire: Wire,
        key: Secret | None = None,
        retries: RetryPolicy | None = None,
    ) -> None:
        """Configure the model that the provider calls `name`. Nothing is sent yet.

        Raises:
            KeyMissingError: The provider needs a key.
            MissingExtraError: The SDK for the API is not installed.
        """
        self._retries = retries or RetryPolicy()
        self._asked = ProviderClient(provider, key, self._retries, sdk=wire.sdk, kind=wire.clients[0])
        self.provider = provider
        self.wire = wire
        self.key: Secret = self._asked.key
        self.native_citations = True
        self._name = name
        self._lock = threading.Lock()
        self._shared: dict[Any, _Shared] = {}

    @property
    def name(self) -> str:
        """`provider:model`, or the server's address and `#model`."""
        return f"{self.provider.name}{'#' if '/' in self.provider.name else ':'}{self._name}"

    def load(self) -> None:
        """Import the SDK now, so that the first call does not have to, which takes seconds."""
        self._asked.connected()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def stream(self, request: Request) -> Iterator[Event]:
        """Call the model. Closing the iterator cancels the request."""
        call = self._begin(request)
        faults = faults_of(self._asked.sdk)
        client = self._asked.connected()
        while True:
            try:
                opened = client.post(**self._posted(call), stream_cls=_stream_of(self._asked.sdk))
                with opened as chunks:
                    if _kind_of(chunks.response) == _WHOLE:
                        for piece in chunks.response.iter_bytes():
                            call.take(piece)
                        yield from call.read_whole(chunks.response)
                    else:
                        for chunk in chunks:
                            yield from call.read(chunk)
                yield call.finish(chunks)
                return
            except faults as exc:
                fault = exc
            self._retries.sleep(call.pause_s(fault))

    async def astream(self, request: Request) -> AsyncIterator[Event]:
        """Call the model without blocking. Closing the iterator cancels the request."""
        import asyncio

        async with self.keep_open() as client:
            call = self._begin(request)
            faults = faults_of(self._asked.sdk)
            while True:
                try:
                    async with asyncio.timeout(call.attempts.left_s):
                        chunks = await client.post(**self._posted(call), stream_cls=_async_stream_of(self._asked.sdk))
                    async with chunks:
                        if _kind_of(chunks.response) == _WHOLE:
                            async with asyncio.timeout(call.attempts.left_s):
                                async for piece in chunks.response.aiter_bytes():
                                    call.take(piece)
                            for event in call.read_whole(chunks.response):
                                yield event
                        else:
                            while (chunk := await _next(chunks, call.attempts.left_s)) is not None:
                                for event in call.read(chunk):
                                    yield event
                    yield call.finish(chunks)
                    return
                except faults as exc:
                    fault = exc
                await self._retries.asleep(call.pause_s(fault))

    def encoded(self, request: Request) -> tuple[dict[str, Any], ReplyReader]:
        """Encode a request without streaming, and return the reader for its reply."""
        native = self._begin(request).native
        body = {"model": self._name, **self.wire.body(request, native=native)}
        body.pop("stream_options", None)
        return json_safe(body), self.wire.reader(request, native=native)

    def ask(self, question: Callable[[Any], T]) -> T:
        """Call a function with the SDK client, for requests other than replies, with the same retries."""
        return self._asked.ask(lambda client, _: question(client))

    @asynccontextmanager
    async def keep_open(self) -> AsyncIterator[Any]:
        """Keep connections alive between the calls of this event loop, which share them. Yields the SDK client.

        Without it, they live from the first of several concurrent calls to the end of the last.
        """
        import asyncio

        loop = asyncio.get_running_loop()
        # In a thread, because connecting takes seconds and would block the event loop.
        made = None if loop in self._shared else await asyncio.to_thread(self._connect)
        with self._lock:
            shared = self._shared.setdefault(loop, _Shared(made))
            shared.users += 1
        try:
            if made is not None and made is not shared.client:  # another call has created one meanwhile
                await made.close()
            yield shared.client
        finally:
            with self._lock:
                shared.users -= 1
                is_last = not shared.users
                if is_last:
                    del self._shared[loop]
            if is_last:
                await shared.client.close()

    def _begin(self, request: Request) -> _Call:
        check_sampling(request.sampling, self.provider.sampling_of(self._name), self.name)
        check_attachments(request, self.provider.reads_of(self._name), self.name)
        shown = any(isinstance(part, ShownSource) for message in request.messages for part in message.parts)
        attempts = RetryState(self._retries, request.deadline_s)
        return _Call(self, request, attempts, native=self.native_citations and shown)

    def _connect(self) -> Any:
        # An async client belongs to the event loop that first used it.
        return make_client(self._asked.sdk, self.wire.clients[1], self.provider, self.key, blocking=False)

    def _posted(self, call: _Call) -> dict[str, Any]:
        # Not the SDK's own methods, which build an object per chunk, and take longer than everything else together.
        body = json_safe({"model": self._name, "stream": True, **call.body()})
        options = {"timeout": timeout_within(call.attempts.left_s)}
        return {"path": self.wire.path, "cast_to": object, "body": body, "options": options, "stream": True}


@cache
def _stream_of(sdk: ModuleType) -> Any:
    """Return a stream of the SDK that notices `[DONE]`, which the SDK does not pass on."""

    class Stream(sdk.Stream[object]):  # type: ignore[misc, name-defined]
        is_done = False

        def _iter_events(self) -> Iterator[Any]:
            for event in super()._iter_events():
                self.is_done = self.is_done or event.data.startswith(_DONE)
                yield event

    return Stream


@cache
def _async_stream_of(sdk: ModuleType) -> Any:
    class AsyncStream(sdk.AsyncStream[object]):  # type: ignore[misc, name-defined]
        is_done = False

        async def _iter_events(self) -> AsyncIterator[Any]:
            async for event in super()._iter_events():
                self.is_done = self.is_done or event.data.startswith(_DONE)
                yield event

    return AsyncStream


def _kind_of(response: Any) -> str:
    return str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()


def timeout_within(left_s: float) -> Any:
    """Return the timeout of an attempt with so many seconds left. A blocking client cuts its response then, too."""
    import httpx2

    return httpx2.Timeout(left_s, connect=min(_CONNECT_S, left_s))


def fetched_text(client: Any, path: str) -> str:
    """Fetch a path of the provider as text, with its SDK client."""
    import httpx2

    return str(client.get(path, cast_to=httpx2.Response).text)


def faults_of(sdk: ModuleType) -> tuple[type[Exception], ...]:
    """Return the exceptions that a call through an SDK may raise."""
    import httpx2

    decoding = (json.JSONDecodeError, UnicodeDecodeError, RecursionError)
    return (sdk.APIError, httpx2.HTTPError, httpx2.StreamError, TimeoutError, OSError, ModelError, *decoding)


async def _next(chunks: AsyncIterator[Any], left_s: float) -> Any:
    import asyncio

    async with asyncio.timeout(left_s):
        return await anext(chunks, None)
