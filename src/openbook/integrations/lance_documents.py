"""The documents and sources of a library in LanceDB, as Arrow keeps them: 100,000 rows take 30 MB, and no objects."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from openbook.integrations.lance_rows import DOCUMENTS, LIGHT, DocumentRow
from openbook.integrations.lance_tables import ROW_ID, LanceTables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Positions = NDArray[np.int64]

FirstId = Callable[[str, int], int]
"""Gives the first of the ids that the chunks of a version have in this process, from the version and their number."""

_FIRST_ID = "_first_id"
_ORDER = [(name, "ascending") for name in ("source", "path", "version")]
_NO_ROWS = pa.schema([*(DOCUMENTS.field(name) for name in LIGHT), (ROW_ID, pa.uint64()), (_FIRST_ID, pa.int64())])


class DocumentTable:
    """What is there in one state of a library, in the order of source and path, each once."""

    def __init__(self, rows: pa.Table | None = None, dropped: pa.Array | None = None) -> None:
        """Take rows in order, with their ids and the first ids of their chunks.

        Args:
            rows: None for none.
            dropped: Ids of rows in LanceDB that do not count: what is gone, or was replaced at the same time.
        """
        self.rows = _NO_ROWS.empty_table() if rows is None else rows
        self.dropped = pa.array([], pa.uint64()) if dropped is None else dropped
        self._columns = {name: _whole(self.rows[name]) for name in self.rows.column_names}
        self.versions = self._columns["version"]

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    @cached_property
    def with_chunks(self) -> Positions:
        """Return the places of documents with chunks."""
        return np.flatnonzero(self.numbers("chunks"))

    @cached_property
    def roots(self) -> Positions:
        """Return the places of sources, which every search asks for."""
        return np.flatnonzero(pc.equal(self._columns["path"], "").to_numpy(zero_copy_only=False))

    @cached_property
    def first_ids(self) -> Positions:
        """Return the first id of the chunks of each row; 0 for none."""
        return self.numbers(_FIRST_ID)

    @cached_property
    def _by_id(self) -> Positions:
        return self.with_chunks[np.argsort(self.first_ids[self.with_chunks])]

    def numbers(self, name: str) -> Positions:
        """Return a column of numbers."""
        return np.asarray(self._columns[name].to_numpy(zero_copy_only=False), dtype=np.int64)

    def key(self, place: int) -> tuple[str, str]:
        """Return source and path of a row."""
        return self._columns["source"][place].as_py(), self._columns["path"][place].as_py()

    def find(self, source: str, path: str) -> int | None:
        """Return the place of a row; None if it is not there."""
        place = bisect_left(range(len(self)), (source, path), key=self.key)
        return place if place < len(self) and self.key(place) == (source, path) else None

    def holders(self, ids: Sequence[int]) -> list[int]:
        """Return the places of the documents of chunks, which are there."""
        firsts = self.first_ids[self._by_id]
        places: list[int] = self._by_id[np.searchsorted(firsts, ids, side="right") - 1].tolist()
        return places

    def row(self, place: int) -> DocumentRow:
        """Build a row."""
        return DocumentRow(**{name: self._columns[name][place].as_py() for name in LIGHT})

    def row_id(self, place: int) -> int:
        """Return the id of a row in LanceDB."""
        return int(self._columns[ROW_ID][place].as_py())

    def listed(self, names: Sequence[str], places: Positions | None = None) -> list[tuple[Any, ...]]:
        """Return some columns of all rows, or of some."""
        rows = [self._columns[name] if places is None else self._columns[name].take(places) for name in names]
        return list(zip(*(column.to_pylist() for column in rows), strict=True))

    def renewed(self, tables: LanceTables, first_id: FirstId) -> DocumentTable:
        """Return what is there now, reading the rows that are new. Those that have been compacted are new as well."""
        row_ids = tables.row_ids()
        known = pa.concat_arrays([self._columns[ROW_ID], self.dropped])
        is_new = pc.invert(pc.is_in(row_ids, value_set=known))
        read = tables.light(row_ids.filter(is_new).to_pylist(), is_all=bool(pc.all(is_new).as_py()))
        read = read.append_column(_FIRST_ID, self._first_ids_of(read, first_id)).select(_NO_ROWS.names).cast(_NO_ROWS)
        kept = self.rows.filter(pc.is_in(self._columns[ROW_ID], value_set=row_ids))
        rows = pa.concat_tables([kept, read]).sort_by(_ORDER)
        rows = rows.filter(pa.array(_is_current(rows))).combine_chunks()
        dropped = row_ids.filter(pc.invert(pc.is_in(row_ids, value_set=rows[ROW_ID].combine_chunks())))
        return DocumentTable(rows, dropped)

    def _first_ids_of(self, read: pa.Table, first_id: FirstId) -> pa.Array:
        """Return the first id of the chunks of each row: those that its version has here, or new ones."""
        places = pc.index_in(read["version"].combine_chunks(), value_set=self.versions)
        rows = zip(read["version"].to_pylist(), read["chunks"].to_pylist(), places.to_pylist(), strict=True)
        firsts = [
            0 if not chunks else first_id(version, chunks) if place is None else int(self.first_ids[place])
            for version, chunks, place in rows
        ]
        return pa.array(firsts, pa.int64())


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array. One that is mapped stays so: Arrow would copy it."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _is_current(rows: pa.Table) -> NDArray[np.bool_]:
    """Tell which rows count: the last of each source and path, if it is not gone."""
    sources, paths = rows["source"].combine_chunks(), rows["path"].combine_chunks()
    same = pc.and_(pc.equal(sources[1:], sources[:-1]), pc.equal(paths[1:], paths[:-1]))
    is_last = np.ones(len(rows), dtype=bool)
    is_last[:-1] = ~same.to_numpy(zero_copy_only=False).astype(bool)
    return np.asarray(is_last & ~rows["gone"].to_numpy().astype(bool))
