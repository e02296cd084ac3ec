"""The scored columns of the documents of a library in LanceDB, in memory: read once, then updated."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from io import SEEK_END, BytesIO
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from openbook.index.column_file import mapped_vectors
from openbook.index.columns import Columns, DocumentRows, Names, VectorBlock, arranged, columns_of, lessons_of
from openbook.index.postings import FIELDS
from openbook.integrations.lance_documents import DocumentTable
from openbook.integrations.lance_rows import DocumentRow
from openbook.integrations.lance_tables import ROW_ID, LanceTables
from openbook.memory import release_memory

if TYPE_CHECKING:
    from openbook.index.columns import Positions

# Each commit adds a part. Searching one takes 20 microseconds; joining copies the new ones.
_MAX_PARTS = 16

_KEY = "source", "path", "kind", "course"


class ColumnStore:
    """The columns of the document versions read so far."""

    def __init__(self, tables: LanceTables, base: Columns | None, scratch: Callable[[int], BinaryIO | None]) -> None:
        """Create a store for the tables of a library.

        `base` are columns that are already known. `scratch` opens an empty file for the vectors of so many chunks; None
        to hold them in memory.
        """
        self._tables = tables
        self._parts: list[Columns] = [] if base is None else [base]
        self._scratch = scratch

    def columns(self, ids: Positions, documents: DocumentTable, unwritten: Mapping[int, DocumentRow]) -> Columns:
        """Return the columns of documents with chunks. A document is identified by its first chunk id.

        Unwritten documents of a batch have their columns with them; those of others are read. `ids` are those of the
        documents, sorted by source and path; `documents` is the table of those to read.
        """
        missing = ids[~np.isin(ids, _ids(self._parts)) & ~np.isin(ids, list(unwritten))]
        if len(missing):
            self._parts.append(self._read(missing, documents))
        if len(self._parts) > _MAX_PARTS:
            self._join(ids)
        first = self._parts[0] if len(self._parts) == 1 and not unwritten else None
        if first and len(first.blocks) == 1 and np.array_equal(first.document_ids, ids):
            return first  # still mapped
        parts = [*self._parts, columns_of(_document_rows(unwritten.items()))]
        return arranged(parts, _places(_ids(parts), ids))

    def _read(self, ids: Positions, documents: DocumentTable) -> Columns:
        places = documents.with_chunks[np.isin(documents.first_ids[documents.with_chunks], ids)]
        is_most = 2 * len(places) > len(documents)
        names = Names(lambda: documents.listed(_KEY, places), lambda: documents.joined(_KEY, places))
        if not is_most:  # otherwise they would reference all documents
            names = Names(names.keys)
        file = self._scratch(int(documents.numbers("chunks")[places].sum())) if is_most else None
        if file is not None:
            with file, contextlib.suppress(OSError):  # a full disk; mapped files stay
                return self._placed(documents, places, names, file)
        return self._placed(documents, places, names, BytesIO())

    def _placed(self, documents: DocumentTable, places: Positions, names: Names, file: BinaryIO) -> Columns:
        """Read the columns of documents, with vectors written directly to their place in a file.

        So the first process that opens a library does not hold its vectors in memory.
        """
        sizes, row_ids = documents.numbers("chunks")[places], documents.numbers(ROW_ID)[places]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        by_id = np.argsort(row_ids)
        lengths = np.zeros((int(starts[-1]), FIELDS), dtype=np.uint16)
        lessons: list[tuple[int, bytes]] = []
        read = dim = 0
        for batch in self._tables.scored(row_ids[by_id]):
            ids = batch[ROW_ID].to_numpy().astype(np.int64)
            for number, place in enumerate(by_id[np.searchsorted(row_ids, ids, sorter=by_id)].tolist()):
                packed, counted, of_lessons = (
                    batch[name][number].as_buffer() for name in ("rows", "lengths", "numbers")
                )
                dim = dim or len(packed) // int(sizes[place])
                file.seek(int(starts[place]) * dim)
                read += file.write(packed)
                lengths[starts[place] : starts[place + 1]] = np.frombuffer(counted, np.uint16).reshape(-1, FIELDS)
                if len(of_lessons):
                    lessons.append((place, of_lessons.to_pybytes()))
        if read != len(lengths) * dim:
            raise OSError("vectors are missing")  # on a full disk, a write may be short without an error
        file.seek(0, SEEK_END)
        if isinstance(file, BytesIO):
            block = VectorBlock(np.frombuffer(file.getbuffer(), np.int8).reshape(len(lengths), -1))
        else:
            block = mapped_vectors(file, len(lengths))
            release_memory()
        ids = documents.first_ids[places]
        return Columns(ids, ids, sizes, lengths, lessons_of(lessons, starts), (block,), None, names)

    def _join(self, living: Positions) -> None:
        """Copy all parts but the first into one, without deleted documents."""
        first, *later = self._parts
        files = np.flatnonzero(np.isin(_ids(later), living))
        joined = arranged(later, files)
        rows = np.concatenate([block.rows for block in joined.blocks])[joined.order]
        names = Names(joined.names.keys)  # now, because they would reference deleted documents
        self._parts = [first, replace(joined, blocks=(VectorBlock(rows),), order=None, names=names)]


def _ids(parts: Iterable[Columns]) -> Positions:
    return np.concatenate([np.empty(0, dtype=np.int64), *(part.document_ids for part in parts)])


def _places(held: Positions, ids: Positions) -> Positions:
    """Return the position of each id; for ids held twice, the last."""
    order = np.argsort(held, kind="stable")
    places: Positions = order[np.searchsorted(held[order], ids, side="right") - 1]
    return places


def _document_rows(unwritten: Iterable[tuple[int, DocumentRow]]) -> Iterable[DocumentRows]:
    for first, each in unwritten:
        yield DocumentRows(
            *(*each.key, each.kind, each.course, first, each.chunks, each.lengths, each.rows, each.numbers, first)
        )
