"""Names of uploaded files are no paths, and what is written is there as a whole or not at all."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from fastapi import UploadFile

from openbook.server.failures import RequestRefusedError
from openbook.server.uploads import Uploads, safe_name
from openbook.settings import Settings


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("notes.md", "notes.md"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("a\x00b\u202egpj.md", "a_b_gpj.md"),
        ('<img src=x onerror="1">.md', "_img src_x onerror__1__.md"),
        ("数据 结构.txt", "数据 结构.txt"),
        ("x" * 300 + ".pdf", "x" * 76 + ".pdf"),
        ("a." + "y" * 300, ("a." + "y" * 300)[:80]),
        ("", "file"),
        ("...", "file"),
        ("con. ", "con"),
    ],
)
def test_a_name_is_no_path_and_hides_nothing(name: str, safe: str) -> None:
    assert safe_name(name) == safe


class Breaking(io.BytesIO):
    """A file that cannot be read to its end."""

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell():
            raise OSError(28, "No space left on device")
        return super().read(3)


def test_of_an_upload_that_fails_nothing_is_kept(tmp_path: Path) -> None:
    uploads = Uploads("library", Settings(home=tmp_path))
    files = [UploadFile(io.BytesIO(b"# A"), size=3, filename="a.md"), UploadFile(Breaking(b"# B\n"), filename="b.md")]

    with pytest.raises(RequestRefusedError, match="No space left") as caught:
        uploads.keep([("a.md", files[0]), ("b.md", files[1])])

    assert caught.value.status == 507
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_two_files_of_one_name_are_two_files(tmp_path: Path) -> None:
    uploads = Uploads("library", Settings(home=tmp_path))

    for text in (b"one", b"two"):
        uploads.keep([("a.md", UploadFile(io.BytesIO(text), size=3, filename="a.md"))])

    assert sorted(file.read_bytes() for file in uploads.folder().iterdir()) == [b"one", b"two"]
