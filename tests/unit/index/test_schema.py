"""What can be wrong with the file of a library, and what is said about it."""

from __future__ import annotations

import contextlib
import random
import shlex
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from openbook.errors import CorruptLibraryError, LibraryError, LibraryWriteError, MismatchedLibraryError
from openbook.index import schema
from openbook.index.protocol import Source
from openbook.index.schema import APPLICATION_ID, SCHEMA_VERSION, is_library, stored_sources
from openbook.index.sqlite import SqliteIndex
from tests.children import run_child, start_child, tell
from tests.support import IDENTITY, everything, lexical, paths, put, vector


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Make a library of two documents, one of them large."""
    file = tmp_path / "my library.sqlite"
    with contextlib.closing(SqliteIndex(file, IDENTITY)) as index:
        index.put_root(Source("s", "folder", "/home/me/s"))
        put(index, "a.md", "red fox", vector=vector(1))
        put(index, "b.md", "grüne Wiese " * 3000, vector=vector(0, 1))
    return file


def test_a_new_file_carries_our_mark_and_version(library: Path) -> None:
    with contextlib.closing(sqlite3.connect(library)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_folders_are_made_on_the_way(tmp_path: Path) -> None:
    file = tmp_path / "new" / "folder" / "library.sqlite"

    SqliteIndex(file, IDENTITY).close()

    assert file.exists()


def test_a_library_that_another_process_makes_meanwhile_is_not_made_twice(tmp_path: Path) -> None:
    file = tmp_path / "library.sqlite"
    opened = []
    thread = threading.Thread(target=lambda: opened.append(SqliteIndex(file, IDENTITY)))
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("BEGIN IMMEDIATE")

        thread.start()  # finds an empty file, and waits for its turn
        time.sleep(0.2)
        for statement in schema._TABLES.split(";\n"):
            other.execute(statement)
        other.executemany("INSERT INTO meta VALUES (?, ?)", asdict(IDENTITY).items())
        other.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        other.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        other.execute("COMMIT")
        thread.join()

    put(opened[0], "a.md", "fox")
    assert paths(opened[0], lexical(opened[0], ["fox"], 5)) == ["a.md"]
    opened[0].close()


def test_a_new_library_that_another_process_holds_on_to_is_waited_for_and_then_given_up(tmp_path: Path) -> None:
    file = tmp_path / "library.sqlite"
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(LibraryWriteError, match="another process is writing to it"):
            SqliteIndex(file, IDENTITY, lock_timeout_s=0.05)

    SqliteIndex(file, IDENTITY).close()


def test_a_library_is_made_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "library.sqlite"
    with pytest.raises(UnicodeEncodeError):
        SqliteIndex(file, replace(IDENTITY, chunks="\ud800"))

    with contextlib.closing(SqliteIndex(file, IDENTITY)) as index:
        assert index.roots() == []


def test_an_empty_file_becomes_a_library(tmp_path: Path) -> None:
    file = tmp_path / "empty.sqlite"
    file.touch()

    with contextlib.closing(SqliteIndex(file, IDENTITY)) as index:
        put(index, "a.md", "fox")

        assert len(lexical(index, ["fox"], 5)) == 1


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        pytest.param({"embedder": "other-9"}, "was made with embedder 'test-8', not 'other-9'", id="embedder"),
        pytest.param({"tokens": "words-9"}, "was made with tokens 'test-1', not 'words-9'", id="tokens"),
        pytest.param({"chunks": "semantic-9"}, "was made with chunks 'test-2', not 'semantic-9'", id="chunks"),
    ],
)
def test_a_library_of_another_maker_is_refused_with_the_command_that_makes_it_again(
    library: Path, changed: dict[str, str], words: str
) -> None:
    before = library.read_bytes()

    with pytest.raises(MismatchedLibraryError, match=words) as caught:
        SqliteIndex(library, replace(IDENTITY, **changed))

    _, command = caught.value.hint.split(": ")
    assert shlex.split(command) == ["openbook", "add", "--rebuild", "--library", "my library", "PATH", "..."]
    assert library.read_bytes() == before


def test_a_library_of_another_version_is_refused_with_the_command_that_makes_it_again(library: Path) -> None:
    with contextlib.closing(sqlite3.connect(library)) as connection:
        connection.execute("PRAGMA user_version = 99")

    with pytest.raises(MismatchedLibraryError, match=f"has format 99, .* reads {SCHEMA_VERSION}") as caught:
        SqliteIndex(library, IDENTITY)

    assert "openbook add --rebuild --library" in caught.value.hint


def make_foreign(file: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


FOREIGN: dict[str, Callable[[Path], object]] = {
    "database": lambda file: make_foreign(file, "CREATE TABLE meta (key TEXT)"),
    "database-with-log": lambda file: make_foreign(file, "PRAGMA journal_mode = WAL", "CREATE TABLE t (a)"),
    "database-without-tables": lambda file: make_foreign(file, "PRAGMA application_id = 77", "PRAGMA user_version = 3"),
    "word": lambda file: file.write_text("word", encoding="utf-8"),
    "text": lambda file: file.write_text("Dear diary,\n" * 1000, encoding="utf-8"),
    "random-bytes": lambda file: file.write_bytes(random.Random(1).randbytes(10_000)),
    "zeros": lambda file: file.write_bytes(bytes(10_000)),
    "header-alone": lambda file: file.write_bytes(b"SQLite format 3\0" + bytes(84)),
}


@pytest.mark.parametrize("make", list(FOREIGN.values()), ids=list(FOREIGN))
def test_a_file_that_is_no_library_is_refused_and_left_as_it_is(tmp_path: Path, make: Callable[[Path], object]) -> None:
    file = tmp_path / "file.sqlite"
    make(file)
    before = file.read_bytes()

    with pytest.raises(CorruptLibraryError) as caught:
        SqliteIndex(file, IDENTITY)

    assert caught.value.hint
    assert file.read_bytes() == before
    assert [left.name for left in tmp_path.iterdir()] == ["file.sqlite"]


@pytest.mark.parametrize("share", [0.001, 0.03, 0.2, 0.5, 0.9, 0.99])
def test_a_truncated_library_is_called_damaged(library: Path, share: float) -> None:
    content = library.read_bytes()
    library.write_bytes(content[: int(len(content) * share)])

    with pytest.raises(CorruptLibraryError, match="is damaged") as caught:
        read_all(library)

    assert "openbook add --rebuild --library 'my library' PATH" in caught.value.hint


def test_a_damaged_table_definition_that_is_no_text_is_called_damaged(library: Path) -> None:
    library.write_bytes(library.read_bytes().replace(b"CREATE TABLE texts", b"CREATE\xffTABLE texts"))

    with pytest.raises(CorruptLibraryError, match="is damaged"):
        read_all(library)


@pytest.mark.parametrize("seed", range(40))
def test_damage_anywhere_is_an_error_of_ours_or_none(library: Path, seed: int) -> None:
    chance = random.Random(seed)
    content = bytearray(library.read_bytes())
    start = chance.randrange(len(content))
    length = min(chance.choice([1, 100, 4096]), len(content) - start)
    content[start : start + length] = chance.choice([bytes(length), b"\xff" * length, chance.randbytes(length)])
    library.write_bytes(content)

    with contextlib.suppress(LibraryError):  # and nothing else
        read_all(library)


def read_all(library: Path) -> None:
    with contextlib.closing(SqliteIndex(library, IDENTITY)) as index:
        everything(index, ["red", "grüne", "Wiese"], vector(1))


def test_a_folder_in_place_of_the_library_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "folder.sqlite").mkdir()

    with pytest.raises(LibraryWriteError, match="cannot be opened or made"):
        SqliteIndex(tmp_path / "folder.sqlite", IDENTITY)


def test_a_file_in_place_of_the_home_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "home").touch()

    with pytest.raises(LibraryWriteError, match="cannot make the folder") as caught:
        SqliteIndex(tmp_path / "home" / "libraries" / "a.sqlite", IDENTITY)

    assert "OPENBOOK_HOME" in caught.value.hint


def find_red(library: str) -> str:
    with contextlib.closing(SqliteIndex(Path(library), IDENTITY)) as index:
        return " ".join(paths(index, lexical(index, ["red"], 5)))


def fail_to_write(library: str) -> str:
    with pytest.raises(LibraryWriteError) as caught, contextlib.closing(SqliteIndex(Path(library), IDENTITY)) as index:
        put(index, "new.md")
    return f"{caught.value} / {caught.value.hint}"


def write_and_wait(library: str) -> None:
    index = SqliteIndex(Path(library), IDENTITY)
    put(index, "0.md", "red hen")
    tell("written")
    input()


def kill_a_writer(library: Path) -> None:
    """Leave a library as a process leaves it that did not end: its last commit in the log alone."""
    with start_child(write_and_wait, library) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "written\n"
        writer.kill()


def forbid_writing(folder: Path) -> None:
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555)


@pytest.mark.slow
def test_a_library_in_a_folder_that_cannot_be_written_can_be_read(library: Path) -> None:
    forbid_writing(library.parent)

    assert run_child(find_red, library, unprivileged=True) == "a.md"


@pytest.mark.slow
@pytest.mark.parametrize("log", [True, False], ids=["empty-log", "no-log"])
def test_a_library_that_can_be_written_in_a_folder_that_cannot_can_be_read(library: Path, log: bool) -> None:
    if log:
        library.with_name(library.name + "-wal").touch()
    library.parent.chmod(0o555)

    assert run_child(find_red, library, unprivileged=True) == "a.md"


@pytest.mark.slow
def test_what_a_killed_writer_left_in_a_folder_that_cannot_be_written_is_read(library: Path) -> None:
    kill_a_writer(library)
    forbid_writing(library.parent)

    assert run_child(find_red, library, unprivileged=True) == "0.md a.md"


@pytest.mark.slow
def test_a_library_is_not_read_without_the_commits_that_wait_beside_it(library: Path) -> None:
    kill_a_writer(library)
    library.with_name(library.name + "-shm").unlink()  # without it, only who may write can open the log
    forbid_writing(library.parent)

    assert "cannot be opened" in run_child(fail_to_write, library, unprivileged=True)


@pytest.mark.slow
def test_writing_to_a_library_that_is_read_only_is_an_error_with_a_way_out(library: Path) -> None:
    forbid_writing(library.parent)

    told = run_child(fail_to_write, library, unprivileged=True)

    assert "it is read-only" in told
    assert "OPENBOOK_HOME" in told


@pytest.mark.slow
@pytest.mark.parametrize("place", ["a.sqlite", "libraries/a.sqlite"])
def test_a_home_that_cannot_be_written_is_an_error_with_a_way_out(tmp_path: Path, place: str) -> None:
    tmp_path.chmod(0o555)

    told = run_child(fail_to_write, tmp_path / place, unprivileged=True)

    assert str(tmp_path) in told
    assert "OPENBOOK_HOME" in told


def test_the_sources_of_a_refused_library_can_still_be_named(library: Path) -> None:
    make_foreign(library, "UPDATE meta SET value = 'other'", "PRAGMA user_version = 99")

    assert [root.location for root in stored_sources(library)] == ["/home/me/s"]


def test_a_file_that_tells_no_sources_names_none(tmp_path: Path) -> None:
    (tmp_path / "text.sqlite").write_text("Dear diary", encoding="utf-8")
    make_foreign(tmp_path / "foreign.sqlite", "CREATE TABLE t (a)")

    places = [stored_sources(tmp_path / f"{name}.sqlite") for name in ("text", "foreign", "missing")]

    assert places == [[], [], []]
    assert not (tmp_path / "missing.sqlite").exists()


def test_a_library_looks_like_one_before_anything_of_it_is_in_the_file_itself(tmp_path: Path) -> None:
    made, copied = tmp_path / "made.sqlite", tmp_path / "copied.sqlite"
    with contextlib.closing(SqliteIndex(made, IDENTITY)):
        for suffix in ("", "-wal"):
            copied.with_name(copied.name + suffix).write_bytes(made.with_name(made.name + suffix).read_bytes())

    assert is_library(copied)
    copied.with_name(copied.name + "-wal").unlink()
    assert not is_library(copied)
