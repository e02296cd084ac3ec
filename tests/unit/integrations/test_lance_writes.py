"""Several who write the tables of one library in LanceDB."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from openbook.errors import LibraryError, LibraryWriteError
from openbook.integrations.lance import LanceIndex
from openbook.integrations.lance_rows import DocumentBody
from openbook.integrations.lance_tables import LanceTables, names_at, remove_tables
from tests.support import IDENTITY, lexical, paths, put
from tests.unit.integrations.lance_material import gone, held, opened, row, rows_of, word_row, words_of


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "shared" / "mine")


@pytest.mark.slow
def test_machines_that_open_a_new_library_at_once_make_one(tmp_path: Path) -> None:
    for number in range(15):
        opening: list[LanceTables] = []
        address = str(tmp_path / f"{number}" / "mine")

        together([lambda opening=opening, address=address: opening.append(opened(address))] * 4)  # type: ignore[misc]

        for each, tables in enumerate(opening):
            tables.commit([row(f"{each}.md")])
        assert [sorted(held(tables)) for tables in opening] == [[f"{each}.md" for each in range(4)]] * 4


@pytest.mark.parametrize("commits", [0, 1, 3])
def test_a_handle_goes_on_with_the_library_that_is_made_again_under_it(uri: str, commits: int) -> None:
    tables = opened(uri)
    tables.commit([row("old.md")])
    tables.refresh()

    remove_tables(uri)
    again = opened(uri)
    for number in range(commits):
        again.commit([row(f"{number}.md")])

    with pytest.raises(LibraryWriteError, match="created again"):
        tables.commit([row("late.md")])
    assert held(tables) == held(again) == {f"{number}.md": "" for number in range(commits)}


@pytest.mark.slow
def test_a_handle_of_what_was_made_again_does_no_harm_to_the_new_library(uri: str) -> None:
    stale = LanceIndex(uri, IDENTITY, lock_timeout_s=1)
    for number in range(3):
        put(stale, f"{number}.md", "old fox")
    remove_tables(uri)
    again = LanceIndex(uri, IDENTITY, lock_timeout_s=1)
    put(again, "new.md", "new fox")

    put(stale, "late.md", "late fox")

    assert paths(again, lexical(again, ["fox"], 9)) == paths(stale, lexical(stale, ["fox"], 9)) == ["late.md", "new.md"]


@pytest.mark.slow
def test_a_library_that_is_removed_under_an_open_handle_is_told(uri: str) -> None:
    tables = opened(uri)
    tables.commit([row("a.md")])

    remove_tables(uri)

    with pytest.raises(LibraryError, match="cannot read the library"):
        tables.refresh()
    with pytest.raises(LibraryWriteError, match="cannot write the library"):
        tables.commit([row("b.md")])
    assert names_at(uri.rpartition("/")[0]) == []


def conflict() -> None:
    raise RuntimeError("lance error: Retryable commit conflict for version 3: somebody was faster, /rustc/x.rs:1:2")


def test_a_write_that_meets_another_is_tried_again(uri: str) -> None:
    tables = opened(uri)
    tries: list[float] = []

    def third_time_lucky() -> None:
        tries.append(time.monotonic())
        if len(tries) < 3:
            conflict()

    tables._write(lambda *_: third_time_lucky())

    assert len(tries) == 3


def test_each_try_is_of_the_latest_state(uri: str) -> None:
    tables, other = opened(uri), opened(uri)
    seen: list[int] = []

    def action(documents: Any, _: Any) -> None:
        seen.append(documents.count_rows())
        if len(seen) < 3:
            other.commit([row(f"{len(seen)}.md")])
            conflict()

    tables._write(action)

    assert seen == [0, 1, 2]


@pytest.mark.slow
def test_a_write_that_always_meets_another_is_given_up(uri: str) -> None:
    tables = opened(uri, lock_timeout_s=0.3)
    tries: list[float] = []
    begun = time.monotonic()

    def action(*_: Any) -> None:
        tries.append(time.monotonic())
        conflict()

    with pytest.raises(LibraryWriteError, match="commit conflict"):
        tables._write(action)

    assert len(tries) > 1
    assert 0.3 <= time.monotonic() - begun < 5


@pytest.mark.parametrize("lock_timeout_s", [0, 60])
def test_what_may_give_way_gives_way_at_once(uri: str, lock_timeout_s: float) -> None:
    tables = opened(uri, lock_timeout_s=lock_timeout_s)
    tries: list[int] = []

    def action(*_: Any) -> None:
        tries.append(1)
        conflict()

    tables._write(action, may_give_way=True)

    assert tries == [1]


@pytest.mark.parametrize("may_give_way", [True, False])
def test_what_is_no_conflict_is_told_at_once(uri: str, may_give_way: bool) -> None:
    tables = opened(uri)
    tries: list[int] = []

    def action(*_: Any) -> None:
        tries.append(1)
        raise OSError("No space left on device")

    with pytest.raises(LibraryWriteError, match="No space left on device") as caught:
        tables._write(action, may_give_way=may_give_way)

    assert tries == [1]
    assert "space" in caught.value.hint


def test_a_commit_of_several_rows_is_one_version(uri: str) -> None:
    tables, other = opened(uri), opened(uri)
    tables.commit([row("a.md", "old"), row("b.md", "kept")])
    tables.refresh()
    other.refresh()
    before = tables.state

    tables.commit([row("a.md", "new"), row("c.md", "new"), gone("d.md"), row("")])
    assert other.state == before
    tables.refresh()

    assert tables.state == (before[0], before[1] + 1, before[2])
    assert held(other) == {"a.md": "new", "b.md": "kept", "c.md": "new", "d.md": "", "": ""}


def test_a_reader_sees_what_it_has_refreshed_to_and_nothing_newer(uri: str) -> None:
    reader, writer = opened(uri), opened(uri)
    writer.commit([row("a.md", "fox")])
    reader.refresh()
    before = rows_of(reader)

    writer.commit([row("a.md", "hen"), row("b.md")])

    assert rows_of(reader) == before
    assert reader.heavy(list(before)) == [DocumentBody("fox", "[]", "[]")]
    assert held(reader) == {"a.md": "hen", "b.md": ""}


@pytest.mark.slow
def test_handles_that_commit_different_documents_at_once_lose_nothing(uri: str) -> None:
    handles = [opened(uri, lock_timeout_s=60) for _ in range(3)]

    def commit(handle: int) -> None:
        for number in range(8):
            handles[handle].add_words([word_row(f"{handle}-{number}")])
            handles[handle].commit(
                [row(f"{handle}-{number}.md", f"{handle}-{number}"), row(f"{handle}.md", f"{number}")]
            )

    together([lambda handle=handle: commit(handle) for handle in range(3)])  # type: ignore[misc]

    names = [f"{handle}-{number}" for handle in range(3) for number in range(8)]
    expected = {f"{name}.md": name for name in names} | {f"{handle}.md": "7" for handle in range(3)}
    assert [held(handle) for handle in handles] == [expected] * 3
    assert sorted(segment for segment, _, _ in words_of(handles[0])) == names


def test_tidying_beside_commits_loses_nothing(uri: str) -> None:
    writer, tidier = opened(uri, lock_timeout_s=60), opened(uri, lock_timeout_s=60)

    def commit() -> None:
        for number in range(8):
            writer.commit([row(f"{number}.md", f"{number}"), gone(f"{number - 1}.md")])

    def tidy() -> None:
        for _ in range(4):
            tidier.tidy(every=True)

    together([commit, tidy])
    tidier.tidy(every=True)

    assert held(writer) == held(tidier) == {"7.md": "7"}


def test_what_is_gone_is_forgotten_when_it_is_tidied_and_the_rest_stays(uri: str) -> None:
    tables = opened(uri)
    for number in range(5):
        tables.commit([row(f"{number}.md", f"{number}")])
    tables.commit([gone("1.md"), gone("3.md")])
    before = held(tables)

    tables.tidy(every=True)

    assert held(tables) == {path: text for path, text in before.items() if path not in ("1.md", "3.md")}
    assert held(opened(uri)) == held(tables)


@pytest.mark.slow
def test_a_table_is_compacted_when_many_commits_have_been_written(uri: str) -> None:
    tables = opened(uri)
    files = []
    for number in range(70):
        tables.commit([row(f"{number % 3}.md", f"{number}")])
        tables.tidy()
        tables.refresh()
        files.append(tables._documents.stats()["fragment_stats"]["num_fragments"])

    assert max(files) < 70
    assert files[:20] == sorted(files[:20])  # not with each of them
    assert held(tables) == {"0.md": "69", "1.md": "67", "2.md": "68"}


def together(actions: Sequence[Callable[[], object]]) -> None:
    """Run all at once, each in a thread, and raise what one of them raised."""
    failed: list[BaseException] = []
    start = threading.Barrier(len(actions))

    def run(action: Callable[[], object]) -> None:
        start.wait()
        try:
            action()
        except BaseException as exc:  # noqa: BLE001  # is raised below
            failed.append(exc)

    threads = [threading.Thread(target=run, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
