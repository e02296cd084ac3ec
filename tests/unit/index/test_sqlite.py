"""What only the embedded engine promises: errors while it writes, and files beside its own."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import resource
import signal
import sqlite3
import threading
from pathlib import Path

import pytest

from openbook.errors import CorruptLibraryError, LibraryError, LibraryWriteError
from openbook.index.files import remove_library_file
from openbook.index.sqlite import SqliteIndex
from openbook.types import Filter, Lesson
from tests.children import run_child, tell
from tests.support import IDENTITY, answers, dense, document, entry, everything, lexical, put, stamp, vector

WORDS = " ".join(f"word{number}" for number in range(20_000))

DISK_BYTES = 4_000_000
_CLONE_NEWNS = 0x20000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000


def open_index(file: str | Path, lock_timeout_s: float = 60.0) -> contextlib.closing[SqliteIndex]:
    return contextlib.closing(SqliteIndex(Path(file), IDENTITY, lock_timeout_s=lock_timeout_s))


@pytest.fixture
def library(tmp_path: Path) -> Path:
    file = tmp_path / "library.sqlite"
    with open_index(file) as index:
        put(index, "a.md", "red fox", vector=vector(1))
    return file


def test_a_writer_that_waits_too_long_says_what_for(library: Path) -> None:
    with open_index(library) as first, open_index(library, lock_timeout_s=0.01) as second, first.batch():
        with pytest.raises(LibraryWriteError, match="another process is writing to it") as caught:
            put(second, "b.md")

        assert "OPENBOOK_LOCK_TIMEOUT_S" in caught.value.hint
        assert len(lexical(second, ["fox"], 5)) == 1


def test_a_full_disk_leaves_the_library_as_it_was(library: Path) -> None:
    with open_index(library) as index:
        before = everything(index, ["fox", "word7"], vector(1))
        (pages,) = index._connection.execute("PRAGMA page_count").fetchone()
        index._connection.execute(f"PRAGMA max_page_count = {pages + 1}")

        with pytest.raises(LibraryWriteError, match="the disk is full") as caught:
            put(index, "a.md", WORDS)

        assert "free some space" in caught.value.hint
        assert everything(index, ["fox", "word7"], vector(1)) == before
        put(index, "b.md", "fox")  # there is still room for a little


def write_until_full(library: str) -> tuple[int, str]:
    """Write documents until one does not fit; give how many did, and what the other one met."""
    with open_index(library) as index:
        for number in range(1000):
            try:
                put(index, f"{number}.md", WORDS)
            except LibraryWriteError as exc:
                readable = len(lexical(index, ["word7"], 1000))
                return number, f"{readable} readable, {exc}"
    raise AssertionError("there is more room than expected")


def check_written(library: str | Path, count: int) -> None:
    """Check that a library holds what was written to it, and can be written."""
    with open_index(library) as index:
        assert sorted(index.records("s")) == sorted(["a.md", *(f"{number}.md" for number in range(count))])
        assert all(found.text == WORDS for found in index.fetch(range(2, 2 + count)))
        assert len(lexical(index, ["word7"], 1000)) == count
        put(index, "new.md", WORDS)
        index.optimize()
    with contextlib.closing(sqlite3.connect(library)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def write_to_the_limit(library: str) -> str:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (DISK_BYTES, DISK_BYTES))
    count, message = write_until_full(library)
    return f"{count} written, {message}"


def write_to_a_small_disk(folder: str) -> str:
    libc = ctypes.CDLL(None)
    options = f"size={4 * DISK_BYTES}".encode()
    if (
        not hasattr(libc, "unshare")
        or libc.unshare(_CLONE_NEWNS)
        or libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None)
        or libc.mount(b"none", folder.encode(), b"tmpfs", 0, options)
    ):
        return "no mount"
    library, ballast = Path(folder) / "library.sqlite", Path(folder) / "ballast"
    with open_index(library) as index:
        put(index, "a.md", "red fox")
    ballast.write_bytes(bytes(3 * DISK_BYTES))
    count, message = write_until_full(str(library))
    ballast.unlink()
    check_written(library, count)
    return f"{count} written, {message}"


@pytest.mark.slow
def test_a_write_over_the_limit_of_file_sizes_leaves_what_was_written(library: Path) -> None:
    told = run_child(write_to_the_limit, library)

    written, _, reason = told.partition(" written, ")
    assert int(written) > 0
    assert reason.startswith(f"{written} readable, cannot use the library")
    check_written(library, int(written))


@pytest.mark.slow
def test_a_disk_that_fills_up_leaves_what_was_written(tmp_path: Path) -> None:
    told = run_child(write_to_a_small_disk, tmp_path)

    if told == "no mount":
        pytest.skip("this system does not let us mount a small disk")
    written, _, reason = told.partition(" written, ")
    assert int(written) > 0
    assert reason.startswith(f"{written} readable, cannot use the library")
    assert reason.endswith("the disk is full")


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM texts",
        "DELETE FROM chunks",
        "UPDATE texts SET text = ''",
        "UPDATE chunks SET fields = '{'",
        "UPDATE chunks SET start_char = 'x'",
        "UPDATE documents SET anchors = '[['",
        "UPDATE vectors SET rows = x'0102'",
        "UPDATE vectors SET lengths = x'0102'",
        "UPDATE vectors SET chunks = 1000000000000",
        "UPDATE vectors SET chunks = 'x'",
        "UPDATE vectors SET first_chunk_id = 1000000000000",
        "UPDATE postings SET tokens = x'ff'",
        "UPDATE postings SET ends = x'0102'",
        "UPDATE postings SET ends = x''",
        "UPDATE postings SET ids = x'01'",
        "UPDATE postings SET counts = x'0102'",
        "UPDATE texts SET text = CAST(x'ff' AS TEXT)",
    ],
)
def test_rows_that_do_not_fit_together_are_damage(library: Path, damage: str) -> None:
    with contextlib.closing(sqlite3.connect(library, isolation_level=None)) as connection:
        connection.execute(damage)

    with open_index(library) as index, pytest.raises(CorruptLibraryError, match="is damaged"):
        read_all(index)


@pytest.mark.parametrize(
    "damage",
    [
        "lessons = '{'",
        """lessons = '[{"name": 1}]'""",
        "lessons = x'ff'",
        "numbers = x'01'",
        "numbers = zeroblob(400)",
        "document_id = 99",
        "numbers = 'x'",
    ],
)
def test_lessons_that_do_not_fit_are_damage(tmp_path: Path, damage: str) -> None:
    library = tmp_path / "library.sqlite"
    whole = document(kind="course")
    with open_index(library) as index:
        index.put(whole, [entry(whole, lesson=Lesson("Bread", 0))], stamp())
    with contextlib.closing(sqlite3.connect(library, isolation_level=None)) as connection:
        connection.execute(f"UPDATE lessons SET {damage}")

    with open_index(library) as index, pytest.raises(CorruptLibraryError, match="is damaged"):
        read_courses(index)


@pytest.mark.parametrize("damage", ["vectors SET chunks = x'01'", "postings SET ends = x'01'"])
def test_a_damaged_library_is_not_optimized(library: Path, damage: str) -> None:
    with open_index(library) as index:
        put(index, "b.md", "red hen", vector=vector(1))
    with contextlib.closing(sqlite3.connect(library, isolation_level=None)) as connection:
        connection.execute(f"UPDATE {damage}")

    with open_index(library) as index, pytest.raises(CorruptLibraryError, match="is damaged"):
        index.optimize(every=True)


def read_courses(index: SqliteIndex) -> None:
    index.courses()
    index.documents(Filter(lesson=0))
    index.match(["One."], None, 5, Filter())


def read_all(index: SqliteIndex) -> None:
    index.document("s", "a.md")
    dense(index, vector(1, *[0.5] * 7), 5)
    index.fetch([hit.id for hit in lexical(index, ["fox"], 5)])


def test_what_was_forgotten_leaves_no_row_behind(library: Path) -> None:
    with open_index(library) as index:
        whole = document("a.md", "red hen")
        index.put(whole, [entry(whole, lesson=Lesson("Hens", 1), vector=vector(1))], stamp())
        index.skip("s", "a.md", stamp(), "binary")
        index.delete("s", "a.md")
        index.optimize(every=True)  # words wait for it

        tables = ("documents", "texts", "chunks", "vectors", "lessons", "postings")
        assert [index._read(f"SELECT count(*) FROM {table}") for table in tables] == [[(0,)]] * len(tables)


def segments(index: SqliteIndex) -> int:
    return int(index._read("SELECT count(*) FROM segments")[0][0])


@pytest.mark.slow
def test_a_hundred_small_syncs_leave_few_segments_and_the_results_of_a_fresh_library(tmp_path: Path) -> None:
    chance = random.Random(1)
    texts = {f"{number % 30}.md": " ".join(chance.choices(WORDS.split()[:60], k=20)) for number in range(100)}
    with open_index(tmp_path / "old.sqlite") as old, open_index(tmp_path / "fresh.sqlite") as fresh:
        counts = []
        for number in range(100):
            path = f"{number % 30}.md"
            put(old, path, texts[path] if number >= 70 else f"{texts[path]} word{number}", vector=vector(1, number))
            old.optimize()
            counts.append(segments(old))
        for number in range(70, 100):
            put(fresh, f"{number % 30}.md", texts[f"{number % 30}.md"], vector=vector(1, number))

        asked = WORDS.split()[:100]
        assert max(counts) == 8  # more are merged at once
        assert answers(old, asked, vector(1)) == answers(fresh, asked, vector(1))
        old.optimize(every=True)
        assert segments(old) == 3  # each larger than all smaller ones together
        assert answers(old, asked, vector(1)) == answers(fresh, asked, vector(1))


def test_a_batch_is_one_segment(library: Path) -> None:
    with open_index(library) as index:
        before = segments(index)

        with index.batch():
            for number in range(20):
                put(index, f"{number}.md")

        assert segments(index) == before + 1


def test_words_and_chunks_are_committed_together(library: Path) -> None:
    count = "SELECT (SELECT count(*) FROM segments), (SELECT count(*) FROM postings), (SELECT count(*) FROM chunks)"
    with open_index(library) as index, contextlib.closing(sqlite3.connect(library)) as other:
        before = other.execute(count).fetchone()

        with contextlib.suppress(ZeroDivisionError), index.batch():
            put(index, "b.md")
            assert len(lexical(index, ["word"], 5)) == 1  # makes a segment early
            put(index, "c.md")
            assert other.execute(count).fetchone() == before
            raise ZeroDivisionError
        undone = other.execute(count).fetchone()
        with index.batch():
            put(index, "b.md")
            assert other.execute(count).fetchone() == before

        assert undone == before
        assert other.execute(count).fetchone() == tuple(number + 1 for number in before)


def test_a_removed_library_leaves_no_file(library: Path) -> None:
    with open_index(library) as index:
        put(index, "b.md")  # the log is there while it is open
        assert len(list(library.parent.iterdir())) > 1

        remove_library_file(library)
        remove_library_file(library)

    assert list(library.parent.iterdir()) == []


def test_size_on_disk_counts_the_log(library: Path) -> None:
    with open_index(library) as index:
        before = index.stats().size_bytes
        put(index, "b.md", WORDS)

        assert index.stats().size_bytes > before + len(WORDS)


def test_optimizing_takes_the_log_into_the_file(library: Path) -> None:
    with open_index(library) as index:
        put(index, "b.md", WORDS)

        index.optimize()

        assert library.with_name(library.name + "-wal").stat().st_size == 0
        assert library.stat().st_size > len(WORDS)


def test_a_library_in_use_can_be_optimized_by_another(library: Path) -> None:
    with open_index(library) as index, open_index(library, lock_timeout_s=0.01) as other, index.snapshot():
        before = everything(index, ["fox"], vector(1))

        other.optimize()

        assert everything(index, ["fox"], vector(1)) == before


def texts_of(index: SqliteIndex) -> list[str]:
    matches = index.match(["fox"], None, 5, Filter())
    return [chunk.text for chunk in index.fetch([evidence.id for evidence in matches.evidence])]


def test_texts_and_counts_are_those_of_the_latest_commit_of_anybody(library: Path) -> None:
    with open_index(library) as reader, open_index(library) as writer:
        before = texts_of(reader), reader.stats().chunks, reader.stats().documents
        put(writer, "a.md", "grey fox")
        put(writer, "b.md", "white fox")

        assert before == (["red fox"], 1, 1)
        assert sorted(texts_of(reader)) == ["grey fox", "white fox"]
        assert (reader.stats().chunks, reader.stats().documents) == (2, 2)


def test_texts_and_counts_of_what_was_undone_are_forgotten(library: Path) -> None:
    with open_index(library) as index:
        with contextlib.suppress(ZeroDivisionError), index.batch():
            put(index, "b.md", "white fox")
            assert len(texts_of(index)) == index.stats().chunks == 2
            raise ZeroDivisionError

        assert texts_of(index) == ["red fox"]
        assert (index.stats().chunks, index.stats().documents) == (1, 1)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")
def test_a_forked_process_is_told_to_open_its_own_even_while_a_thread_of_the_parent_searches(library: Path) -> None:
    assert run_child(fork_while_a_thread_reads, library).splitlines() == [
        f"the library {str(library)!r} was opened before this process was forked",
        "open it in each process, after the fork",
        "of the parent: a.md",
    ]


def fork_while_a_thread_reads(file: str) -> None:
    with open_index(file) as index:
        begun, done = threading.Event(), threading.Event()

        def read() -> None:
            with index.snapshot():
                begun.set()
                done.wait()

        thread = threading.Thread(target=read)
        thread.start()
        begun.wait()
        if not (child := os.fork()):
            signal.alarm(30)  # without the error, it would wait for ever
            try:
                index.roots()
            except LibraryError as exc:
                tell(exc)
                tell(exc.hint)
            index.close()
            os._exit(0)
        os.waitpid(child, 0)
        done.set()
        thread.join()
        tell(f"of the parent: {', '.join(index.records('s'))}")


@pytest.mark.parametrize("is_made_again", [False, True])
def test_nothing_is_written_to_a_library_that_another_process_has_deleted_or_made_again(
    tmp_path: Path, is_made_again: bool
) -> None:
    path = tmp_path / "library.sqlite"
    with open_index(path) as index:
        put(index, "a.md", "word")
        remove_library_file(path)
        if is_made_again:
            with open_index(path) as other:
                put(other, "c.md", "word")

        with pytest.raises(LibraryWriteError, match="another process has deleted") as caught:
            put(index, "b.md", "word")

        assert caught.value.hint
        assert list(index.records("s")) == ["a.md"]
