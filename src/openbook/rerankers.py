"""From the name of a reranker, as `OPENBOOK_RERANKER` and `--reranker` take it, to the reranker."""

from __future__ import annotations

from openbook.retrieval.reranking import Reranker
from openbook.settings import Settings

OFF = "off"
"""Names none, as the empty name does."""

_ONNX = "onnx:"


def open_reranker(name: str, settings: Settings) -> Reranker | None:
    """Open the reranker that a name means. A model on this machine is loaded; nothing is sent or fetched.

    Args:
        name: `onnx:` and a folder or a model of the home; `provider:model`; an address and `#model`; `tei:` and an
            address. Empty or `off`: none.
        settings: They say where the home is.

    Raises:
        SettingsError: The name means nothing, or the model cannot be used.
        KeyMissingError: The provider needs a key.
        MissingExtraError: The packages for it are not installed.
    """
    if name in ("", OFF):
        return None
    if name.startswith(_ONNX):
        from openbook.grounding.installed_models import find_model
        from openbook.retrieval.cross_encoder import load_cross_encoder

        return load_cross_encoder(find_model(name.removeprefix(_ONNX), settings).resolve())
    from openbook.llm.reranking import open_remote_reranker  # who reranks nothing never pays for it

    return open_remote_reranker(name)
