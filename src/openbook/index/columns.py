"""What is scored of all chunks, column by column.

Most of it are vectors. These stay where they are, in blocks, which may be files that are mapped; everything else is
small, and is put in order anew with each state of a library.
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

# Stands for the number of a chunk that is of no lesson; nobody can ask for it.
NO_LESSON = int(np.iinfo(np.int32).min)

# Rows of a mapped file that are looked at before their pages are let go: 8 MB of 256 dimensions.
_PART_ROWS = 1 << 15

# Rows that are copied at a time: 1 MB, which is there three times.
_COPIED_ROWS = 1 << 12

# Rows that are put in order at a time.
_GATHERED_ROWS = 1 << 16

# Rows whose lengths are computed at a time: as floats they stay in the cache of a core.
_BLOCK_ROWS = 512

BETWEEN = "\0"
"""Stands between names that are packed. No path has it."""

FileKey = tuple[str, str, str, str]
"""Source, path, kind and course of a file."""


class DocumentRows(NamedTuple):
    """The scored columns of one document: field lengths, quantized vectors, lesson numbers."""

    source: str
    path: str
    kind: str
    course: str
    first_id: int
    """Of its chunks, whose ids follow each other in the order of their spans."""
    chunks: int
    lengths: bytes
    rows: bytes
    numbers: bytes
    """Empty if it is of no lesson."""
    document_id: int = 0
    """Another one for each put of a document, in engines whose columns are updated."""


class VectorBlock:
    """Vectors one after the other, with their lengths."""

    def __init__(self, rows: Rows, norms: Floats | None = None, mapped: mmap.mmap | None = None) -> None:
        """Take rows (n, dim).

        Args:
            rows: The vectors.
            norms: Their lengths, if they are known.
            mapped: The file that the rows are the beginning of, if they are mapped.
        """
        self.rows = rows
        self._norms = norms
        self._mapped = mapped

    @property
    def norms(self) -> Floats:
        """Return the length of each row."""
        if self._norms is None:
            self._norms = self._of_each_part(norms_of)
        return self._norms

    def products(self, asked: Rows) -> Floats:
        """Return the product of each row with one vector, (1, dim): float32 (n,), whole numbers without rounding."""
        # Not with `out`: SimSIMD 6.5 then returns None without counting the reference, and the process ends when
        # a server has searched so often that none is left.
        return self._of_each_part(
            lambda rows: np.asarray(simsimd.cdist(asked, rows, metric="dot", out_dtype="float32"))[0]
        )

    def _of_each_part(self, compute: Callable[[Rows], Floats]) -> Floats:
        """Compute something of all rows, part by part where they are mapped.

        The pages of a part are let go with it, so a process never holds all vectors. The system keeps them, once for
        all processes, as long as it has room, and the next search finds them there.
        """
        found = np.empty(len(self.rows), dtype=np.float32)
        step = len(self.rows) if self._mapped is None else _PART_ROWS
        for start in range(0, len(self.rows), max(step, 1)):
            found[start : start + step] = compute(self.rows[start : start + step])
            self.let_go(start, start + step)
        return found

    def let_go(self, start: int, end: int) -> None:
        """Let the pages of some rows go, if they are mapped."""
        if self._mapped is not None and sys.platform != "win32":  # which has no such call
            first, last = (min(row, len(self.rows)) * self.rows.shape[1] for row in (start, end))
            first -= first % mmap.PAGESIZE
            self._mapped.madvise(mmap.MADV_DONTNEED, first, last - first)


class Names:
    """The keys of files in order, unpacked when somebody asks: a library of 100,000 files takes 30 MB for them."""

    def __init__(
        self,
        keys: list[FileKey] | Callable[[], list[FileKey]],
        packed: Callable[[], bytes | bytearray | None] | None = None,
    ) -> None:
        """Take keys, or what makes them, and what packs them in less memory, if it can."""
        self._keys = keys
        self._packed = packed

    @classmethod
    def unpacked(cls, packed: bytes | bytearray | memoryview) -> Names:
        """Take keys that have been packed."""
        return cls(lambda: _unpacked(packed), lambda: bytes(packed))

    @property
    def keys(self) -> list[FileKey]:
        if callable(self._keys):
            self._keys = self._keys()
        return self._keys

    def packed(self) -> bytes | bytearray:
        """Return all keys as bytes.

        Raises:
            ValueError: A name has a null character.
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
    one = dict[str, str]()  # most files share source, kind and course with many others

    def shared(name: str) -> str:
        return one.setdefault(name, name)

    return [
        (shared(source), path, shared(kind), shared(course))
        for source, path, kind, course in zip(flat, flat, flat, flat, strict=False)
    ]


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of documents, in the order of source and path. The chunks of each lie side by side."""

    document_ids: Positions
    first_ids: Positions
    sizes: Positions
    """Chunks of each document: one at least."""
    lengths: NDArray[np.uint16]
    """(n, 4): words of each field."""
    lessons: NDArray[np.int32] | None
    """None if no chunk is of a lesson."""
    blocks: tuple[VectorBlock, ...]
    """Vectors, not always in the order of the chunks."""
    order: Places | None
    """Where the vector of each chunk is in all blocks one after the other; None if they are in this order."""
    names: Names

    @cached_property
    def starts(self) -> Positions:
        """Return where the chunks of each document begin, and how many there are: (files + 1,)."""
        return _starts(self.sizes)

    def __len__(self) -> int:
        return int(self.starts[-1])

    def ordered_rows(self) -> Iterator[Rows]:
        """Return all vectors in the order of the chunks, some thousand at a time."""
        for start in range(0, len(self), _COPIED_ROWS):
            places = (
                np.arange(start, min(start + _COPIED_ROWS, len(self)))
                if self.order is None
                else (self.order[start : start + _COPIED_ROWS])
            )
            found = np.empty((len(places), self.blocks[0].rows.shape[1]), dtype=np.int8)
            for block in self.blocks:
                here = (places >= 0) & (places < len(block.rows))
                found[here] = block.rows[places[here]]
                places = places - len(block.rows)
            yield found
            for block in self.blocks:
                block.let_go(0, len(block.rows))

    def rows(self, start: int, count: int) -> bytes:
        """Return the vectors of some chunks of one document side by side."""
        places = np.arange(start, start + count) if self.order is None else self.order[start : start + count]
        found = []
        for block in self.blocks:
            found.append(block.rows[places[(places >= 0) & (places < len(block.rows))]].tobytes())
            places = places - len(block.rows)
        return b"".join(found)


def arranged(parts: Sequence[Columns], files: Positions) -> Columns:
    """Return the columns of some documents of some parts, in an order. Vectors are shared with the parts.

    Args:
        parts: Each with its vectors in the order of its chunks.
        files: Numbers of documents, all parts counted one after the other.
    """
    sizes = np.concatenate([part.sizes for part in parts])
    chunks = _stretches(_starts(sizes)[files], sizes[files])
    names = [part.names for part in parts]
    lessons = None
    if any(part.lessons is not None for part in parts):
        lessons = np.concatenate([_lessons_or_none(part) for part in parts])[chunks]
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


def _lessons_or_none(columns: Columns) -> NDArray[np.int32]:
    return np.full(len(columns), NO_LESSON, dtype=np.int32) if columns.lessons is None else columns.lessons


def updated(old: Columns, living: Positions, added: Columns) -> Columns:
    """Return the columns of another state: without the documents that are not among the living, with those added."""
    keys = old.names.keys
    kept = np.flatnonzero(np.isin(old.document_ids, living, assume_unique=True))
    held = [keys[file][:2] for file in kept.tolist()]
    places = [bisect_left(held, key[:2]) for key in added.names.keys]
    return arranged([old, added], np.insert(kept, places, np.arange(len(keys), len(keys) + len(places))))


def _starts(sizes: Positions) -> Positions:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _stretches(starts: Positions, sizes: Positions) -> Places:
    """Return the numbers of all stretches, one after the other."""
    ends = np.cumsum(sizes)
    found = np.arange(int(sizes.sum()), dtype=np.int32)
    found += np.repeat((starts - (ends - sizes)).astype(np.int32), sizes)
    return found


def gathered(parts: Sequence[NDArray[Any]], places: Places) -> NDArray[Any]:
    """Return rows of arrays by their places, which count on from one array to the next. The arrays are never joined."""
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
    """Return the length of each row, (n,)."""
    norms = np.zeros(len(rows), dtype=np.float32)
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = rows[start : start + _BLOCK_ROWS].astype(np.float32)
        np.einsum("ij,ij->i", block, block, out=norms[start : start + _BLOCK_ROWS])
    return np.sqrt(norms)


def columns_of(documents: Iterable[DocumentRows], take_rows: Callable[[bytes], object] | None = None) -> Columns:
    """Put documents side by side, which come in the order of source and path.

    Args:
        documents: Those with chunks.
        take_rows: Called with the vectors of each, which are left out then; they are kept in memory otherwise.

    Raises:
        ValueError: The columns are not as long as the chunks say.
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
    """Return the packed numbers of all chunks; None if no document has any.

    Args:
        packed: Number of a document, and those of its chunks.
        starts: Where the chunks of each document begin.
    """
    if not packed:
        return None
    lessons = np.full(int(starts[-1]), NO_LESSON, dtype=np.int32)
    for file, numbers in packed:
        lessons[starts[file] : starts[file + 1]] = np.frombuffer(numbers, dtype=np.int32)
    return lessons
