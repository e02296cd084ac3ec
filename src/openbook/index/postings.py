"""Which chunks hold a word, and how often in each field: sorted segments in tables of SQLite.

A commit adds a segment and never changes an old one. What has been deleted stays in its segment until
that is merged, so whoever looks a word up keeps the ids that are alive.
"""

from __future__ import annotations

import heapq
import sqlite3
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
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

_FIELD_BITS, _CHUNK_BITS = 2, 30
_LARGEST_COUNT = 255


class Postings(NamedTuple):
    """Where one word stands."""

    ids: NDArray[np.uint32]
    """Of the chunks that hold it, each once."""
    counts: NDArray[np.uint8]
    """(n, 4): how often it stands in path, names, context and body, 255 for more."""


class Pending:
    """Words of chunks that are put within one transaction."""

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._tokens: list[NDArray[np.int64]] = []
        self._places: list[NDArray[np.int64]] = []
        self._first_id = 0

    def add(self, first_id: int, terms: Sequence[Terms]) -> NDArray[np.uint16]:
        """Take the words of chunks with consecutive ids. Gives the length of each field, (n, 4)."""
        if not self._tokens:
            self._first_id = first_id
        lengths = [len(field) for chunk in terms for field in chunk]
        words = (token for chunk in terms for field in chunk for token in field)
        numbers = np.fromiter(map(self._numbers.__getitem__, words), dtype=np.int64, count=sum(lengths))
        first_place = (first_id - self._first_id) << _FIELD_BITS
        self._tokens.append(numbers)
        self._places.append(np.repeat(np.arange(len(lengths), dtype=np.int64) + first_place, lengths))
        return np.minimum(lengths, np.iinfo(np.uint16).max).astype(np.uint16).reshape(-1, FIELDS)

    def write(self, connection: sqlite3.Connection) -> None:
        """Store all of it as a segment."""
        ordered = sorted(self._numbers)
        rank = np.empty(len(ordered), dtype=np.int64)
        rank[[self._numbers[token] for token in ordered]] = np.arange(len(ordered))
        keys = rank[np.concatenate(self._tokens)] << (_CHUNK_BITS + _FIELD_BITS) | np.concatenate(self._places)
        keys, repeats = np.unique(keys, return_counts=True)
        pairs, row = np.unique(keys >> _FIELD_BITS, return_inverse=True)
        counts = np.zeros((len(pairs), FIELDS), dtype=np.uint8)
        counts[row, keys & ((1 << _FIELD_BITS) - 1)] = np.minimum(repeats, _LARGEST_COUNT)
        ids = ((pairs & ((1 << _CHUNK_BITS) - 1)) + self._first_id).astype(np.uint32)
        ends = np.searchsorted(pairs >> _CHUNK_BITS, np.arange(len(ordered)), side="right").tolist()
        starts = [0, *ends][:-1]  # of no words, none
        words = (
            (token, Postings(ids[start:end], counts[start:end]))
            for token, start, end in zip(ordered, starts, ends, strict=True)
        )
        _write_segment(connection, words)


def _write_segment(connection: sqlite3.Connection, words: Iterable[tuple[str, Postings]]) -> None:
    """Store words, which come in order, as a segment of their own."""
    segment = connection.execute("INSERT INTO segments (postings) VALUES (0)").lastrowid
    total = 0
    for tokens, blocks in _blocks(words):
        ends = np.cumsum([len(block.ids) for block in blocks], dtype=np.uint32)
        total += int(ends[-1])
        ids = np.concatenate([block.ids for block in blocks])
        counts = np.concatenate([block.counts for block in blocks])
        row = (segment, tokens[0], " ".join(tokens), ends.tobytes(), ids.tobytes(), counts.tobytes())
        connection.execute("INSERT INTO postings VALUES (?, ?, ?, ?, ?, ?)", row)
    connection.execute("UPDATE segments SET postings = ? WHERE id = ?", (total, segment))


def _blocks(words: Iterable[tuple[str, Postings]]) -> Iterator[tuple[list[str], list[Postings]]]:
    tokens: list[str] = []
    blocks: list[Postings] = []
    size = 0
    for token, postings in words:
        if tokens and (len(tokens) == _BLOCK_TOKENS or size + len(postings.ids) > _BLOCK_POSTINGS):
            yield tokens, blocks
            tokens, blocks, size = [], [], 0
        tokens.append(token)
        blocks.append(postings)
        size += len(postings.ids)
    if tokens:
        yield tokens, blocks


def look_up(connection: sqlite3.Connection, token: str) -> Postings:
    """Give the postings of a word, those of deleted chunks included."""
    found = []
    for (segment,) in connection.execute("SELECT id FROM segments ORDER BY id").fetchall():
        row = connection.execute(
            "SELECT tokens, ends, ids, counts FROM postings WHERE segment = ? AND first_token <= ?"
            " ORDER BY first_token DESC LIMIT 1",
            (segment, token),
        ).fetchone()
        if row is None:
            continue
        tokens = row[0].split(" ")
        place = bisect_left(tokens, token)
        if place < len(tokens) and tokens[place] == token:
            found.append(next(_unpacked(row[1:], range(place, place + 1))))
    return _joined(found)


def _unpacked(row: tuple[bytes, bytes, bytes], places: Iterable[int]) -> Iterator[Postings]:
    ends = (0, *np.frombuffer(row[0], dtype=np.uint32).tolist())
    ids = np.frombuffer(row[1], dtype=np.uint32)
    counts = np.frombuffer(row[2], dtype=np.uint8).reshape(-1, FIELDS)
    for place in places:
        within = slice(ends[place], ends[place + 1])
        yield Postings(ids[within], counts[within])


def _joined(parts: Sequence[Postings]) -> Postings:
    if len(parts) == 1:
        return parts[0]
    ids = [np.empty(0, dtype=np.uint32), *(part.ids for part in parts)]
    counts = [np.empty((0, FIELDS), dtype=np.uint8), *(part.counts for part in parts)]
    return Postings(np.concatenate(ids), np.concatenate(counts))


def mergeable(connection: sqlite3.Connection, *, every: bool) -> list[int]:
    """Name the segments that are worth merging: `every` one, or all but the largest if there are many."""
    segments = [id_ for (id_,) in connection.execute("SELECT id FROM segments ORDER BY postings DESC, id")]
    if every:
        return segments
    return segments[1:] if len(segments) > _MOST_SEGMENTS else []


def merge(connection: sqlite3.Connection, segments: Sequence[int], alive: NDArray[np.int64]) -> None:
    """Put one segment in the place of several, dropping what is not in `alive`."""
    _write_segment(connection, _merged([_words(connection, segment) for segment in segments], alive))
    for segment in segments:
        connection.execute("DELETE FROM postings WHERE segment = ?", (segment,))
        connection.execute("DELETE FROM segments WHERE id = ?", (segment,))


def _words(connection: sqlite3.Connection, segment: int) -> Iterator[tuple[str, Postings]]:
    sql = "SELECT tokens, ends, ids, counts FROM postings WHERE segment = ? ORDER BY first_token"
    for tokens, *row in connection.execute(sql, (segment,)):
        words = tokens.split(" ")
        yield from zip(words, _unpacked(tuple(row), range(len(words))), strict=True)


def _merged(
    streams: Sequence[Iterator[tuple[str, Postings]]], alive: NDArray[np.int64]
) -> Iterator[tuple[str, Postings]]:
    # One entry for each id up to the highest, and one that stands for all above it.
    lives = np.zeros(int(alive.max(initial=-1)) + 2, dtype=bool)
    lives[np.asarray(alive, dtype=np.int64)] = True
    for token, parts in groupby(heapq.merge(*streams, key=itemgetter(0)), key=itemgetter(0)):
        ids, counts = _joined([postings for _, postings in parts])
        kept = lives[np.minimum(ids, len(lives) - 1)]
        if kept.any():
            yield token, Postings(ids[kept], counts[kept])
