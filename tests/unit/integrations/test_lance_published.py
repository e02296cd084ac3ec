"""What one machine puts beside a library in LanceDB, so that another one need not read it."""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from openbook.integrations.lance import LanceIndex
from openbook.integrations.lance_cache import Kept, LocalCache, State
from openbook.integrations.lance_columns import ColumnStore
from openbook.integrations.lance_engine import LanceEngine
from openbook.integrations.lance_published import PublishedState
from openbook.integrations.lance_state import LanceState
from openbook.integrations.lance_tables import names_at
from tests.object_storage import served_bucket
from tests.support import EVERYTHING, IDENTITY, answers, put, vector
from tests.unit.integrations.lance_material import CountedTables, word_rows

pytestmark = pytest.mark.slow

Machine = Callable[[str], LanceIndex]


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "shared" / "library")


@pytest.fixture
def machine(uri: str, tmp_path: Path) -> Iterator[Machine]:
    """Open the library on the machine of a name, which keeps what it has read for itself."""
    with contextlib.ExitStack() as stack:

        def opened(name: str) -> LanceIndex:
            index = LanceIndex(uri, IDENTITY, cache=tmp_path / name, min_cached=1)
            return stack.enter_context(contextlib.closing(index))

        yield opened


def objects(uri: str) -> list[Path]:
    return sorted(Path(f"{uri}.kept").glob("*"))


def filled(index: LanceIndex, documents: int = 40) -> None:
    with index.batch():
        for number in range(documents):
            put(index, f"{number:02}.md", f"red fox number{number}", vector=vector(number, 1))


def search(index: LanceIndex) -> object:
    return answers(index, ["fox", "red", "dog"], vector(1), 9, EVERYTHING), index.documents(EVERYTHING)


def rows_read(uri: str, cache: Path, expected: int) -> int:
    """Return how many rows a process reads of the library until it can search."""
    tables = CountedTables(uri, IDENTITY, lock_timeout_s=5)
    state = LanceState(tables, LocalCache(cache, uri, wait_s=0), word_rows(), min_cached=1)
    assert len(state.catalogue({})) == expected
    return tables.read


def test_a_new_machine_reads_what_was_published_and_nothing_of_the_library(
    machine: Machine, uri: str, tmp_path: Path
) -> None:
    writer = machine("writer")
    filled(writer)
    before = rows_read(uri, tmp_path / "before", 40)

    writer.optimize(every=True)

    assert before == 81  # each document twice, as it is listed and as it is scored, and the head of their words
    assert rows_read(uri, tmp_path / "after", 40) == 0
    assert search(machine("new")) == search(writer)


def test_what_has_come_since_is_read_and_no_more(machine: Machine, uri: str, tmp_path: Path) -> None:
    writer = machine("writer")
    filled(writer)
    writer.optimize(every=True)
    put(writer, "03.md", "dog", vector=vector(1))
    writer.delete("s", "05.md")

    assert rows_read(uri, tmp_path / "new", 39) == 4  # a document, its columns, the head of its words, and what is gone
    assert search(machine("other")) == search(writer)


def test_a_few_changes_publish_nothing_and_a_tenth_of_the_library_replaces_what_was_published(
    machine: Machine, uri: str
) -> None:
    writer = machine("writer")
    filled(writer)
    writer.optimize()
    first = objects(uri)
    assert len(first) == 1

    for number in range(4):
        put(writer, f"{number:02}.md", "dog", vector=vector(1))
        writer.optimize()
        assert (objects(uri) == first) == (number < 2)  # what came and what it replaced both count

    assert len(objects(uri)) == 1
    assert search(machine("new")) == search(writer)


def test_what_was_compacted_is_published_anew(machine: Machine, uri: str, tmp_path: Path) -> None:
    writer = machine("writer")
    filled(writer)
    writer.optimize()
    put(writer, "03.md", "dog", vector=vector(1))  # another file of the table, so that there is something to compact

    writer.optimize(every=True)

    assert len(objects(uri)) == 1
    assert rows_read(uri, tmp_path / "new", 40) == 0


def test_documents_that_are_gone_count_as_changes(machine: Machine, uri: str) -> None:
    writer = machine("writer")
    filled(writer)
    writer.optimize()
    first = objects(uri)

    for number in range(5):
        writer.delete("s", f"{number:02}.md")
    writer.optimize()

    assert len(objects(uri)) == 1
    assert objects(uri) != first


@pytest.mark.parametrize("left", [0, 29, 30])
def test_nothing_stays_published_of_a_library_that_has_become_small(uri: str, tmp_path: Path, left: int) -> None:
    with contextlib.closing(LanceIndex(uri, IDENTITY, cache=tmp_path / "writer", min_cached=30)) as writer:
        filled(writer)
        writer.optimize(every=True)
        (first,) = objects(uri)
        other = first.with_name("notes.txt")
        other.write_bytes(b"of others")
        with writer.batch():
            for number in range(left, 40):
                writer.delete("s", f"{number:02}.md")

        writer.optimize()

    published = [path for path in objects(uri) if path != other]
    assert other.exists()
    assert first not in published
    assert len(published) == (left == 30)
    kept = [path for path in (tmp_path / "writer").rglob("*") if path.is_file()]
    assert not any(b"39.md" in path.read_bytes() for path in [*published, *kept])


def test_a_state_that_is_later_than_what_a_machine_knows_stays_published(machine: Machine, uri: str) -> None:
    writer = machine("writer")
    filled(writer)
    writer.optimize()
    early = writer._tables.state
    put(writer, "more.md", "dog", vector=vector(1))
    writer.optimize(every=True)
    latest = objects(uri)

    writer._state._published.withdraw(early)

    assert objects(uri) == latest


def test_a_library_is_not_kept_anew_for_ever_after_it_could_not_be_read(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = machine("writer")
    filled(writer)
    writer.optimize()
    put(writer, "03.md", "dog", vector=vector(1))
    with monkeypatch.context() as patch:
        patch.setattr(ColumnStore, "columns", _fail)
        with pytest.raises(OSError, match="cannot be read"):
            writer.optimize(every=True)

    assert not writer._state._keeps_anew


def _fail(*_: object) -> object:
    raise OSError("cannot be read")


def test_nothing_is_published_of_a_small_library_or_by_a_machine_that_keeps_nothing(uri: str, tmp_path: Path) -> None:
    for cache, min_cached in ((tmp_path / "writer", 41), (None, 1)):
        with contextlib.closing(LanceIndex(uri, IDENTITY, cache=cache, min_cached=min_cached)) as writer:
            filled(writer)

            writer.optimize(every=True)

            assert objects(uri) == []


def test_of_a_deleted_document_nothing_is_found_and_its_path_stays_published_until_the_library_is_optimized(
    machine: Machine, uri: str
) -> None:
    writer = machine("writer")
    filled(writer)
    put(writer, "salaries.md", "plugh is what they earn", vector=vector(1))
    writer.optimize(every=True)
    writer.delete("s", "salaries.md")

    new = machine("new")
    assert new.document("s", "salaries.md") is None
    assert [each.path for each in new.documents(EVERYTHING) if "salaries" in each.path] == []
    assert answers(new, ["plugh"], vector(1), 50, EVERYTHING) == answers(writer, ["plugh"], vector(1), 50, EVERYTHING)
    assert new.frequencies(["plugh"]) == {}
    assert _published(uri, b"salaries", b"what they earn") == [True, False]

    writer.optimize(every=True)

    assert _published(uri, b"salaries", b"what they earn") == [False, False]


def _published(uri: str, *words: bytes) -> list[bool]:
    (content,) = (file.read_bytes() for file in objects(uri))
    return [word in content for word in words]


def test_nothing_is_published_twice(machine: Machine, uri: str) -> None:
    writer = machine("writer")
    filled(writer)
    writer.optimize(every=True)
    first = objects(uri)

    writer.optimize(every=True)
    other = machine("other")
    other.optimize(every=True)

    assert objects(uri) == first


def test_of_two_machines_that_publish_the_later_state_stays(machine: Machine, uri: str, tmp_path: Path) -> None:
    slow, fast = machine("slow"), machine("fast")
    filled(slow)
    slow.optimize(every=True)
    late = LocalCache(tmp_path / "slow", uri).open(slow._tables.made)
    assert late is not None
    filled(fast, 60)
    fast.optimize(every=True)
    latest = objects(uri)

    assert slow._state._published.publish(late, LocalCache(tmp_path / "slow", uri))

    assert objects(uri) == latest
    assert rows_read(uri, tmp_path / "new", 60) == 0


class Overtaken(LocalCache):
    """Another process of the machine does something while a state is written."""

    def __init__(self, folder: Path, uri: str, meanwhile: Callable[[], object], *, is_before: bool) -> None:
        super().__init__(folder, uri, wait_s=0)
        self._meanwhile, self._is_before = meanwhile, is_before

    def place(self, state: State, write: Callable[[Path], None]) -> bool:
        def overtaken(folder: Path) -> None:
            if self._is_before:
                self._meanwhile()
            write(folder)
            if not self._is_before:
                self._meanwhile()

        return super().place(state, overtaken)


@pytest.mark.parametrize("is_before", [True, False])
def test_of_processes_that_start_at_once_on_a_new_machine_none_reads_the_library(
    machine: Machine, uri: str, tmp_path: Path, is_before: bool
) -> None:
    writer = machine("writer")
    filled(writer)
    writer.optimize(every=True)
    (older,) = objects(uri)
    content = older.read_bytes()
    filled(writer, 60)
    writer.optimize(every=True)
    (latest,) = objects(uri)
    older.write_bytes(content)  # as one that could not be deleted
    read = list[int]()
    meanwhile = partial(_read_meanwhile, read, uri, tmp_path / "new")
    tables = CountedTables(uri, IDENTITY, lock_timeout_s=5)
    cache = Overtaken(tmp_path / "new", uri, meanwhile, is_before=is_before)
    slow = LanceState(tables, cache, word_rows(), min_cached=1)

    assert len(slow.catalogue({})) == 60
    assert (tables.read, read) == (0, [0])
    published = PublishedState.named(latest.name)
    assert published is not None
    assert list((tmp_path / "new").glob("*/*")) == [cache.folder_of(published.state)]


def _read_meanwhile(read: list[int], uri: str, cache: Path) -> None:
    read.append(rows_read(uri, cache, 60))


class Starting(LocalCache):
    """Of a process that looks for what is kept at the same time as others."""

    def __init__(self, folder: Path, uri: str, together: threading.Barrier) -> None:
        super().__init__(folder, uri)
        self._together = together
        self.looks = self.placed = 0

    def open(self, made: str) -> Kept | None:
        kept = super().open(made)
        self.looks += 1
        if self.looks == 1:
            self._together.wait(30)
        return kept

    def place(self, state: State, write: Callable[[Path], None]) -> bool:
        self.placed += 1
        return super().place(state, write)


def test_of_processes_that_start_at_once_on_a_new_machine_one_gets_what_was_published(
    machine: Machine, uri: str, tmp_path: Path
) -> None:
    writer = machine("writer")
    filled(writer)
    writer.optimize(every=True)
    together = threading.Barrier(4)

    def started(cache: Starting) -> tuple[int, int, int]:
        tables = CountedTables(uri, IDENTITY, lock_timeout_s=5)
        found = len(LanceState(tables, cache, word_rows(), min_cached=1).catalogue({}))
        return found, tables.read, cache.placed

    with ThreadPoolExecutor(4) as pool:
        done = sorted(pool.map(started, [Starting(tmp_path / "new", uri, together) for _ in range(4)]))

    assert done == [(40, 0, 0), (40, 0, 0), (40, 0, 0), (40, 0, 1)]


def test_a_process_that_is_killed_while_it_gets_a_state_keeps_nobody_waiting(uri: str, tmp_path: Path) -> None:
    command = (
        "import sys, time; from pathlib import Path; from openbook.integrations.lance_cache import LocalCache\n"
        "with LocalCache(Path(sys.argv[1]), sys.argv[2]).alone():\n    print(flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-c", command, str(tmp_path / "new"), uri], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    holder.stdout.readline()
    with LocalCache(tmp_path / "new", uri, wait_s=0).alone() as is_alone:
        assert not is_alone

    holder.kill()
    holder.communicate()
    with LocalCache(tmp_path / "new", uri, wait_s=0).alone() as is_alone:
        assert is_alone


def test_a_process_that_reads_a_damaged_object_goes_on_from_what_another_one_has_kept(
    machine: Machine, uri: str, tmp_path: Path
) -> None:
    writer = machine("writer")
    filled(writer)
    writer.optimize(every=True)
    (file,) = objects(uri)
    file.write_bytes(damage(file.read_bytes(), "one byte"))
    read = list[int]()
    meanwhile = partial(_keep_meanwhile, read, uri, tmp_path / "new")
    tables = CountedTables(uri, IDENTITY, lock_timeout_s=5)
    cache = Overtaken(tmp_path / "new", uri, meanwhile, is_before=True)

    assert len(LanceState(tables, cache, word_rows(), min_cached=1).catalogue({})) == 40
    assert (tables.read, read) == (0, [81])


def _keep_meanwhile(read: list[int], uri: str, cache: Path) -> None:
    if not read:
        read.append(rows_read(uri, cache, 40))


def damage(content: bytes, way: str) -> bytes:
    middle = len(content) // 2
    return {
        "empty": b"",
        "cut off": content[:-9],
        "half": content[:middle],
        "one byte": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "no sizes": content[:-256] + b"{}".ljust(256),
        "another number of files": content[:-256] + content[-256:].replace(b"[", b"[0, ").rstrip().ljust(256),
        "no text": content[:-256] + bytes(256),
    }[way]


@pytest.mark.parametrize(
    "way", ["empty", "cut off", "half", "one byte", "no sizes", "another number of files", "no text"]
)
def test_what_is_not_as_it_was_published_is_not_used(machine: Machine, uri: str, tmp_path: Path, way: str) -> None:
    writer = machine("writer")
    filled(writer)
    writer.optimize(every=True)
    (file,) = objects(uri)
    file.write_bytes(damage(file.read_bytes(), way))

    assert search(machine("new")) == search(writer)
    assert rows_read(uri, tmp_path / "other", 40) == 81


@pytest.mark.parametrize("name", ["2-{}", "notes.txt", "x-{}"])
def test_objects_of_others_are_neither_read_nor_deleted(machine: Machine, uri: str, tmp_path: Path, name: str) -> None:
    writer = machine("writer")
    filled(writer)
    writer.optimize(every=True)
    (file,) = objects(uri)
    other = file.rename(file.with_name(name.format(file.name.partition("-")[2])))

    assert rows_read(uri, tmp_path / "new", 40) == 81
    filled(writer, 60)
    writer.optimize(every=True)

    assert other in objects(uri)
    assert len(objects(uri)) == 2


def test_a_machine_that_may_not_write_there_searches_and_compacts_as_without_it(machine: Machine, uri: str) -> None:
    writer = machine("writer")
    filled(writer)
    Path(f"{uri}.kept").write_text("no folder", encoding="utf-8")

    writer.optimize(every=True)

    assert search(machine("new")) == search(writer)


def test_a_library_that_was_made_again_has_nothing_of_the_one_before(machine: Machine, uri: str) -> None:
    first = machine("writer")
    filled(first)
    first.optimize(every=True)
    (file,) = objects(uri)
    content = file.read_bytes()
    file.with_name(f"{file.name}#1").write_bytes(content[:9])  # as a writer that was killed leaves it
    LanceEngine(uri.rpartition("/")[0]).remove("library")
    assert not Path(f"{uri}.kept").exists()

    again = machine("again")
    put(again, "b.md", "red dog", vector=vector(0, 1))
    file.parent.mkdir()
    file.write_bytes(content)  # a machine that knew of nothing

    assert search(machine("new")) == search(again)
    again.optimize()
    assert file not in objects(uri)
    assert names_at(uri.rpartition("/")[0]) == ["library"]


@pytest.mark.parametrize("seed", range(3))
def test_new_machines_find_what_those_that_read_the_library_find(machine: Machine, uri: str, seed: int) -> None:
    chance = random.Random(seed)
    writers = machine("writer"), machine("other writer")
    for step in range(12):
        writer = chance.choice(writers)
        for _ in range(chance.randint(1, 4)):
            path = f"{chance.randint(0, 20)}.md"
            if chance.random() < 0.3:
                writer.delete("s", path)
            else:
                put(writer, path, chance.choice(("fox", "red fox", "lazy dog")), vector=vector(chance.random(), 1))
        writer.optimize(every=chance.random() < 0.3)
        with contextlib.closing(LanceIndex(uri, IDENTITY)) as expected:
            assert search(machine(f"new {step}")) == search(expected)


def test_a_name_says_what_it_was_made_of() -> None:
    state = PublishedState(1, ("5", 7, 9), 100, "1f", "ab")

    assert PublishedState.named(state.name) == state
    assert PublishedState.named("readme") is None


@pytest.mark.allow_hosts(["127.0.0.1"])
def test_a_new_machine_reads_what_was_published_on_object_storage(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with served_bucket(monkeypatch) as bucket:
        uri = f"{bucket}/library"
        with contextlib.closing(LanceIndex(uri, IDENTITY, cache=tmp_path / "writer", min_cached=1)) as writer:
            filled(writer, 20)
            writer.optimize(every=True)
            expected = search(writer)

        assert rows_read(uri, tmp_path / "new", 20) == 0
        with contextlib.closing(LanceIndex(uri, IDENTITY, cache=tmp_path / "new", min_cached=1)) as new:
            assert search(new) == expected
        LanceEngine(bucket).remove("library")
        assert not writer._state._published._listed()
