"""A local reranker: a cross-encoder in ONNX format."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from openbook.errors import ModelError
from openbook.onnx_encoder import OWN_FILE, ModelFolder, OnnxEncoder


class CrossEncoder:
    """Scores texts by the single logit of a model. Implements `Reranker`.

    The score of a text is independent of the others in the call. Threads may share an instance; a forked process must
    load its own. Pickling stores only the path of the folder.
    """

    def __init__(self, path: Path) -> None:
        """Load a model; see `load_cross_encoder`."""
        self._path = path.expanduser().resolve()
        folder = ModelFolder(self._path, "reranker", "rerank")
        if not self._path.is_dir():
            raise folder.refused("there is no such folder", "name a folder with model.onnx and tokenizer.json")
        self._encoder = OnnxEncoder(folder)
        # Truncates the text, unless the question takes more than half of the input.
        self._encoder.tokenizer.enable_truncation(folder.max_tokens(), strategy="longest_first")
        self.weight = _weight(folder)
        """What a score counts when it is added to that of the first stage; 0: it replaces that."""
        try:
            self.scores("a", ["a", "a a"])
        except ModelError as exc:
            raise folder.refused(str(exc), "take a cross-encoder with one logit, such as those of MS MARCO") from exc

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._path,))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._path)!r})"

    @property
    def name(self) -> str:
        """`onnx:` and the name of the folder."""
        return f"onnx:{self._path.name}"

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the logit of each text, in their order.

        Raises:
            ModelError: The model fails.
        """
        asked = self._encoder.neutral(question)
        encode = self._encoder.tokenizer.encode
        # One at a time: a batch pads short texts to the longest, and quantized models round depending on the batch.
        pairs = [encode(asked, self._encoder.neutral(text)) for text in texts]
        return [float(self._encoder.logits([pair], 1)[0, 0]) for pair in pairs]


def _weight(folder: ModelFolder) -> float:
    found = folder.read_json(OWN_FILE).get("weight", 0.0)
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found) or found < 0:
        raise folder.refused(f"{OWN_FILE}: its weight is {found!r}", 'write "weight", a number from 0 up')
    return float(found)


@lru_cache(maxsize=2)  # a server opens several libraries; two models, for comparisons
def load_cross_encoder(path: Path) -> CrossEncoder:
    """Load the model of a folder, once per process. Nothing is fetched.

    The folder has `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`; `config.json` and `openbook.json` may say
    how many tokens it reads, and the second one what its scores weigh beside those of the first stage.

    Raises:
        SettingsError: There is no such folder, or no cross-encoder in it.
        MissingExtraError: The packages for it are not installed.
    """
    return CrossEncoder(path)
