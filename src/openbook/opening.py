"""Opens embedders and rerankers by the names used in settings and commands."""

from __future__ import annotations

from typing import cast

from openbook.embedding.protocol import Embedder
from openbook.plugins import open_plugin, plugins
from openbook.retrieval.reranking import Reranker
from openbook.settings import Settings

OFF = "off"
"""Disables a component, like the empty name."""

_ONNX = "onnx:"


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
        return cast("Reranker", open_plugin("rerankers", name))
    from openbook.llm.reranking import open_remote_reranker  # lazy: only needed for reranking

    return open_remote_reranker(name)


def open_embedder(name: str) -> Embedder:
    """Open an embedder by name. Uses no network.

    Raises:
        SettingsError: The name is unknown, or its provider has no embedders.
        KeyMissingError: The provider needs a key.
        MissingExtraError: The package `openai` is not installed.
        PluginError: The plugin cannot be loaded, or failed.
    """
    if name.partition(":")[0] in plugins("embedders"):
        return cast("Embedder", open_plugin("embedders", name))
    from openbook.llm.embeddings import open_remote_embedder  # lazy: the shipped model does not need it

    return open_remote_embedder(name)
