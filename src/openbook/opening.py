"""Opens embedders and rerankers by the names used in settings and commands, and checks those of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from openbook.embedding.protocol import Embedder
from openbook.errors import PluginError
from openbook.plugins import open_plugin, plugins
from openbook.retrieval.reranking import Reranker
from openbook.settings import Settings

if TYPE_CHECKING:
    from openbook.embedding.protocol import Vectors

OFF = "off"
"""Disables a component, like the empty name."""

_ONNX = "onnx:"


class CheckedEmbedder:
    """An embedder from elsewhere, whose vectors are checked: an index stores NaN as numbers like any others."""

    def __init__(self, embedder: Embedder) -> None:
        """Take an embedder. Asks it for nothing yet.

        Raises:
            TypeError: It is none.
        """
        if not (isinstance(getattr(embedder, "identity", None), str) and callable(getattr(embedder, "embed", None))):
            raise TypeError(f"{embedder!r} is no embedder; it needs identity, dim and embed, see docs/extending.md")
        self._embedder = embedder

    @property
    def identity(self) -> str:
        """That of the embedder."""
        return self._embedder.identity

    @property
    def dim(self) -> int:
        """That of the embedder. A server may be asked for it."""
        return self._embedder.dim

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return its vectors as float32.

        Raises:
            PluginError: They are not one row of finite numbers for each text.
        """
        import numpy as np

        try:
            vectors = np.asarray(self._embedder.embed(texts), dtype=np.float32)
        except (TypeError, ValueError) as exc:
            raise self._error(f"what is no array of numbers ({exc})", texts) from exc
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise self._error(f"an array of the shape {vectors.shape}", texts)
        if not np.isfinite(vectors).all():
            raise self._error("NaN or infinity", texts)
        return vectors

    def _error(self, found: str, texts: Sequence[str]) -> PluginError:
        return PluginError(
            f"the embedder {self.identity!r} returned {found} for {len(texts)} texts",
            hint="`embed` returns one row of `dim` finite numbers for each text, see docs/extending.md",
        )


def checked_reranker(reranker: Reranker) -> Reranker:
    """Return the reranker.

    Raises:
        TypeError: It is none.
    """
    if isinstance(reranker, type) or not isinstance(reranker, Reranker):
        raise TypeError(f"{reranker!r} is no reranker; it needs name and scores, see docs/extending.md")
    return reranker


def open_reranker(name: str, settings: Settings) -> Reranker | None:
    """Open a reranker by name. Loads local models; uses no network.

    Args:
        name: `onnx:` with a folder or an installed model; `provider:model`; a URL with `#model`; `tei:` with a
            URL; or a plugin. Empty or `off`: none.
        settings: Where the home is.

    Raises:
        SettingsError: The name is unknown, or the model cannot be used.
        KeyMissingError: The provider needs a key.
        MissingExtraError: The packages it needs are not installed.
        PluginError: The plugin cannot be loaded, or failed.
    """
    if name in ("", OFF):
        return None
    if name.startswith(_ONNX):
        from openbook.grounding.installed_models import find_model
        from openbook.retrieval.cross_encoder import load_cross_encoder

        return load_cross_encoder(find_model(name.removeprefix(_ONNX), settings).resolve())
    if name.partition(":")[0] in plugins("rerankers"):
        return cast("Reranker", open_plugin("rerankers", name, checked_reranker))
    from openbook.llm.reranking import open_remote_reranker  # lazy: only needed for reranking

    return open_remote_reranker(name)


def embedder_of(given: Embedder | None, name: str) -> Embedder | None:
    """Return the embedder that is given, with its vectors checked, or else the one with a name; None without both.

    Raises what `open_embedder` and `CheckedEmbedder` raise.
    """
    if given is not None:
        return CheckedEmbedder(given)
    return open_embedder(name) if name else None


def open_embedder(name: str) -> Embedder:
    """Open an embedder by name. Uses no network.

    Raises:
        SettingsError: The name is unknown, or its provider has no embedders.
        KeyMissingError: The provider needs a key.
        MissingExtraError: The package `openai` is not installed.
        PluginError: The plugin cannot be loaded, or failed.
    """
    if name.partition(":")[0] in plugins("embedders"):
        return cast("Embedder", open_plugin("embedders", name, CheckedEmbedder))
    from openbook.llm.embeddings import open_remote_embedder  # lazy: the shipped model does not need it

    return open_remote_embedder(name)
