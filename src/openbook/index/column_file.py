"""Stores columns in a memory-mapped file beside a library, so that the first search of a large one starts at once.

The library names its current file in the commit that added it, by a random token: a file is either complete and
current, or ignored. Later commits are read from the library. The file is a cache; deleting it loses nothing.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from openbook.index.columns import Columns, DocumentRows, Names, VectorBlock, columns_of
from openbook.index.files import columns_path
from openbook.index.postings import FIELDS
from openbook.permissions import make_private_file

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

# Change it with the layout.
_MAGIC = b"OPBKCOL1"

# Alignment of sections, for fast loads.
_ALIGNED = 64

# Linux caches a file in folios as large as its writes, and maps them again for each search. With 4 KB pages, that takes
# longer than comparing the vectors.
_BUFFER_BYTES = 1 << 23

# Size of the offset of the section table.
_POINTER_BYTES = 8


def write_columns(library: Path, documents: Iterable[DocumentRows]) -> str:
    """Write the columns of documents, sorted by source and path, and return the token of the file.

    The file is synced to disk on return, but the library does not refer to it yet.

    Raises:
        OSError: It cannot be written.
        ValueError: The columns are inconsistent, or a name contains a null character.
    """
    token = secrets.token_hex(8)
    path = columns_path(library, token)
    make_private_file(path)
    try:
        with path.open("r+b", buffering=_BUFFER_BYTES) as file:
            _write(file, documents)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return token


def _write(file: BinaryIO, documents: Iterable[DocumentRows]) -> None:
    columns = columns_of(documents, take_rows=file.write)  # stream the vectors to the file instead of keeping them
    _write_sections(file, columns)


def write_column_file(path: Path, columns: Columns) -> None:
    """Write the columns of at least one document into a new file.

    Raises:
        OSError: It cannot be written.
        ValueError: A name contains a null character.
    """
    make_private_file(path)
    with path.open("r+b", buffering=_BUFFER_BYTES) as file:
        for rows in columns.ordered_rows():
            file.write(rows.data)
        _write_sections(file, columns)


def _write_sections(file: BinaryIO, columns: Columns) -> None:
    total = len(columns)
    file.flush()
    block = mapped_vectors(file, total)
    sections = {"rows": (0, block.rows.shape[1])}
    for name, values in (
        ("norms", block.norms),
        ("documents", columns.document_ids),
        ("firsts", columns.first_ids),
        ("sizes", columns.sizes),
        ("lengths", columns.lengths),
        ("lessons", np.empty(0, dtype=np.int32) if columns.lessons is None else columns.lessons),
        ("names", np.frombuffer(columns.names.packed(), dtype=np.uint8)),
    ):
        file.write(bytes(-file.tell() % _ALIGNED))
        sections[name] = file.tell(), len(values)
        file.write(np.ascontiguousarray(values).data)
    end = file.tell()
    file.write(json.dumps(sections).encode())
    file.write(end.to_bytes(_POINTER_BYTES, "little") + _MAGIC)


def mapped_vectors(file: BinaryIO, total: int) -> VectorBlock:
    """Map the vectors of a file that contains only vectors so far and is positioned at its end."""
    return _vectors(mmap(file.fileno(), 0, access=ACCESS_READ), total, file.tell() // total)


def _vectors(mapped: mmap, total: int, dim: int, norms: NDArray[np.float32] | None = None) -> VectorBlock:
    """Return the vectors at the beginning of a file."""
    return VectorBlock(np.frombuffer(mapped, dtype=np.int8, count=total * dim).reshape(total, dim), norms, mapped)


def open_columns(library: Path, token: str) -> Columns | None:
    """Return the columns from a library's file; None if it is missing or invalid."""
    return open_column_file(columns_path(library, token))


def open_column_file(path: Path) -> Columns | None:
    """Return the columns from a file; None if it is missing or invalid."""
    try:
        with path.open("rb") as file:
            content = mmap(file.fileno(), 0, access=ACCESS_READ)
        mapped = np.frombuffer(content, dtype=np.uint8)
        tail = bytes(mapped[-_POINTER_BYTES - len(_MAGIC) :])
        table = int.from_bytes(tail[:_POINTER_BYTES], "little")
        if not tail.endswith(_MAGIC):
            return None
        sections = json.loads(bytes(mapped[table : -len(tail)]))
    except (OSError, ValueError):
        return None

    def section(name: str, dtype: DTypeLike, width: int = 1) -> Any:
        start, count = sections[name]
        size = count * width * np.dtype(dtype).itemsize
        return mapped[start : start + size].view(dtype)

    sizes = section("sizes", np.int64)
    total, dim = int(sizes.sum()), sections["rows"][1]
    lessons = section("lessons", np.int32)
    return Columns(
        section("documents", np.int64),
        section("firsts", np.int64),
        sizes,
        section("lengths", np.uint16, FIELDS).reshape(total, FIELDS),
        lessons if len(lessons) else None,
        (_vectors(content, total, dim, section("norms", np.float32)),),
        None,
        Names.unpacked(section("names", np.uint8).data),
    )
