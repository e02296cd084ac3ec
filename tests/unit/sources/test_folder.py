"""A folder lists what can be read, says why the rest cannot, and reads it exactly."""

from __future__ import annotations

import os
import stat
import sys
import threading
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from openbook.errors import SkippedFileError, SourceError
from openbook.sources.folder import Folder, leads_elsewhere_on_windows, source_name
from openbook.sources.walk import Scan, SkippedFile, is_link
from openbook.types import Document

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def touch(root: Path, *names: str) -> Path:
    return write(root, dict.fromkeys(names, ""))


def listed(root: Path) -> list[str]:
    return [file.path for file in Folder(root).scan().files]


def refused(folder: Folder, path: str) -> str:
    with pytest.raises(SkippedFileError) as caught:
        folder.read(path)
    assert caught.value.location == path
    return caught.value.reason


def test_files_are_listed_in_the_order_of_their_paths(tmp_path: Path) -> None:
    touch(tmp_path, "b.py", "a/z.py", "a.py", "B.py", "a/b/c.py")

    assert listed(tmp_path) == ["B.py", "a.py", "a/b/c.py", "a/z.py", "b.py"]


def test_an_empty_folder_has_an_empty_scan(tmp_path: Path) -> None:
    assert Folder(tmp_path).scan() == Scan()


def test_a_stamp_holds_size_and_times(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"12345")

    (file,) = Folder(tmp_path).scan().files

    status = (tmp_path / "a.txt").stat()
    assert (file.stamp.size_bytes, file.stamp.modified_ns) == (5, status.st_mtime_ns)


def test_a_missing_root_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        Folder(tmp_path / "nowhere")

    assert caught.value.reason == "does not exist"
    assert caught.value.hint


def test_a_root_that_vanishes_is_an_error_and_not_an_empty_source(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    folder = Folder(root)
    root.rmdir()

    with pytest.raises(SourceError):
        folder.scan()


def test_folders_of_tools_and_lock_files_are_ignored(tmp_path: Path) -> None:
    touch(tmp_path, ".git/config", "node_modules/x/a.js", "a/__pycache__/b.py", "uv.lock", "app.min.js", "app.js")

    scan = Folder(tmp_path).scan()

    assert [file.path for file in scan.files] == ["app.js"]
    assert scan.skipped == ()


def test_compiled_files_are_ignored_unless_a_rule_includes_them(tmp_path: Path) -> None:
    touch(tmp_path, "a/App.js", "a/App.js.map", "a/src.js", "b/kept.js", "b/kept.js.map")
    (tmp_path / ".openbookignore").write_text("!/b/kept.js\n", encoding="utf-8")

    assert listed(tmp_path) == [".openbookignore", "a/src.js", "b/kept.js"]


def test_hidden_folders_that_people_write_are_listed(tmp_path: Path) -> None:
    touch(tmp_path, ".github/workflows/ci.yml")

    assert listed(tmp_path) == [".github/workflows/ci.yml"]


def test_a_build_folder_is_output_only_beside_the_file_of_its_tool(tmp_path: Path) -> None:
    touch(tmp_path, "setup.py", "build/a.py", "src/build/b.py", "crate/Cargo.toml", "crate/target/c.rs")

    assert listed(tmp_path) == ["crate/Cargo.toml", "setup.py", "src/build/b.py"]


def test_any_virtual_environment_is_ignored_whatever_its_name(tmp_path: Path) -> None:
    touch(tmp_path, "my_tools/pyvenv.cfg", "my_tools/lib/a.py", "main.py")

    assert listed(tmp_path) == ["main.py"]


@pytest.mark.parametrize("name", ["build", "node_modules", "site-packages", ".git"])
def test_a_root_is_walked_whatever_its_name(tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    root.mkdir()
    touch(root, "a.py", "pyvenv.cfg")
    (tmp_path / "setup.py").touch()

    assert listed(root) == ["a.py", "pyvenv.cfg"]


def test_skipped_files_are_listed_with_reasons(tmp_path: Path) -> None:
    write(tmp_path, {".env": "KEY=1", ".ssh/config": "", "logo.png": "", "big.txt": "x" * 11})

    scan = Folder(tmp_path, max_file_bytes=10).scan()

    assert scan.skipped == (
        SkippedFile(".env", "secret"),
        SkippedFile(".ssh/", "secret"),
        SkippedFile("big.txt", "too large"),
        SkippedFile("logo.png", "binary by name"),
    )


def test_no_rule_makes_a_secret_readable(tmp_path: Path) -> None:
    write(tmp_path, {".openbookignore": "!.env\n!id_rsa\n", ".env": "A=1", "id_rsa": "x"})
    folder = Folder(tmp_path)

    scan = folder.scan()

    assert [file.path for file in scan.files] == [".openbookignore"]
    assert refused(folder, ".env") == "secret"
    assert refused(folder, ".ssh/config") == "secret"


def test_a_file_that_begins_with_a_private_key_is_a_secret(tmp_path: Path) -> None:
    write(tmp_path, {"notes.txt": "\n-----BEGIN OPENSSH " + "PRIVATE KEY-----\nabc\n"})

    assert refused(Folder(tmp_path), "notes.txt") == "secret"


@posix_only
def test_links_are_never_followed(tmp_path: Path) -> None:
    outside = touch(tmp_path / "outside", "a.py")
    root = touch(tmp_path / "root", "lib/b.py")
    (root / "away").symlink_to(outside)
    (root / "file.py").symlink_to(outside / "a.py")
    (root / "again").symlink_to(root / "lib")
    (root / "lib" / "loop").symlink_to(root)
    (root / "self").symlink_to(root / "self")

    scan = Folder(root).scan()

    assert [file.path for file in scan.files] == ["lib/b.py"]
    assert {skipped.path: skipped.reason for skipped in scan.skipped} == {
        "again": "link in the source",
        "away": "link out of root",
        "file.py": "link out of root",
        "lib/loop": "link in the source",
        "self": "link in the source",
    }


@posix_only
def test_reading_follows_no_link_either(tmp_path: Path) -> None:
    outside = touch(tmp_path / "outside", "a.py")
    root = touch(tmp_path / "root", "b.py")
    (root / "away").symlink_to(outside)
    (root / "file.py").symlink_to(outside / "a.py")
    folder = Folder(root)

    assert refused(folder, "away/a.py") == "outside the source"
    assert refused(folder, "file.py") == "not a regular file"


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/hostname", "a/../../secret.txt", "..", "./a.py"])
def test_a_path_out_of_the_root_is_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.txt").touch()
    root = touch(tmp_path / "root", "a/b.py")

    assert refused(Folder(root), path) in {"outside the source", "not a regular file"}


@pytest.mark.parametrize("path", ["..\\secret.txt", "a/..\\..\\b", "C:secret.txt", "a.txt:stream"])
def test_what_windows_reads_as_another_path_is_refused_there_and_a_name_elsewhere(path: str) -> None:
    assert leads_elsewhere_on_windows(path, "\\")
    assert not leads_elsewhere_on_windows(path, "/")
    assert not leads_elsewhere_on_windows("a/b.txt", "\\")


def test_a_junction_of_windows_is_a_link_and_a_file_that_is_kept_online_is_none(tmp_path: Path) -> None:
    def status(tag: int) -> os.stat_result:
        return cast("os.stat_result", SimpleNamespace(st_mode=stat.S_IFDIR, st_reparse_tag=tag))

    assert is_link(status(0xA0000003))
    assert not is_link(status(0x9000001A))
    assert not is_link(tmp_path.lstat())


@posix_only
def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    folder = Folder(tmp_path)

    scan = folder.scan()

    assert scan.skipped == (SkippedFile("pipe.txt", "not a regular file"),)
    assert refused(folder, "pipe.txt") == "not a regular file"
    assert Folder(tmp_path / "pipe.txt").scan().skipped == (SkippedFile("pipe.txt", "not a regular file"),)


@posix_only
@pytest.mark.skipif(sys.platform == "darwin", reason="the file system takes UTF-8 names only")
def test_a_name_that_is_not_utf8_is_skipped(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.py")).touch()
    (tmp_path / "café.py").touch()

    scan = Folder(tmp_path).scan()

    assert [file.path for file in scan.files] == ["café.py"]
    assert scan.skipped == (SkippedFile("caf\ufffd.py", "name is not UTF-8"),)


@posix_only
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read everything")
def test_files_without_read_permission_are_skipped(tmp_path: Path) -> None:
    root = touch(tmp_path, "closed/a.py", "b.py", "c.py")
    (root / "closed").chmod(0)
    (root / "b.py").chmod(0)
    folder = Folder(root)

    scan = folder.scan()

    (root / "closed").chmod(0o700)
    assert scan.skipped == (SkippedFile("closed/", "unreadable folder"),)
    assert refused(folder, "b.py") == "unreadable"


class Counted(Folder):
    """Remembers which files were opened, one entry for each time."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, is_course=True)
        self.opened: list[str] = []

    def read_bytes(self, path: str) -> bytes:
        self.opened.append(path)
        return super().read_bytes(path)


def courses_of(documents: list[Document]) -> set[str]:
    return {block.lesson.course for document in documents for block in document.blocks if block.lesson}


def test_which_courses_a_folder_holds_is_decided_once_and_not_for_each_file(tmp_path: Path) -> None:
    notes = {f"note{letter}.txt": "Some words.\n" for letter in "abcdefgh"}
    write(tmp_path, {**notes, "README.md": "# Knots\n", "pictures/a.txt": "A rope.\n"})
    folder = Counted(tmp_path)

    documents = [folder.read(file.path) for file in folder.scan().files]

    assert courses_of(documents) == {"Knots"}
    # Itself, and what was asked for the course: the page that describes it, and one note that is material.
    assert len(folder.opened) == len(documents) + 2


def test_each_folder_of_a_school_is_described_once(tmp_path: Path) -> None:
    texts = {f"{course}/{name}.txt": "Words.\n" for course in ("knots", "bread") for name in "abcd"}
    write(tmp_path, {**texts, "LICENSE": "", "knots/README.md": "# Knots\n", "bread/README.md": "# Bread\n"})
    folder = Counted(tmp_path)

    documents = [folder.read(file.path) for file in folder.scan().files]

    assert courses_of(documents) == {"Knots", "Bread"}
    assert len(folder.opened) == len(documents) + 2


@pytest.mark.parametrize(("checkout", "title"), [(None, "Slides"), ("ada/knots", "Knots"), ("ada", "Slides")])
def test_a_course_is_not_named_after_folders_outside_of_its_repository_nor_after_a_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkout: str | None, title: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "ada"))
    write(tmp_path, {"ada/knots/slides/01.txt": "Words.\n"})
    if checkout is not None:
        (tmp_path / checkout / ".git").mkdir()

    folder = Folder(tmp_path / "ada" / "knots" / "slides", is_course=True)

    assert courses_of([folder.read("01.txt")]) == {title}


def test_a_document_has_the_hash_of_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x = 1\r\n")

    document = Folder(tmp_path, "shop").read("a.py")

    assert (document.source, document.path, document.kind, document.language) == ("shop", "a.py", "code", "python")
    assert document.text == "x = 1\r\n"
    assert document.content_hash == sha256(b"x = 1\r\n").hexdigest()


def test_a_file_that_went_away_or_grew_is_skipped(tmp_path: Path) -> None:
    touch(tmp_path, "a.py", "b.py")
    folder = Folder(tmp_path, max_file_bytes=10)
    folder.scan()
    (tmp_path / "a.py").unlink()
    (tmp_path / "b.py").write_text("x" * 11, encoding="utf-8")

    assert refused(folder, "a.py") == "vanished"
    assert refused(folder, "b.py") == "too large"


def test_a_notebook_may_be_larger_because_it_carries_pictures(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text('{"cells": []}' + " " * 100, encoding="utf-8")

    folder = Folder(tmp_path, max_file_bytes=10)

    assert [file.path for file in folder.scan().files] == ["a.ipynb"]
    assert folder.read("a.ipynb").language == "notebook"


def test_binary_content_is_skipped_when_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "tool").write_bytes(b"\x7fELF\0\0\0")

    assert refused(Folder(tmp_path), "tool") == "binary"


def test_a_single_file_is_read_even_if_rules_ignore_it(tmp_path: Path) -> None:
    write(tmp_path, {".gitignore": "*", "poetry.lock": "[[package]]", "other.py": ""})

    folder = Folder(tmp_path / "poetry.lock")

    assert folder.name == "poetry.lock"
    assert [file.path for file in folder.scan().files] == ["poetry.lock"]
    assert folder.read("poetry.lock").text == "[[package]]"


def test_a_single_secret_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, {".env": "A=1"})

    folder = Folder(tmp_path / ".env")

    assert folder.scan() == Scan(skipped=(SkippedFile(".env", "secret"),))


@pytest.mark.parametrize("given", [".docker", ".SSH/keys", ".aws/notes.md"])
def test_a_folder_of_secrets_is_refused_though_it_is_named(tmp_path: Path, given: str) -> None:
    write(tmp_path, {".docker/config.json": "{}", ".SSH/keys/a.md": "1", ".aws/notes.md": "1"})

    with pytest.raises(SourceError, match="it contains secrets"):
        Folder(tmp_path / given)


@posix_only
def test_a_root_may_be_a_link(tmp_path: Path) -> None:
    write(tmp_path / "real", {"a.py": "1"})
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file.py").symlink_to(tmp_path / "real" / "a.py")

    assert Folder(tmp_path / "link").read("a.py").text == "1"
    assert Folder(tmp_path / "file.py").read("a.py").text == "1"


@pytest.mark.slow
def test_a_file_that_is_written_all_the_time_is_never_read_half(tmp_path: Path) -> None:
    path = write(tmp_path, {"log.txt": ""}) / "log.txt"

    def keep_writing() -> None:
        for letter in "ba" * 200:
            path.write_text(letter * 50_000, encoding="utf-8")

    writer = threading.Thread(target=keep_writing)
    writer.start()
    seen = set()
    while writer.is_alive():
        with suppress(SkippedFileError):
            seen.add(Folder(tmp_path).read("log.txt").text)
    writer.join()

    assert all(len(set(text)) <= 1 for text in seen)


def test_a_source_is_named_after_its_folder(tmp_path: Path) -> None:
    assert source_name(tmp_path / "shop" / "..") == tmp_path.name
    assert source_name("/") == "root"
