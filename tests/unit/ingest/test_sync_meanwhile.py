"""What happens to a source, its files and its index while they are read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from openbook.errors import SourceError
from openbook.index.protocol import Index, Source
from openbook.index.sqlite import SqliteIndex
from openbook.types import Filter, SkipReason
from tests.children import run_child
from tests.support import IDENTITY, document, stamp, write_tree
from tests.unit.ingest.syncing import bring

FILES = {f"notes/{number}.md": f"Number {number}.\n" for number in range(120)}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "tree", FILES)


def left(index: Index) -> tuple[list[str], list[str]]:
    """Return the names of the sources, and those that documents have."""
    return [root.name for root in index.roots()], sorted({each.source for each in index.documents(Filter())})


@pytest.mark.parametrize("removed_after", [1, 120], ids=["in the middle", "at the end"])
def test_a_source_that_is_removed_while_it_is_read_stays_removed(index: Index, tree: Path, removed_after: int) -> None:
    index.put(document("other.md", source="t"), [], stamp())

    def remove(done: int, _: int) -> None:
        if done >= removed_after:
            index.delete_source("s")
            index.put(document("late.md"), [], stamp())  # as a batch that an engine of several machines lets in

    with pytest.raises(SourceError, match="another process has removed s"):
        bring(index, tree, progress=remove)

    assert left(index) == ([], ["t"])


def test_a_folder_that_becomes_a_course_while_it_is_read_is_one(index: Index, tree: Path) -> None:
    course = Source("s", "course", str(tree))

    with pytest.raises(SourceError):
        bring(index, tree, progress=lambda *_: index.put_root(course))
    bring(index, tree)

    assert [root.kind for root in index.roots()] == ["course"]


@pytest.mark.parametrize("has_returned", [True, False])
def test_a_folder_that_was_away_while_it_was_read_is_read_once_it_is_back(
    index: Index, tree: Path, has_returned: bool
) -> None:
    away = tree / "away"

    def move_away(*_: int) -> None:
        if not away.exists():
            (tree / "notes").rename(away)

    first = bring(index, tree, progress=move_away)
    away.rename(tree / "notes" if has_returned else tree / "moved")
    second = bring(index, tree)

    assert len(first.skipped[SkipReason.VANISHED]) == 70
    assert second.added + second.renamed == (70 if has_returned else 120)
    assert index.stats().documents == 120
    assert not second.skipped


def sync_closed_files_again(tree: str, library: str) -> str:
    (Path(tree) / "closed.md").chmod(0o000)
    with contextlib.closing(SqliteIndex(Path(library), IDENTITY)) as index:
        first = bring(index, Path(tree))
        before = index.roots()
        second = bring(index, Path(tree))
        return f"{dict(first.remarks)} {dict(second.remarks)} {second.skipped} {index.roots() == before}"


@pytest.mark.slow
def test_a_file_that_still_cannot_be_read_is_tried_and_nothing_is_written(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "closed", {"a.md": "# A\n", "closed.md": "# B\n"})

    told = run_child(sync_closed_files_again, tree, tmp_path / "library.sqlite", unprivileged=True)

    assert told == "{'closed.md': ('not indexed: unreadable',)} {} {'unreadable': ('closed.md',)} True"


@pytest.mark.parametrize("year", [1600, 2400])
def test_a_file_of_a_year_that_no_clock_of_nanoseconds_has_is_read_once(index: Index, tree: Path, year: int) -> None:
    since_1970_ns = (year - 1970) * 365 * 86_400 * 10**9
    os.utime(tree / "notes/1.md", ns=(since_1970_ns, since_1970_ns))

    reports = bring(index, tree), bring(index, tree)

    assert [report.added for report in reports] == [120, 0]


class OvertakenIndex(SqliteIndex):
    """An index in which another process commits before the first batch."""

    def overtake(self, commit: Callable[[], None]) -> None:
        self._others: list[Callable[[], None]] = [commit]

    @contextlib.contextmanager
    def batch(self) -> Iterator[None]:
        if getattr(self, "_others", None):
            self._others.pop()()
        with super().batch():
            yield


def test_an_unchanged_file_of_which_another_process_has_put_a_later_text_is_read_again(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", {"a.md": "The first text.\n"})
    with contextlib.closing(OvertakenIndex(tmp_path / "library.sqlite", IDENTITY)) as index:
        bring(index, tree)
        # Another process read the second text, and commits it after the first one is back.
        write_tree(tree, {"a.md": "The first text.\n"})
        index.overtake(lambda: index.put(document("a.md", "The second text.\n"), [], stamp()))

        bring(index, tree)
        bring(index, tree)

        stored = index.document("s", "a.md")
        assert stored is not None
        assert stored.text == "The first text.\n"
