"""The protocol of embedders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors whose dot product measures similarity of meaning.

    A text always gets the same vector, regardless of the batch and the process.
    """

    @property
    def identity(self) -> str:
        """Recorded in the index. Vectors of different identities cannot be compared."""

    @property
    def dim(self) -> int:
        """Number of dimensions."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 (len(texts), dim), in order, with rows of unit length.

        A text without anything the embedder knows, such as the empty text, gets a row of zeros.
        An empty list gives (0, dim).
        """
