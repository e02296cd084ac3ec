"""A strict local server for `/rerank` APIs, with scripted refusals."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from openbook.testing.script import Refusal
from openbook.testing.strictness import expect, only
from tests.fakes.json_server import JsonServer

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Dialect:
    path: str
    texts: str = "documents"
    allowed: frozenset[str] = frozenset({"model", "top_n"})
    required: frozenset[str] = frozenset({"model"})
    rows: str = "results"
    """Field of the reply with the scores; empty if the reply is the scores."""
    score: str = "relevance_score"


# Fields as the references of the services name them, and as the sources of the servers read them. The first three
# refuse others. vLLM and llama.cpp take more, and Openbook sends none.
_DIALECTS: Mapping[str, _Dialect] = {
    "cohere": _Dialect("/v2/rerank", allowed=frozenset({"model", "top_n", "max_tokens_per_doc", "priority"})),
    "jina": _Dialect("/v1/rerank", allowed=frozenset({"model", "top_n", "return_documents"})),
    "voyage": _Dialect(
        "/v1/rerank", allowed=frozenset({"model", "top_k", "return_documents", "truncation"}), rows="data"
    ),
    "vllm": _Dialect("/v1/rerank"),
    "llamacpp": _Dialect("/v1/rerank", required=frozenset()),
    "tei": _Dialect(
        "/rerank",
        texts="texts",
        allowed=frozenset({"raw_scores", "return_text", "truncate", "truncation_direction"}),
        required=frozenset(),
        rows="",
        score="score",
    ),
}

DIALECTS = tuple(_DIALECTS)


class RerankServer(JsonServer):
    """Scores a text by the number of words that it shares with the question. Leaving the context stops it.

    Example:
        with RerankServer(Refusal(429), dialect="tei") as server:
            reranker = open_remote_reranker(server.name, environ={"LLM_API_KEY": server.key})
    """

    def __init__(
        self,
        *refusals: Refusal | None,
        dialect: str = "llamacpp",
        key: str = "key-of-the-rerank-server",
        longest: int = 100_000,
        reply: object = None,
    ) -> None:
        """Prepare the server.

        Args:
            refusals: Responses to the first valid requests, in order; None for a normal reply.
            dialect: The API to implement, one of `DIALECTS`.
            key: The only accepted key.
            longest: Maximum characters; a request with a longer text gets a 400.
            reply: Sent in place of scores.
        """
        super().__init__(*refusals, key=key, longest=longest, reply=reply)
        self.questions: list[str] = []
        """The questions of valid requests, in order."""
        self._dialect = _DIALECTS[dialect]

    @property
    def url(self) -> str:
        """Base URL of `/rerank`."""
        return self.address + self._dialect.path.removesuffix("/rerank")

    @property
    def name(self) -> str:
        """Value for `--reranker`."""
        return f"tei:{self.url}" if self._dialect.texts == "texts" else f"{self.url}#tiny"

    def read(self, path: str, headers: Mapping[str, str], body: Any) -> list[str]:
        """Check a request, and return its texts."""
        wire = self._dialect
        expect(path == wire.path, f"Not found: {path}", status=404)
        expect(headers.get("authorization") == f"Bearer {self.key}", "Incorrect API key", status=401)
        common = {"query", wire.texts}
        only(body, "", wire.allowed | common, required=wire.required | common)
        expect(isinstance(body["query"], str) and bool(body["query"]), "query: a string is needed")
        texts = body[wire.texts]
        expect(isinstance(texts, list) and bool(texts), f"{wire.texts}: at least one text")
        expect(all(isinstance(text, str) and text for text in texts), f"{wire.texts}: no text may be empty")
        self.questions.append(body["query"])
        return list(texts)

    def replied(self, path: str, texts: list[str]) -> Any:
        """Return the scores of a valid request, best first."""
        asked = set(_WORD.findall(self.questions[-1].lower()))
        shared = [len(asked & set(_WORD.findall(text.lower()))) for text in texts]
        rows = [{"index": place, self._dialect.score: float(score)} for place, score in enumerate(shared)]
        rows.sort(key=lambda row: (-row[self._dialect.score], row["index"]))
        return {"object": "list", self._dialect.rows: rows} if self._dialect.rows else rows
