"""Stores segments of posting lists in SQLite tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from openbook.index.catalogue import checked_ids
from openbook.index.postings import (
    FIELDS,
    PackedTerms,
    Postings,
    TermRange,
    merge_postings,
    merged,
    pack_rows,
    unpack,
    worth_merging,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


def write_segment(connection: sqlite3.Connection, pending: Iterable[PackedTerms]) -> None:
    """Store the posting lists of a transaction's documents as one segment."""
    _write(connection, merged(pending))


def _write(connection: sqlite3.Connection, stretches: Iterable[TermRange]) -> None:
    segment = connection.execute("INSERT INTO segments (postings) VALUES (0)").lastrowid
    total = 0
    for row in pack_rows(stretches):
        connection.execute("INSERT INTO postings VALUES (?, ?, ?, ?, ?, ?)", (segment, *row))
        total += len(row.counts) // FIELDS
    connection.execute("UPDATE segments SET postings = ? WHERE id = ?", (total, segment))


def segment_postings(connection: sqlite3.Connection, tokens: Iterable[str]) -> dict[str, Postings]:
    """Return the posting list of each term, including deleted chunks."""
    segments = connection.execute("SELECT id FROM segments ORDER BY id").fetchall()
    return {token: merge_postings([_found(connection, segment, token) for (segment,) in segments]) for token in tokens}


def _found(connection: sqlite3.Connection, segment: int, token: str) -> Postings | None:
    row = connection.execute(
        "SELECT first_token, tokens, ends, ids, counts FROM postings WHERE segment = ? AND first_token <= ?"
        " ORDER BY first_token DESC LIMIT 1",
        (segment, token),
    ).fetchone()
    return None if row is None else unpack(PackedTerms(*row), token)


def mergeable(connection: sqlite3.Connection, *, every: bool) -> list[int]:
    """Select segments to merge into one. See `worth_merging`."""
    return worth_merging(connection.execute("SELECT postings, id FROM segments ORDER BY id"), every=every)


def merge(connection: sqlite3.Connection, segments: Sequence[int], alive: NDArray[np.int64]) -> None:
    """Merge segments into one, and drop postings of chunks not in `alive`."""
    _write(connection, merged([row for segment in segments for row in _rows_of(connection, segment)], alive))
    for segment in segments:
        connection.execute("DELETE FROM postings WHERE segment = ?", (segment,))
        connection.execute("DELETE FROM segments WHERE id = ?", (segment,))


def _rows_of(connection: sqlite3.Connection, segment: int) -> Sequence[PackedTerms]:
    sql = "SELECT first_token, tokens, ends, ids, counts FROM postings WHERE segment = ?"
    return [PackedTerms(*row) for row in connection.execute(sql, (segment,))]


def ids_of_chunks(connection: sqlite3.Connection) -> NDArray[np.int64]:
    """Return the ids of all chunks, in any order."""
    rows = connection.execute("SELECT first_chunk_id, chunks FROM vectors").fetchall()
    return checked_ids(np.array([id_ for first, count in rows for id_ in range(first, first + count)], dtype=np.int64))
