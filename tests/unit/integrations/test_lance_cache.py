"""What a machine keeps of a library in LanceDB: found by nobody, but for what need not be read."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from openbook.index.sqlite import SqliteIndex
from openbook.integrations.lance import LanceIndex
from openbook.integrations.lance_cache import LocalCache
from openbook.integrations.lance_columns import ColumnStore
from openbook.integrations.lance_documents import DocumentTable
from openbook.integrations.lance_engine import LanceEngine
from openbook.integrations.lance_state import LanceState
from tests.support import EVERYTHING, IDENTITY, answers, document, put, stamp, vector
from tests.unit.integrations.lance_material import CountedTables, word_rows

Opener = Callable[[], LanceIndex]

TEXTS = ("fox", "red fox", "dog", "lazy red dog")


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "shared" / "library")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "home" / "cache"


@pytest.fixture
def writer(uri: str) -> Iterator[LanceIndex]:
    """Open the library on a machine that keeps nothing."""
    with contextlib.closing(LanceIndex(uri, IDENTITY)) as index:
        yield index


@pytest.fixture
def reader(uri: str, cache: Path) -> Iterator[Opener]:
    """Open the library in a new process of a machine that keeps what it has read."""
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(contextlib.closing(LanceIndex(uri, IDENTITY, cache=cache, min_cached=1)))


def state_of(uri: str, cache: Path) -> tuple[LanceState, CountedTables]:
    tables = CountedTables(uri, IDENTITY, lock_timeout_s=5)
    return LanceState(tables, LocalCache(cache, uri), word_rows(), min_cached=1), tables


def search(index: LanceIndex | SqliteIndex) -> object:
    return answers(index, ["fox", "red"], vector(1), 9, EVERYTHING), index.frequencies(["fox", "red", "dog"])


@pytest.mark.slow
def test_a_reader_with_little_memory_finds_the_same_and_keeps_no_more_than_that(writer: LanceIndex, uri: str) -> None:
    words = [f"word{number}" for number in range(40)]
    for first in range(0, 40, 10):
        with writer.batch():
            for number in range(first, first + 10):
                put(writer, f"{number}.md", f"{words[number]} fox " * 40)
    found, held = [], []
    for cache_bytes in (1, 20_000, 10_000_000):
        with contextlib.closing(LanceIndex(uri, IDENTITY, cache_bytes=cache_bytes)) as index:
            found.append([_everything_said(index, word) for word in words])
            caches = (index._heavy, index._outlines, index._chunks, index._state._rows)
            held.append(sum(cache.size_bytes for cache in caches))

    assert found[0] == found[1] == found[2]
    assert held[0] == 0 < held[1] <= 20_000 < held[2]


def _everything_said(index: LanceIndex, word: str) -> object:
    matches = index.match([word, "fox"], vector(1), 9, EVERYTHING)
    ids = [each.id for each in matches.evidence]
    return matches, index.outlines(ids), index.fetch(ids)


@pytest.mark.slow
@pytest.mark.parametrize("documents", [60, 300])
def test_a_change_copies_no_rows_and_many_changes_do_not_pile_up(
    writer: LanceIndex, uri: str, cache: Path, documents: int
) -> None:
    with writer.batch():
        for number in range(documents):
            put(writer, f"{number}.md", "red fox", vector=vector(1))
    state_of(uri, cache)[0].catalogue({})
    state, tables = state_of(uri, cache)
    before = state.documents()

    put(writer, "7.md", "dog", vector=vector(1))
    tables.refresh()
    after = state.documents()

    assert _address(after) == _address(before)
    place = after.find("s", "7.md")
    assert place is not None
    assert (len(after), before.find("s", "7.md")) == (documents, place)
    assert after.row(place).version > before.row(place).version
    for number in range(20):
        put(writer, f"{number}.md", "dog again", vector=vector(1))
        tables.refresh()
        assert len(state.documents()) == documents
        assert state.documents()._rows.num_rows <= 1.12 * documents
        assert state.documents()._rows["path"].num_chunks <= 16
    assert (_address(state.documents()) == _address(before)) == (documents == 300)  # else too many did not count
    expected = state_of(uri, cache / "none")[0].documents()
    assert state.documents().listed(("source", "path", "version")) == expected.listed(("source", "path", "version"))


def _address(documents: DocumentTable) -> object:
    return documents._rows["path"].chunk(0).buffers()[2].address


@pytest.mark.slow
def test_a_new_process_reads_nothing_of_a_state_that_was_kept(writer: LanceIndex, uri: str, cache: Path) -> None:
    for number in range(9):
        put(writer, f"{number}.md", "red fox", vector=vector(1))
    first, tables = state_of(uri, cache)
    assert len(first.catalogue({})) == 9
    assert tables.read > 0

    second, tables = state_of(uri, cache)

    assert len(second.catalogue({})) == 9
    assert sorted(second.words.look_up(["fox"], second.first_id, [])["fox"].ids.tolist()) == list(range(1, 10))
    assert tables.read == 9  # the rows of the word, of nine segments


class FullDisk(LocalCache):
    """A machine whose disk is full: what is read for the first time cannot be put there."""

    def scratch(self) -> BinaryIO | None:
        return Path("/dev/full").open("wb", buffering=0)


@pytest.mark.slow
@pytest.mark.parametrize("cache_of", [LocalCache, FullDisk])
def test_a_library_that_is_read_for_the_first_time_is_held_in_memory_only_where_the_disk_is_full(
    writer: LanceIndex, uri: str, cache: Path, cache_of: type[LocalCache]
) -> None:
    for number in range(9, 0, -1):  # in another order than theirs, and one is gone
        put(writer, f"{number}.md", "red fox", vector=vector(number, 10 - number))
    writer.delete("s", "3.md")
    _, tables = state_of(uri, cache)
    documents, kept = writer._documents(), cache_of(cache, uri)
    ids = documents.first_ids[documents.with_chunks]

    read = ColumnStore(tables, None, lambda _: kept.scratch()).columns(ids, documents, {})

    assert [block._mapped is None for block in read.blocks] == [cache_of is FullDisk]
    expected = writer._catalogue()
    assert [read.rows(number, 1) for number in range(8)] == [expected.rows(first, 1) for first in ids.tolist()]


def test_a_new_process_reads_what_has_come_since_and_no_more(writer: LanceIndex, uri: str, cache: Path) -> None:
    with writer.batch():
        for number in range(40):
            put(writer, f"{number}.md", "red fox", vector=vector(1))
    state_of(uri, cache)[0].catalogue({})
    put(writer, "3.md", "dog", vector=vector(1))
    writer.delete("s", "5.md")

    state, tables = state_of(uri, cache)

    assert len(state.catalogue({})) == 39
    assert tables.read == 4  # a document, its columns, the head of its words, and what says that the other is gone


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_all_that_is_found_is_found_as_without_it(
    writer: LanceIndex, reader: Opener, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    following = reader()
    with contextlib.closing(SqliteIndex(tmp_path / "library.sqlite", IDENTITY)) as expected:
        for step in range(16):
            target = following if step % 5 == 2 else writer  # the machine writes, too
            changed = set[str]()
            for _ in range(rng.randint(1, 3)):
                path, text, row = f"{rng.randint(0, 9)}.md", rng.choice(TEXTS), vector(rng.random(), rng.random())
                changed.add(path)
                gone = rng.random() < 0.3
                for index in (target, expected):
                    if gone:
                        index.delete("s", path)
                    else:
                        put(index, path, text, vector=row)
                        index.touch("s", path, stamp(step), document(path, text).content_hash)
            if step % 4 == 3:
                target.optimize(every=rng.random() < 0.5)
            fresh = reader()
            for index in (fresh, following):
                assert search(index) == search(expected)
                assert index.documents(EVERYTHING) == expected.documents(EVERYTHING)
                assert index.records("s") == expected.records("s")
                # What did not change is looked at once for four steps: each look reads from the disk.
                for path in sorted(changed) if step % 4 != 3 else [f"{number}.md" for number in range(10)]:
                    assert index.vectors("s", path).tolist() == expected.vectors("s", path).tolist()
                    assert index.chunks("s", path) == expected.chunks("s", path)


@pytest.mark.parametrize("name", ["columns", "documents", "segments", "words"])
def test_a_file_that_is_cut_off_is_not_used(writer: LanceIndex, reader: Opener, cache: Path, name: str) -> None:
    put(writer, "a.md", "red fox", vector=vector(1))
    expected = search(reader())
    (file,) = cache.glob(f"*/*/{name}")
    file.write_bytes(file.read_bytes()[:-9])

    assert search(reader()) == expected


@pytest.mark.slow
def test_a_library_that_was_made_again_is_read_anew(uri: str, reader: Opener, cache: Path) -> None:
    with contextlib.closing(LanceIndex(uri, IDENTITY)) as index:
        put(index, "a.md", "red fox", vector=vector(1))
    following = reader()
    before = search(following)
    engine = LanceEngine(uri.rpartition("/")[0])
    engine.remove("library")

    with contextlib.closing(LanceIndex(uri, IDENTITY)) as index:
        put(index, "b.md", "red red fox", vector=vector(0, 1))

        assert search(following) == search(reader()) == search(index) != before


@pytest.mark.slow
@pytest.mark.parametrize("documents", [20, 40], ids=["small", "large"])
def test_a_machine_that_opens_a_library_that_was_made_again_keeps_nothing_of_the_one_before(
    uri: str, cache: Path, documents: int
) -> None:
    def kept() -> bytes:
        return b"".join(path.read_bytes() for path in cache.rglob("*") if path.is_file())

    def fill(*names: str) -> None:
        with contextlib.closing(LanceIndex(uri, IDENTITY)) as index, index.batch():
            for name in names:
                put(index, name, "red fox", vector=vector(1))

    def reader() -> contextlib.closing[LanceIndex]:
        return contextlib.closing(LanceIndex(uri, IDENTITY, cache=cache, min_cached=30))

    fill("salaries.md", *(f"{number}.md" for number in range(40)))
    with reader() as index:
        search(index)
    assert b"salaries" in kept()
    LanceEngine(uri.rpartition("/")[0]).remove("library")
    fill(*(f"{number}.md" for number in range(documents)))

    with reader() as index, reader() as again:
        assert search(index) == search(again)

    assert b"salaries" not in kept()
    assert (b"19.md" in kept()) == (documents == 40)


@pytest.mark.slow
def test_what_was_kept_goes_with_the_library_and_is_for_its_owner_alone(
    uri: str, writer: LanceIndex, reader: Opener, cache: Path
) -> None:
    put(writer, "a.md", "red fox", vector=vector(1))
    search(reader())
    kept = [path for path in cache.rglob("*") if path.is_file()]
    assert {path.name for path in kept} == {"columns", "documents", "segments", "words"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in (cache, *cache.rglob("*")))
    engine = LanceEngine(uri.rpartition("/")[0])
    engine.cache = cache

    engine.remove("library")

    assert list(cache.iterdir()) == []


def test_two_states_are_written_at_once_and_what_was_there_before_goes(uri: str, cache: Path) -> None:
    kept = LocalCache(cache, uri)
    first, second, third = [("5", number, 1) for number in (1, 2, 3)]
    assert kept.place(first, _nothing)
    abandoned, begun = (kept.folder_of(first).with_name(name) for name in (".5-1-1-ab", ".5-1-1-cd"))
    for folder in (abandoned, begun):
        folder.mkdir()
    os.utime(abandoned, (0, 0))

    def overtaken(folder: Path) -> None:
        assert kept.place(third, _nothing)
        assert folder.is_dir()

    assert kept.place(second, overtaken)

    left = {path.name for path in begun.parent.iterdir()}
    assert left == {begun.name, kept.folder_of(second).name, kept.folder_of(third).name}


def _nothing(_: Path) -> None:
    """Write no file."""


def test_a_machine_that_can_keep_nothing_finds_the_same(writer: LanceIndex, reader: Opener, cache: Path) -> None:
    put(writer, "a.md", "red fox", vector=vector(1))
    cache.parent.mkdir()
    cache.write_text("no folder", encoding="utf-8")

    assert search(reader()) == search(writer)
