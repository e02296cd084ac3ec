"""An embedder without a model."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openbook.embedding.protocol import Vectors

_WORD = re.compile(r"\w+")


class HashEmbedder:
    """Embeds texts by hashing their words: without a model or meaning, with the same vectors everywhere.

    Texts are similar as far as they share words, in any order and case.

    Example:
        >>> embedder = HashEmbedder()
        >>> a, b, c = embedder.embed(["the red fox", "a red fox", "tax law"])
        >>> bool(a @ b > 0.5 > a @ c)
        True
    """

    def __init__(self, dim: int = 64) -> None:
        """Build vectors of `dim` numbers. With fewer than 32, unrelated words become similar."""
        if dim < 1:
            raise ValueError(f"dim is {dim}, and must be positive")
        self._dim = dim

    @property
    def identity(self) -> str:
        """`hash-` and the number of dimensions."""
        return f"hash-{self._dim}"

    @property
    def dim(self) -> int:
        """The dimension of the vectors."""
        return self._dim

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 (len(texts), dim) in order: rows of unit length, or zeros without words."""
        import numpy as np

        sums = np.zeros((len(texts), self._dim))
        for row, text in enumerate(texts):
            for word in _WORD.findall(text.lower()):
                sums[row] += self._vector(word)
        # Sums are integers, so the length of a non-zero one is at least 1.
        lengths = np.sqrt(np.square(sums).sum(axis=1, keepdims=True))
        vectors: Vectors = (sums / np.maximum(lengths, 1.0)).astype(np.float32)
        return vectors

    def _vector(self, word: str) -> list[int]:
        return [2 * byte - 255 for byte in hashlib.shake_128(word.encode("utf-8", "replace")).digest(self._dim)]
