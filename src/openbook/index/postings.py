"""An inverted index in immutable, sorted segments, as Lucene has them, for every engine.

Each commit adds a segment. Deleted chunks stay in their segments until these are merged, so whoever looks up
a term filters by the ids that are alive.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise, starmap
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from openbook.index.protocol import Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

Name = TypeVar("Name")

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
    """The postings of one term: chunk ids and counts per field."""

    ids: NDArray[np.uint32]
    """Of the chunks that hold it, each once."""
    counts: NDArray[np.uint8]
    """(n, 4): how often it stands in path, names, context and body, 255 for more."""


class PackedTerms(NamedTuple):
    """A packed, sorted run of terms of one segment: one row of a table."""

    first_token: str
    tokens: str
    """With spaces between, in order."""
    ends: bytes
    """uint32: where the postings of each word end."""
    ids: bytes
    """uint32."""
    counts: bytes
    """uint8, four to an id."""


class TermRange(NamedTuple):
    """A sorted range of terms with their postings."""

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
        """Return the words in order, and the place of each number among them."""
        ordered = sorted(self)
        ranks = np.empty(len(ordered), dtype=np.int64)
        ranks[self.of(ordered, len(ordered))] = np.arange(len(ordered))
        return ordered, ranks


class PostingsBuilder:
    """Collect the postings of one transaction."""

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

    def stretch(self) -> TermRange:
        """Return all of it, with the words in order."""
        ordered, ranks = self._numbers.ranks()
        keys = ranks[np.concatenate(self._tokens)] << (_CHUNK_BITS + _FIELD_BITS) | np.concatenate(self._places)
        keys, repeats = np.unique(keys, return_counts=True)
        pairs, row = np.unique(keys >> _FIELD_BITS, return_inverse=True)
        counts = np.zeros((len(pairs), FIELDS), dtype=np.uint8)
        counts[row, keys & ((1 << _FIELD_BITS) - 1)] = np.minimum(repeats, _LARGEST_COUNT)
        ids = ((pairs & ((1 << _CHUNK_BITS) - 1)) + self._first_id).astype(np.uint32)
        ends = np.searchsorted(pairs >> _CHUNK_BITS, np.arange(len(ordered)), side="right")
        return TermRange(ordered, ends, Postings(ids, counts))


def pack_rows(stretches: Iterable[TermRange]) -> Iterator[PackedTerms]:
    """Pack words, which come in order, into the rows of a segment."""
    for words, word_ends, (ids, counts) in stretches:
        ends = [0, *word_ends.tolist()]
        for first, last in _rows(ends):
            within = slice(ends[first], ends[last])
            row_ends = np.array(ends[first + 1 : last + 1], dtype=np.uint32) - np.uint32(ends[first])
            yield PackedTerms(
                words[first],
                " ".join(words[first:last]),
                row_ends.tobytes(),
                ids[within].tobytes(),
                counts[within].tobytes(),
            )


def _rows(ends: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Divide words into rows of the table. The postings of word `n` are those from `ends[n]` to `ends[n + 1]`."""
    first = 0
    for word in range(1, len(ends) - 1):
        if word - first == _BLOCK_TOKENS or ends[word + 1] - ends[first] > _BLOCK_POSTINGS:
            yield first, word
            first = word
    if len(ends) > 1:
        yield first, len(ends) - 1


def unpack(row: PackedTerms, token: str) -> Postings | None:
    """Return the postings of a word; None if it is not in the row where it would be."""
    tokens = row.tokens.split(" ")
    place = bisect_left(tokens, token)
    if place == len(tokens) or tokens[place] != token:
        return None
    ends = np.frombuffer(row.ends, dtype=np.uint32)
    within = slice(ends[place - 1] if place else 0, ends[place])
    counts = np.frombuffer(row.counts, dtype=np.uint8).reshape(-1, FIELDS)
    return Postings(np.frombuffer(row.ids, dtype=np.uint32)[within], counts[within])


def merge_postings(found: Iterable[Postings | None]) -> Postings:
    """Join the postings of one term from several segments."""
    parts = [part for part in found if part is not None]
    if len(parts) == 1:
        return parts[0]
    ids = [np.empty(0, dtype=np.uint32), *(part.ids for part in parts)]
    counts = [np.empty((0, FIELDS), dtype=np.uint8), *(part.counts for part in parts)]
    return Postings(np.concatenate(ids), np.concatenate(counts))


def worth_merging(sizes: Iterable[tuple[int, Name]], *, every: bool) -> list[Name]:
    """Name segments that are worth merging into one: at least two, or none.

    One that is larger than all smaller ones together stays as it is, so that what comes in small parts
    is not written again with each of them. Unless `every` one counts, a few are no reason to merge.

    Args:
        sizes: Postings and name of each segment.
        every: Whether few are merged too.
    """
    segments = sorted(sizes, key=lambda segment: -segment[0])
    if not every and len(segments) <= _MOST_SEGMENTS:
        return []
    rest = sum(size for size, _ in segments)
    for place, (size, _) in enumerate(segments[:-1]):
        if size <= rest - size and rest <= _MOST_MERGED:
            return [name for _, name in segments[place:]]
        rest -= size
    return []


def merged(rows: Iterable[PackedTerms], alive: NDArray[np.int64]) -> Iterator[TermRange]:
    """Merge the rows of several segments into one, dropping what is not in `alive`."""
    # One entry for each id up to the highest, and one that stands for all above it.
    lives = np.zeros(int(alive.max(initial=-1)) + 2, dtype=bool)
    lives[np.asarray(alive, dtype=np.int64)] = True
    vocabulary, words, sizes, (ids, counts) = _read(rows)
    starts = np.cumsum(sizes) - sizes
    order = np.argsort(words, kind="stable")
    words, starts, sizes = words[order], starts[order], sizes[order]
    for part in _parts(words, sizes):
        lengths = sizes[part]
        places = np.arange(lengths.sum()) + np.repeat(starts[part] - (np.cumsum(lengths) - lengths), lengths)
        kept = lives[np.minimum(ids[places], len(lives) - 1)]
        held, repeats = np.unique(np.repeat(words[part], lengths)[kept], return_counts=True)
        places = places[kept]
        yield TermRange([vocabulary[word] for word in held], np.cumsum(repeats), Postings(ids[places], counts[places]))


def _read(rows: Iterable[PackedTerms]) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64], Postings]:
    """Return the words of segments in order; then, as it is stored, which word comes and how many postings it has."""
    tokens: list[str] = []
    firsts: list[int] = []
    ends, ids, counts = bytearray(), bytearray(), bytearray()
    for row in rows:
        tokens.append(row.tokens)
        firsts.append(len(ends) // 4)
        ends += row.ends
        ids += row.ids
        counts += row.counts
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
