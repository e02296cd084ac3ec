"""A reranker that calls a server with a `/rerank` API. The question and the texts are sent to that server."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from openbook.errors import BadRequestError, BadResponseError, SettingsError
from openbook.llm.choose import find_provider
from openbook.llm.encoding import json_safe
from openbook.llm.providers import LLAMACPP, VLLM, Provider
from openbook.llm.retry import RetryPolicy
from openbook.llm.transport import ProviderClient
from openbook.settings import Secret

# Texts per request: the default of TEI (`--max-client-batch-size`). A search sends 20.
_TEXTS = 32

# Characters per text. The largest chunk has a fifth of it. Rejected texts are shortened and sent again, down to the
# second value.
_MAX_CHARS = 8_192
_MIN_CHARS = 500

# A local server without GPU takes some seconds for 20 texts, and may have to load its model first. A search falls back
# to the order of the first stage, so there is only one retry.
_DEADLINE_S = 60.0
_ONE_RETRY = RetryPolicy(pauses_s=(1.0,))

# Paths and fields are from docs.cohere.com (API v2), api.jina.ai, docs.voyageai.com, and the source code of vLLM,
# llama.cpp and Text Embeddings Inference.
COHERE = Provider(name="cohere", url="https://api.cohere.com/v2", key="CO_API_KEY", needs_key=True)
JINA = Provider(name="jina", url="https://api.jina.ai/v1", key="JINA_API_KEY", needs_key=True)
VOYAGE = Provider(name="voyage", url="https://api.voyageai.com/v1", key="VOYAGE_API_KEY", needs_key=True)

RERANKERS: Mapping[str, Provider] = MappingProxyType({one.name: one for one in (COHERE, JINA, VOYAGE, VLLM, LLAMACPP)})

_TEI = "tei:"
_NAME_HINT = (
    f"use `provider:model` with one of {', '.join(RERANKERS)}, `http://host:port/v1#model`, `{_TEI}http://host:port`,"
    " `onnx:FOLDER`, or `off`"
)


@dataclass(frozen=True, slots=True)
class RerankWire:
    """The request format of a server. Response formats differ less, and are detected."""

    texts: str = "documents"
    """The field with the texts."""
    names_model: bool = True
    extras: tuple[tuple[str, object], ...] = ()
    """Constant fields with their values."""

    def body(self, model: str, question: str, texts: Sequence[str]) -> dict[str, object]:
        """Encode a request. All texts are scored, so no `top_n` is sent."""
        named = {"model": model} if self.names_model else {}
        return {**named, "query": question, self.texts: list(texts), **dict(self.extras)}


_COMMON = RerankWire()
_OF_TEI = RerankWire(texts="texts", names_model=False, extras=(("truncate", True),))
_WIRES: Mapping[str, RerankWire] = {
    JINA.name: RerankWire(extras=(("return_documents", False),)),  # otherwise it returns all texts
}


class RemoteReranker:
    """Scores with a model on a server. Thread-safe."""

    def __init__(
        self,
        provider: Provider,
        model: str,
        *,
        wire: RerankWire = _COMMON,
        key: Secret | None = None,
        retries: RetryPolicy | None = None,
    ) -> None:
        """Configure a server and its model. Nothing is sent yet."""
        self._client = ProviderClient(provider, key, retries or _ONE_RETRY, sdk="openai", kind="OpenAI")
        self._provider = provider
        self._model = model
        self._wire = wire

    @property
    def name(self) -> str:
        """`provider:model`, or the server's address and `#model`; for TEI, `tei:` and the address."""
        if not self._wire.names_model:
            return f"{_TEI}{self._provider.name}"
        return f"{self._provider.name}{'#' if '/' in self._provider.name else ':'}{self._model}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the score of each text, in order. Texts are truncated after 8,192 characters, or earlier."""
        found: list[float] = []
        for start in range(0, len(texts), _TEXTS):
            found += self._request(question[:_MAX_CHARS], texts[start : start + _TEXTS])
        return found

    def _request(self, question: str, texts: Sequence[str]) -> list[float]:
        """Score texts with one request. If it is rejected, send shorter ones."""
        most = min(_MAX_CHARS, max(map(len, texts)))
        while True:
            try:
                return self._read(self._post(question, [text[:most] for text in texts]), len(texts))
            except BadRequestError as exc:
                # Other errors do not depend on the texts. llama-server answers 500 for long ones.
                if exc.status not in (400, 413, 422, 500) or most <= _MIN_CHARS:
                    raise
            most = max(most // 2, _MIN_CHARS)

    def _post(self, question: str, texts: Sequence[str]) -> Any:
        # Some servers reject empty texts, whose score equals that of a blank one.
        body = json_safe(self._wire.body(self._model, question, [text or " " for text in texts]))
        return self._client.post("/rerank", body, _DEADLINE_S)

    def _read(self, reply: Any, wanted: int) -> list[float]:
        """Parse scores, best first: a list (TEI), `data` (Voyage), or `results` (all others)."""
        rows: Any = reply.get("results", reply.get("data")) if isinstance(reply, dict) else reply
        try:
            placed = {
                row["index"]: float(row["relevance_score"] if "relevance_score" in row else row["score"])
                for row in rows
            }
            scores = [placed[place] for place in range(wanted)]
        except (KeyError, TypeError, ValueError, OverflowError):
            scores = []
        if not scores or not all(map(math.isfinite, scores)):
            raise BadResponseError(
                f"{self._provider.name} sent no scores for {wanted} texts", hint="check that its model is a reranker"
            )
        return scores


def open_remote_reranker(
    name: str,
    *,
    environ: Mapping[str, str] | None = None,
    retries: RetryPolicy | None = None,
) -> RemoteReranker:
    """Open a reranker by its name: `provider:model`, an address and `#model`, or `tei:` and an address.

    Sends nothing. Keys are looked up as for models; a server named by its address gets `LLM_API_KEY`.

    Raises:
        SettingsError: The name is unknown.
        KeyMissingError: The provider needs a key.
        MissingExtraError: The package `openai` is not installed.

    Example:
        >>> open_remote_reranker("llamacpp:bge-reranker-v2-m3").name
        'llamacpp:bge-reranker-v2-m3'
    """
    is_tei = name.startswith(_TEI)
    # A TEI server has one model, which requests do not name.
    written = f"{name.removeprefix(_TEI).rstrip('/')}#tei" if is_tei else name
    try:
        provider, model, key = find_provider(written, environ=environ, known=RERANKERS, what="reranker")
    except SettingsError as exc:
        raise SettingsError(str(exc), hint=_NAME_HINT) from exc
    if is_tei and "/" not in provider.name:
        raise SettingsError(f"reranker is {name!r}, and an address must follow {_TEI!r}", hint=_NAME_HINT)
    wire = _OF_TEI if is_tei else _WIRES.get(provider.name, _COMMON)
    return RemoteReranker(provider, model, wire=wire, key=key, retries=retries)
