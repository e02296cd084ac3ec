"""Names of uploaded files are no paths, and what is written is there as a whole or not at all."""

from __future__ import annotations

import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fastapi import UploadFile

from openbook.errors import SettingsError
from openbook.server.failures import RequestRefusedError
from openbook.server.upload_owners import UploadOwners
from openbook.server.uploads import UploadStore, safe_name
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
        pytest.param("𠮷" * 100 + ".txt", "𠮷" * 59 + ".txt", id="four-bytes-each"),
        pytest.param("𠮷." + "𠮷" * 79, "𠮷." + "𠮷" * 58, id="four-bytes-each-of-the-ending"),
        ("", "file"),
        ("...", "file"),
        ("con. ", "_con"),
        ("NUL.txt", "_NUL.txt"),
        ("lpt1 .tar.gz", "_lpt1 .tar.gz"),
        ("console.md", "console.md"),
    ],
)
def test_a_file_name_is_sanitized(name: str, safe: str) -> None:
    assert safe_name(name) == safe


class Breaking(io.BytesIO):
    """A file that cannot be read to its end."""

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell():
            raise OSError(28, "No space left on device")
        return super().read(3)


def test_of_an_upload_that_fails_nothing_is_kept(tmp_path: Path) -> None:
    uploads = UploadStore("library", Settings(home=tmp_path))
    files = [UploadFile(io.BytesIO(b"# A"), size=3, filename="a.md"), UploadFile(Breaking(b"# B\n"), filename="b.md")]

    with pytest.raises(RequestRefusedError, match="No space left") as caught:
        uploads.keep([("a.md", files[0]), ("b.md", files[1])], "ada")

    assert caught.value.status == 507
    assert list(tmp_path.rglob("*.md")) == []


@pytest.mark.slow
def test_two_servers_with_one_folder_lose_no_file_and_no_owner(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    homes = [Settings(home=tmp_path / name, storage="lance:s3://notes", uploads=str(folder)) for name in ("a", "b")]
    servers = [UploadStore("library", settings) for settings in homes]
    together = threading.Barrier(len(servers))

    def send(number: int) -> None:
        for file in range(20):
            together.wait(30)
            keep(servers[number], ("notes.md", f"{number} {file}".encode()), owner=f"owner {number}")

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(send, range(2)))

    kept = [(servers[0].folder() / path).read_text("utf-8") for path in servers[1].files(servers[1].folder())]
    assert sorted(kept) == sorted(f"{number} {file}" for number in range(2) for file in range(20))
    used = [UploadOwners(folder / "library").used_bytes(f"owner {number}") for number in range(2)]
    assert used == [sum(len(f"{number} {file}") for file in range(20)) for number in range(2)]


def test_concurrent_writes_of_owners_wait_for_the_lock(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("one", encoding="utf-8")
    lock, owners = tmp_path / "owners.lock", UploadOwners(tmp_path, writing_s=60)
    lock.touch()

    with ThreadPoolExecutor(1) as threads:
        adding = threads.submit(owners.add, "ada", [tmp_path / "a.md"])
        with pytest.raises(TimeoutError):
            adding.result(0.2)
        (tmp_path / "owners.json").write_text(json.dumps({"b.md": "bob"}), encoding="utf-8")
        lock.unlink()
        adding.result(30)

    assert [owners.used_bytes(owner) for owner in ("ada", "bob")] == [3, 3]


def test_a_stale_lock_on_the_owners_is_broken(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.md").write_text("one", encoding="utf-8")
    (tmp_path / "owners.lock").touch()
    owners = UploadOwners(tmp_path, writing_s=0.05)

    owners.add("ada", [tmp_path / "a.md"])

    assert (owners.used_bytes("ada"), (tmp_path / "owners.lock").exists()) == (3, False)


@pytest.mark.parametrize("named", ["relative", "gone"])
def test_a_missing_upload_disk_is_reported_and_not_created(tmp_path: Path, named: str) -> None:
    uploads = "uploads" if named == "relative" else str(tmp_path / "gone")

    with pytest.raises(SettingsError, match=f"the folder '{uploads}' for uploads is not there") as caught:
        UploadStore("library", Settings(home=tmp_path, uploads=uploads))

    assert "OPENBOOK_UPLOADS" in caught.value.hint
    assert list(tmp_path.iterdir()) == []


def keep(uploads: UploadStore, *files: tuple[str, bytes], owner: str = "ada", course: bool = False) -> list[str]:
    sent = [(name, UploadFile(io.BytesIO(text), size=len(text), filename=name)) for name, text in files]
    return uploads.keep(sent, owner, course=course)


def test_files_of_one_name_are_told_apart_unless_they_are_the_same(tmp_path: Path) -> None:
    uploads = UploadStore("library", Settings(home=tmp_path))

    kept = [keep(uploads, ("a.md", text)) for text in (b"one", b"two", b"one")]
    at_once = keep(uploads, ("b.md", b"one"), ("b.md", b"two"), ("b.md", b"one"))

    assert kept == [["a.md"], ["a (2).md"], ["a.md"]]
    assert at_once == ["b.md", "b (2).md"]
    assert uploads.files(uploads.folder()) == ["a (2).md", "a.md", "b (2).md", "b.md"]


def test_course_material_of_one_upload_has_a_folder_of_its_own(tmp_path: Path) -> None:
    uploads = UploadStore("library", Settings(home=tmp_path))
    lessons = [("01 yeast.txt", b"Yeast."), ("02 kneading.txt", b"Knead.")]

    kept = [
        keep(uploads, *files, course=True)
        for files in (lessons, [lessons[0], ("02 baking.txt", b"Bake.")], lessons, [("Knots.md", b"Rope.")])
    ]

    assert [{path.partition("/")[0] for path in paths} for paths in kept] == [
        {"Uploaded course"},
        {"Uploaded course 2"},
        {"Uploaded course"},
        {"Knots"},
    ]
    assert keep(uploads, ("Week 3.md", b"Rope."), course=True) == ["Uploaded course 3/Week 3.md"]  # names no course


def test_a_course_is_not_the_same_as_one_that_holds_more(tmp_path: Path) -> None:
    uploads = UploadStore("library", Settings(home=tmp_path))
    yeast, kneading, baking = ("01 yeast.txt", b"Yeast."), ("02 kneading.txt", b"Knead."), ("03 baking.txt", b"Bake.")
    keep(uploads, yeast, kneading, baking, course=True)

    fewer, again = keep(uploads, yeast, kneading, course=True), keep(uploads, kneading, yeast, course=True)

    assert fewer == ["Uploaded course 2/01 yeast.txt", "Uploaded course 2/02 kneading.txt"]
    assert sorted(again) == fewer


@pytest.mark.parametrize(("name", "reasons"), [("a.pdf", ["larger than 9 bytes"]), ("a.md", []), ("a.ipynb", [])])
def test_documents_that_text_is_extracted_from_have_a_limit_of_their_own(
    tmp_path: Path, name: str, reasons: list[str]
) -> None:
    uploads = UploadStore("library", Settings(home=tmp_path, max_file_bytes=20, max_document_bytes=9))

    _, refused = uploads.check([UploadFile(io.BytesIO(b"0123456789"), size=10, filename=name)])

    assert [each.reason for each in refused] == reasons


def test_each_owner_may_keep_so_many_bytes_and_gets_room_by_deleting(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, key_upload_bytes=10)
    keep(UploadStore("library", settings), ("a.md", b"12345678"))
    uploads = UploadStore("library", settings)  # as after a restart

    with pytest.raises(RequestRefusedError, match="your uploads have 8 bytes, and may have 10") as caught:
        keep(uploads, ("b.md", b"123"))
    others = keep(uploads, ("b.md", b"123"), owner="eve")
    uploads.remove(uploads.folder(), "a.md")

    assert (caught.value.status, others) == (413, ["b.md"])
    assert keep(uploads, ("c.md", b"1234567890")) == ["c.md"]
