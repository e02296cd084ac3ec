"""What a library in the making answers, and that nothing that changes meanwhile is lost."""

from __future__ import annotations

import errno
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp.server.mcpserver.exceptions import ToolError as RefusedCall

from openbook.errors import CorruptLibraryError, LibraryError, LibraryWriteError, SourceError
from openbook.index.files import remove_library_file
from openbook.index.schema import damaged
from openbook.ingest.reading_state import ReadingState
from openbook.ingest.sync import SyncReport
from openbook.library import Library
from openbook.mcp.tools import McpTools, as_tool
from openbook.settings import Settings
from openbook.types import Filter
from openbook.watched_library import WatchedLibrary


class SlowLibrary(Library):
    """A library that reads when it may."""

    may_read: threading.Event
    is_reading: threading.Event
    looks = 0

    def add(self, *given: Any, **options: Any) -> SyncReport:
        if progress := options.get("progress"):
            progress(3, 1200)
        self.is_reading.set()
        self.may_read.wait(10)
        self.looks += 1
        return super().add(*given, **options)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "a.md").write_text("# Ferry\n\nThe ferry leaves.\n", encoding="utf-8")
    return folder


@pytest.fixture
def slow() -> Iterator[SlowLibrary]:
    with SlowLibrary.open("slow", settings=Settings.from_env()) as library:
        library.may_read, library.is_reading = threading.Event(), threading.Event()
        yield library
        library.may_read.set()


def test_a_call_answers_from_what_is_there_and_says_how_far_reading_is(slow: SlowLibrary, folder: Path) -> None:
    library = WatchedLibrary(slow, [folder], watch=False, patience_s=0.01)
    tools = McpTools(library)
    library.start()

    half_read = as_tool(tools.list_files, library)()
    slow.may_read.set()
    while library.reading is not None:
        as_tool(tools.list_files, library)()
    read = as_tool(tools.list_files, library)()
    library.close()

    assert half_read.endswith("may be incomplete or out of date)") or "indexed 3 of 1,200" in half_read
    assert "a.md" not in half_read
    assert read == "a.md\n(1 document)"


@pytest.mark.slow
def test_all_tools_that_are_called_at_once_say_how_far_reading_is(slow: SlowLibrary, folder: Path) -> None:
    library = WatchedLibrary(slow, [folder], watch=False, patience_s=0.01)
    tools = McpTools(library)
    library.start()
    slow.is_reading.wait(10)

    def told(use: Callable[[], str]) -> str:
        try:
            return use()
        except RefusedCall as exc:
            return str(exc)

    calls = (
        partial(as_tool(tools.search, library), "ferry"),
        partial(as_tool(tools.grep, library), "ferry", "*.md"),
        partial(as_tool(tools.list_files, library), "*.md"),
        partial(as_tool(tools.outline, library), "a.md"),
        partial(as_tool(tools.read_lines, library), "a.md:3"),
    )
    with ThreadPoolExecutor(len(calls)) as pool:
        texts = list(pool.map(told, calls))
    slow.may_read.set()
    library.close()

    assert [text for text in texts if "indexed 3 of 1,200 new and changed files" not in text] == []


def test_what_changes_while_files_are_read_is_looked_at_again(slow: SlowLibrary, folder: Path) -> None:
    library = WatchedLibrary(slow, [folder], patience_s=0.01)
    with library.fresh():
        pass
    slow.is_reading.wait(10)
    assert library.reading == ReadingState(3, 1200)
    looked = slow.looks

    # The watcher begins before the look, so this is seen although nothing of the folder was read yet.
    (folder / "b.md").write_text("# Bridge\n\nThe bridge opens.\n", encoding="utf-8")
    slow.may_read.set()
    while looked == slow.looks or library.reading is not None or not slow.index.document("shop", "b.md"):
        with library.fresh():
            pass
    library.close()

    assert library.notes == ()


def test_a_source_that_is_gone_is_an_error_for_every_call_until_it_is_there(folder: Path, tmp_path: Path) -> None:
    with Library.open("gone", settings=Settings.from_env()) as assistant:
        assistant.register(folder)
        folder.rename(tmp_path / "away")
        library = WatchedLibrary(assistant, [], watch=False)
        for _ in range(2):
            with pytest.raises(SourceError), library.fresh():
                pass
        (tmp_path / "away").rename(folder)
        with library.fresh() as fresh:
            assert fresh.stats().documents == 1
        library.close()


def test_a_folder_that_may_not_be_reached_any_more_is_gone_and_still_answers(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = Path.stat

    def refusing(place: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if place == folder:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(place))
        return reached(place, follow_symlinks=follow_symlinks)

    with Library.open("refused", settings=Settings.from_env()) as assistant:
        library = WatchedLibrary(assistant, [folder], watch=False)
        tools = McpTools(library)
        tools.search("When does the ferry leave?")
        monkeypatch.setattr(Path, "stat", refusing)

        told = tools.search("When does the ferry leave?")
        library.close()

    assert "The ferry leaves." in told
    assert library.notes == (f"the folder of {folder.name} is gone: what is found in it was indexed before",)


@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_may_not_be_read_any_more_is_said_to_be_gone(
    what: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = next(folder.glob("*.md"))
    source, hidden = (folder, folder) if what == "folder" else (file, file)
    allowed = os.access

    def refusing(place: str | Path, mode: int) -> bool:
        return (mode == os.F_OK or Path(place) != hidden) and allowed(place, mode)

    with Library.open("unreadable", settings=Settings.from_env()) as assistant:
        library = WatchedLibrary(assistant, [source], watch=False)
        tools = McpTools(library)
        tools.search("When does the ferry leave?")
        monkeypatch.setattr(os, "access", refusing)
        tools.search("When does the ferry leave?")
        library.close()

    assert any("is gone" in note for note in library.notes)


def test_the_hint_of_damage_that_a_call_meets_names_the_folders(folder: Path) -> None:
    with Library.open("damaged", settings=Settings.from_env()) as assistant:
        library = WatchedLibrary(assistant, [folder], watch=False)
        with pytest.raises(CorruptLibraryError) as caught, library.fresh():
            raise damaged(Path("damaged.sqlite"))
        library.close()

    assert caught.value.hint.endswith(f"--library damaged {folder}")


def test_closing_ends_reading_at_the_next_commit(slow: SlowLibrary, folder: Path) -> None:
    library = WatchedLibrary(slow, [folder], watch=False, patience_s=0.01)
    with library.fresh():
        pass
    slow.is_reading.wait(10)
    threading.Timer(0.05, slow.may_read.set).start()

    library.close()

    assert library.reading is not None
    assert [each.name for each in threading.enumerate() if each.name == "reading"] == []


@pytest.mark.slow
def test_no_call_fails_because_a_library_was_replaced_while_it_was_read(slow: SlowLibrary, folder: Path) -> None:
    location = slow.location
    assert isinstance(location, Path)

    def remake(damage: LibraryError) -> Library:
        remove_library_file(location)
        return Library.open("slow", settings=Settings.from_env())

    library = WatchedLibrary(slow, [folder], watch=False, patience_s=60, remake=remake)
    library.start()
    assert slow.is_reading.wait(60)

    def call() -> int:
        if library.assistant is slow:
            raise damaged(location)
        slow.may_read.set()  # from here on, what reads the old one fails
        with library.fresh() as assistant:
            return assistant.stats().documents

    assert library.use(call) == 1
    library.close()


def edit(folder: Path) -> None:
    (folder / "a.md").write_text("# Pilot\n\nThe pilot boards.\n", encoding="utf-8")


def exclude(folder: Path) -> None:
    (folder / ".git" / "info" / "exclude").write_text("a.md\n", encoding="utf-8")


def include_again(folder: Path) -> None:
    (folder / "node_modules" / "a.md").write_text("# Pilot\n\nThe pilot boards.\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("place", "change", "expected"),
    [
        pytest.param(".venv/lib/shop", edit, ["a.md: # Pilot"], id="below-an-environment"),
        pytest.param("shop", exclude, [], id="by-the-rules-of-git"),
        pytest.param(
            "shop", include_again, ["a.md: # Ferry", "node_modules/a.md: # Pilot"], id="of-what-is-included-again"
        ),
    ],
)
def test_a_change_is_seen_wherever_it_may_matter(
    tmp_path: Path, place: str, change: Callable[[Path], None], expected: list[str]
) -> None:
    folder = tmp_path / place
    for inside in (".git/info", "node_modules"):
        (folder / inside).mkdir(parents=True)
    (folder / "a.md").write_text("# Ferry\n", encoding="utf-8")
    (folder / ".openbookignore").write_text("!node_modules/\n.*\n", encoding="utf-8")

    def seen(library: WatchedLibrary) -> list[str]:
        with library.fresh() as assistant:
            names = [document.path for document in assistant.index.documents(Filter())]
            texts = [assistant.index.document("shop", name) for name in names]
            return [f"{text.path}: {text.text.splitlines()[0]}" for text in texts if text]

    with Library.open("watched", settings=Settings.from_env()) as assistant:
        library = WatchedLibrary(assistant, [folder], patience_s=60)
        before = seen(library)
        for _ in range(100):  # the watcher may not have begun
            change(folder)
            if seen(library) == expected:
                break
            time.sleep(0.05)
        after = seen(library)
        library.close()

    assert (before, after) == (["a.md: # Ferry"], expected)


def test_a_library_that_another_process_has_made_again_is_followed(folder: Path, tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "b.md").write_text("# Pilot\n", encoding="utf-8")
    with Library.open("again", settings=Settings.from_env()) as assistant:
        library = WatchedLibrary(assistant, [folder], watch=False, patience_s=60)
        with library.fresh() as before:
            had = [root.name for root in before.sources()]
        assert isinstance(assistant.location, Path)
        remove_library_file(assistant.location)
        with Library.open("again", settings=Settings.from_env()) as other:
            other.register(beside)
            with library.fresh() as meanwhile:
                had_meanwhile = [root.name for root in meanwhile.sources()]
            other.add(beside)
        with library.fresh() as after:
            has = [root.name for root in after.sources()]
        library.close()

    assert (had, had_meanwhile, has) == (["shop"], ["shop"], ["beside", "shop"])


class LockedLibrary(Library):
    """A library that another process holds for the second update."""

    updates = 0

    def add(self, *given: Any, **options: Any) -> SyncReport:
        self.updates += 1
        if self.updates == 2:
            raise LibraryWriteError("it is locked")
        return super().add(*given, **options)


def test_an_update_that_failed_is_told_and_made_by_the_next_call(folder: Path) -> None:
    reports: list[SyncReport] = []
    told = []
    with LockedLibrary.open("locked", settings=Settings.from_env()) as assistant:
        assistant.add(folder)
        edit(folder)
        library = WatchedLibrary(assistant, [folder], watch=False, patience_s=60, report=reports.append)
        for _ in range(3):
            with library.fresh():
                told.append(library.notes)
        library.close()

    assert told == [("the library was not updated: it is locked",), (), ()]
    assert [report.changed for report in reports] == [1]


def test_a_folder_that_is_gone_is_told_once(folder: Path) -> None:
    told = []
    with Library.open("gone", settings=Settings.from_env()) as assistant:
        library = WatchedLibrary(assistant, [folder], patience_s=60)
        with library.fresh():
            shutil.rmtree(folder)
        for _ in range(20):  # until the watcher has noticed it, and an update has failed
            with library.fresh():
                told.append(library.notes)
            time.sleep(0.05)
        library.close()

    assert set(told) == {("the folder of shop is gone: what is found in it was indexed before",)}


def seen_of(library: WatchedLibrary, expected: int) -> int:
    """Return the number of documents in the library, once it is the expected one or after some time."""
    documents = 0
    for _ in range(100):
        with library.fresh() as assistant:
            documents = assistant.stats().documents
        if documents == expected:
            break
        time.sleep(0.05)
    return documents


def test_a_source_that_another_process_has_added_is_watched(folder: Path, tmp_path: Path) -> None:
    beside = tmp_path / "beside"
    beside.mkdir()
    with Library.open("grown", settings=Settings.from_env()) as assistant:
        library = WatchedLibrary(assistant, [folder], patience_s=60)
        with library.fresh(), Library.open("grown", settings=Settings.from_env()) as other:
            other.add(beside)
        seen = []
        for number in (2, 3):  # the first may be found by the look that every watch begins with
            (beside / f"{number}.md").write_text("# Pilot\n", encoding="utf-8")
            seen.append(seen_of(library, number))
        library.close()

    assert seen == [2, 3]
