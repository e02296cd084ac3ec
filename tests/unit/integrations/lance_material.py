"""Rows for the tables of a library in LanceDB, and what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from openbook.index.protocol import IndexIdentity
from openbook.integrations.lance_rows import DocumentBody, DocumentRow, new_version
from openbook.integrations.lance_tables import ROW_ID, LanceTables
from openbook.integrations.lance_words import WordRows
from openbook.integrations.memory_cache import MemoryCache, bytes_of
from tests.support import IDENTITY


class CountedTables(LanceTables):
    """Counts the rows that are read of documents and words."""

    read = 0

    def light(self, row_ids: Sequence[int], *, is_all: bool = False) -> pa.Table:
        rows = super().light(row_ids, is_all=is_all)
        self.read += len(rows)
        return rows

    def scored(self, row_ids: NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
        self.read += len(row_ids)
        return super().scored(row_ids)

    def rows_of_words(self, row_ids: Sequence[int]) -> list[dict[str, Any]]:
        self.read += len(row_ids)
        return super().rows_of_words(row_ids)


NOTHING = DocumentBody("", "[]", "[]")


def opened(uri: str, identity: IndexIdentity = IDENTITY, *, lock_timeout_s: float = 10) -> LanceTables:
    return LanceTables(uri, identity, lock_timeout_s=lock_timeout_s)


def word_rows(max_bytes: int = 1 << 20) -> WordRows:
    return MemoryCache(max_bytes, bytes_of)


def row(path: str, text: str = "") -> tuple[DocumentRow, DocumentBody]:
    return DocumentRow("s", path, content_hash=text, version=new_version()), DocumentBody(text, "[]", "[]")


def gone(path: str) -> tuple[DocumentRow, DocumentBody]:
    return DocumentRow("s", path, version=new_version(), gone=True), NOTHING


def held(tables: LanceTables) -> dict[str, str]:
    """Return the texts of what is committed, by path."""
    tables.refresh()
    rows = rows_of(tables)
    texts = tables.heavy(list(rows))
    found = {stored.path: heavy.text for stored, heavy in zip(rows.values(), texts, strict=True)}
    assert len(found) == len(rows)
    return found


def rows_of(tables: LanceTables) -> dict[int, DocumentRow]:
    """Return all rows of documents by their ids, those that say that something is gone included."""
    rows = tables.light([], is_all=True).to_pylist()
    return {row.pop(ROW_ID): DocumentRow(**row) for row in rows}


def word_row(segment: str, place: int = 0) -> dict[str, object]:
    return {
        "segment": segment, "place": place, "first_token": "a", "tokens": "a", "ends": b"1", "ids": b"2", "counts": b"3"
    }  # fmt: skip


def words_of(tables: LanceTables) -> dict[tuple[str, str, int], int]:
    """Return the ids of all rows of words, by segment, first token and place."""
    rows = tables.words(tables.word_ids(), is_all=True).to_pylist()
    return {(row["segment"], row["first_token"], row["place"]): row[ROW_ID] for row in rows}
