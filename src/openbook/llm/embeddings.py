"""An embedder that calls a server with OpenAI's Embeddings API. Texts are sent to that server."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from openbook.errors import BadRequestError, BadResponseError, SettingsError
from openbook.llm.choose import find_provider
from openbook.llm.encoding import json_safe
from openbook.llm.providers import Provider
from openbook.llm.retry import RetryPolicy
from openbook.llm.transport import ProviderClient
from openbook.settings import Secret

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

# Texts per request. OpenAI allows 2,048 texts and 300,000 tokens; a local server without GPU may need a minute for this
# many.
_TEXTS = 32
_CHARS = 30_000

# Characters per text. The largest chunk has a fifth of it. A model with a smaller limit rejects or truncates the text
# itself.
_MAX_CHARS = 8_192
_NAME_HINT = "use `provider:model`, such as openai:text-embedding-3-small or ollama:nomic-embed-text, or `http://host:port/v1#model`"

# Rejected texts are shortened and sent again, down to this length: models read at least 256 tokens.
_MIN_CHARS = 500

_WORD = re.compile(r"\w")

# A local server may have to load its model first.
_DEADLINE_S = 300.0


class RemoteEmbedder:
    """Embeds with a model on a server. Thread-safe."""

    def __init__(
        self, provider: Provider, model: str, *, key: Secret | None = None, retries: RetryPolicy | None = None
    ) -> None:
        """Configure a server and its model. Nothing is sent yet."""
        self._client = ProviderClient(provider, key, retries or RetryPolicy(), sdk="openai", kind="OpenAI")
        self._provider = provider
        self._model = model

    @property
    def identity(self) -> str:
        """`served:` and the model name: the same model has the same vectors on any server."""
        return f"served:{self._model}"

    @cached_property
    def dim(self) -> int:
        """The dimension of the vectors. Asks the server the first time."""
        return int(self._request(["dimension"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 (len(texts), dim) in order: rows of unit length, or zeros for a text without a word.

        A text is truncated after 8,192 characters, or earlier if the server requires it.
        """
        import numpy as np

        told = [place for place, text in enumerate(texts) if _WORD.search(text)]
        cut = [json_safe(texts[place][:_MAX_CHARS]) for place in told]
        parts = [self._request(cut[start:end]) for start, end in _requests(cut)]
        widths = {part.shape[1] for part in parts} or {self.dim}
        if len(widths) > 1:
            raise BadResponseError(f"{self._provider.name} sent vectors of {sorted(widths)} numbers")
        vectors = np.zeros((len(texts), widths.pop()), dtype=np.float32)
        if parts:
            vectors[told] = np.concatenate(parts)
        return vectors

    def _request(self, texts: list[str]) -> Vectors:
        """Embed texts with one request. If it is rejected, embed them one by one, shortened."""
        import numpy as np

        try:
            return self._read(self._post(texts), len(texts))
        except BadRequestError as exc:
            # Other errors do not depend on the texts. llama-server answers 500 for long ones.
            if exc.status not in (400, 413, 422, 500) or (len(texts) == 1 and len(texts[0]) <= _MIN_CHARS):
                raise
        if len(texts) > 1:
            return np.concatenate([self._request([text]) for text in texts])
        return self._request([texts[0][: max(len(texts[0]) // 2, _MIN_CHARS)]])

    def _post(self, texts: list[str]) -> Any:
        # By default the SDKs request base64, which small servers do not support.
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        return self._client.post("/embeddings", body, _DEADLINE_S)

    def _read(self, reply: Any, wanted: int) -> Vectors:
        import numpy as np

        rows = reply.get("data") if isinstance(reply, dict) else None
        try:
            placed = {row["index"]: row["embedding"] for row in rows or ()}
            vectors = np.array([placed[place] for place in range(wanted)], dtype=np.float32)
        except (KeyError, TypeError, ValueError, OverflowError):
            vectors = np.empty(0, dtype=np.float32)
        if vectors.ndim != 2 or not vectors.size or not np.isfinite(vectors).all():
            raise BadResponseError(f"{self._provider.name} sent no vectors for {wanted} texts")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def open_remote_embedder(
    name: str,
    *,
    environ: Mapping[str, str] | None = None,
    retries: RetryPolicy | None = None,
) -> RemoteEmbedder:
    """Open an embedder by its name: `provider:model`, or an address and `#model`. Sends nothing.

    Keys and addresses are looked up as for models.

    Raises:
        SettingsError: The name is unknown, or its provider has no embedders.
        KeyMissingError: The provider needs a key.
        MissingExtraError: The package `openai` is not installed.

    Example:
        >>> open_remote_embedder("ollama:nomic-embed-text").identity
        'served:nomic-embed-text'
    """
    try:
        provider, model, key = find_provider(name, environ=environ, what="embedder")
    except SettingsError as exc:
        raise SettingsError(str(exc), hint=_NAME_HINT) from exc
    # Without a model, the provider's chat model would be used.
    if provider.wire != "openai" or model == provider.model:
        raise SettingsError(f"embedder is {name!r}, which embeds nothing", hint=_NAME_HINT)
    return RemoteEmbedder(provider, model, key=key, retries=retries)


def _requests(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Split texts into requests, as half-open ranges of indices."""
    start = chars = 0
    for place, text in enumerate(texts):
        if place > start and (place - start >= _TEXTS or chars + len(text) > _CHARS):
            yield start, place
            start, chars = place, 0
        chars += len(text)
    if start < len(texts):
        yield start, len(texts)
