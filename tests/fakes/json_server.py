"""The base of servers for vectors and scores: one JSON reply per request of texts."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from openbook.testing.script import Refusal
from openbook.testing.strictness import RequestRefused, expect


class JsonServer:
    """A local server. Leaving the context stops it. Subclasses define requests and replies."""

    def __init__(self, *refusals: Refusal | None, key: str, longest: int, reply: object = None) -> None:
        """Prepare the server; see the subclasses."""
        self.key = key
        self.longest = longest
        self.requests: list[list[str]] = []
        """The texts of each answered request, in order."""
        self._refusals = list(refusals)
        self._reply = reply
        server = self

        class Exchange(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                status, reply, headers = server.answer(self.path, dict(self.headers), body)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(reply).encode())

            def log_message(self, *_: object) -> None:
                """Log nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Exchange)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def address(self) -> str:
        """The address it listens on."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any, Mapping[str, str]]:
        """Return status, reply and headers of a response."""
        try:
            texts = self.read(path, {name.lower(): value for name, value in headers.items()}, json.loads(body))
            self._refuse()
            expect(max(map(len, texts)) <= self.longest, "input is too large to process")
        except RequestRefused as exc:
            return exc.refusal.status, {"error": {"message": str(exc)}}, exc.refusal.headers
        self.requests.append(texts)
        return 200, self.replied(path, texts) if self._reply is None else self._reply, {}

    def _refuse(self) -> None:
        if self._refusals and (refusal := self._refusals.pop(0)):
            raise RequestRefused(refusal)

    def read(self, path: str, headers: Mapping[str, str], body: Any) -> list[str]:
        """Check a request, and return its texts.

        Raises:
            RequestRefused: It is invalid.
        """
        raise NotImplementedError

    def replied(self, path: str, texts: list[str]) -> Any:
        """Return the reply to a valid request."""
        raise NotImplementedError
