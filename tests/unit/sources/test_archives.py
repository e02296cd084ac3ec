"""Archives are read while they come in, within limits; what is in them can lead nowhere."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator

import pytest

from openbook.errors import FetchError
from openbook.sources.archives import tar_contents


def pack(*members: tuple[str, bytes, bytes]) -> bytes:
    """Pack members, given as name, type and content."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type, member.size, member.linkname = kind, len(content), "/etc/passwd"
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def read(packed: bytes, *, max_bytes: int = 1 << 20, max_file_bytes: int = 1000) -> list[bytes]:
    pieces: Iterator[bytes] = (packed[at : at + 7] for at in range(0, len(packed), 7))
    return list(tar_contents(pieces, location="shop", max_bytes=max_bytes, max_file_bytes=max_file_bytes))


def test_only_regular_files_within_the_limit_have_contents_whatever_they_are_called() -> None:
    packed = pack(
        ("../../etc/evil", tarfile.REGTYPE, b"harmless"),
        ("link", tarfile.SYMTYPE, b""),
        ("hard", tarfile.LNKTYPE, b""),
        ("tty", tarfile.CHRTYPE, b""),
        ("large", tarfile.REGTYPE, b"x" * 1001),
        ("empty", tarfile.REGTYPE, b""),
    )

    assert read(packed) == [b"harmless", b""]


@pytest.mark.parametrize(("name", "content"), [("a", b"x" * (1 << 21)), ("n" * (1 << 21), b"")], ids=["file", "name"])
def test_an_archive_that_unpacks_to_too_much_is_refused_before_it_does(name: str, content: bytes) -> None:
    packed = pack((name, tarfile.REGTYPE, content))

    with pytest.raises(FetchError, match="unpacks to more than is allowed"):
        read(packed, max_bytes=1 << 16)


@pytest.mark.parametrize("cut", [20, 60, 100])
def test_an_archive_that_is_cut_short_is_no_whole_one(cut: int) -> None:
    packed = pack(("a", tarfile.REGTYPE, bytes(range(256)) * 3))

    with pytest.raises(FetchError, match="damaged or cut short"):
        read(packed[:cut])


def test_what_is_no_archive_is_refused() -> None:
    with pytest.raises(FetchError, match="damaged"):
        read(b"<html>maintenance</html>")
