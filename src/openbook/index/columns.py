"""The scored data of all chunks, column by column.

Vectors take most of the space. They stay in place, in blocks that may be memory-mapped. Everything else is small and
rearranged for each state of a library.
"""

from __future__ import annotations

import mmap
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import simsimd

from openbook.index.postings import FIELDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Positions = NDArray[np.int64]
    Places = NDArray[np.int32]
    Rows = NDArray[np.int8]
    Floats = NDArray[np.float32]

# Lesson number of a chunk without a lesson; no filter can ask for it.
NO_LESSON = int(np.iinfo(np.int32).min)

# Rows of a mapped file to scan before releasing their pages: 8 MB at 256 dimensions.
_PART_ROWS = 1 << 15

# Rows per copy: 1 MB, held three times.
_COPIED_ROWS = 1 << 12

# Rows per gather.
_GATHERED_ROWS = 1 << 16

# Rows per computation of norms: converted to float, they fit into a core's cache.
_BLOCK_ROWS = 512

BETWEEN = "\0"
"""Separates packed names. No path contains it."""

FileKey = tuple[str, str, str, str]
"""Source, path, kind and course of a file."""


class DocumentRows(NamedTuple):
    """The scored columns of one document: field lengths, quantized vectors, lesson numbers."""

    source: str
    path: str
    kind: str
    course: str
    first_id: int
    """Ids of its chunks, consecutive in the order of their spans."""
    chunks: int
    lengths: bytes
    rows: bytes
    numbers: bytes
    """Empty if it has no lesson."""
    document_id: int = 0
    """Changes with each put of a document, in engines that update columns."""


class VectorBlock:
    """Consecutive vectors with their norms."""

    def __init__(self, rows: Rows, norms: Floats | None = None, mapped: mmap.mmap | None = None) -> None:
        """Take rows (n, dim).

        Args:
            rows: The vectors.
            norms: Their norms, if known.
            mapped: The file that begins with the rows, if they are mapped.
        """
        self.rows = rows
        self._norms = norms
        self._mapped = mapped

    @property
    def norms(self) -> Floats:
        """Return the norm of each row."""
        if self._norms is None:
            self._norms = self._of_each_part(norms_of)
        return self._norms

    def products(self, asked: Rows) -> Floats:
        """Return the dot product of each row with one vector, (1, dim): float32 (n,), exact for integers."""
        # Do not pass `out`: SimSIMD 6.5 then returns None without incrementing its reference count, which crashes a
        # server after enough searches.
        return self._of_each_part(
            lambda rows: np.asarray(simsimd.cdist(asked, rows, metric="dot", out_dtype="float32"))[0]
        )

    def _of_each_part(self, compute: Callable[[Rows], Floats]) -> Floats:
        """Compute something for all rows, part by part if they are mapped.

        The pages of each part are released afterwards, so a process never holds all vectors. The system caches them
        once for all processes, memory permitting, and the next search finds them there.
        """
        found = np.empty(len(self.rows), dtype=np.float32)
        step = len(self.rows) if self._mapped is None else _PART_ROWS
        for start in range(0, len(self.rows), max(step, 1)):
            found[start : start + step] = compute(self.rows[start : start + step])
            self.release(start, start + step)
        return found

    def release(self, start: int, end: int) -> None:
        """Release the pages of some rows, if they are mapped."""
        if self._mapped is not None and sys.platform != "win32":  # Windows has no madvise
            first, last = (min(row, len(self.rows)) * self.rows.shape[1] for row in (start, end))
            first -= first % mmap.PAGESIZE
            self._mapped.madvise(mmap.MADV_DONTNEED, first, last - first)


class Names:
    """The sorted keys of files, unpacked on demand: for 100,000 files they take 30 MB."""

    def __init__(
        self,
        keys: list[FileKey] | Callable[[], list[FileKey]],
        packed: Callable[[], bytes | bytearray | None] | None = None,
    ) -> None:
        """Take keys, or a function that makes them, and one that packs them into less memory, if available."""
        self._keys = keys
        self._packed = packed

    @classmethod
    def unpacked(cls, packed: bytes | bytearray | memoryview) -> Names:
        """Take packed keys."""
        return cls(lambda: _unpacked(packed), lambda: bytes(packed))

    @property
    def keys(self) -> list[FileKey]:
        if callable(self._keys):
            self._keys = self._keys()
        return self._keys

    def packed(self) -> bytes | bytearray:
        """Return all keys as bytes.

        Raises:
            ValueError: A name contains a null character.
        """
        if self._packed is not None and (made := self._packed()) is not None:
            return made
        names = list(chain.from_iterable(self.keys))
        packed = BETWEEN.join(names)
        if packed.count(BETWEEN) != max(len(names) - 1, 0):
            raise ValueError("a name has a null character")
        return packed.encode("utf-8", "surrogatepass")


def _unpacked(packed: bytes | bytearray | memoryview) -> list[FileKey]:
    flat = iter(bytes(packed).decode("utf-8", "surrogatepass").split(BETWEEN))
    one = dict[str, str]()  # interned: many files share source, kind and course

    def shared(name: str) -> str:
        return one.setdefault(name, name)

    return [
        (shared(source), path, shared(kind), shared(course))
        for source, path, kind, course in zip(flat, flat, flat, flat, strict=False)
    ]


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of documents, sorted by source and path. The chunks of a document are adjacent."""

    document_ids: Positions
    first_ids: Positions
    sizes: Positions
    """Chunks per document, at least one."""
    lengths: NDArray[np.uint16]
    """(n, 4): word counts per field."""
    lessons: NDArray[np.int32] | None
    """None if no chunk belongs to a lesson."""
    blocks: tuple[VectorBlock, ...]
    """Vectors, not necessarily in the order of the chunks."""
    order: Places | None
    """Row of each chunk's vector in the concatenated blocks; None if they are in the order of the chunks."""
    names: Names

    @cached_property
    def starts(self) -> Positions:
        """Return the first chunk of each document, then the number of chunks: (files + 1,)."""
        return _starts(self.sizes)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def ordered_rows(self) -> Iterator[Rows]:
        """Yield all vectors in the order of the chunks, a few thousand at a time."""
        for start in range(0, len(self), _COPIED_ROWS):
            yield self._rows(start, min(start + _COPIED_ROWS, len(self)))
            for block in self.blocks:
                block.release(0, len(block.rows))

    def rows(self, start: int, count: int) -> bytes:
        """Return the vectors of consecutive chunks."""
        return self._rows(start, start + count).tobytes()

    def _rows(self, start: int, end: int) -> Rows:
        places = np.arange(start, end, dtype=np.int32) if self.order is None else self.order[start:end]
        return gathered([block.rows for block in self.blocks], places)


def arranged(parts: Sequence[Columns], files: Positions) -> Columns:
    """Select documents from several parts, in a given order. The result shares its vectors with the parts.

    `files` are the indices of documents, numbered across all parts.
    """
    sizes = np.concatenate([part.sizes for part in parts])
    chunks = _ranges(_starts(sizes)[files], sizes[files])
    names = [part.names for part in parts]
    lessons = None
    if any(part.lessons is not None for part in parts):
        lessons = np.concatenate([_lesson_numbers(part) for part in parts])[chunks]
    return Columns(
        np.concatenate([part.document_ids for part in parts])[files],
        np.concatenate([part.first_ids for part in parts])[files],
        sizes[files],
        gathered([part.lengths for part in parts], chunks),
        lessons,
        tuple(block for part in parts for block in part.blocks),
        chunks,
        Names(lambda: _chosen(names, files)),
    )


def _chosen(names: Sequence[Names], files: Positions) -> list[FileKey]:
    keys = list(chain.from_iterable(part.keys for part in names))
    return [keys[file] for file in files.tolist()]


def _lesson_numbers(columns: Columns) -> NDArray[np.int32]:
    return np.full(len(columns), NO_LESSON, dtype=np.int32) if columns.lessons is None else columns.lessons


def updated(old: Columns, living: Positions, added: Columns) -> Columns:
    """Return the columns of the next state: without documents that are not in `living`, and with those added."""
    keys = old.names.keys
    kept = np.flatnonzero(np.isin(old.document_ids, living, assume_unique=True))
    held = [keys[file][:2] for file in kept.tolist()]
    places = [bisect_left(held, key[:2]) for key in added.names.keys]
    return arranged([old, added], np.insert(kept, places, np.arange(len(keys), len(keys) + len(places))))


def _starts(sizes: Positions) -> Positions:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _ranges(starts: Positions, sizes: Positions) -> Places:
    """Return the concatenated indices of all ranges."""
    ends = np.cumsum(sizes)
    found = np.arange(int(sizes.sum()), dtype=np.int32)
    found += np.repeat((starts - (ends - sizes)).astype(np.int32), sizes)
    return found


def gathered(parts: Sequence[NDArray[Any]], places: Places) -> NDArray[Any]:
    """Gather rows from arrays by their index in the concatenation, without concatenating them."""
    found = np.empty((len(places), *parts[0].shape[1:]), dtype=parts[0].dtype)
    firsts = np.cumsum([0, *map(len, parts)]).tolist()
    for start in range(0, len(places), _GATHERED_ROWS):
        wanted = places[start : start + _GATHERED_ROWS]
        lowest, highest = int(wanted.min()), int(wanted.max())
        for part, first, end in zip(parts, firsts, firsts[1:], strict=False):
            if first <= lowest and highest < end:
                found[start : start + len(wanted)] = part[wanted - first]
            elif first <= highest and lowest < end:
                here = (wanted >= first) & (wanted < end)
                found[start : start + len(wanted)][here] = part[wanted[here] - first]
    return found


def norms_of(rows: Rows) -> Floats:
    """Return the norm of each row, (n,)."""
    norms = np.zeros(len(rows), dtype=np.float32)
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = rows[start : start + _BLOCK_ROWS].astype(np.float32)
        np.einsum("ij,ij->i", block, block, out=norms[start : start + _BLOCK_ROWS])
    return np.sqrt(norms)


def columns_of(documents: Iterable[DocumentRows], take_rows: Callable[[bytes], object] | None = None) -> Columns:
    """Concatenate documents, which must be sorted by source and path.

    `take_rows` is called with the vectors of each document, which the result then leaves out.

    Raises:
        ValueError: The lengths of the columns do not match the number of chunks.
    """
    files: list[FileKey] = []
    numbers: list[tuple[int, int, int]] = []
    with_lessons: list[tuple[int, bytes]] = []
    lengths, rows = bytearray(), bytearray()  # they grow in place
    take_rows = take_rows or rows.extend
    for source, path, kind, course, first_id, chunks, packed_lengths, packed_rows, packed, document_id in documents:
        lengths += packed_lengths
        take_rows(packed_rows)
        if packed:
            with_lessons.append((len(files), packed))
        files.append((source, path, kind, course))
        numbers.append((document_id, first_id, chunks))
    document_ids, first_ids, sizes = np.array(numbers, dtype=np.int64).reshape(-1, 3).T.copy()
    starts = _starts(sizes)
    total = int(starts[-1])
    return Columns(
        document_ids,
        first_ids,
        sizes,
        np.frombuffer(lengths, dtype=np.uint16).reshape(total, FIELDS),
        lessons_of(with_lessons, starts),
        (VectorBlock(np.frombuffer(rows, dtype=np.int8).reshape(total, -1)),) if rows else (),
        None,
        Names(files),
    )


def lessons_of(packed: Sequence[tuple[int, bytes]], starts: Positions) -> NDArray[np.int32] | None:
    """Return the packed lesson numbers of all chunks; None if no document has any.

    `packed` has the lesson numbers of chunks by the index of their document; `starts` are the first chunks of
    documents.
    """
    if not packed:
        return None
    lessons = np.full(int(starts[-1]), NO_LESSON, dtype=np.int32)
    for file, numbers in packed:
        lessons[starts[file] : starts[file + 1]] = np.frombuffer(numbers, dtype=np.int32)
    return lessons
