from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import openbook.integrations
from openbook.errors import MismatchedLibraryError, MissingExtraError, SettingsError
from openbook.index.protocol import Source
from openbook.libraries.catalog import LibraryCatalog, library_names, library_path, name_for, name_of, open_index
from openbook.settings import Settings
from tests.support import IDENTITY, lexical, paths, put


@pytest.mark.parametrize("name", ["default", "my notes", "v1.2", "a_b-c+d@e", "größe", "索引", "7"])
def test_a_library_lives_in_a_file_of_its_name(tmp_path: Path, name: str) -> None:
    file = library_path(tmp_path, name)

    assert file.parent.parent == tmp_path
    assert file.name == f"{name}.sqlite"


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../up", "a/b", "a\\b", "-rf", " a", "a\n", "a\0", "a:b", "a*", "x" * 101, "索" * 34]
)
def test_a_name_that_could_not_be_one_of_a_file_everywhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="is not a valid library name") as caught:
        library_path(tmp_path, name)

    assert caught.value.hint


def test_libraries_are_listed_by_name_without_the_files_beside_them(tmp_path: Path) -> None:
    for name in ("shop-1", "default", "v1.2"):
        file = library_path(tmp_path, name)
        file.parent.mkdir(exist_ok=True)
        for suffix in ("", "-wal", "-shm"):
            file.with_name(file.name + suffix).touch()

    assert library_names(tmp_path) == ["default", "shop-1", "v1.2"]


def test_without_a_home_there_are_no_libraries(tmp_path: Path) -> None:
    assert library_names(tmp_path / "missing") == []


def test_a_name_for_folders_is_readable_valid_and_the_same_in_any_order(tmp_path: Path) -> None:
    shop, till = tmp_path / "My Shop (2)", tmp_path / "till"

    name = name_for([shop, till])

    assert re.fullmatch(r"my-shop-2-[0-9a-f]{10}", name)
    assert name == name_for([till, shop]) == name_for([till, shop, till / ".." / "till"])
    assert library_path(tmp_path, name).name == f"{name}.sqlite"


def test_folders_of_one_name_have_libraries_of_their_own(tmp_path: Path) -> None:
    names = {name_for([tmp_path / "a" / "shop"]), name_for([tmp_path / "b" / "shop"]), name_for([tmp_path / "shop"])}

    assert len(names) == 3


def test_a_link_has_the_library_of_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "shop")

    assert name_for([tmp_path / "link"]) == name_for([tmp_path / "shop"])


@pytest.mark.parametrize(
    "path", [Path("/"), Path("/tmp/索引"), Path("/tmp") / os.fsdecode(b"\xff"), Path("/tmp") / ("long" * 50)]
)
def test_every_folder_has_a_name_for_its_library(tmp_path: Path, path: Path) -> None:
    name = name_for([path])

    assert name.isascii()
    assert library_path(tmp_path, name).name == f"{name}.sqlite"


@pytest.fixture(params=["files", "lance"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Keep libraries in files or in LanceDB."""
    return Settings(home=tmp_path / "home", storage=f"lance:{tmp_path / 'shared'}" if request.param == "lance" else "")


@pytest.fixture
def shelf(settings: Settings) -> LibraryCatalog:
    return LibraryCatalog(settings)


@pytest.fixture
def lance(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", storage=f"lance:{tmp_path / 'shared'}")


def make(settings: Settings, name: str, *roots: Source) -> None:
    with closing(open_index(LibraryCatalog(settings).location(name), IDENTITY, settings)) as index:
        for root in roots:
            index.put_root(root)
        put(index, "a.md", f"fox {name}")


def test_a_library_is_a_file_of_the_home_without_an_address(tmp_path: Path) -> None:
    assert LibraryCatalog(Settings(home=tmp_path)).location("mine") == tmp_path / "libraries" / "mine.sqlite"


@pytest.mark.parametrize("uri", ["s3://bucket/a", "s3://bucket/a/", "s3://bucket/a//"])
def test_a_library_is_at_the_address_that_is_set(tmp_path: Path, uri: str) -> None:
    shelf = LibraryCatalog(Settings(home=tmp_path, storage=f"lance:{uri}"))

    assert shelf.location("mine") == "lance:s3://bucket/a/mine"


@pytest.mark.parametrize("uri", ["s3://bucket", "gs://bucket/", "file:///shared"])
def test_any_bucket_or_folder_is_an_address(tmp_path: Path, uri: str) -> None:
    shelf = LibraryCatalog(Settings(home=tmp_path, storage=f"lance:{uri}"))

    assert shelf.location("mine") == f"lance:{uri.rstrip('/')}/mine"


@pytest.mark.parametrize("uri", ["s3://", "s3:///", "://bucket", "://"])
def test_an_address_without_a_bucket_is_refused(tmp_path: Path, uri: str) -> None:
    with pytest.raises(SettingsError, match="names no folder or bucket") as caught:
        LibraryCatalog(Settings(home=tmp_path, storage=f"lance:{uri}"))

    assert "OPENBOOK_STORAGE" in caught.value.hint


def test_a_relative_address_is_below_the_folder_of_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shelf = LibraryCatalog(Settings(home=tmp_path, storage="lance:shared/x"))
    monkeypatch.chdir("/")

    assert shelf.location("mine") == f"lance:{tmp_path}/shared/x/mine"


def test_a_tilde_is_the_folder_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    assert (
        LibraryCatalog(Settings(home=tmp_path, storage="lance:~/shared")).location("mine")
        == f"lance:{tmp_path}/shared/mine"
    )


@pytest.mark.parametrize("name", ["", "..", "a/b", "a\\b", "-rf", "x" * 101])
def test_a_name_that_could_not_be_one_of_a_file_is_refused_everywhere(shelf: LibraryCatalog, name: str) -> None:
    for asked in (shelf.location, shelf.holds, shelf.roots, shelf.remove):
        with pytest.raises(SettingsError, match="is not a valid library name"):
            asked(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["my notes", "größe", "a@b", "a+b"])
def test_a_name_that_lancedb_does_not_take_is_refused_when_it_is_used(lance: Settings, name: str) -> None:
    shelf = LibraryCatalog(lance)
    uses: list[Callable[[], object]] = [
        lambda: shelf.roots(name),
        lambda: shelf.remove(name),
        lambda: open_index(shelf.location(name), IDENTITY, lance),
    ]

    for use in uses:
        with pytest.raises(SettingsError, match="is not a valid library name in LanceDB") as caught:
            use()
        assert caught.value.hint
    assert not shelf.holds(name)


@pytest.mark.slow
def test_names_come_in_order_and_are_held(settings: Settings, shelf: LibraryCatalog) -> None:
    for name in ("till", "default", "v1.2"):
        make(settings, name)

    assert shelf.names() == ["default", "till", "v1.2"]
    assert [shelf.holds(name) for name in ("till", "v1.2", "v1", "other")] == [True, True, False, False]


def test_where_there_is_nothing_no_library_is_held_and_nothing_is_made(tmp_path: Path, shelf: LibraryCatalog) -> None:
    assert shelf.names() == []
    assert not shelf.holds("mine")
    assert shelf.roots("mine") == []
    assert list(tmp_path.iterdir()) == []


def test_a_place_tells_the_name_of_its_library(settings: Settings, shelf: LibraryCatalog) -> None:
    make(settings, "v1.2")

    assert [name_of(shelf.location(name)) for name in ("mine", *shelf.names())] == ["mine", "v1.2"]


def test_what_is_put_is_found_when_it_is_opened_again(settings: Settings, shelf: LibraryCatalog) -> None:
    make(settings, "mine")

    with closing(open_index(shelf.location("mine"), IDENTITY, settings)) as index:
        assert paths(index, lexical(index, ["mine"], 5)) == ["a.md"]


@pytest.mark.slow
def test_the_sources_of_a_library_that_is_refused_are_named_in_order(settings: Settings, shelf: LibraryCatalog) -> None:
    make(settings, "mine", Source("till", "folder", "/t"), Source("shop", "folder", "/s"))
    make(settings, "other", Source("else", "folder", "/e"))
    with pytest.raises(MismatchedLibraryError):
        open_index(shelf.location("mine"), replace(IDENTITY, chunks="newer"), settings)

    assert [(root.name, root.location) for root in shelf.roots("mine")] == [("shop", "/s"), ("till", "/t")]


@pytest.mark.slow
def test_a_library_is_removed_and_no_other(settings: Settings, shelf: LibraryCatalog) -> None:
    for name in ("mine", "other"):
        make(settings, name)

    shelf.remove("mine")
    shelf.remove("mine")  # none there is no error

    assert shelf.names() == ["other"]
    assert not shelf.holds("mine")
    assert shelf.roots("mine") == []


def test_a_library_that_was_removed_is_made_again_empty(settings: Settings, shelf: LibraryCatalog) -> None:
    make(settings, "mine", Source("shop", "folder", "/s"))

    shelf.remove("mine")

    with closing(open_index(shelf.location("mine"), IDENTITY, settings)) as index:
        assert (index.roots(), index.stats().chunks) == ([], 0)


def test_files_and_lancedb_have_libraries_of_their_own(tmp_path: Path, lance: Settings) -> None:
    files = Settings(home=lance.home)
    make(files, "file")
    make(lance, "shared")

    assert (LibraryCatalog(files).names(), LibraryCatalog(lance).names()) == (["file"], ["shared"])
    assert not (tmp_path / "shared" / "file.documents.lance").exists()


@pytest.fixture
def no_lancedb(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have LanceDB not installed."""
    monkeypatch.setitem(sys.modules, "lancedb", None)
    monkeypatch.delitem(sys.modules, "openbook.integrations.lance_tables", raising=False)
    monkeypatch.delattr(openbook.integrations, "lance_tables", raising=False)


@pytest.mark.slow
@pytest.mark.usefixtures("no_lancedb")
def test_without_lancedb_its_libraries_are_refused_with_the_command_that_installs_it(lance: Settings) -> None:
    shelf = LibraryCatalog(lance)
    uses: list[Callable[[], object]] = [
        shelf.names,
        lambda: shelf.holds("mine"),
        lambda: shelf.roots("mine"),
        lambda: shelf.remove("mine"),
        lambda: open_index(shelf.location("mine"), IDENTITY, lance),
    ]

    for use in uses:
        with pytest.raises(MissingExtraError, match="lancedb is not installed") as caught:
            use()
        assert caught.value.hint == "pip install 'openbook[lance]'"


@pytest.mark.usefixtures("no_lancedb")
def test_without_lancedb_libraries_in_files_are_of_use(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    make(settings, "mine")

    assert LibraryCatalog(settings).names() == ["mine"]
