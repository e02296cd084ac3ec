"""Reads the files of a compressed archive while it comes in. Names lead nowhere: nothing is written here."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterable, Iterator

from openbook.errors import FetchError

# The headers of all are kept, with 1 KB each. The Linux kernel has 90,000.
_MOST_MEMBERS = 500_000


def tar_contents(chunks: Iterable[bytes], *, location: str, max_bytes: int, max_file_bytes: int) -> Iterator[bytes]:
    """Yield the contents of the regular files of a compressed tar archive, in order.

    Links, devices and folders are passed over, and so are larger files. No more than one file is in memory.

    Args:
        chunks: The archive, as it comes.
        location: What an error names as the place.
        max_bytes: Of the archive when it is unpacked.
        max_file_bytes: Of a file that is wanted.

    Raises:
        FetchError: The archive is damaged or cut short, or unpacks to more than it may.
    """
    unpacked = _Counted(gzip.GzipFile(fileobj=_Stream(chunks)), location, max_bytes)
    try:
        # In this mode, members are read in their order and none is kept.
        with tarfile.open(fileobj=unpacked, mode="r|") as archive:
            for number, member in enumerate(archive):
                if number >= _MOST_MEMBERS:
                    raise FetchError(location, "the archive has too many members")
                if member.isreg() and not member.issparse() and 0 <= member.size <= max_file_bytes:
                    file = archive.extractfile(member)
                    yield b"" if file is None else file.read()
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError) as exc:
        raise FetchError(location, "the archive is damaged or cut short", hint="try again") from exc


class _Stream(io.RawIOBase):
    """Chunks as a file."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            self._rest = chunk
        end = len(self._rest) if size < 0 else size
        found, self._rest = self._rest[:end], self._rest[end:]
        return found


class _Counted(io.RawIOBase):
    """What is unpacked of a file, up to a limit: a few bytes can unpack to any number."""

    def __init__(self, file: gzip.GzipFile, location: str, max_bytes: int) -> None:
        self._file = file
        self._location = location
        self._left = max_bytes

    def read(self, size: int = -1) -> bytes:
        found = self._file.read(size)
        self._left -= len(found)
        if self._left < 0:
            hint = "raise OPENBOOK_MAX_REPOSITORY_BYTES if it is meant to be that large"
            raise FetchError(self._location, "it unpacks to more than is allowed", hint=hint)
        return found
