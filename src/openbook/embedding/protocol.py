"""What the rest of Openbook may ask of an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors whose dot product says how close their meanings are.

    The same text gives the same vector whatever it is embedded together with, in every process.
    """

    @property
    def identity(self) -> str:
        """What an index remembers: another identity means vectors that cannot be compared."""

    @property
    def dim(self) -> int:
        """How many numbers a vector has."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 (len(texts), dim), in order: rows of unit length.

        A text that holds nothing the embedder knows, such as the empty one, gives a row of zeros.
        No text at all gives (0, dim).
        """
