"""Columns in a file beside a library: found by nobody, but for the time that they save."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from openbook.index.columns import Names
from openbook.index.files import column_files, library_bytes, remove_library_file
from openbook.index.sqlite import SqliteIndex
from openbook.types import Filter, Lesson
from tests.support import DIM, EVERYTHING, IDENTITY, answers, document, entry, put, stamp, vector

WORDS = ("fox", "dog", "red", "lazy")


def open_index(library: Path) -> SqliteIndex:
    return SqliteIndex(library, IDENTITY, min_mapped=1)


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Make a library of three documents with a file of columns."""
    file = tmp_path / "lib[r]ary.sqlite"
    with contextlib.closing(open_index(file)) as index:
        for path, text, row in (("b.md", "red fox", (1,)), ("a.md", "lazy dog", (0, 1)), ("c.md", "fox", (1, 1))):
            put(index, path, text, vector=vector(*row))
        index.optimize()
    return file


@pytest.fixture
def index(library: Path) -> Iterator[SqliteIndex]:
    with contextlib.closing(open_index(library)) as index:
        yield index


def found(index: SqliteIndex) -> list[str]:
    outlines = index.outlines([each.id for each in index.match(["fox"], vector(1), 9, EVERYTHING).evidence])
    return [outline.span.path for outline in outlines]


def put_several(index: SqliteIndex, path: str, rng: random.Random) -> None:
    """Store a document of several chunks with some words, some vectors, and some lessons."""
    words = [rng.choice(WORDS) for _ in range(rng.randint(1, 5))]
    whole = document(path, " ".join(words), source=rng.choice("st"), kind=rng.choice(["docs", "code"]))
    lesson = Lesson("course", rng.randint(0, 3)) if rng.random() < 0.4 else None
    rows = np.random.default_rng(rng.randint(0, 99)).standard_normal((len(words), DIM)).astype(np.float32)
    starts = np.cumsum([0, *(len(word) + 1 for word in words)]).tolist()
    entries = [
        entry(whole, start, start + len(word), vector=row * (rng.random() < 0.8), lesson=lesson)
        for start, word, row in zip(starts, words, rows, strict=False)
    ]
    index.put(whole, entries, stamp())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_results_are_the_same_with_and_without_the_column_file(tmp_path: Path, seed: int) -> None:
    rng, other_rng = random.Random(seed), random.Random(seed)
    choose = random.Random(seed)
    with (
        contextlib.closing(open_index(tmp_path / "mapped.sqlite")) as mapped,
        contextlib.closing(open_index(tmp_path / "mapped.sqlite")) as reader,
        contextlib.closing(SqliteIndex(tmp_path / "loaded.sqlite", IDENTITY)) as loaded,
    ):
        for step in range(60):
            path = f"{choose.randint(0, 20)}.md"
            if choose.random() < 0.25:
                source = choose.choice("st")
                assert mapped.delete(source, path) == loaded.delete(source, path)
            else:
                put_several(mapped, path, rng)
                put_several(loaded, path, other_rng)
            if step % 7 == 3:
                mapped.optimize()
                assert len(column_files(mapped.path)) == 1
            for where in (EVERYTHING, Filter(sources=frozenset({"s"}), kinds=frozenset({"code"})), Filter(lesson=1)):
                expected = answers(loaded, WORDS, vector(1, 2), 9, where)
                assert answers(mapped, WORDS, vector(1, 2), 9, where) == expected
                assert answers(reader, WORDS, vector(1, 2), 9, where) == expected
    assert not column_files(loaded.path)


def test_a_small_library_has_no_column_file(tmp_path: Path) -> None:
    with contextlib.closing(SqliteIndex(tmp_path / "library.sqlite", IDENTITY)) as index:
        put(index, "a.md")
        index.optimize()

    assert not column_files(tmp_path / "library.sqlite")


@pytest.mark.parametrize("keep", [0, 1, 20, 200])
def test_a_truncated_or_missing_column_file_is_not_needed(library: Path, keep: int) -> None:
    (file,) = column_files(library)
    file.write_bytes(file.read_bytes()[:keep])
    if not keep:
        file.unlink()

    with contextlib.closing(open_index(library)) as index:
        assert found(index) == ["a.md", "b.md", "c.md"]
        index.optimize()  # makes it again
        assert found(index) == ["a.md", "b.md", "c.md"]
    (file,) = column_files(library)
    assert len(file.read_bytes()) > 200


def test_the_file_is_written_again_when_much_has_changed(index: SqliteIndex, library: Path) -> None:
    (file,) = column_files(library)
    index.optimize()
    assert column_files(library) == [file]

    put(index, "d.md", "fox", vector=vector(1))
    index.optimize()

    (other,) = column_files(library)
    assert other != file
    assert found(index) == ["a.md", "b.md", "c.md", "d.md"]


def test_what_killed_writers_left_is_deleted_by_the_next_one(index: SqliteIndex, library: Path) -> None:
    left = library.with_name(f"{library.name}-columns-0123456789abcdef")
    left.write_bytes(b"half of it")
    beside = library.with_name("library.sqlite-columns-0")  # what `lib[r]ary.sqlite` means as a pattern
    beside.write_bytes(b"of another library")
    assert found(index) == ["a.md", "b.md", "c.md"]

    index.delete("s", "a.md")
    index.optimize()

    assert not left.exists()
    assert beside.exists()
    assert len(column_files(library)) == 1


def test_ids_that_are_given_again_after_an_undone_transaction_are_those_of_the_new_document(
    index: SqliteIndex,
) -> None:
    with contextlib.suppress(KeyError), index.batch():
        put(index, "0.md", "fox", vector=vector(1))
        assert found(index) == ["0.md", "a.md", "b.md", "c.md"]
        raise KeyError

    put(index, "z.md", "fox", vector=vector(1))

    assert found(index) == ["a.md", "b.md", "c.md", "z.md"]


def test_a_disk_without_room_for_the_file_leaves_the_library_as_it_is(index: SqliteIndex, library: Path) -> None:
    put(index, "d.md\0", "fox")  # stands for it: a name that cannot be packed fails in the middle of the file

    index.optimize()

    assert found(index) == ["a.md", "b.md", "c.md", "d.md\0"]
    assert len(column_files(library)) == 1


def test_names_are_packed_without_loss() -> None:
    keys = [("s", "a\1b.md", "docs", ""), ("s", "\udcff", "code", "c")]

    assert Names.unpacked(Names(keys).packed()).keys == keys


def test_the_file_counts_as_part_of_the_library_and_goes_with_it(index: SqliteIndex, library: Path) -> None:
    (file,) = column_files(library)
    assert index.stats().size_bytes == library_bytes(library) > library.stat().st_size + file.stat().st_size - 1
    index.close()

    remove_library_file(library)

    assert not list(library.parent.iterdir())


def test_nobody_else_may_read_the_file(library: Path) -> None:
    (file,) = column_files(library)
    assert file.stat().st_mode & 0o077 == 0
