"""The current documents of a library in LanceDB as a catalogue: read, or mapped and updated."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from openbook.index.catalogue import Catalogue
from openbook.integrations.lance_cache import Kept, LocalCache, State, pending
from openbook.integrations.lance_columns import ColumnStore
from openbook.integrations.lance_documents import DocumentTable
from openbook.integrations.lance_published import PublishedStates
from openbook.integrations.lance_rows import DocumentBody, DocumentRow
from openbook.integrations.lance_tables import LanceTables
from openbook.integrations.lance_words import SegmentStore, WordRows
from openbook.memory import release_memory

if TYPE_CHECKING:
    from openbook.index.columns import Columns, Positions

    Changes = Mapping[tuple[str, str], tuple[DocumentRow, DocumentBody]]


class LanceState:
    """The state of a library as known to one process. Call it inside a snapshot."""

    def __init__(self, tables: LanceTables, cache: LocalCache | None, rows: WordRows, min_cached: int) -> None:
        """Track the state of the tables."""
        self._tables = tables
        self._cache = cache
        self._published = PublishedStates(tables.uri)
        self._rows = rows
        self._min_cached = min_cached
        self._loaded: State | None = None
        self._keeps_anew = False
        self.made = ""
        """Name of the library whose ids are known."""
        self._begin(None)

    def _begin(self, kept: Kept | None) -> None:
        """Reset, and continue from a cached state."""
        self._kept = kept
        self._rows.clear()  # a library that was created again reuses ids
        self.words = SegmentStore(self._tables, self._rows)
        self._columns = ColumnStore(self._tables, kept.columns if kept else None, self._scratch)
        self._documents, self._loaded = DocumentTable(), None
        self._first_ids: dict[str, int] = {}
        self._next_id, self._newest_kept, self._kept_documents = 1, "", DocumentTable()
        self._catalogue: Catalogue | None = None
        self._unwritten: dict[int, DocumentRow] = {}
        if kept:
            self._documents, self._loaded = kept.documents, kept.state
            self._first_ids, self._next_id, self._newest_kept = dict(kept.first_ids), kept.next_id, kept.newest
            self._kept_documents = kept.documents
            self.words.restore(kept.segments, kept.words, kept.newest)

    def _scratch(self, chunks: int) -> BinaryIO | None:
        return self._cache.scratch() if self._cache and chunks >= self._min_cached else None

    def documents(self) -> DocumentTable:
        """Return the committed documents."""
        if self._loaded != self._tables.state:
            if self.made != self._tables.made:  # just opened, or created again
                self.made = self._tables.made
                if self._cache:
                    self._cache.discard(but=self.made)
                self._begin(self._found(self._cache) if self._cache else None)
            if self._loaded != self._tables.state:
                self._documents = self._documents.renewed(self._tables, self.first_id)
                if is_large := len(self._first_ids) > self._min_cached // 2:
                    release_memory()  # LanceDB returns rows in small pieces, which were copied into one
                self.words.load(self.first_id)
                self._loaded = self._tables.state
                if is_large:  # columns take less memory than objects
                    self._kept_documents, self._newest_kept = self._documents, self._documents.newest
                    self._first_ids = pending(self._documents, self._first_ids)
            self._catalogue = None
        return self._documents

    def _found(self, cache: LocalCache) -> Kept | None:
        """Return the state cached by this machine, or else published by another one."""
        kept = cache.open(self.made)
        if kept is None and self._published.newest(self.made):
            with cache.alone():  # if several processes start at once, one downloads it
                kept = cache.open(self.made)
                if kept is None:
                    self._published.fetch(self.made, cache)
        return kept or cache.open(self.made)  # another process may have been faster, even if nothing is published now

    def publish(self, *, every: bool) -> None:
        """Publish the cached state if enough has changed since the last time; with `every`, if anything has.

        If a library has become small, its published and cached states are deleted: most of their content would be
        deleted documents.
        """
        documents = self.documents()
        if documents.numbers("chunks").sum() < self._min_cached:
            self._published.withdraw(self._tables.state)
            if self._cache:
                self._cache.discard()
            return
        if self._cache is None:
            return
        published = self._published.newest(self.made)
        if published is None or every or published.is_outdated_by(documents):
            self._keeps_anew = every and self._kept is not None and self._kept.is_compacted_in(documents)
            if self._keeps_anew:
                self._catalogue = None
            try:
                self.catalogue({})  # writes the cache
            finally:
                self._keeps_anew = False
            if self._kept and (published is None or published.state < self._kept.state):
                self._published.publish(self._kept, self._cache)

    def changed(self) -> None:
        """Drop the cached catalogue, because the batch has changed."""
        self._catalogue, self._unwritten = None, {}

    def row_id(self, stored: DocumentRow) -> int:
        """Return the row id of a committed row."""
        place = self._documents.find(*stored.key)
        if place is None:
            raise LookupError(f"{stored.key} is not there")
        return self._documents.row_id(place)

    def first_id(self, version: str, chunks: int) -> int:
        """Return the first chunk id of a version. Unknown versions get the next ids."""
        if version not in self._first_ids and version <= self._newest_kept:
            # Rare: words of cached documents were merged, or the clock of a machine is late.
            documents, self._newest_kept = self._kept_documents, ""
            versions = (version for (version,) in documents.listed(("version",), documents.with_chunks))
            self._first_ids |= zip(versions, documents.first_ids[documents.with_chunks].tolist(), strict=True)
        if version not in self._first_ids:
            self._first_ids[version] = self._next_id
            self._next_id += chunks
        return self._first_ids[version]

    def first_id_of(self, stored: DocumentRow) -> int:
        """Return the first chunk id of a document, without loading those of all documents."""
        if stored.version not in self._first_ids:
            place = self._documents.find(*stored.key)
            if place is not None and self._documents.row(place).version == stored.version:
                return int(self._documents.first_ids[place])
        return self.first_id(stored.version, stored.chunks)

    def catalogue(self, changes: Changes) -> Catalogue:
        """Return the catalogue of the current state, with the changes of a batch."""
        documents = self.documents()
        if self._catalogue is None:
            ids = self._changed_ids(changes) if changes else documents.first_ids[documents.with_chunks]
            columns = self._columns.columns(ids, documents, self._unwritten)
            if not changes and self._keeps(columns):
                columns = self._columns.columns(ids, documents, {})
            self._catalogue = Catalogue(columns)
        return self._catalogue

    def _changed_ids(self, changes: Changes) -> Positions:
        """Return the ids of all documents with chunks, sorted, and record which are unwritten."""
        documents, self._unwritten = self._documents, {}
        keys = documents.listed(("source", "path"), documents.with_chunks)
        ids = dict(zip(keys, documents.first_ids[documents.with_chunks].tolist(), strict=True))
        for key, (stored, _) in changes.items():
            ids.pop(key, None)
            if stored.chunks:
                ids[key] = self.first_id_of(stored)
                self._unwritten[ids[key]] = stored
        return np.array([ids[key] for key in sorted(ids)], dtype=np.int64)

    def _keeps(self, columns: Columns) -> bool:
        """Cache the state for other processes and continue from the mapped files, if it pays."""
        if self._cache is None or self._loaded is None or len(columns) < self._min_cached:
            return False
        if self._kept and not (self._keeps_anew or self._kept.is_outdated_by(columns)):
            return False
        first_ids = pending(self._documents, self._first_ids)
        kept = Kept(self._loaded, self._documents, columns, *self.words.packed(), self._next_id, first_ids)
        if not self._cache.keep(kept):
            return False
        mapped = self._cache.open(self.made)
        if mapped is None or mapped.state != kept.state:  # another process was faster
            return False
        self._begin(mapped)
        release_memory()
        return True

    def holders(self, ids: Sequence[int]) -> dict[int, DocumentRow]:
        """Return the documents of existing chunks, by first chunk id."""
        unwritten = sorted(self._unwritten)
        found: dict[int, DocumentRow] = {}
        others = []
        for id_ in ids:
            place = bisect_right(unwritten, id_) - 1
            if place >= 0 and id_ < unwritten[place] + self._unwritten[unwritten[place]].chunks:
                found[unwritten[place]] = self._unwritten[unwritten[place]]
            else:
                others.append(id_)
        places = dict.fromkeys(self._documents.holders(others) if others else ())
        return found | {int(self._documents.first_ids[place]): self._documents.row(place) for place in places}
