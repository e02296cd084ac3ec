"""A strict server on this machine that embeds over OpenAI's Embeddings, and refuses as told."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from openbook.testing.hash_embedder import HashEmbedder
from openbook.testing.script import Refusal
from openbook.testing.strictness import RequestRefused, expect

_MOST_TEXTS = 2_048


class EmbeddingServer:
    """Gives the vectors of `HashEmbedder` for every model. Leaving the context ends it.

    Example:
        with EmbeddingServer(Refusal(429)) as server:
            embedder = open_embedder(f"{server.url}#any", environ={"LLM_API_KEY": server.key})
    """

    def __init__(
        self,
        *refusals: Refusal | None,
        key: str = "key-of-the-embedding-server",
        longest: int = 100_000,
        reply: object = None,
    ) -> None:
        """Get ready.

        Args:
            refusals: Of the first requests that are right, in order; None answers one.
            key: The only one that is accepted.
            longest: Characters; a request with a longer text gets a 400.
            reply: What is sent in place of vectors.
        """
        self.key = key
        self.longest = longest
        self.requests: list[list[str]] = []
        """The texts of each request that was answered, in order."""
        self._refusals = list(refusals)
        self._reply = reply
        self._embedder = HashEmbedder()
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
                """Stay silent."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Exchange)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        """Base URL for OpenAI's SDK."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any, Mapping[str, str]]:
        """Give status, reply and headers of a response."""
        try:
            texts = self._read(path, {name.lower(): value for name, value in headers.items()}, json.loads(body))
        except RequestRefused as exc:
            return exc.refusal.status, {"error": {"message": str(exc)}}, exc.refusal.headers
        self.requests.append(texts)
        rows = [
            {"object": "embedding", "index": place, "embedding": vector.tolist()}
            for place, vector in enumerate(self._embedder.embed(texts))
        ]
        # Nothing says that they come in order.
        vectors = {"object": "list", "data": rows[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        return 200, vectors if self._reply is None else self._reply, {}

    def _read(self, path: str, headers: Mapping[str, str], body: Any) -> list[str]:
        expect(path == "/v1/embeddings", f"Not found: {path}", status=404)
        expect(headers.get("authorization") == f"Bearer {self.key}", "Incorrect API key", status=401)
        expect(set(body) <= {"model", "input", "encoding_format"}, "unknown fields")
        expect(isinstance(body.get("model"), str) and bool(body["model"]), "model: a string is needed")
        expect(body.get("encoding_format") == "float", "encoding_format: only float is known here")
        texts = body.get("input")
        expect(isinstance(texts, list) and 0 < len(texts) <= _MOST_TEXTS, "input: 1 to 2,048 texts")
        expect(all(isinstance(text, str) and text for text in texts), "input: no text may be empty")
        if self._refusals and (refusal := self._refusals.pop(0)):
            raise RequestRefused(refusal)
        expect(max(map(len, texts)) <= self.longest, "input is too large to process")
        return list(texts)
