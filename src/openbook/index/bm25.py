"""How well chunks and files hold the words of a question: BM25F in NumPy, on counts alone.

One saturation over all fields (Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple
weighted fields", CIKM 2004). A file is scored as a whole as well: the words of a topic are spread
over a file, and its best chunk alone does not show that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# Of path, names, context and body: how much an occurrence says, and how far a long field dilutes it.
_WEIGHTS = np.array([1.0, 1.5, 0.7, 1.0], dtype=np.float32)
_DILUTION = np.array([0.5, 0.3, 0.3, 0.7], dtype=np.float32)
_SATURATION = 1.0

# Of a file. Its path is short and chosen by a person; a word in it is worth more than three in the body.
_FILE_WEIGHTS = np.array([3.0, 2.0, 0.0, 1.0], dtype=np.float32)
_FILE_DILUTION = np.array([0.5, 0.5, 0.5, 0.75], dtype=np.float32)
_FILE_SATURATION = 4.0

# In a library of two chunks every absent word would outweigh all that are there. 30 and 300 do as well.
_FEWEST_CHUNKS = 100


def inverse_frequency(frequency: int, chunks: int) -> float:
    """Weigh a word by its rarity: the idf of BM25, never negative (Robertson and Zaragoza, 2009).

    Small libraries count as having a hundred chunks.
    """
    chunks = max(chunks, _FEWEST_CHUNKS)
    return math.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))


@dataclass(frozen=True, slots=True)
class FieldWeights:
    """What one occurrence of a word is worth in each field of each file."""

    occurrences: Floats
    """(n, 4)."""
    saturation: float

    def scores(self, places: NDArray[np.int64], counts: NDArray[np.generic]) -> Floats:
        """Score one word before its rarity: float32 (m,), from 0 to below 1.

        Args:
            places: (m,) rows of `occurrences`.
            counts: (m, 4) occurrences of the word there.
        """
        found = np.einsum("ij,ij->i", counts.astype(np.float32), self.occurrences.take(places, axis=0))
        return np.asarray(found / (self.saturation + found), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class ChunkWeights:
    """The same for chunks, by the length of a field: lengths may be mapped, and nothing is kept for each chunk."""

    lengths: NDArray[np.uint16]
    """(n, 4): words of each field."""
    worth: tuple[Floats, ...]
    """What one occurrence is worth in each field, by the length of the field."""

    def scores(self, places: NDArray[np.int64], counts: NDArray[np.generic]) -> Floats:
        """Score one word before its rarity. See `FieldWeights.scores`."""
        lengths = self.lengths.take(places, axis=0)
        found = np.zeros(len(places), dtype=np.float32)
        for field, worth in enumerate(self.worth):
            found += counts[:, field].astype(np.float32) * worth.take(lengths[:, field])
        return np.asarray(found / (_SATURATION + found), dtype=np.float32)


def chunk_weights(lengths: NDArray[np.uint16]) -> ChunkWeights:
    """Prepare chunks: `lengths` are the words of each field, (n, 4)."""
    if not len(lengths):
        return ChunkWeights(lengths, ())
    average = np.maximum(lengths.mean(axis=0), 1e-9).astype(np.float32)
    possible = np.arange(int(lengths.max()) + 1, dtype=np.float32)[:, None]
    worth = _WEIGHTS / (1 - _DILUTION + _DILUTION * possible / average)
    return ChunkWeights(lengths, tuple(np.ascontiguousarray(worth.T)))


def file_weights(lengths: Floats) -> FieldWeights:
    """Prepare files: `lengths` are the words of each field, (n, 4)."""
    return FieldWeights(_occurrences(lengths, _FILE_WEIGHTS, _FILE_DILUTION), _FILE_SATURATION)


def _occurrences(lengths: Floats, weights: Floats, dilution: Floats) -> Floats:
    if not len(lengths):
        return lengths
    average = np.maximum(lengths.mean(axis=0), 1e-9)
    worth: Floats = dilution * lengths
    worth /= average  # in place: of a million chunks, each array has 16 MB
    worth += 1 - dilution
    return np.divide(weights, worth, out=worth)
