"""An embedder: how often each letter occurs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class LetterEmbedder:
    """Counts letters. `letters` or `letters:ANYTHING` names it; what follows the colon is passed to it."""

    dim = len(_LETTERS)

    def __init__(self, version: str) -> None:
        self.identity = f"letters:{version or 1}"  # a library that another identity has made is refused

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return float32 (len(texts), 26): rows of unit length, or of zeros."""
        counts = np.array([[text.lower().count(letter) for letter in _LETTERS] for text in texts], dtype=np.float32)
        counts = counts.reshape(len(texts), self.dim)
        counts /= np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1e-9)
        return counts
