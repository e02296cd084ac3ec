"""Citations are checked against the files of their source, and not against what lies at its path on another machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from openbook.library import Library
from openbook.settings import Settings
from tests.support import write_tree

FILES = {"ferry.md": "The ferry sails at nine.\n", "owl.md": "The owl hunts at night.\n"}


def settings(folder: Path, machine: str) -> Settings:
    return Settings(home=folder / machine, storage=f"lance:{folder / 'shared'}", workers=1)


def ferry_now(library: Library) -> str | None:
    [chunk] = library.index.chunks("docs", "ferry.md")
    return library.text_now(chunk)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder that another machine has put into a shared library."""
    folder = write_tree(tmp_path / "docs", FILES)
    with Library.open("team", settings=settings(tmp_path, "there")) as library:
        library.add(folder)
    return folder


@pytest.fixture
def here(tmp_path: Path, docs: Path) -> Iterator[Library]:
    """The library on a machine with the same path."""
    with Library.open("team", settings=settings(tmp_path, "here")) as library:
        yield library


def test_an_empty_folder_where_another_machine_has_the_files_is_not_taken_for_them(
    tmp_path: Path, docs: Path, here: Library
) -> None:
    docs.rename(tmp_path / "elsewhere")
    docs.mkdir()

    assert ferry_now(here) == FILES["ferry.md"]


def test_another_folder_where_another_machine_has_the_files_is_not_taken_for_them(
    tmp_path: Path, docs: Path, here: Library
) -> None:
    docs.rename(tmp_path / "elsewhere")
    write_tree(docs, {"ferry.md": "The ferry is a boat.\n"})

    assert ferry_now(here) == FILES["ferry.md"]


@pytest.mark.parametrize("text", ["The ferry sails at ten.\n", None])
def test_a_disk_that_machines_share_shows_what_has_changed_and_what_is_gone(
    docs: Path, here: Library, text: str | None
) -> None:
    (docs / "ferry.md").unlink()
    if text:
        write_tree(docs, {"ferry.md": text})

    assert ferry_now(here) == text


@pytest.mark.parametrize("text", [FILES["ferry.md"], "The ferry sails at two.\n"])
def test_a_citation_is_checked_though_its_file_is_above_the_limits_of_this_process(tmp_path: Path, text: str) -> None:
    docs = write_tree(tmp_path / "docs", FILES)
    with Library.open("own", settings=Settings(home=tmp_path / "home", workers=1)) as library:
        library.add(docs)
    with Library.open("own", settings=Settings(home=tmp_path / "home", workers=1, max_file_bytes=5)) as library:
        (docs / "ferry.md").write_text(text, encoding="utf-8")

        assert ferry_now(library) == text


def test_a_machine_that_deletes_all_files_of_its_own_folder_sees_that_they_are_gone(tmp_path: Path, docs: Path) -> None:
    for file in docs.iterdir():
        file.unlink()

    with Library.open("team", settings=settings(tmp_path, "there")) as library:
        assert ferry_now(library) is None


def test_a_folder_of_its_own_that_a_machine_cannot_reach_is_no_error(docs: Path, tmp_path: Path) -> None:
    with Library.open("team", settings=settings(tmp_path, "there")) as library:
        [root] = library.sources()
        library.index.put_root(replace(root, location=f"/{'x' * 300}"))  # fails even for root, as one of other users

        assert ferry_now(library) is None
