"""An inverted index in immutable, sorted segments, as in Lucene, shared by all engines.

Each commit adds a segment. Deleted chunks stay in their segments until the next merge, so readers must filter
posting lists by live chunk ids.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise, starmap
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from openbook.index.protocol import Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

Name = TypeVar("Name")

FIELDS = len(Terms._fields)

# A row holds a block of 64 terms, or fewer if their posting lists are long. Rows of a few kilobytes keep
# a lookup to one B-tree descent; a segment of 20,000 terms has about 300 rows.
_BLOCK_TOKENS = 64
_BLOCK_POSTINGS = 2048

# Every lookup searches every segment, at about 20 microseconds each.
_MAX_SEGMENTS = 8

# Merging keeps all postings in memory, about 25 bytes each, and sorts them in batches. A library of 100,000 chunks has
# 6 million postings; above the limit, several segments remain.
_MAX_MERGED = 1 << 22
_MERGED_AT_ONCE = 1 << 18

_FIELD_BITS, _CHUNK_BITS = 2, 30
_MAX_COUNT = 255


class Postings(NamedTuple):
    """The posting list of one term: chunk ids and counts per field."""

    ids: NDArray[np.uint32]
    """Ids of the chunks that contain the term, each once."""
    counts: NDArray[np.uint8]
    """(n, 4): occurrences in path, names, context and body, capped at 255."""


class PackedTerms(NamedTuple):
    """A sorted run of terms of one segment with their posting lists, packed into one table row."""

    first_token: str
    tokens: str
    """Sorted terms, separated by spaces."""
    ends: bytes
    """uint32: the end of each term's posting list."""
    ids: bytes
    """uint32."""
    counts: bytes
    """uint8, four per id."""


NO_TERMS = PackedTerms("", "", b"", b"", b"")


class TermRange(NamedTuple):
    """A sorted range of terms with their posting lists."""

    words: list[str]
    ends: NDArray[np.int64]
    """The end of each term's posting list."""
    postings: Postings


def pack_terms(terms: Sequence[Terms]) -> tuple[PackedTerms, NDArray[np.uint16]]:
    """Pack the terms of a document's chunks into one row of any size. Chunk ids start at 0.

    Also returns the length of each field, (n, 4).
    """
    fields = list(chain.from_iterable(terms))
    lengths = np.fromiter(map(len, fields), dtype=np.int64, count=len(fields))
    vocabulary, words = _vocabulary(chain.from_iterable(fields), int(lengths.sum()))
    keys = words << (_CHUNK_BITS + _FIELD_BITS) | np.repeat(np.arange(len(fields)), lengths)
    keys.sort()
    starts = _starts(keys)
    keys, repeats = keys[starts], np.diff(starts, append=len(keys))
    pairs = keys >> _FIELD_BITS
    starts = _starts(pairs)
    counts = np.zeros((len(starts), FIELDS), dtype=np.uint8)
    rows = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(pairs)))
    counts[rows, keys & ((1 << _FIELD_BITS) - 1)] = np.minimum(repeats, _MAX_COUNT)
    pairs = pairs[starts]
    ids, ends = pairs & ((1 << _CHUNK_BITS) - 1), np.append(_starts(pairs >> _CHUNK_BITS), len(pairs))[1:]
    packed = _packed(vocabulary, ends, Postings(ids.astype(np.uint32), counts))
    return packed, np.minimum(lengths, np.iinfo(np.uint16).max).astype(np.uint16).reshape(-1, FIELDS)


def _vocabulary(words: Iterable[str], count: int) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct words, sorted, and the index of each incoming word in that list.

    A single pass numbers the words as they come; then only the distinct words are sorted.
    """
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    found = np.fromiter(map(numbers.__getitem__, words), dtype=np.int64, count=count)
    numbers.default_factory = None  # break the reference cycle, which would keep all words until garbage collection
    vocabulary = sorted(numbers)
    places = np.empty(len(vocabulary), dtype=np.int64)
    places[[*map(numbers.__getitem__, vocabulary)]] = np.arange(len(vocabulary))
    return vocabulary, places[found]


def _starts(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the start of each run of equal values."""
    begins = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=begins[1:])
    return np.flatnonzero(begins)


def _packed(words: Sequence[str], ends: NDArray[np.integer[Any]], postings: Postings) -> PackedTerms:
    ids, counts = postings
    first = words[0] if words else ""
    return PackedTerms(first, " ".join(words), ends.astype(np.uint32).tobytes(), ids.tobytes(), counts.tobytes())


def renumbered(row: PackedTerms, first_id: int) -> PackedTerms:
    """Shift the chunk ids of a document's terms so that they start at `first_id`."""
    return row._replace(ids=(np.frombuffer(row.ids, dtype=np.uint32) + np.uint32(first_id)).tobytes())


def pack_rows(stretches: Iterable[TermRange]) -> Iterator[PackedTerms]:
    """Pack sorted terms into the rows of a segment."""
    for words, word_ends, (ids, counts) in stretches:
        ends = [0, *word_ends.tolist()]
        for first, last in _rows(ends):
            within = slice(ends[first], ends[last])
            row_ends = word_ends[first:last] - ends[first]
            yield _packed(words[first:last], row_ends, Postings(ids[within], counts[within]))


def _rows(ends: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Split terms into table rows. The posting list of term `n` is `ends[n]` to `ends[n + 1]`."""
    first = 0
    for word in range(1, len(ends) - 1):
        if word - first == _BLOCK_TOKENS or ends[word + 1] - ends[first] > _BLOCK_POSTINGS:
            yield first, word
            first = word
    if len(ends) > 1:
        yield first, len(ends) - 1


def unpack(row: PackedTerms, token: str) -> Postings | None:
    """Return the posting list of a term; None if the row does not contain it."""
    tokens = row.tokens.split(" ")
    place = bisect_left(tokens, token)
    if place == len(tokens) or tokens[place] != token:
        return None
    ends = np.frombuffer(row.ends, dtype=np.uint32)
    within = slice(ends[place - 1] if place else 0, ends[place])
    counts = np.frombuffer(row.counts, dtype=np.uint8).reshape(-1, FIELDS)
    return Postings(np.frombuffer(row.ids, dtype=np.uint32)[within], counts[within])


def merge_postings(found: Iterable[Postings | None]) -> Postings:
    """Concatenate the posting lists of one term from several segments."""
    parts = [part for part in found if part is not None]
    if len(parts) == 1:
        return parts[0]
    ids = [np.empty(0, dtype=np.uint32), *(part.ids for part in parts)]
    counts = [np.empty((0, FIELDS), dtype=np.uint8), *(part.counts for part in parts)]
    return Postings(np.concatenate(ids), np.concatenate(counts))


def worth_merging(sizes: Iterable[tuple[int, Name]], *, every: bool) -> list[Name]:
    """Select the segments to merge into one: at least two, or none.

    A segment larger than all smaller ones together is left alone, so that small commits do not rewrite
    it each time. Unless `every` is set, a few segments do not trigger a merge.
    """
    segments = sorted(sizes, key=lambda segment: -segment[0])
    if not every and len(segments) <= _MAX_SEGMENTS:
        return []
    rest = sum(size for size, _ in segments)
    for place, (size, _) in enumerate(segments[:-1]):
        if size <= rest - size and rest <= _MAX_MERGED:
            return [name for _, name in segments[place:]]
        rest -= size
    return []


def merged(rows: Iterable[PackedTerms], alive: NDArray[np.int64] | None = None) -> Iterator[TermRange]:
    """Merge the rows of several segments, and drop postings of chunks not in `alive`, if given."""
    lives = None if alive is None else _alive_mask(alive)
    vocabulary, words, sizes, (ids, counts) = _read(rows)
    starts = np.cumsum(sizes) - sizes
    order = np.argsort(words, kind="stable")
    words, starts, sizes = words[order], starts[order], sizes[order]
    for part in _batches(words, sizes):
        lengths = sizes[part]
        places = np.arange(lengths.sum()) + np.repeat(starts[part] - (np.cumsum(lengths) - lengths), lengths)
        of = np.repeat(words[part], lengths)
        if lives is not None:
            kept = lives[np.minimum(ids[places], len(lives) - 1)]
            places, of = places[kept], of[kept]
        begins = _starts(of)
        held = [vocabulary[word] for word in of[begins].tolist()]
        yield TermRange(held, np.append(begins, len(of))[1:], Postings(ids[places], counts[places]))


def _alive_mask(alive: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return a flag for each id up to the highest, and a last one that covers all ids above it."""
    lives = np.zeros(int(alive.max(initial=-1)) + 2, dtype=bool)
    lives[np.asarray(alive, dtype=np.int64)] = True
    return lives


def _read(rows: Iterable[PackedTerms]) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64], Postings]:
    """Return the sorted vocabulary; then, in stored order, the term and the length of each posting list."""
    tokens: list[str] = []
    firsts: list[int] = []
    ends, ids, counts = bytearray(), bytearray(), bytearray()
    for row in rows:
        if not row.ends:  # a document without words
            continue
        tokens.append(row.tokens)
        firsts.append(len(ends) // 4)
        ends += row.ends
        ids += row.ids
        counts += row.counts
    until = np.frombuffer(ends, dtype=np.uint32).astype(np.int64)
    sizes = np.diff(until, prepend=0)
    sizes[firsts] = until[firsts]
    # A generator, because a list would take 60 bytes per word.
    vocabulary, words = _vocabulary(chain.from_iterable(row.split(" ") for row in tokens), len(sizes))
    postings = Postings(np.frombuffer(ids, dtype=np.uint32), np.frombuffer(counts, dtype=np.uint8).reshape(-1, FIELDS))
    return vocabulary, words, sizes, postings


def _batches(words: NDArray[np.int64], sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Split sorted postings into batches, but never within a term."""
    ends = np.cumsum(sizes)
    full = np.searchsorted(ends, np.arange(_MERGED_AT_ONCE, sizes.sum(), _MERGED_AT_ONCE))
    borders = np.unique([0, *np.searchsorted(words, words[full]), len(words)])
    return starmap(slice, pairwise(borders.tolist()))
