"""A strict local server for both model APIs, with scripted failures."""

from __future__ import annotations

import json
import re
import socket
import socketserver
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any, NoReturn, Self

from openbook.testing import fake_anthropic, fake_openai
from openbook.testing.fake_batches import BATCH_PATHS, FakeBatches
from openbook.testing.script import Fault, ReceivedRequest, Refusal, Script, ScriptedReply, ServerStep
from openbook.testing.strictness import RequestRefused, expect

_PATHS = re.compile(r"(?:/\w+)?/v1/(?:messages|chat/completions)")
_GONE = (BrokenPipeError, ConnectionResetError)
_MALFORMED = '{"type": "content_block_delta", "choices": [{"delta": {'


class FakeServer:
    """Replies by a script, with one step for each valid request to either API.

    Implements Anthropic Messages below `anthropic_url`, and OpenAI Chat Completions below `openai_url`, both with
    batches, the latter with Groq's fields below `groq_url`. Requests that the real servers would reject get their 400
    or 401, and consume no step. Leaving the context closes all connections, and fails a test that has left a step
    unused or made one request too many.

    Example:
        with FakeServer("Hello.", Refusal(429, headers={"retry-after": "7"})) as server:
            client = OpenAI(base_url=server.openai_url, api_key=server.key)
    """

    def __init__(
        self,
        *steps: ServerStep | Callable[[ReceivedRequest], ServerStep],
        key: str = "key-of-the-fake-server",
        piece: int = 7,
    ) -> None:
        """Prepare to play `steps` in order.

        Args:
            steps: Texts, replies, faults, refusals, or functions of the request that return one.
            key: The only accepted key.
            piece: Characters per delta of a stream.
        """
        self.key = key
        self.requests: list[ReceivedRequest] = []
        """The valid requests, in order."""
        self.refused: list[str] = []
        """The errors of the others."""
        self._piece = piece
        self._script: Script[ServerStep | Callable[[ReceivedRequest], ServerStep]] = Script(steps)
        self._left = threading.Semaphore(0)
        self._closing = False
        self.batches = FakeBatches(self._item)
        """Batches, and files for them."""
        self._tcp = _Tcp(self._answer)
        # By default it checks only twice a second whether to stop.
        self._thread = threading.Thread(target=self._tcp.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def anthropic_url(self) -> str:
        """Base URL for Anthropic's SDK."""
        host, port = self._tcp.server_address[:2]
        return f"http://{host!s}:{port}"

    @property
    def openai_url(self) -> str:
        """Base URL for OpenAI's SDK."""
        return f"{self.anthropic_url}/v1"

    @property
    def groq_url(self) -> str:
        """Base URL for OpenAI's SDK, with Groq's extensions."""
        return f"{self.anthropic_url}/openai/v1"

    def wait_for_disconnect(self, timeout_s: float = 10.0) -> bool:
        """Wait until a client disconnects before its reply is complete; False if none does."""
        return self._left.acquire(timeout=timeout_s)

    def check(self) -> None:
        """Fail if a step was not used, or if there was an unexpected request.

        Raises:
            AssertionError: With the problems and the rejected requests.
        """
        try:
            self._script.check()
        except AssertionError as exc:
            raise AssertionError("; refused: ".join([str(exc), *self.refused])) from None

    def close(self) -> None:
        """Close all connections and stop the server."""
        self._closing = True
        self._tcp.shutdown()
        self._tcp.disconnect()
        self._tcp.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close()
        if kind is None:  # otherwise that exception is the failure
            self.check()

    def _answer(self, exchange: _Exchange) -> None:
        wire: Any = fake_anthropic if "/messages" in exchange.path else fake_openai
        number = len(self.requests) + len(self.refused) + 1
        try:
            self._prepare(exchange, wire, number)()
        except _GONE:
            if not self._closing:
                self._left.release()

    def _prepare(self, exchange: _Exchange, wire: Any, number: int) -> Callable[[], None]:
        """Read a request and take a step. Returns a function that sends the response."""
        try:
            if BATCH_PATHS.fullmatch(exchange.path):
                return partial(exchange.send, 200, self._batched(exchange, wire), {})
            received = self._receive(exchange)
            step = self._next(received)
            fault = step if isinstance(step, Fault) else None
            reply = ScriptedReply(step) if isinstance(step, str) else step.reply if isinstance(step, Fault) else step
            if received.body.get("stream"):
                frames = list(_frames(wire, list(wire.events(reply, received, number, self._piece)), fault, number))
                return partial(exchange.stream, frames, fault)
            return partial(exchange.send, 200, wire.whole(reply, received, number), {}, fault)
        except RequestRefused as exc:
            refusal = exc.refusal
        except (AssertionError, LookupError, TypeError, ValueError) as exc:
            self._script.note(exc)
            refusal = Refusal(400, f"the script of the test is wrong: {exc!r}")  # a status that is not retried
        return partial(exchange.send, refusal.status, refusal.page or wire.failure(refusal, number), refusal.headers)

    def _batched(self, exchange: _Exchange, wire: Any) -> dict[str, Any] | str:
        headers, raw = _read(exchange)
        wire.check_headers(headers, self.key)
        return self.batches.respond(exchange.command, exchange.path, raw)

    def _item(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Respond to one request of a batch."""
        wire: Any = fake_anthropic if path.endswith("/messages") else fake_openai
        number = len(self.requests) + 1
        try:
            expect(not body.get("stream"), "stream: not supported in a batch")
            _check_body(path, body)
            received = ReceivedRequest(path, {}, body)
            step = self._next(received)
            if isinstance(step, Fault):
                raise TypeError("a request of a batch cannot go wrong on its way; use Refusal")
            return 200, wire.whole(ScriptedReply(step) if isinstance(step, str) else step, received, number)
        except RequestRefused as exc:
            return exc.refusal.status, wire.failure(exc.refusal, number)

    def _next(self, received: ReceivedRequest) -> str | ScriptedReply | Fault:
        """Take a step.

        Raises:
            RequestRefused: The step is a refusal.
            AssertionError: There is none.
            ValueError: The step is impossible for a server.
        """
        self.requests.append(received)
        taken = self._script.take(f"a request to {received.path}")
        step = taken(received) if callable(taken) else taken
        if isinstance(step, Refusal):
            raise RequestRefused(step)
        if isinstance(step, ScriptedReply) and step.error is not None:
            raise ValueError("a server cannot raise the error of a reply; use Fault")
        return step

    def _receive(self, exchange: _Exchange) -> ReceivedRequest:
        """Read and check a request.

        Raises:
            RequestRefused: It is invalid.
        """
        headers, raw = _read(exchange)
        try:
            return _check(exchange.path, headers, raw, self.key)
        except RequestRefused as exc:
            self.refused.append(str(exc))
            raise


def _read(exchange: _Exchange) -> tuple[dict[str, str], bytes]:
    headers = {name.lower(): value for name, value in exchange.headers.items()}
    return headers, exchange.rfile.read(int(headers.get("content-length", 0)))


def _check_body(path: str, body: dict[str, Any]) -> None:
    if path.endswith("/messages"):
        fake_anthropic.check(body)
    else:
        fake_openai.check(body, groq=fake_openai.is_groq(path))


def _check(path: str, headers: Mapping[str, str], raw: bytes, key: str) -> ReceivedRequest:
    known = _PATHS.fullmatch(path)
    expect(known is not None, f"Not found: {path}", status=404)
    anthropic = path.endswith("/messages")
    (fake_anthropic if anthropic else fake_openai).check_headers(headers, key)
    expect(headers.get("content-type", "").startswith("application/json"), "content-type: must be application/json")
    try:
        body = json.loads(raw)
    except ValueError:
        body = None
    expect(isinstance(body, dict), "The request body is not valid JSON")
    _check_body(path, body)
    return ReceivedRequest(path, headers, body)


def _frames(wire: Any, events: list[dict[str, Any]], fault: Fault | None, number: int) -> Iterator[str]:
    yield from map(wire.frame, events if fault is None else events[: fault.after])
    if fault is None:
        if wire is fake_openai:
            yield "data: [DONE]\n\n"
    elif fault.then == "malformed":
        yield f"event: content_block_delta\ndata: {_MALFORMED}\n\n"
    elif fault.then == "error":
        yield wire.frame(wire.failure(Refusal(529, "Overloaded"), number))


class _Exchange(BaseHTTPRequestHandler):
    """One request and its response. Connections are not reused, so that a disconnect belongs to one request."""

    protocol_version = "HTTP/1.1"
    server: _Tcp

    def do_POST(self) -> None:
        self.close_connection = True
        self.server.answer(self)

    def do_GET(self) -> None:
        self.do_POST()

    def end_headers(self) -> None:
        """Announce that the connection closes, so that no client reuses it."""
        self.send_header("connection", "close")
        super().end_headers()

    def send(self, status: int, body: dict[str, Any] | str, headers: Any, fault: Fault | None = None) -> None:
        """Send JSON, or a page."""
        if fault is not None and fault.then == "hold":
            self._hold()
        kind = "text/html; charset=utf-8" if isinstance(body, str) else "application/json"
        raw = (body if isinstance(body, str) else json.dumps(body)).encode()
        shown = raw if fault is None else raw[: len(raw) // 2]
        promised = raw if fault is not None and fault.then == "cut" else shown
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(promised)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(shown)

    def stream(self, frames: Iterable[str], fault: Fault | None) -> None:
        """Send events, each split in two, because the network may split them anywhere."""
        if fault is not None and fault.then == "hold" and fault.after == 0:
            self._hold()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for frame in frames:
            raw = frame.encode()
            self._chunk(raw[: len(raw) // 2])
            self._chunk(raw[len(raw) // 2 :])
        if fault is None or fault.then in ("end", "error", "malformed"):
            self._chunk(b"")
        elif fault.then == "hold":
            self._hold()

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _chunk(self, raw: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))

    def _hold(self) -> NoReturn:
        """Wait until the client disconnects.

        Raises:
            BrokenPipeError: It has.
        """
        self.connection.recv(1)
        raise BrokenPipeError


class _Tcp(socketserver.ThreadingTCPServer):
    """A thread per connection. All have ended when the server is closed."""

    # With the default of five, some of many simultaneous connections would be retried only after a second.
    request_queue_size = 256

    def __init__(self, answer: Callable[[_Exchange], None]) -> None:
        super().__init__(("127.0.0.1", 0), _Exchange)
        self.answer = answer
        self._connections: set[Any] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def disconnect(self) -> None:
        """Close all connections, whether or not their clients wait for something."""
        for connection in list(self._connections):
            with suppress(OSError):  # the client was faster
                connection.shutdown(socket.SHUT_RDWR)
