from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from openbook.errors import SettingsError
from openbook.libraries import library_names, library_path, name_for


@pytest.mark.parametrize("name", ["default", "my notes", "v1.2", "a_b-c+d@e", "größe", "索引", "7"])
def test_a_library_lives_in_a_file_of_its_name(tmp_path: Path, name: str) -> None:
    file = library_path(tmp_path, name)

    assert file.parent.parent == tmp_path
    assert file.name == f"{name}.sqlite"


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../up", "a/b", "a\\b", "-rf", " a", "a\n", "a\0", "a:b", "a*", "x" * 101, "索" * 34]
)
def test_a_name_that_could_not_be_one_of_a_file_everywhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SettingsError, match="is no name for a library") as caught:
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
