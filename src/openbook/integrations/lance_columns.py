"""What is scored of the documents of a library in LanceDB, in memory: read once, and then what is new."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from openbook.index.columns import Block, Columns, DocumentRows, Names, arranged, columns_of, lessons_of
from openbook.index.postings import FIELDS
from openbook.integrations.lance_rows import DocumentRow
from openbook.integrations.lance_tables import LanceTables

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

# Each commit that is read brings a part. Looking through one costs 20 microseconds; joining them copies what is new.
_MOST_PARTS = 16

FirstId = Callable[[str, int], int]

_UNWANTED = -1, DocumentRow("", "")


class ColumnStore:
    """The columns of the versions of documents that have been read."""

    def __init__(self, tables: LanceTables) -> None:
        self._tables = tables
        self._parts: list[Columns] = []
        self._known: set[int] = set()

    def columns(self, stored: Sequence[DocumentRow], first_id: FirstId, row_ids: Mapping[str, int]) -> Columns:
        """Return the columns of documents with chunks, which come in the order of source and path.

        What a batch has not yet written has its columns with it; those of others are read. A document is known by the
        first id of its chunks.

        Args:
            stored: The documents.
            first_id: Gives ids.
            row_ids: Of the rows that are written, by version.
        """
        ids = [first_id(each.version, each.chunks) for each in stored]
        unwritten = [(id_, each) for id_, each in zip(ids, stored, strict=True) if each.rows]
        missing = {
            each.version: (id_, each)
            for id_, each in zip(ids, stored, strict=True)
            if id_ not in self._known and not each.rows
        }
        if missing:
            part = _part(self._tables.scored([row_ids[version] for version in missing]), missing)
            self._parts.append(part)
            self._known.update(part.document_ids.tolist())
        if len(self._parts) > _MOST_PARTS:
            self._join(ids)
        parts = [*self._parts, columns_of(_document_rows(unwritten))]
        places = {id_: place for place, id_ in enumerate(_ids(parts))}
        return arranged(parts, np.array([places[id_] for id_ in ids], dtype=np.int64))

    def _join(self, living: Iterable[int]) -> None:
        """Copy all but the first part into one, without what is gone."""
        first, *later = self._parts
        wanted = set(living)
        files = [place for place, id_ in enumerate(_ids(later)) if id_ in wanted]
        joined = arranged(later, np.array(files, dtype=np.int64))
        rows = np.concatenate([block.rows for block in joined.blocks])[joined.order]
        self._parts = [first, replace(joined, blocks=(Block(rows),), order=None)]
        self._known = set(_ids(self._parts))


def _ids(parts: Iterable[Columns]) -> list[int]:
    return [id_ for part in parts for id_ in part.document_ids.tolist()]


def _document_rows(unwritten: Iterable[tuple[int, DocumentRow]]) -> Iterable[DocumentRows]:
    for first, each in unwritten:
        yield DocumentRows(
            *(*each.key, each.kind, each.course, first, each.chunks, each.lengths, each.rows, each.numbers, first)
        )


def _part(table: pa.Table, missing: Mapping[str, tuple[int, DocumentRow]]) -> Columns:
    """Return the columns of the rows of a table, without copying their vectors.

    Args:
        table: See `LanceTables.scored`.
        missing: First id and row of the documents that are wanted, by version. Others have the id -1 and no name.
    """
    chunks = table["chunks"].to_numpy().astype(np.int64)
    held = np.flatnonzero(chunks)
    found = [missing.get(version, _UNWANTED) for version in table["version"].take(held).to_pylist()]
    sizes = chunks[held]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    first_ids = np.array([id_ for id_, _ in found], dtype=np.int64)
    numbers = enumerate(table["numbers"].take(held).to_pylist())
    packed = [part for part in map(_bytes, table["rows"].chunks) if len(part)]
    dim = sum(map(len, packed)) // max(int(starts[-1]), 1)
    return Columns(
        first_ids,
        first_ids,
        sizes,
        np.concatenate([_bytes(chunk) for chunk in table["lengths"].chunks]).view(np.uint16).reshape(-1, FIELDS),
        lessons_of([(place, each) for place, each in numbers if each], starts),
        tuple(Block(part.view(np.int8).reshape(-1, dim)) for part in packed),
        None,
        Names([(row.source, row.path, row.kind, row.course) for _, row in found]),
    )


def _bytes(values: pa.LargeBinaryArray) -> NDArray[np.uint8]:
    """Return all bytes of an array, one value after the other."""
    _, offsets, held = values.buffers()
    start, end = np.frombuffer(offsets, dtype=np.int64)[[values.offset, values.offset + len(values)]]
    return np.frombuffer(held or b"", dtype=np.uint8)[start:end]
