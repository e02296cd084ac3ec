"""Columns in a file beside a library, mapped instead of read: the first search of a large library waits for nothing.

The library says by a random name which file is of it, in the commit that brought it, so a file is whole and right or
not used. What has been committed since is read from the library. Nothing is lost with the file.
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

# Changes with the layout.
_MAGIC = b"OPBKCOL1"

# Sections begin at multiples of it, as processors like to load them.
_ALIGNED = 64

# Linux keeps a file in pages as large as its writes were, and a search maps them again each time. With pages of 4 KB,
# that takes longer than to compare the vectors.
_BUFFER_BYTES = 1 << 23

# Of the number that says where the table of sections begins.
_POINTER_BYTES = 8


def write_columns(library: Path, documents: Iterable[DocumentRows]) -> str:
    """Write the columns of documents, which come in the order of source and path, and return the name of the file.

    The file is on the disk when this returns, and nobody knows of it yet.

    Raises:
        OSError: It cannot be written.
        ValueError: The columns do not fit together, or a name has a null character.
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
    columns = columns_of(documents, take_rows=file.write)  # vectors first: they come one by one, and are not kept
    _write_sections(file, columns)


def write_column_file(path: Path, columns: Columns) -> None:
    """Write columns, of one document at least, into a new file.

    Raises:
        OSError: It cannot be written.
        ValueError: A name has a null character.
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
    """Return the vectors of a file that has nothing else yet, and is at its end."""
    return _vectors(mmap(file.fileno(), 0, access=ACCESS_READ), total, file.tell() // total)


def _vectors(mapped: mmap, total: int, dim: int, norms: NDArray[np.float32] | None = None) -> VectorBlock:
    """Return the vectors that a file begins with."""
    return VectorBlock(np.frombuffer(mapped, dtype=np.int8, count=total * dim).reshape(total, dim), norms, mapped)


def open_columns(library: Path, token: str) -> Columns | None:
    """Return the columns in the file of a library; None if it is not there, or is not what it was."""
    return open_column_file(columns_path(library, token))


def open_column_file(path: Path) -> Columns | None:
    """Return the columns in a file; None if it is not there, or is not what it was."""
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
