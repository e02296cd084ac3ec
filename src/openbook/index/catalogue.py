"""One state of a library in memory, shared by all engines: its chunks, and how well each matches a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from openbook.index.bm25 import chunk_weights, file_weights, inverse_frequency
from openbook.index.columns import NO_LESSON, Columns, gathered
from openbook.index.filters import filter_predicate
from openbook.index.postings import FIELDS, Postings
from openbook.index.protocol import Evidence, Matches
from openbook.memory import reuse_memory
from openbook.types import Filter, Lesson

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from openbook.index.bm25 import Floats
    from openbook.index.protocol import Vector

    Positions = NDArray[np.int64]
    Mask = NDArray[np.bool_]

# The largest signed byte. Each row is scaled by its own largest component, and only its direction is
# used, so the scale need not be stored. Costs less than .001 of cosine.
_INT8_MAX = 127.0

# Postings store ids as uint32. Ids are assigned once and increase, so no library comes near the limit.
HIGHEST_ID = (1 << 32) - 1
"""No chunk has this id."""

# Most tokens to score: the rarest ones tell what a long text is about.
_MAX_TOKENS = 48

# The best files contribute all their chunks, up to this many: the chunk that answers may use other words
# than the question. Measured on codebase-qa: Pass@20 93.0 without, 95.0 with.
_WHOLE_FILES = 5
_WHOLE_CHUNKS = 30

# Files that contribute at least their best chunk. 30 and 150 rank as well.
_CANDIDATE_FILES = 50


# Number of chunks with a word from which on pruning pays: checking first which of them can still reach the top. In a
# million chunks, a check takes as long as scoring 50,000, and finds nothing until the rarer words weigh twice the rest.
_FREQUENT = 20_000

# Pruning only pays if at most this share of the chunks can still reach the top.
_MAX_REACHABLE = 0.3

# Batch sizes for recording chunk positions and for summing file lengths.
_AT_ONCE, _FILES_AT_ONCE = 1 << 16, 1 << 13

# Memory that a search of a million chunks allocates and frees. Returning it to the system each time takes 6 of 40 ms.
_LARGE, _REUSED_BYTES = 1 << 17, 1 << 25

# Bound on the rounding error of single-precision sums.
_ROUNDING = 1 - 1e-5


def quantize(vectors: NDArray[np.float32]) -> bytes:
    """Quantize float32 (n, dim) to int8, row by row. Zero rows stay zero."""
    return _quantized(vectors).tobytes()


def dequantize(rows: bytes, chunks: int) -> NDArray[np.float32]:
    """Return quantized vectors as float32 (chunks, dim) of unit length; (0, 0) for none.

    Quantizing the result gives the same `rows`.
    """
    numbers = np.frombuffer(rows, dtype=np.int8).astype(np.float32).reshape(chunks, -1 if chunks else 0)
    lengths = np.linalg.norm(numbers, axis=1, keepdims=True)
    found: NDArray[np.float32] = np.divide(numbers, lengths, out=np.zeros_like(numbers), where=lengths > 0)
    return found


# The lower bits are the lesson number, the upper ones the part plus one; 0 means no part.
_PART_BIT = 20
_MAX_LESSON = (1 << _PART_BIT) - 1
_MAX_PART = (1 << (31 - _PART_BIT)) - 3


def pack_numbers(lessons: Sequence[Lesson | None]) -> bytes:
    """Pack the lesson number of each chunk, and its part."""
    return np.array([_packed_number(lesson) for lesson in lessons], dtype=np.int32).tobytes()


def _packed_number(lesson: Lesson | None) -> int:
    if lesson is None or lesson.number is None:
        return NO_LESSON
    part = 0 if lesson.part is None else min(lesson.part, _MAX_PART) + 1
    return min(lesson.number, _MAX_LESSON) + (part << _PART_BIT)


def _is_lesson(packed: NDArray[np.int32], where: Filter) -> NDArray[np.bool_]:
    number = Lesson("", where.lesson, part=where.part)
    held = packed if where.part is not None else np.where(packed == NO_LESSON, packed, packed & _MAX_LESSON)
    return np.equal(held, _packed_number(number))


def _quantized(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    peak = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    scaled = vectors * np.divide(_INT8_MAX, peak, out=np.zeros_like(peak), where=peak > 0)
    return np.asarray(np.rint(scaled), dtype=np.int8)


def checked_ids(ids: Positions) -> Positions:
    """Return the ids unchanged if postings can store them.

    Raises:
        ValueError: They are too large.
    """
    highest = int(ids.max(initial=0))
    if highest >= HIGHEST_ID:
        raise ValueError(f"a chunk has the id {highest}")
    return ids


@dataclass(frozen=True, slots=True)
class _Scores:
    """How well each chunk and each file matches the words of a question."""

    chunks: Floats
    files: Floats
    matched: NDArray[np.unsignedinteger[Any]]
    """Bit n is set for chunks that contain word n."""


class Catalogue:
    """Chunks in tie order: source, path, position. Chunks of a file are adjacent."""

    def __init__(self, columns: Columns, *, frequent: int = _FREQUENT) -> None:
        """Take the columns of all documents with chunks. Takes about 50 ms for a million chunks.

        Args:
            columns: Of all documents with chunks.
            frequent: Number of chunks with a word from which on only those that can reach the top are scored.
        """
        self._frequent = frequent
        self._columns = columns
        self._starts = columns.starts
        self._file_of = np.repeat(np.arange(len(columns.sizes), dtype=np.int32), columns.sizes)
        highest = int(checked_ids(columns.first_ids + columns.sizes - 1).max(initial=0))
        # Position plus one by id, 0 for deleted chunks; the last entry covers all ids above.
        self._places = np.zeros(highest + 2, dtype=np.int32)
        for start in range(0, len(columns), _AT_ONCE):  # in batches: for a million chunks, one pass takes 30 MB
            positions = np.arange(start, min(start + _AT_ONCE, len(columns)))
            self._places[self._ids_of(positions)] = positions + 1
        if len(columns) >= _LARGE:
            reuse_memory(_REUSED_BYTES)
        self._weights = chunk_weights(columns.lengths)
        self._file_weights = file_weights(self._lengths_of_files())

    def _lengths_of_files(self) -> Floats:
        lengths = self._columns.lengths
        if not len(lengths):
            return np.zeros((0, FIELDS), dtype=np.float32)
        sums = np.empty((len(self._columns.sizes), FIELDS), dtype=np.float32)
        for first in range(0, len(sums), _FILES_AT_ONCE):  # NumPy copies its summands to int64: 32 MB for a million
            last = min(first + _FILES_AT_ONCE, len(sums))
            starts, end = self._starts[first:last], self._starts[last]
            sums[first:last] = np.add.reduceat(lengths[starts[0] : end], starts - starts[0], axis=0, dtype=np.int64)
        sums[:, 0] = lengths[self._starts[:-1], 0]  # all chunks of a file have the same path, so count it once
        return sums

    def _ids_of(self, positions: Positions) -> Positions:
        files = self._file_of[positions]
        return np.asarray(self._columns.first_ids[files] + (positions - self._starts[files]), dtype=np.int64)

    def __len__(self) -> int:
        return len(self._file_of)

    @property
    def dim(self) -> int:
        """Return the number of dimensions; 0 without chunks."""
        return next((block.rows.shape[1] for block in self._columns.blocks), 0)

    def holds(self, ids: Sequence[int]) -> bool:
        """Return whether any of the ids belongs to a chunk."""
        return any(0 <= id_ < len(self._places) and self._places[id_] for id_ in ids)

    def rows(self, first_id: int, chunks: int) -> bytes:
        """Return the quantized vectors of a document."""
        return self._columns.rows(int(self._places[first_id]) - 1, chunks)

    def living(self, postings: Postings) -> tuple[Positions, NDArray[np.uint8]]:
        """Return positions and counts of the chunks that still exist."""
        places = self._places.take(postings.ids, mode="clip").astype(np.int64)
        counts = postings.counts
        if not places.all():
            there = places > 0
            places, counts = places[there], counts[there]
        places -= 1
        return places, counts

    def match(self, postings: Mapping[str, Postings], vector: Vector | None, k: int, where: Filter) -> Matches:
        """Score all chunks and return the evidence for the best. See `Index.match`."""
        found = {token: self.living(listed) for token, listed in postings.items()}
        frequencies = {token: len(positions) for token, (positions, _) in found.items() if len(positions)}
        tokens = sorted(frequencies, key=lambda token: (frequencies[token], token))[:_MAX_TOKENS]
        cosine, filled = self._cosines(vector)
        allowed = self._allowed(where)
        filled &= allowed
        nearest, median = _nearest(cosine, k, filled)
        scores = self._score([found[token] for token in tokens], k, nearest, allowed)
        holding = (scores.matched > 0) & allowed
        chosen = np.zeros(len(self), dtype=bool)
        chosen[_top(scores.chunks, k, holding)] = True
        chosen[nearest] = True
        for positions in self._from_files(scores, holding, holding | filled, k):
            chosen[positions] = True
        best = np.flatnonzero(chosen)
        files = self._file_of[best]
        sizes = self._starts[files + 1] - self._starts[files]
        columns = (
            self._ids_of(best),
            scores.chunks[best],
            scores.files[files],
            cosine[best],
            scores.matched[best],
            sizes,
        )
        return Matches(
            tokens=tuple(tokens),
            frequencies=frequencies,
            chunks=len(self),
            median_cosine=median,
            evidence=tuple(map(Evidence, *(column.tolist() for column in columns))),
        )

    def _score(
        self, found: list[tuple[Positions, NDArray[np.uint8]]], k: int, nearest: Positions, allowed: Mask
    ) -> _Scores:
        """Score words, rarest first: exactly for chunks that can be among the k best or are nearest by cosine."""
        scores = _Scores(
            np.zeros(len(self), dtype=np.float32),
            np.zeros(len(self._columns.sizes), dtype=np.float32),
            np.zeros(len(self), dtype=np.min_scalar_type((1 << len(found)) - 1)),  # smallest type, to fit the cache
        )
        rarities = [np.float32(inverse_frequency(len(positions), len(self))) for positions, _ in found]
        reach: Mask | None = None
        for bit, (positions, counts) in enumerate(found):
            rest = float(sum(rarities[bit:]))
            if reach is None and len(positions) >= self._frequent and 2 * rest < sum(rarities[:bit]):
                reach = self._reachable(scores, rest, k, nearest, allowed)
            if reach is not None:
                needed = reach.take(positions)
                positions, counts = positions[needed], counts[needed]
            scores.chunks[positions] += rarities[bit] * self._weights.scores(positions, counts)
            scores.matched[positions] |= 1 << bit
            files, by_file = self._by_file(positions, counts)
            scores.files[files] += rarities[bit] * self._file_weights.scores(files, by_file)
        return scores

    def _reachable(self, scores: _Scores, rest: float, k: int, nearest: Positions, allowed: Mask) -> Mask | None:
        """Return the chunks that can still reach the top; None for all.

        The remaining words add at most `rest` to a chunk or a file (Turtle and Flood, "Query evaluation: strategies and
        optimizations", 1995). If one chunk of a file can, all of them count.
        """
        holding = (scores.matched > 0) & allowed
        present = np.zeros(len(scores.files), dtype=bool)
        present[self._file_of[holding]] = True
        files = present.copy()
        for values, most, among in ((scores.chunks, k, holding), (scores.files, min(k, _CANDIDATE_FILES), present)):
            if not 0 < most <= np.count_nonzero(among):
                return None
            found = values[among]
            found.partition(len(found) - most)
            worst = found[len(found) - most]
            close = np.flatnonzero(values >= worst * _ROUNDING - rest)
            if len(close) > len(values) * _MAX_REACHABLE:
                return None
            if values is scores.chunks:
                files[:] = False
                files[self._file_of[close]] = True
            else:
                files[close] = True
        files[self._file_of[nearest]] = True
        return np.asarray(files[self._file_of])

    def _from_files(self, scores: _Scores, holding: Mask, usable: Mask, k: int) -> list[Positions]:
        """Select the best chunk of each of the k best files, and more chunks of the very best files."""
        present = np.zeros(len(self._columns.sizes), dtype=bool)
        present[self._file_of[holding]] = True
        chosen = []
        for rank, file in enumerate(_top(scores.files, min(k, _CANDIDATE_FILES), present).tolist()):
            start, end = self._starts[file], self._starts[file + 1]
            among = (usable if rank < _WHOLE_FILES else holding)[start:end]
            chosen.append(start + _top(scores.chunks[start:end], _WHOLE_CHUNKS if rank < _WHOLE_FILES else 1, among))
        return chosen

    def _allowed(self, where: Filter) -> Mask:
        check = filter_predicate(where)
        allowed = np.ones(len(self), dtype=bool)
        if check is not None:
            allowed = np.array([check(*file) for file in self._columns.names.keys], dtype=bool)[self._file_of]
        if where.lesson is None:
            return allowed
        lessons = self._columns.lessons
        return np.zeros(len(self), dtype=bool) if lessons is None else allowed & _is_lesson(lessons, where)

    def _by_file(self, positions: Positions, counts: NDArray[np.integer[Any]]) -> tuple[Positions, Floats]:
        """Return the files of some chunks, and their summed counts: (files, 4)."""
        file_of = self._file_of.take(positions)
        files = np.flatnonzero(np.bincount(file_of, minlength=len(self._columns.sizes)))
        sums = np.zeros((len(files), FIELDS), dtype=np.float32)
        for field in range(1, FIELDS):
            sums[:, field] = np.bincount(file_of, weights=counts[:, field])[files]
        # All chunks of a file have the same path, so count it once.
        paths = np.zeros(len(self._columns.sizes), dtype=np.float32)
        paths[file_of] = counts[:, 0]
        sums[:, 0] = paths[files]
        return files, sums

    def _cosines(self, vector: Vector | None) -> tuple[Floats, Mask]:
        """Return the cosine with every chunk, and which chunks have a vector."""
        if vector is None or not len(self) or not vector.any():
            return np.zeros(len(self), dtype=np.float32), np.zeros(len(self), dtype=bool)
        asked = _quantized(vector[None])
        length = np.linalg.norm(asked.astype(np.float32))
        parts = []
        for block in self._columns.blocks:
            part = block.products(asked)  # integers: equal rows have equal scores on every CPU
            for start in range(0, len(part), _AT_ONCE):  # in batches that fit into a core's cache
                of, norms = part[start : start + _AT_ONCE], block.norms[start : start + _AT_ONCE]
                np.divide(of, norms * length, out=of, where=norms > 0)
            parts.append(part)
        if self._columns.order is None:
            (cosine,), (block,) = parts, self._columns.blocks
            return cosine, block.norms > 0
        filled = np.concatenate([block.norms > 0 for block in self._columns.blocks])
        return gathered(parts, self._columns.order), filled[self._columns.order]


def _nearest(cosine: Floats, k: int, among: Mask) -> tuple[Positions, float]:
    """Return the result of `_top` and the median (0 if empty) from one copy: for a million chunks, each takes 4 MB.

    Not with `np.median` or `np.unique`: they import `numpy.ma`, which takes 8 ms.
    """
    values = cosine[among]
    if not len(values):
        return np.empty(0, dtype=np.int64), 0.0
    high = len(values) // 2
    values.partition(high)  # selecting both middle values takes ten times as long
    low = values[high] if len(values) % 2 else values[:high].max()
    median = float((low + values[high]) / 2)
    return _at_least(cosine, k, among, values[high:] if k <= len(values) - high else values), median


def _top(scores: Floats, k: int, among: Mask) -> Positions:
    """Return the positions of the k highest scores; ties go to the first."""
    return _at_least(scores, k, among, scores[among])


def _at_least(scores: Floats, k: int, among: Mask, values: Floats) -> Positions:
    """Return the positions of the k highest scores. `values` contains them, possibly with others, and is reordered."""
    if len(values) > k > 0:
        values.partition(len(values) - k)
        among = among & (scores >= values[len(values) - k])
    positions = np.flatnonzero(among)
    return positions[np.argsort(-scores[positions], kind="stable")[: max(k, 0)]]
