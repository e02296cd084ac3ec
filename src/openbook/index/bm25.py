"""BM25F scores of chunks and files, computed in NumPy from counts alone.

One saturation over all fields (Robertson, Zaragoza and Taylor, "Simple BM25 extension to multiple
weighted fields", CIKM 2004). Files are scored as a whole as well: the words of a topic are spread
over a file, so its best chunk alone does not show a match.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# Weight and length normalization of each chunk field: path, names, context, body.
_WEIGHTS = np.array([1.0, 1.5, 0.7, 1.0], dtype=np.float32)
_DILUTION = np.array([0.5, 0.3, 0.3, 0.7], dtype=np.float32)
_SATURATION = 1.0

# The same for files. A path is short and chosen by a person: a word in it counts as much as three in the body.
_FILE_WEIGHTS = np.array([3.0, 2.0, 0.0, 1.0], dtype=np.float32)
_FILE_DILUTION = np.array([0.5, 0.5, 0.5, 0.75], dtype=np.float32)
_FILE_SATURATION = 4.0

# Minimum library size for idf. In a library of two chunks, absent words would outweigh the words that match. 30 and
# 300 work as well.
_MIN_CHUNKS = 100


def inverse_frequency(frequency: int, chunks: int) -> float:
    """Return the idf of BM25, never negative (Robertson and Zaragoza, 2009).

    Small libraries count as having a hundred chunks.
    """
    chunks = max(chunks, _MIN_CHUNKS)
    return math.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))


@dataclass(frozen=True, slots=True)
class FileWeights:
    """The weight of one occurrence of a word in each field of each file."""

    occurrences: Floats
    """(n, 4)."""

    def scores(self, places: NDArray[np.int64], counts: NDArray[np.generic]) -> Floats:
        """Score one word before its idf is applied: float32 (m,), from 0 to below 1.

        `places` (m,) are rows of `occurrences`, `counts` (m, 4) the occurrences of the word there.
        """
        found = np.einsum("ij,ij->i", counts.astype(np.float32), self.occurrences.take(places, axis=0))
        return np.asarray(found / (_FILE_SATURATION + found), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class ChunkWeights:
    """Like `FileWeights`, for chunks. Weights are stored per field length, so lengths can stay memory-mapped."""

    lengths: NDArray[np.uint16]
    """(n, 4): words of each field."""
    worth: tuple[Floats, ...]
    """Weight of one occurrence in each field, by field length."""

    def scores(self, places: NDArray[np.int64], counts: NDArray[np.generic]) -> Floats:
        """Score one word before its idf is applied. See `FileWeights.scores`."""
        lengths = self.lengths.take(places, axis=0)
        found = np.zeros(len(places), dtype=np.float32)
        for field, worth in enumerate(self.worth):
            found += counts[:, field].astype(np.float32) * worth.take(lengths[:, field])
        return np.asarray(found / (_SATURATION + found), dtype=np.float32)


def chunk_weights(lengths: NDArray[np.uint16]) -> ChunkWeights:
    """Prepare chunks. `lengths` are the word counts per field, (n, 4)."""
    if not len(lengths):
        return ChunkWeights(lengths, ())
    average = np.maximum(lengths.mean(axis=0), 1e-9).astype(np.float32)
    possible = np.arange(int(lengths.max()) + 1, dtype=np.float32)[:, None]
    worth = _WEIGHTS / (1 - _DILUTION + _DILUTION * possible / average)
    return ChunkWeights(lengths, tuple(np.ascontiguousarray(worth.T)))


def file_weights(lengths: Floats) -> FileWeights:
    """Prepare files. `lengths` are the word counts per field, (n, 4)."""
    if not len(lengths):
        return FileWeights(lengths)
    average = np.maximum(lengths.mean(axis=0), 1e-9)
    worth: Floats = _FILE_DILUTION * lengths
    worth /= average  # in place: for a million chunks, each array takes 16 MB
    worth += 1 - _FILE_DILUTION
    return FileWeights(np.divide(_FILE_WEIGHTS, worth, out=worth))
