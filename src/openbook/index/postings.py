"""Which chunks hold a word, and how often in each field: sorted segments in tables of SQLite.

A commit adds a segment and never changes an old one. What has been deleted stays in its segment until
that is merged, so whoever looks a word up keeps the ids that are alive.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise, starmap
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from openbook.index.protocol import Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIELDS = len(Terms._fields)

# A row of the table: so many words, unless their postings are more. Rows of a few kilobytes make a
# look-up one step down the tree, and a segment of 20,000 words 300 rows.
_BLOCK_TOKENS = 64
_BLOCK_POSTINGS = 2048

# Every segment is one more place to look each word up, at about 20 microseconds.
_MOST_SEGMENTS = 8

# A merge holds what it merges in memory, about 25 bytes a posting, and puts so many in order at a time. A library of
# 100,000 chunks has 6 million; of what is larger than the limit, several segments stay.
_MOST_MERGED = 1 << 22
_MERGED_AT_ONCE = 1 << 18

_FIELD_BITS, _CHUNK_BITS = 2, 30
_LARGEST_COUNT = 255


class Postings(NamedTuple):
    """Where one word stands."""

    ids: NDArray[np.uint32]
    """Of the chunks that hold it, each once."""
    counts: NDArray[np.uint8]
    """(n, 4): how often it stands in path, names, context and body, 255 for more."""


class _Stretch(NamedTuple):
    """Words that follow each other in order, with their postings side by side."""

    words: list[str]
    ends: NDArray[np.int64]
    """Where the postings of each word end."""
    postings: Postings


class _Numbers(defaultdict[str, int]):
    """Numbers words as they come."""

    def __init__(self) -> None:
        super().__init__(self.__len__)

    def of(self, words: Iterable[str], count: int) -> NDArray[np.int64]:
        return np.fromiter(map(self.__getitem__, words), dtype=np.int64, count=count)

    def ranks(self) -> tuple[list[str], NDArray[np.int64]]:
        """Give the words in order, and the place of each number among them."""
        ordered = sorted(self)
        ranks = np.empty(len(ordered), dtype=np.int64)
        ranks[self.of(ordered, len(ordered))] = np.arange(len(ordered))
        return ordered, ranks


class Pending:
    """Words of chunks that are put within one transaction."""

    def __init__(self) -> None:
        self._numbers = _Numbers()
        self._tokens: list[NDArray[np.int64]] = []
        self._places: list[NDArray[np.int64]] = []
        self._first_id = 0

    def add(self, first_id: int, terms: Sequence[Terms]) -> NDArray[np.uint16]:
        """Take the words of chunks with consecutive ids. Gives the length of each field, (n, 4)."""
        if not self._tokens:
            self._first_id = first_id
        fields = list(chain.from_iterable(terms))
        lengths = [len(field) for field in fields]
        first_place = (first_id - self._first_id) << _FIELD_BITS
        self._tokens.append(self._numbers.of(chain.from_iterable(fields), sum(lengths)))
        self._places.append(np.repeat(np.arange(len(lengths), dtype=np.int64) + first_place, lengths))
        return np.minimum(lengths, np.iinfo(np.uint16).max).astype(np.uint16).reshape(-1, FIELDS)

    def write(self, connection: sqlite3.Connection) -> None:
        """Store all of it as a segment."""
        ordered, ranks = self._numbers.ranks()
        keys = ranks[np.concatenate(self._tokens)] << (_CHUNK_BITS + _FIELD_BITS) | np.concatenate(self._places)
        keys, repeats = np.unique(keys, return_counts=True)
        pairs, row = np.unique(keys >> _FIELD_BITS, return_inverse=True)
        counts = np.zeros((len(pairs), FIELDS), dtype=np.uint8)
        counts[row, keys & ((1 << _FIELD_BITS) - 1)] = np.minimum(repeats, _LARGEST_COUNT)
        ids = ((pairs & ((1 << _CHUNK_BITS) - 1)) + self._first_id).astype(np.uint32)
        ends = np.searchsorted(pairs >> _CHUNK_BITS, np.arange(len(ordered)), side="right")
        _write_segment(connection, [_Stretch(ordered, ends, Postings(ids, counts))])


def _write_segment(connection: sqlite3.Connection, stretches: Iterable[_Stretch]) -> None:
    """Store words, which come in order, as a segment of their own."""
    segment = connection.execute("INSERT INTO segments (postings) VALUES (0)").lastrowid
    total = 0
    for words, word_ends, (ids, counts) in stretches:
        ends = [0, *word_ends.tolist()]
        for first, last in _rows(ends):
            tokens, within = words[first:last], slice(ends[first], ends[last])
            row_ends = np.array(ends[first + 1 : last + 1], dtype=np.uint32) - np.uint32(ends[first])
            row = (" ".join(tokens), row_ends.tobytes(), ids[within].tobytes(), counts[within].tobytes())
            connection.execute("INSERT INTO postings VALUES (?, ?, ?, ?, ?, ?)", (segment, tokens[0], *row))
        total += ends[-1]
    connection.execute("UPDATE segments SET postings = ? WHERE id = ?", (total, segment))


def _rows(ends: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Divide words into rows of the table. The postings of word `n` are those from `ends[n]` to `ends[n + 1]`."""
    first = 0
    for word in range(1, len(ends) - 1):
        if word - first == _BLOCK_TOKENS or ends[word + 1] - ends[first] > _BLOCK_POSTINGS:
            yield first, word
            first = word
    if len(ends) > 1:
        yield first, len(ends) - 1


def look_up(connection: sqlite3.Connection, tokens: Iterable[str]) -> dict[str, Postings]:
    """Give the postings of each word, those of deleted chunks included."""
    segments = connection.execute("SELECT id FROM segments ORDER BY id").fetchall()
    return {token: _joined([_found(connection, segment, token) for (segment,) in segments]) for token in tokens}


def _found(connection: sqlite3.Connection, segment: int, token: str) -> Postings | None:
    row = connection.execute(
        "SELECT tokens, ends, ids, counts FROM postings WHERE segment = ? AND first_token <= ?"
        " ORDER BY first_token DESC LIMIT 1",
        (segment, token),
    ).fetchone()
    if row is None:
        return None
    tokens = row[0].split(" ")
    place = bisect_left(tokens, token)
    if place == len(tokens) or tokens[place] != token:
        return None
    ends = np.frombuffer(row[1], dtype=np.uint32)
    within = slice(ends[place - 1] if place else 0, ends[place])
    counts = np.frombuffer(row[3], dtype=np.uint8).reshape(-1, FIELDS)
    return Postings(np.frombuffer(row[2], dtype=np.uint32)[within], counts[within])


def _joined(found: Iterable[Postings | None]) -> Postings:
    parts = [part for part in found if part is not None]
    if len(parts) == 1:
        return parts[0]
    ids = [np.empty(0, dtype=np.uint32), *(part.ids for part in parts)]
    counts = [np.empty((0, FIELDS), dtype=np.uint8), *(part.counts for part in parts)]
    return Postings(np.concatenate(ids), np.concatenate(counts))


def mergeable(connection: sqlite3.Connection, *, every: bool) -> list[int]:
    """Name segments that are worth merging into one: at least two, or none.

    One that is larger than all smaller ones together stays as it is, so that what comes in small parts
    is not written again with each of them. Unless `every` one counts, a few are no reason to merge.
    """
    segments = connection.execute("SELECT postings, id FROM segments ORDER BY postings DESC, id").fetchall()
    if not every and len(segments) <= _MOST_SEGMENTS:
        return []
    rest = sum(size for size, _ in segments)
    for place, (size, _) in enumerate(segments[:-1]):
        if size <= rest - size and rest <= _MOST_MERGED:
            return [id_ for _, id_ in segments[place:]]
        rest -= size
    return []


def merge(connection: sqlite3.Connection, segments: Sequence[int], alive: NDArray[np.int64]) -> None:
    """Put one segment in the place of several, dropping what is not in `alive`."""
    _write_segment(connection, _merged(connection, segments, alive))
    for segment in segments:
        connection.execute("DELETE FROM postings WHERE segment = ?", (segment,))
        connection.execute("DELETE FROM segments WHERE id = ?", (segment,))


def _merged(connection: sqlite3.Connection, segments: Sequence[int], alive: NDArray[np.int64]) -> Iterator[_Stretch]:
    # One entry for each id up to the highest, and one that stands for all above it.
    lives = np.zeros(int(alive.max(initial=-1)) + 2, dtype=bool)
    lives[np.asarray(alive, dtype=np.int64)] = True
    vocabulary, words, sizes, (ids, counts) = _read(connection, segments)
    starts = np.cumsum(sizes) - sizes
    order = np.argsort(words, kind="stable")
    words, starts, sizes = words[order], starts[order], sizes[order]
    for part in _parts(words, sizes):
        lengths = sizes[part]
        places = np.arange(lengths.sum()) + np.repeat(starts[part] - (np.cumsum(lengths) - lengths), lengths)
        kept = lives[np.minimum(ids[places], len(lives) - 1)]
        held, repeats = np.unique(np.repeat(words[part], lengths)[kept], return_counts=True)
        places = places[kept]
        yield _Stretch([vocabulary[word] for word in held], np.cumsum(repeats), Postings(ids[places], counts[places]))


def _read(
    connection: sqlite3.Connection, segments: Sequence[int]
) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64], Postings]:
    """Give the words of segments in order; then, as it is stored, which word comes and how many postings it has."""
    tokens: list[str] = []
    firsts: list[int] = []
    ends, ids, counts = bytearray(), bytearray(), bytearray()
    for segment in segments:
        for row in connection.execute("SELECT tokens, ends, ids, counts FROM postings WHERE segment = ?", (segment,)):
            tokens.append(row[0])
            firsts.append(len(ends) // 4)
            ends += row[1]
            ids += row[2]
            counts += row[3]
    until = np.frombuffer(ends, dtype=np.uint32).astype(np.int64)
    sizes = np.diff(until, prepend=0)
    sizes[firsts] = until[firsts]
    numbers = _Numbers()
    words = numbers.of(chain.from_iterable(row.split(" ") for row in tokens), len(sizes))
    vocabulary, ranks = numbers.ranks()
    postings = Postings(np.frombuffer(ids, dtype=np.uint32), np.frombuffer(counts, dtype=np.uint8).reshape(-1, FIELDS))
    return vocabulary, ranks[words], sizes, postings


def _parts(words: NDArray[np.int64], sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Divide words, which come in order, after so many postings, but never between equal ones."""
    ends = np.cumsum(sizes)
    full = np.searchsorted(ends, np.arange(_MERGED_AT_ONCE, sizes.sum(), _MERGED_AT_ONCE))
    borders = np.unique([0, *np.searchsorted(words, words[full]), len(words)])
    return starmap(slice, pairwise(borders.tolist()))
