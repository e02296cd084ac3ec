"""A strict local server for OpenAI's Embeddings API, with scripted refusals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openbook.testing.hash_embedder import HashEmbedder
from openbook.testing.script import Refusal
from openbook.testing.strictness import expect
from tests.fakes.json_server import JsonServer

_MAX_TEXTS = 2_048


class EmbeddingServer(JsonServer):
    """Returns the vectors of `HashEmbedder` for every model. Leaving the context stops it.

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
        """Prepare the server.

        Args:
            refusals: Responses to the first valid requests, in order; None for a normal reply.
            key: The only accepted key.
            longest: Maximum characters; a request with a longer text gets a 400.
            reply: Sent in place of vectors.
        """
        super().__init__(*refusals, key=key, longest=longest, reply=reply)
        self._embedder = HashEmbedder()

    @property
    def url(self) -> str:
        """Base URL for OpenAI's SDK."""
        return f"{self.address}/v1"

    def replied(self, path: str, texts: list[str]) -> Any:
        """Return the vectors of a valid request."""
        rows = [
            {"object": "embedding", "index": place, "embedding": vector.tolist()}
            for place, vector in enumerate(self._embedder.embed(texts))
        ]
        # Nothing says that they come in order.
        return {"object": "list", "data": rows[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}

    def read(self, path: str, headers: Mapping[str, str], body: Any) -> list[str]:
        """Check a request, and return its texts."""
        expect(path == "/v1/embeddings", f"Not found: {path}", status=404)
        expect(headers.get("authorization") == f"Bearer {self.key}", "Incorrect API key", status=401)
        expect(set(body) <= {"model", "input", "encoding_format"}, "unknown fields")
        expect(isinstance(body.get("model"), str) and bool(body["model"]), "model: a string is needed")
        expect(body.get("encoding_format") == "float", "encoding_format: only float is known here")
        texts = body.get("input")
        expect(isinstance(texts, list) and 0 < len(texts) <= _MAX_TEXTS, "input: 1 to 2,048 texts")
        expect(all(isinstance(text, str) and text for text in texts), "input: no text may be empty")
        return list(texts)
