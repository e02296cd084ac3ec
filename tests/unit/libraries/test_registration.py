"""Which folders become sources, and which sources a question may name."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from openbook.errors import SourceError, UnknownSourceError
from openbook.index.protocol import Source
from openbook.index.sqlite import SqliteIndex
from openbook.libraries.catalog import LibraryCatalog
from openbook.libraries.registration import check_known, why_wide
from openbook.library import Library
from openbook.settings import Settings
from tests.support import IDENTITY, write_tree


class CountedIndex(SqliteIndex):
    """Counts how often it was asked for its sources."""

    asked = 0

    def roots(self) -> list[Source]:
        self.asked += 1
        return super().roots()


@pytest.fixture
def index(tmp_path: Path) -> Iterator[CountedIndex]:
    with contextlib.closing(CountedIndex(tmp_path / "library.sqlite", IDENTITY)) as index:
        index.put_root(Source("owls", "folder", "/owls"))
        yield index


def test_a_source_that_is_not_there_is_refused_with_those_that_are(index: CountedIndex) -> None:
    check_known(["owls"], index)

    with pytest.raises(UnknownSourceError, match="no source 'quails'") as caught:
        check_known(["owls", "quails"], index)

    assert "owls" in caught.value.hint


def test_who_names_no_source_does_not_make_the_engine_look_for_them(index: CountedIndex) -> None:
    check_known([], index)

    assert index.asked == 0


@pytest.mark.parametrize("folder", ["/", "/etc", "/proc/self", "~"])
def test_the_disk_and_system_and_home_folders_are_wide(folder: str) -> None:
    assert why_wide(folder)


@pytest.mark.parametrize("folder", ["~", ""])
def test_no_program_indexes_a_home_or_working_folder_by_mistake(
    tmp_path: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree(tmp_path / "me", {"a.md": "# Letters"})
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    monkeypatch.chdir(write_tree(tmp_path / "desk", {"b.md": "# Bills"}))
    settings = Settings(home=tmp_path / "home")

    with pytest.raises(SourceError) as of_them:
        Library.of(tmp_path / "me" / "a.md", folder, settings=settings)
    assert not (tmp_path / "home" / "libraries").exists()
    with Library.open(settings=settings) as library:
        with pytest.raises(SourceError) as added:
            library.add(folder)
        with pytest.raises(SourceError):
            library.register(folder)
        assert library.sources() == []

    for caught in (of_them, added):
        assert ("allow_large=True" if folder else "'.' for the working folder") in caught.value.hint


def test_a_large_folder_is_a_source_once_it_was_meant(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home", max_file_bytes=2_000_000_000)
    folder = write_tree(tmp_path / "logs", {"a.md": "# Logs"})
    with (folder / "b.txt").open("w", encoding="utf-8") as file:
        file.truncate(1_100_000_000)  # takes no room

    with Library.open(settings=settings) as library:
        with pytest.raises(SourceError, match=r"it is large \(2 files, 1\.1 GB\)"):
            library.register(folder)
        library.register(folder, allow_large=True)

        assert library.register(folder).location == str(folder)


def of_machine(folder: Path, name: str, **more: Any) -> Settings:
    return Settings(home=folder / name, storage=f"lance:{folder / 'shared'}", workers=1, **more)


def test_machines_with_the_same_path_have_a_source_each_in_a_shared_library(tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "zoo", {"a.md": "The gecko climbs glass.\n"})
    with Library.open("team", settings=of_machine(tmp_path, "one")) as library:
        library.add(folder)
    (folder / "a.md").write_text("The newt swims in ponds.\n", encoding="utf-8")

    with Library.open("team", settings=of_machine(tmp_path, "two")) as library:
        library.add(folder)
        library.add(folder)
        [report] = library.sync()

        texts = {chunk.source: chunk.text for name in ("zoo", "zoo-2") for chunk in library.index.chunks(name, "a.md")}
        assert texts == {"zoo": "The gecko climbs glass.", "zoo-2": "The newt swims in ponds."}
        assert report.source == "zoo-2"
        assert [library.is_own(root) for root in library.sources()] == [False, True]
        assert isinstance(library.pending()["zoo"], SourceError)
    with Library.open("team", settings=of_machine(tmp_path, "one")) as library:
        assert library.add(folder).changed == 1


def test_machines_that_were_given_the_same_id_update_one_source(tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "zoo", {"a.md": "The gecko climbs glass.\n"})
    for machine in ("one", "two"):
        write_tree(tmp_path / machine, {"id": "0123abcd\n"})
        with Library.open("team", settings=of_machine(tmp_path, machine)) as library:
            library.add(folder)

            assert [root.owner for root in library.sources()] == ["0123abcd"]


def test_folders_asked_directly_have_a_library_for_each_machine(tmp_path: Path) -> None:
    folder = write_tree(tmp_path / "zoo", {"a.md": "The gecko climbs glass.\n"})
    names = [LibraryCatalog(of_machine(tmp_path, machine)).name_for([folder]) for machine in ("one", "two", "one")]

    assert names[0] == names[2] != names[1]


def test_servers_that_receive_the_same_uploads_have_one_source_of_them(tmp_path: Path) -> None:
    uploads = write_tree(tmp_path / "disk" / "team" / "uploads", {"a.md": "The gecko climbs glass.\n"})
    for machine in ("one", "two"):
        settings = of_machine(tmp_path, machine, uploads=str(tmp_path / "disk"))
        with Library.open("team", settings=settings) as library:
            library.add(uploads)

            assert [root.name for root in library.sources()] == ["uploads"]


def in_home(home: Path, storage: str = "", **more: Any) -> Settings:
    return Settings(home=home, storage=storage, workers=1, **more)


@pytest.mark.parametrize("is_copy", [False, True], ids=["moved", "copied"])
@pytest.mark.parametrize("place", ["uploads/team/uploads", "uploads/team/uploaded courses", "texts/team/texts"])
def test_sources_in_the_home_follow_it(tmp_path: Path, place: str, is_copy: bool) -> None:
    uploads = write_tree(tmp_path / "old" / place, {"a.md": "The gecko climbs glass.\n"})
    with Library.open("team", settings=in_home(tmp_path / "old")) as library:
        library.add(uploads)
    shutil.copytree(tmp_path / "old", tmp_path / "new")
    if not is_copy:
        shutil.rmtree(tmp_path / "old")

    with Library.open("team", settings=in_home(tmp_path / "new")) as library:
        (tmp_path / "new" / place / "a.md").unlink()
        report = library.add(tmp_path / "new" / place)

        assert [root.location for root in library.sources()] == [str(tmp_path / "new" / place)]
        assert report.removed == 1
        assert library.stats().documents == 0


def test_uploads_of_a_shared_library_follow_the_home_of_their_machine_alone(tmp_path: Path) -> None:
    storage = f"lance:{tmp_path / 'shared'}"
    write_tree(tmp_path / "old", {"id": "0123abcd", "uploads/team-0123abcd/uploads/a.md": "The gecko climbs glass.\n"})
    with Library.open("team", settings=in_home(tmp_path / "old", storage)) as library:
        library.add(tmp_path / "old" / "uploads" / "team-0123abcd" / "uploads")
    shutil.copytree(tmp_path / "old", tmp_path / "new")

    def location(home: str) -> str:
        with Library.open("team", settings=in_home(tmp_path / home, storage)) as library:
            return Path(library.sources()[0].location).relative_to(tmp_path).parts[0]

    assert location("new") == "old"  # it is still there
    shutil.rmtree(tmp_path / "old")
    assert location("other") == "old"
    assert location("new") == "new"


def of_two_machines(tmp_path: Path) -> str:
    """Add texts to a library that machines `one` and `two` share, whose homes had one path; return its address."""
    home, storage = tmp_path / "home", f"lance:{tmp_path / 'shared'}"
    for machine in ("one", "two"):
        with Library.open("team", settings=in_home(home, storage)) as library:
            library.add_text(f"This is machine {machine}.", "a.md")
        home.rename(tmp_path / machine)
    return storage


def test_texts_of_a_shared_library_follow_each_of_two_homes_that_had_one_path(tmp_path: Path) -> None:
    storage = of_two_machines(tmp_path)

    for machine in ("one", "two"):
        with Library.open("team", settings=in_home(tmp_path / machine, storage)) as library:
            library.add_text(f"This is machine {machine} again.", "a.md")
            assert library.stats().documents == 2


def test_texts_of_a_shared_library_are_deleted_by_the_machine_that_added_them_alone(tmp_path: Path) -> None:
    home, storage = tmp_path / "home", of_two_machines(tmp_path)
    (tmp_path / "two").rename(home)

    with Library.open("team", settings=in_home(home, storage)) as library:
        library.remove("texts")
        kept = (home / "texts" / "team").is_dir()
        library.remove("texts-2")

    assert kept
    assert not (home / "texts" / "team").is_dir()


def test_a_library_that_cannot_be_written_is_opened_after_its_home_has_moved(tmp_path: Path) -> None:
    write_tree(tmp_path / "old" / "uploads" / "team" / "uploads", {"a.md": "The gecko climbs glass.\n"})
    with Library.open("team", settings=in_home(tmp_path / "old")) as library:
        library.add(tmp_path / "old" / "uploads" / "team" / "uploads")
    (tmp_path / "old").rename(tmp_path / "new")
    with contextlib.closing(sqlite3.connect(tmp_path / "new" / "libraries" / "team.sqlite")) as file:
        file.execute("CREATE TRIGGER full BEFORE INSERT ON roots BEGIN SELECT RAISE(ABORT, 'disk is full'); END")

    with Library.open("team", settings=in_home(tmp_path / "new")) as library:
        assert library.stats().documents == 1


@pytest.mark.parametrize("place", ["mine/uploads", "disk/uploads/team/uploads", "old/texts/zoo/texts"])
def test_a_folder_outside_the_home_is_not_taken_for_one_in_it_because_of_its_name(tmp_path: Path, place: str) -> None:
    settings = in_home(tmp_path / "home")
    for inside in ("uploads/team/uploads", "texts/zoo/texts"):
        write_tree(tmp_path / "home" / inside, {"a.md": "The gecko climbs glass.\n"})
    (tmp_path / "old" / "libraries").mkdir(parents=True)
    folder = write_tree(tmp_path / place, {"b.md": "The newt swims in ponds.\n"})
    with Library.open("team", settings=settings) as library:
        library.add(folder)
    with Library.open("team", settings=settings) as library:
        assert [root.location for root in library.sources()] == [str(folder)]
