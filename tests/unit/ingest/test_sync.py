from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from openbook.errors import SourceError
from openbook.index.packing import PackedEntries
from openbook.index.protocol import Index, IndexEntry, Source
from openbook.index.sqlite import SqliteIndex
from openbook.ingest.sync import SyncReport, sync
from openbook.process_pool import took_more_memory
from openbook.settings import Settings
from openbook.testing import HashEmbedder
from openbook.types import Document, Filter, Stamp
from tests.children import run_child
from tests.support import IDENTITY, dense, lexical, paths, write_tree
from tests.unit.ingest.syncing import an_hour_later, bring

FILES = {"guide.md": "# Guide\n\nRed fox.\n", "notes/a.txt": "Blue hen.\n", "notes/b.txt": "Green cow.\n"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "tree", FILES)


def counts(report: SyncReport) -> dict[str, int]:
    names = ("added", "changed", "renamed", "removed", "unchanged", "read")
    return {name: getattr(report, name) for name in names if getattr(report, name)}


def found(index: Index, word: str) -> list[str]:
    return paths(index, lexical(index, [word], 100))


def test_a_new_folder_is_read_whole(index: Index, tree: Path) -> None:
    report = bring(index, tree)

    assert counts(report) == {"added": 3, "read": 3}
    assert report.wrote
    assert (report.source, report.skipped) == ("s", {})
    assert sorted(index.records("s")) == sorted(FILES)
    for path, text in FILES.items():
        document = index.document("s", path)
        assert document is not None
        assert document.text == text
    assert found(index, "fox") == ["guide.md"]


def test_a_chunk_in_the_index_is_a_slice_of_its_document(index: Index, tree: Path) -> None:
    write_tree(tree, {"long.md": "# Größe 😀\r\n\r\n" + "A line of text.\r\n\r\n" * 500})
    bring(index, tree)

    vector = HashEmbedder().embed(["text"])[0]
    chunks = index.fetch([hit.id for hit in dense(index, vector, 1000)])

    assert len(chunks) > 5
    for chunk in chunks:
        document = index.document("s", chunk.span.path)
        assert document is not None
        assert document.text[chunk.span.start_char : chunk.span.end_char] == chunk.text


def test_an_unchanged_folder_is_left_alone(index: Index, tree: Path) -> None:
    bring(index, tree)
    roots = index.roots()

    report = bring(index, tree)

    assert counts(report) == {"unchanged": 3}
    assert not report.wrote
    assert index.roots() == roots


def test_of_named_files_alone_is_seen_what_changed_and_what_is_gone(index: Index, tree: Path) -> None:
    bring(index, tree)
    write_tree(tree, {"guide.md": "# Guide\n\nGrey owl.\n", "new.md": "# New\n\nWhite elk.\n"})
    (tree / "notes" / "a.txt").unlink()
    (tree / "notes" / "b.txt").unlink()

    report = bring(index, tree, only=("new.md", "notes/a.txt"))

    assert (report.added, report.changed, report.removed) == (1, 0, 1)
    assert set(index.records("s")) == {"guide.md", "new.md", "notes/b.txt"}


def test_a_changed_file_takes_the_place_of_what_it_was(index: Index, tree: Path) -> None:
    bring(index, tree)
    write_tree(tree, {"notes/a.txt": "Blue duck.\n"})

    report = bring(index, tree)

    assert counts(report) == {"changed": 1, "unchanged": 2, "read": 1}
    assert (found(index, "hen"), found(index, "duck")) == ([], ["notes/a.txt"])


def test_a_file_written_again_with_what_it_held_is_read_but_not_changed(index: Index, tree: Path) -> None:
    bring(index, tree)
    write_tree(tree, FILES)

    report = bring(index, tree)

    assert counts(report) == {"unchanged": 3, "read": 3}
    assert not report.wrote
    assert counts(bring(index, tree)) == {"unchanged": 3}


def test_a_change_that_keeps_size_and_modification_time_is_noticed(index: Index, tree: Path) -> None:
    bring(index, tree)
    file = tree / "notes" / "a.txt"
    times = file.stat()
    file.write_text("Blue cat.\n", encoding="utf-8")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))

    report = bring(index, tree)

    assert (file.stat().st_size, file.stat().st_mtime_ns) == (times.st_size, times.st_mtime_ns)
    assert counts(report) == {"changed": 1, "unchanged": 2, "read": 1}


def test_a_deleted_file_leaves_the_index(index: Index, tree: Path) -> None:
    bring(index, tree)
    (tree / "guide.md").unlink()

    report = bring(index, tree)

    assert counts(report) == {"removed": 1, "unchanged": 2}
    assert "guide.md" not in index.records("s")
    assert found(index, "fox") == []


def test_a_moved_file_is_renamed_and_a_copied_one_added(index: Index, tree: Path) -> None:
    bring(index, tree)
    (tree / "guide.md").rename(tree / "notes" / "manual.md")
    shutil.copy(tree / "notes" / "a.txt", tree / "c.txt")

    report = bring(index, tree)

    assert counts(report) == {"added": 1, "renamed": 1, "unchanged": 2, "read": 2}
    assert found(index, "fox") == ["notes/manual.md"]
    assert found(index, "hen") == ["c.txt", "notes/a.txt"]


def test_one_departed_file_makes_one_renamed_file(index: Index, tree: Path) -> None:
    bring(index, tree)
    for name in ("x.md", "y.md"):
        shutil.copy(tree / "guide.md", tree / name)
    (tree / "guide.md").unlink()

    assert counts(bring(index, tree)) == {"added": 1, "renamed": 1, "unchanged": 2, "read": 2}


def test_a_file_that_a_new_rule_ignores_leaves_the_index(index: Index, tree: Path) -> None:
    bring(index, tree)
    write_tree(tree, {".openbookignore": "notes/\n"})

    report = bring(index, tree)

    assert report.removed == 2
    assert [path for path in index.records("s") if path.startswith("notes/")] == []
    assert found(index, "hen") == []


def test_a_file_that_became_binary_leaves_the_index_and_is_reported(index: Index, tree: Path) -> None:
    bring(index, tree)
    (tree / "guide.md").write_bytes(b"\0\1\2\3" * 100)

    report = bring(index, tree)

    assert counts(report) == {"removed": 1, "unchanged": 2, "read": 1}
    assert report.wrote
    assert report.skipped == {"binary": ("guide.md",)}
    assert found(index, "fox") == []
    assert bring(index, tree).skipped == {"binary": ("guide.md",)}

    write_tree(tree, {"guide.md": "Red fox.\n"})
    assert counts(bring(index, tree)) == {"added": 1, "unchanged": 2, "read": 1}


def test_a_file_that_became_too_large_keeps_its_earlier_text_and_is_reported(index: Index, tree: Path) -> None:
    bring(index, tree)
    write_tree(tree, {"guide.md": "Blue hen. " * 1000})

    report = bring(index, tree, max_file_bytes=1000)

    assert counts(report) == {"unchanged": 3}
    assert report.skipped == {"too large": ("guide.md",)}
    assert report.remarks == {
        "guide.md": (
            "not updated: too large; raise OPENBOOK_MAX_FILE_BYTES from 1000: it has 0.0 MB; the library keeps its"
            " earlier text",
        )
    }
    assert found(index, "fox") == ["guide.md"]
    assert counts(bring(index, tree)) == {"changed": 1, "unchanged": 2, "read": 1}


@pytest.mark.parametrize("place", ["", "guide.md"])
def test_a_file_above_the_limits_of_this_process_stays_as_another_one_has_indexed_it(
    index: Index, tree: Path, place: str
) -> None:
    bring(index, tree / place)

    report = bring(index, tree / place, max_file_bytes=5)

    assert (report.wrote, report.skipped, report.remarks) == (False, {}, {})
    assert found(index, "fox") == ["guide.md"]


def test_a_large_file_that_was_just_written_is_not_taken_for_changed_and_a_new_one_not_for_indexed(
    index: Index, tree: Path
) -> None:
    bring(index, tree, now=lambda: 0.0)  # the time of the last change is not recorded
    write_tree(tree, {"new.md": "Grey goose. " * 100})

    report = bring(index, tree, max_file_bytes=5)

    assert (report.skipped, report.remarks) == ({"too large": ("new.md",)}, {})


def test_a_file_that_took_too_much_memory_is_read_again_once_it_may_take_more(index: Index, tree: Path) -> None:
    bring(index, tree)
    held = index.records("s")["guide.md"]
    index.skip("s", "guide.md", held.stamp, took_more_memory(2 * 1024**3))

    same, more = bring(index, tree), bring(index, tree, file_memory_bytes=4 * 1024**3)

    assert same.skipped == {"takes too much memory, more than 2.1 GB": ("guide.md",)}
    assert counts(more) == {"added": 1, "unchanged": 2, "read": 1}


def test_a_binary_file_is_read_once_and_forgotten_when_it_is_gone(index: Index, tree: Path) -> None:
    (tree / "blob").write_bytes(b"\0\1\2\3" * 100)
    first, second = bring(index, tree), bring(index, tree)
    (tree / "blob").unlink()

    third = bring(index, tree)

    assert counts(first) == {"added": 3, "read": 4}
    assert counts(second) == counts(third) == {"unchanged": 3}
    assert (second.skipped, third.skipped) == ({"binary": ("blob",)}, {})


def count_opened_files(tree: str, library: str) -> int:
    """Sync a folder twice and count the files of it that the second time opens."""
    opened: list[str] = []
    with contextlib.closing(SqliteIndex(Path(library), IDENTITY)) as index:
        assert counts(bring(index, Path(tree))) == {"added": 1000, "read": 1000}
        sys.addaudithook(lambda event, what: opened.append(str(what[0])) if event == "open" else None)
        assert counts(bring(index, Path(tree))) == {"unchanged": 1000}
    return sum(path.startswith(tree) for path in opened)


@pytest.mark.slow
def test_an_unchanged_folder_of_a_thousand_files_is_known_without_opening_one(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", {f"{number % 10}/{number}.md": f"Number {number}." for number in range(1000)})

    assert run_child(count_opened_files, tree, tmp_path / "library.sqlite") == "0"


def test_a_file_that_may_be_written_again_in_the_same_tick_is_looked_at_again(index: Index, tree: Path) -> None:
    stamps = [(tree / path).stat() for path in FILES]
    last = max(max(stamp.st_mtime_ns, stamp.st_ctime_ns) for stamp in stamps) / 1e9
    clock = iter([last + 0.005])

    # The sync begins in the tick of the last write, and takes long.
    first = bring(index, tree, now=lambda: next(clock, last + 3600))
    second = bring(index, tree)
    third = bring(index, tree)

    assert counts(first) == {"added": 3, "read": 3}
    assert counts(second) == {"unchanged": 3, "read": 3}
    assert counts(third) == {"unchanged": 3}


def test_progress_is_told_up_to_the_last_file(index: Index, tree: Path) -> None:
    write_tree(tree, {f"{number}.md": f"Number {number}.\n" for number in range(200)})
    told: list[tuple[int, int]] = []

    bring(index, tree, progress=lambda done, todo: told.append((done, todo)))

    assert told == sorted(told)
    assert len(told) > 2
    assert {todo for _, todo in told} == {203}
    assert told[-1] == (203, 203)


def test_a_sync_that_is_interrupted_keeps_what_it_committed_and_is_completed_by_the_next(
    index: Index, tree: Path
) -> None:
    write_tree(tree, {f"{number}.md": f"Number {number}.\n" for number in range(200)})
    committed = []

    def interrupt(done: int, _: int) -> None:
        committed.append(done)
        if len(committed) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bring(index, tree, progress=interrupt)
    kept, remembered = len(index.records("s")), index.roots()
    report = bring(index, tree)

    assert kept == committed[-1]
    assert remembered == [Source("s", "folder", str(tree), 0.0)]
    assert counts(report) == {"added": 203 - kept, "unchanged": kept, "read": 203 - kept}


def test_a_source_is_remembered_with_the_time_its_last_sync_began(index: Index, tree: Path) -> None:
    began = 4_000_000_000.0
    clock = iter([began, began + 7.5])

    report = bring(index, tree, now=lambda: next(clock))

    assert index.roots() == [Source("s", "folder", str(tree), began)]
    assert report.seconds == 7.5


def test_a_source_that_is_gone_is_an_error_and_the_index_keeps_what_it_has(index: Index, tree: Path) -> None:
    bring(index, tree)
    before = index.records("s"), index.roots()
    shutil.rmtree(tree)

    with pytest.raises(SourceError, match="does not exist") as caught:
        bring(index, tree)

    assert caught.value.hint
    assert (index.records("s"), index.roots()) == before
    assert found(index, "fox") == ["guide.md"]


def test_a_single_file_is_a_source(index: Index, tree: Path) -> None:
    report = bring(index, tree / "guide.md")

    assert counts(report) == {"added": 1, "read": 1}
    assert found(index, "fox") == ["guide.md"]


def test_two_sources_of_one_library_do_not_disturb_each_other(index: Index, tree: Path) -> None:
    other = Source("t", "folder", str(tree / "notes"))
    bring(index, tree)

    report = sync(other, index, settings=Settings(workers=1), load_embedder=HashEmbedder, now=an_hour_later)

    assert counts(report) == {"added": 2, "read": 2}
    assert counts(bring(index, tree)) == {"unchanged": 3}
    assert len(lexical(index, ["hen"], 5, Filter(sources=frozenset({"t"})))) == 1


def sync_with_a_closed_folder(tree: str, library: str, closed: str) -> str:
    """Sync a folder again, when a part of it cannot be listed any more."""
    with contextlib.closing(SqliteIndex(Path(library), IDENTITY)) as index:
        bring(index, Path(tree))
        (Path(tree) / closed).chmod(0o000)
        try:
            report = bring(index, Path(tree))
        except SourceError as exc:
            return f"{exc.reason}, {len(index.records('s'))} files known"
        finally:
            (Path(tree) / closed).chmod(0o700)
        return f"{counts(report)}, {len(index.records('s'))} files known"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("closed", "told"),
    [("notes", "{'unchanged': 3}, 3 files known"), (".", "Permission denied, 3 files known")],
    ids=["folder", "root"],
)
def test_what_cannot_be_listed_for_now_is_not_taken_for_deleted(tree: Path, closed: str, told: str) -> None:
    assert run_child(sync_with_a_closed_folder, tree, tree.parent / "library.sqlite", closed, unprivileged=True) == told


def test_text_that_no_database_takes_as_it_is_does_not_stop_a_sync(index: Index, tree: Path) -> None:
    cell = {"cell_type": "markdown", "metadata": {}, "source": ["half of a pair: \ud83d, and NUL: \0"]}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    write_tree(tree, {"odd.ipynb": json.dumps(notebook), "nul.md": "before\0after\n"})

    report = bring(index, tree)

    indexed = set(index.records("s"))
    assert indexed >= set(FILES)
    assert report.added + sum(map(len, report.skipped.values())) == 5


@pytest.mark.slow
def test_files_of_many_chunks_do_not_wait_for_each_other_to_be_committed(index: Index, tmp_path: Path) -> None:
    page = "\n\n".join(f"# Part {number}\n\nThe {number}th fox." for number in range(1_100))
    tree = write_tree(tmp_path / "long", {f"{name}.md": page for name in "abcde"} | {"f.md": "# F\n", "g.md": "# G\n"})
    told: list[int] = []

    bring(index, tree, progress=lambda done, _: told.append(done))

    assert index.stats().chunks > 5_000
    assert told == [2, 4, 7]


class IteratingIndex(SqliteIndex):
    """An engine that goes through the chunks, and does not say that it takes them packed."""

    takes_packed = False

    def put(self, document: Document, entries: Sequence[IndexEntry] | PackedEntries, stamp: Stamp) -> None:
        assert not isinstance(entries, PackedEntries)
        super().put(document, list(entries), stamp)


def test_an_engine_that_takes_no_packed_chunks_holds_the_same(index: Index, tree: Path, tmp_path: Path) -> None:
    with contextlib.closing(IteratingIndex(tmp_path / "other.sqlite", IDENTITY)) as other:
        for each in (index, other):
            bring(each, tree)

        for path in FILES:
            assert other.chunks("s", path) == index.chunks("s", path) != []
            assert other.vectors("s", path).tolist() == index.vectors("s", path).tolist()
        assert lexical(other, ["fox"], 5) == lexical(index, ["fox"], 5) != []
