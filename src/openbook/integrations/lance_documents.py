"""The documents and sources of a library in LanceDB as Arrow tables: 100,000 rows take 30 MB, without objects."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from openbook.index.columns import BETWEEN
from openbook.integrations.lance_rows import DOCUMENTS, LIGHT, DocumentRow
from openbook.integrations.lance_tables import ROW_ID, LanceTables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Positions = NDArray[np.int64]

FirstId = Callable[[str, int], int]
"""Returns the first chunk id of a version in this process, given the version and its number of chunks."""

_FIRST_ID = "_first_id"
_ORDER = [(name, "ascending") for name in ("source", "path", "version")]
_NO_ROWS = pa.schema([*(DOCUMENTS.field(name) for name in LIGHT), (ROW_ID, pa.uint64()), (_FIRST_ID, pa.int64())])

# Each commit adds a part. Above this number, all parts but the first are joined; all are when this share of the rows is
# obsolete.
_MAX_PARTS = 16
_MAX_UNUSED = 0.1

# Rows whose names are joined at once, to avoid holding them twice.
_JOINED_AT_ONCE = 1 << 13

# Up to this many new rows are inserted into the order one by one, without sorting again.
_FEW = 256


class DocumentTable:
    """The rows of one state of a library, sorted by source and path, each once.

    Read or mapped rows are not moved, and obsolete rows remain: an order lists the current ones.
    """

    def __init__(self, rows: pa.Table | None = None, order: Positions | None = None) -> None:
        """Take rows with their ids and first chunk ids.

        Args:
            rows: None for no rows.
            order: Indices of the current rows by source and path; None for all, in their order.
        """
        self._rows = _NO_ROWS.empty_table() if rows is None else rows
        self._order: Positions = np.arange(self._rows.num_rows) if order is None else order

    def __len__(self) -> int:
        return len(self._order)

    @property
    def rows(self) -> pa.Table:
        """Return the current rows, in order."""
        return self._rows if self._is_whole() else self._rows.take(self._order).combine_chunks()

    def _is_whole(self) -> bool:
        return len(self._order) == self._rows.num_rows and bool(np.all(self._order[:-1] < self._order[1:]))

    @property
    def versions(self) -> pa.ChunkedArray:
        return self._column("version")

    @property
    def newest(self) -> str:
        """Return the highest version; empty without rows."""
        newest: str | None = pc.max(self.versions).as_py()
        return newest or ""

    def _column(self, name: str, places: Positions | None = None) -> pa.ChunkedArray:
        return self._rows[name].take(pa.array(self._order if places is None else self._order[places]))

    @cached_property
    def with_chunks(self) -> Positions:
        """Return the positions of documents with chunks."""
        return np.flatnonzero(self.numbers("chunks"))

    @cached_property
    def roots(self) -> Positions:
        """Return the positions of sources, which every search needs."""
        return np.flatnonzero(pc.equal(self._rows["path"], "").to_numpy()[self._order])

    @cached_property
    def first_ids(self) -> Positions:
        """Return the first chunk id of each row; 0 without chunks."""
        return self.numbers(_FIRST_ID)

    @cached_property
    def _by_id(self) -> Positions:
        return self.with_chunks[np.argsort(self.first_ids[self.with_chunks])]

    def numbers(self, name: str) -> Positions:
        return np.asarray(self._rows[name].to_numpy(), dtype=np.int64)[self._order]

    def _value(self, name: str, place: int) -> Any:
        return self._rows[name][int(self._order[place])].as_py()

    def key(self, place: int) -> tuple[str, str]:
        return self._value("source", place), self._value("path", place)

    def find(self, source: str, path: str) -> int | None:
        """Return the position of a row; None if it does not exist."""
        place = bisect_left(range(len(self)), (source, path), key=self.key)
        return place if place < len(self) and self.key(place) == (source, path) else None

    def holders(self, ids: Sequence[int]) -> list[int]:
        """Return the positions of the documents that contain chunks, which must exist."""
        firsts = self.first_ids[self._by_id]
        places: list[int] = self._by_id[np.searchsorted(firsts, ids, side="right") - 1].tolist()
        return places

    def row(self, place: int) -> DocumentRow:
        return DocumentRow(**{name: self._value(name, place) for name in LIGHT})

    def row_id(self, place: int) -> int:
        """Return LanceDB's id of a row."""
        return int(self._value(ROW_ID, place))

    def listed(self, names: Sequence[str], places: Positions | None = None) -> list[tuple[Any, ...]]:
        """Return some columns of all or some rows."""
        return list(zip(*(self._column(name, places).to_pylist() for name in names), strict=True))

    def joined(self, names: Sequence[str], places: Positions) -> bytearray | None:
        """Concatenate text columns of some rows in the packing of `Names`. None if a text contains its separator."""
        packed = bytearray()
        for start in range(0, len(places), _JOINED_AT_ONCE):
            columns = [self._column(name, places[start : start + _JOINED_AT_ONCE]) for name in names]
            packed += "".join(pc.binary_join_element_wise(*columns, "", BETWEEN).to_pylist()).encode()
        del packed[-len(BETWEEN) :]
        return packed if packed.count(BETWEEN.encode()) == max(len(names) * len(places) - 1, 0) else None

    def without(self, versions: Sequence[str]) -> list[str]:
        """Return the versions that no row has, in order."""
        is_held = pc.is_in(pa.array(versions, pa.string()), value_set=self.versions)
        return [version for version, held in zip(versions, is_held.to_pylist(), strict=True) if not held]

    def renewed(self, tables: LanceTables, first_id: FirstId) -> DocumentTable:
        """Return the current table, reading only new rows. Compacted rows count as new."""
        row_ids = tables.row_ids()
        is_new = pc.invert(pc.is_in(row_ids, value_set=self._rows[ROW_ID]))
        read = tables.light(row_ids.filter(is_new).to_pylist(), is_all=bool(pc.all(is_new).as_py()))
        read = read.append_column(_FIRST_ID, self._first_ids_of(read, first_id)).select(_NO_ROWS.names).cast(_NO_ROWS)
        rows = pa.concat_tables([self._rows, read])
        is_held = pc.is_in(rows[ROW_ID], value_set=row_ids).to_numpy()
        order = self._order_with(rows, is_held)
        if order is None:
            order = _order_of(rows, np.flatnonzero(is_held))
        if len(rows) - np.count_nonzero(is_held) > _MAX_UNUSED * len(rows):
            # Deleted rows are kept as long as LanceDB has them, to avoid reading them again.
            return DocumentTable(rows.filter(pa.array(is_held)).combine_chunks(), (np.cumsum(is_held) - 1)[order])
        if rows[ROW_ID].num_chunks > _MAX_PARTS:
            first = len(rows[ROW_ID].chunk(0))  # the largest chunk, which is mapped
            rows = pa.concat_tables([rows.slice(0, first), rows.slice(first).combine_chunks()])
        return DocumentTable(rows, order)

    def _order_with(self, rows: pa.Table, is_held: NDArray[np.bool_]) -> Positions | None:
        """Return the new order after a few rows were added; None if everything must be sorted.

        `is_held` tells which of them LanceDB still has.
        """
        others = is_held.copy()
        others[self._order] = False  # new rows, deleted rows, and rows that two machines put at the same time
        if np.count_nonzero(others) > _FEW:
            return None
        numbers = np.flatnonzero(others).tolist()
        columns = rows.select(("source", "path", "version", "gone")).take(pa.array(numbers, pa.int64())).columns
        newest: dict[tuple[str, str], tuple[str, bool, int]] = {}
        for source, path, *of in zip(*(column.to_pylist() for column in columns), numbers, strict=True):
            newest[source, path] = max(newest.get((source, path), ("", False, 0)), tuple(of))
        counts = is_held[self._order]
        places, added = [], []
        for key, (version, gone, number) in sorted(newest.items()):
            place = bisect_left(range(len(self)), key, key=self.key)
            if place < len(self) and self.key(place) == key:
                if counts[place] and self._value("version", place) > version:
                    continue
                counts[place] = False
            if not gone:
                places.append(place)
                added.append(number)
        order: Positions = np.insert(self._order, places, added)[np.insert(counts, places, True)]
        return order

    def _first_ids_of(self, read: pa.Table, first_id: FirstId) -> pa.Array:
        """Return the first chunk id of each row: that of its version in this process, or a new one."""
        places = pc.index_in(read["version"].combine_chunks(), value_set=self.versions)
        rows = zip(read["version"].to_pylist(), read["chunks"].to_pylist(), places.to_pylist(), strict=True)
        firsts = [
            0 if not chunks else first_id(version, chunks) if place is None else int(self.first_ids[place])
            for version, chunks, place in rows
        ]
        return pa.array(firsts, pa.int64())


def _order_of(rows: pa.Table, held: Positions) -> Positions:
    """Return the current ones of the held rows, sorted by source and path."""
    keys = rows.select(("source", "path", "version", "gone"))
    if len(held) < len(rows):
        keys = keys.take(held)
    in_order = pc.sort_indices(keys, sort_keys=_ORDER).to_numpy()
    order: Positions = held[in_order[_is_current(keys, in_order)]]
    return order


def _is_current(keys: pa.Table, in_order: Positions) -> NDArray[np.bool_]:
    """Return which rows, sorted by source, path and version, are current: the last of each path, unless deleted."""
    is_last = np.ones(len(keys), dtype=bool)
    same = np.ones(max(len(keys) - 1, 0), dtype=bool)
    for name in ("source", "path"):
        values = keys[name].take(pa.array(in_order)).combine_chunks()
        same &= pc.equal(values[1:], values[:-1]).to_numpy(zero_copy_only=False)
    is_last[:-1] = ~same
    return np.asarray(is_last & ~keys["gone"].to_numpy()[in_order].astype(bool))
