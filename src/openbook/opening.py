"""Open embedders and rerankers by the names that settings and commands take."""

from __future__ import annotations

from typing import cast

from openbook.embedding.protocol import Embedder
from openbook.plugins import open_plugin, plugins
from openbook.retrieval.reranking import Reranker
from openbook.settings import Settings

OFF = "off"
"""Names none, as the empty name does."""

_ONNX = "onnx:"


def open_reranker(name: str, settings: Settings) -> Reranker | None:
    """Open the reranker that a name means. A model on this machine is loaded; nothing is sent or fetched.

    Args:
        name: `onnx:` and a folder or a model of the home; `provider:model`; an address and `#model`; `tei:` and an
            address; a plugin. Empty or `off`: none.
        settings: They say where the home is.

    Raises:
        SettingsError: The name means nothing, or the model cannot be used.
        KeyMissingError: The provider needs a key.
        MissingExtraError: The packages for it are not installed.
        PluginError: The plugin of that name cannot be loaded, or failed.
    """
    if name in ("", OFF):
        return None
    if name.startswith(_ONNX):
        from openbook.grounding.installed_models import find_model
        from openbook.retrieval.cross_encoder import load_cross_encoder

        return load_cross_encoder(find_model(name.removeprefix(_ONNX), settings).resolve())
    if name.partition(":")[0] in plugins("rerankers"):
        return cast("Reranker", open_plugin("rerankers", name))
    from openbook.llm.reranking import open_remote_reranker  # who reranks nothing never pays for it

    return open_remote_reranker(name)


def open_embedder(name: str) -> Embedder:
    """Open the embedder that a name means. Nothing is sent.

    Args:
        name: `provider:model`, an address and `#model`, or a plugin.

    Raises:
        SettingsError: The name means nothing, or its provider has no embedders.
        KeyMissingError: The provider needs a key.
        MissingExtraError: The package `openai` is not installed.
        PluginError: The plugin of that name cannot be loaded, or failed.
    """
    if name.partition(":")[0] in plugins("embedders"):
        return cast("Embedder", open_plugin("embedders", name))
    from openbook.llm.embeddings import open_remote_embedder  # the shipped model never pays for it

    return open_remote_embedder(name)
