"""Segments of the word index, in the table `words` of a library in LanceDB.

A segment numbers its chunks from 0. Its head lists the document versions that it covers, so several machines can write
at once without a shared id counter. If two segments cover one version, because a merge has just finished and its inputs
still exist, the newest one counts.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from openbook.index.catalogue import HIGHEST_ID
from openbook.index.postings import (
    FIELDS,
    PackedTerms,
    Postings,
    merge_postings,
    merged,
    pack_rows,
    renumbered,
    unpack,
    worth_merging,
)
from openbook.integrations.lance_documents import FirstId
from openbook.integrations.lance_rows import is_settled, new_version
from openbook.integrations.lance_tables import LISTED, ROW_ID, LanceTables
from openbook.integrations.memory_cache import MemoryCache

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from openbook.index.packing import PackedEntries

# Rows of a segment that are added at once.
_ROWS_AT_ONCE = 2_000

_HEAD = -1

# Marks chunks that a newer segment also covers.
_COVERED = -1

# Up to this many values are converted at once, because they are searched word by word.
_FEW = 1_000

WordRows = MemoryCache[int, PackedTerms]
"""Word rows by id. Each has up to 20 KB."""


class Versions:
    """Document versions with their number of chunks, packed: as objects, those of a million chunks take 30 MB."""

    def __init__(self, counted: Sequence[tuple[str, int]] = ()) -> None:
        """Pack versions."""
        self._names = pa.array((name for name, _ in counted), pa.string())
        self.counts = np.fromiter((count for _, count in counted), np.int64, len(counted))

    def __iter__(self) -> Iterator[tuple[str, int]]:
        for start in range(0, len(self.counts), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            yield from zip(self._names[part].to_pylist(), self.counts[part].tolist(), strict=True)


@dataclass(frozen=True, slots=True)
class SegmentHeader:
    """The chunks that a segment covers."""

    versions: Versions
    """In the order of their chunk numbers. Omitted if it comes from the cache."""
    postings: int


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment and the location of its rows."""

    name: str
    head: SegmentHeader
    firsts: Sequence[str]
    """First word of each row, in order."""
    rows: Sequence[int | PackedTerms]
    """Ids of table rows, or unwritten rows."""

    def ids(self, first_id: FirstId, covered: Collection[str] = ()) -> NDArray[np.uint32]:
        """Return the ids of its chunks in this process. Chunks that newer segments cover get an unused id."""
        versions = self.head.versions
        firsts = (_COVERED if version in covered else first_id(version, count) for version, count in versions)
        first, counts = np.fromiter(firsts, np.int64, len(versions.counts)), versions.counts
        ids = np.arange(counts.sum(), dtype=np.uint32)
        ids += np.repeat((first - np.cumsum(counts) + counts).astype(np.uint32), counts)
        ids[np.repeat(first == _COVERED, counts)] = HIGHEST_ID
        return ids


class Mapped(Sequence[Any]):
    """The values of an Arrow array, possibly a mapped file, converted on access."""

    def __init__(self, values: pa.Array) -> None:
        """Wrap an Arrow array."""
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        return self.values[place].as_py()


def _values(column: pa.ChunkedArray) -> Sequence[Any]:
    return Mapped(column.combine_chunks()) if len(column) > _FEW else list(column.to_pylist())


class SegmentBuilder:
    """Collects the terms of one transaction into a segment."""

    def __init__(self) -> None:
        self._pending: list[PackedTerms] = []
        self._versions: list[tuple[str, int]] = []
        self._chunks = 0

    def add(self, version: str, chunks: PackedEntries) -> None:
        """Add the words of the chunks of a document."""
        self._pending.append(renumbered(chunks.words, self._chunks))
        self._versions.append((version, len(chunks.rows)))
        self._chunks += len(chunks.rows)

    def segment(self) -> Segment:
        """Return the segment."""
        return _segment(pack_rows(merged(self._pending)), self._versions)


def _segment(rows: Iterable[PackedTerms], versions: Sequence[tuple[str, int]]) -> Segment:
    rows = list(rows)
    head = SegmentHeader(Versions(versions), sum(len(row.counts) // FIELDS for row in rows))
    return Segment(new_version(), head, [row.first_token for row in rows], rows)


def write_segment_rows(tables: LanceTables, segment: Segment) -> None:
    """Add a segment to the table, its head last, so that an interrupted write leaves no segment."""
    packed = [
        {"segment": segment.name, "place": place, **row._asdict()}
        for place, row in enumerate(segment.rows)
        if isinstance(row, PackedTerms)
    ]
    head = json.dumps([[*segment.head.versions], segment.head.postings])
    row = PackedTerms("", head, b"", b"", b"")._asdict()
    packed.append({"segment": segment.name, "place": _HEAD, **row})
    for start in range(0, len(packed), _ROWS_AT_ONCE):
        tables.add_words(packed[start : start + _ROWS_AT_ONCE])


class SegmentStore:
    """The segments of one version of a library."""

    def __init__(self, tables: LanceTables, rows: WordRows) -> None:
        self._tables = tables
        self._heads: dict[int, SegmentHeader] = {}
        self._kept = rows
        self._segments: list[Segment] = []
        self._ids: dict[str, NDArray[np.uint32]] = {}
        self._orphans: list[str] = []
        self._head_rows: dict[str, int] = {}
        self._restored: list[Segment] | None = None
        self._restored_rows = np.empty(0, dtype=np.uint64)
        self._rows_known = LISTED.empty_table()
        self._newest_restored = ""

    def restore(self, segments: pa.Table, words: pa.Table, newest: str) -> None:
        """Restore segments from the cache.

        Args:
            segments: See `packed`.
            words: See `packed`.
            newest: The highest version that the segments cover.
        """
        names, postings = segments["name"].to_pylist(), segments["postings"].to_pylist()
        self._ids = {
            name: np.frombuffer(ids.as_buffer(), np.uint32) for name, ids in zip(names, segments["ids"], strict=True)
        }
        firsts, rows = words["first_token"], words["row"]
        ends = np.searchsorted(words["segment"].to_numpy(), np.arange(len(names)), side="right")
        self._segments = [
            Segment(name, SegmentHeader(Versions(), size), _values(firsts[start:end]), _values(rows[start:end]))
            for name, size, start, end in zip(names, postings, [0, *ends.tolist()], ends.tolist(), strict=False)
        ]
        self._restored = self._segments
        self._restored_rows = np.sort(np.concatenate([rows.to_numpy(), segments["head"].to_numpy()]))
        self._head_rows = dict(zip(names, segments["head"].to_pylist(), strict=True))
        self._newest_restored = newest

    def packed(self) -> tuple[pa.Table, pa.Table]:
        """Return the segments with their chunk ids, and the word rows with their locations."""
        segments = {
            "name": [segment.name for segment in self._segments],
            "postings": [segment.head.postings for segment in self._segments],
            "ids": pa.array([self._ids[segment.name].tobytes() for segment in self._segments], pa.large_binary()),
            "head": pa.array([self._head_rows[segment.name] for segment in self._segments], pa.uint64()),
        }
        sizes = [len(segment.rows) for segment in self._segments]
        words = {
            "segment": pa.array(np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)),
            "first_token": _joined((segment.firsts for segment in self._segments), pa.large_string()),
            "row": _joined((segment.rows for segment in self._segments), pa.uint64()),
        }
        return pa.table(segments), pa.table(words)

    def load(self, first_id: FirstId) -> None:
        """Load the current list of segments."""
        if self._restored is None or not self._extended(self._restored, first_id):
            self._restored = None
            self._read(first_id)

    def _extended(self, restored: Sequence[Segment], first_id: FirstId) -> bool:
        """Add new segments to the restored ones. Returns False if there are other changes."""
        row_ids = self._tables.word_ids()
        is_known = np.isin(row_ids, self._restored_rows)
        if np.count_nonzero(is_known) < len(self._restored_rows):
            return False
        listed = _listed(self._tables.words(row_ids[~is_known]))
        heads = {each.name: each.head for each in listed if each.head is not None}
        read = [_head(row["tokens"]) for row in self._tables.rows_of_words([*heads.values()])]
        if any(version <= self._newest_restored for head in read for version, _ in head.versions):
            return False
        whole = [each for each in listed if each.name in heads]
        later = [Segment(each.name, head, each.firsts, each.rows) for each, head in zip(whole, read, strict=True)]
        seen: set[str] = set()
        for segment in later:
            versions = {version for version, _ in segment.head.versions}
            if not seen.isdisjoint(versions):  # two machines are merging
                return False
            seen |= versions
        self._head_rows |= heads
        self._ids = {segment.name: self._ids[segment.name] for segment in restored}
        self._ids |= {segment.name: segment.ids(first_id) for segment in later}
        self._segments = [*later, *restored]
        return True

    def _read(self, first_id: FirstId) -> None:
        row_ids, known = self._tables.word_ids(), self._rows_known[ROW_ID].to_numpy()
        missing = row_ids[~np.isin(row_ids, known)]
        added = self._tables.words(missing, is_all=len(missing) == len(row_ids))
        self._rows_known = pa.concat_tables([self._rows_known.filter(pa.array(np.isin(known, row_ids))), added])
        listed = _listed(self._rows_known)
        heads = {each.name: each.head for each in listed if each.head is not None}
        unread = [row_id for row_id in heads.values() if row_id not in self._heads]
        read = zip(unread, self._tables.rows_of_words(unread), strict=True)
        kept = self._heads | {row_id: _head(row["tokens"]) for row_id, row in read}
        self._heads = {row_id: kept[row_id] for row_id in heads.values()}
        self._head_rows = heads
        self._segments, ids = [], {}
        covered = set[str]()
        for each in listed:
            if each.head is None:
                continue
            segment = Segment(each.name, self._heads[each.head], each.firsts, each.rows)
            versions = {version for version, _ in segment.head.versions}
            is_known = each.name in self._ids and covered.isdisjoint(versions)
            ids[each.name] = self._ids[each.name] if is_known else segment.ids(first_id, covered)
            covered |= versions
            self._segments.append(segment)
        self._ids = ids
        self._orphans = [each.name for each in listed if each.head is None and is_settled(each.name)]

    def look_up(self, tokens: Sequence[str], first_id: FirstId, unwritten: Sequence[Segment]) -> dict[str, Postings]:
        """Return the postings of each word, with ids of this process, including deleted chunks."""
        tokens = list(dict.fromkeys(tokens))
        places: list[tuple[str, Segment, int | PackedTerms]] = []
        for segment in (*unwritten, *self._segments):
            for token in tokens:
                place = bisect_right(segment.firsts, token) - 1
                if place >= 0:
                    places.append((token, segment, segment.rows[place]))
        rows = self._rows([row for _, _, row in places])
        ids = self._ids | {segment.name: segment.ids(first_id) for segment in unwritten}
        found: dict[str, list[Postings]] = {token: [] for token in tokens}
        for (token, segment, _), row in zip(places, rows, strict=True):
            postings = unpack(row, token)
            if postings is not None:
                found[token].append(Postings(ids[segment.name][postings.ids], postings.counts))
        return {token: merge_postings(parts) for token, parts in found.items()}

    def _rows(self, wanted: Sequence[int | PackedTerms]) -> list[PackedTerms]:
        found = self._kept.found(
            [row for row in wanted if isinstance(row, int)],
            lambda missing: [PackedTerms(**row) for row in self._tables.rows_of_words(missing)],
        )
        return [found[row] if isinstance(row, int) else row for row in wanted]

    def merge(self, first_id: FirstId, living: Collection[str], *, every: bool) -> bool:
        """Merge segments if it pays, dropping deleted chunks. Returns False if it does not.

        Rows without a head are deleted first. `first_id` assigns ids; `every`: merge even a few.
        """
        if self._restored is not None:
            if not worth_merging([(each.head.postings, each.name) for each in self._segments], every=every):
                return False
            self._restored, self._ids = None, {}  # the cache does not list the versions
            self._read(first_id)
        if self._orphans:  # left by a killed writer
            self._tables.drop_words(self._orphans)
            return True
        names = set(worth_merging([(each.head.postings, each.name) for each in self._segments], every=every))
        chosen = [segment for segment in self._segments if segment.name in names]
        if not chosen:
            return False
        holder: dict[str, str] = {}
        for segment in self._segments:  # newest first
            for version, _ in segment.head.versions:
                holder.setdefault(version, segment.name)
        # Keep recent segments of other machines, whose documents are about to be committed.
        held = {
            version: count
            for segment in chosen
            for version, count in segment.head.versions
            if holder[version] == segment.name
        }
        kept = sorted(
            (first_id(version, count), version, count)
            for version, count in held.items()
            if version in living or not is_settled(version)
        )
        alive = np.concatenate(
            [np.empty(0, dtype=np.int64), *(np.arange(first, first + count) for first, _, count in kept)]
        )
        rows = merged((row for segment in chosen for row in self._renumbered(segment)), alive)
        numbers = np.zeros(int(alive.max(initial=-1)) + 1, dtype=np.uint32)
        numbers[alive] = np.arange(len(alive))
        packed = (
            row._replace(ids=numbers[np.frombuffer(row.ids, dtype=np.uint32)].tobytes()) for row in pack_rows(rows)
        )
        write_segment_rows(self._tables, _segment(packed, [(version, count) for _, version, count in kept]))
        self._tables.drop_words(segment.name for segment in chosen)
        return True

    def _renumbered(self, segment: Segment) -> Iterator[PackedTerms]:
        row_ids, ids = [row for row in segment.rows if isinstance(row, int)], self._ids[segment.name]
        for start in range(0, len(row_ids), _ROWS_AT_ONCE):
            for row in self._tables.rows_of_words(row_ids[start : start + _ROWS_AT_ONCE]):
                yield PackedTerms(**row | {"ids": ids[np.frombuffer(row["ids"], dtype=np.uint32)].tobytes()})


class _Listed(NamedTuple):
    """A segment, from the listing of its rows."""

    name: str
    head: int | None
    """Id of its head; None if its write was interrupted."""
    firsts: Sequence[str]
    rows: Sequence[int]


def _listed(words: pa.Table) -> list[_Listed]:
    """Group rows into segments, newest first."""
    words = words.sort_by([("segment", "ascending"), ("place", "ascending")]).combine_chunks()
    places, found, end = words["place"].to_numpy(), [], 0
    for of in pc.value_counts(words["segment"]).to_pylist():  # in order of appearance
        start, end = end, end + of["counts"]
        head = words[ROW_ID][start].as_py() if places[start] == _HEAD else None
        rows = words.slice(start + (head is not None), end - start - (head is not None))
        found.append(_Listed(of["values"], head, _values(rows["first_token"]), _values(rows[ROW_ID])))
    return found[::-1]


def _joined(parts: Iterable[Sequence[Any]], type_: pa.DataType) -> pa.ChunkedArray:
    arrays = [part.values if isinstance(part, Mapped) else pa.array(part, type_) for part in parts]
    return pa.chunked_array([array.cast(type_) for array in arrays], type_)


def _head(packed: str) -> SegmentHeader:
    versions, postings = json.loads(packed)
    return SegmentHeader(Versions(versions), postings)
