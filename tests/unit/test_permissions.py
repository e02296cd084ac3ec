"""What is kept is for its owner alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from openbook.cli.opening import add_paths, check_paths
from openbook.errors import SourceError
from openbook.library import Library
from openbook.permissions import is_open_to_others, make_private_file, make_private_folder, narrow
from openbook.server.uploads import UploadStore
from openbook.settings import Settings

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files have no such rights here")


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folders_that_are_made_are_for_their_owner_and_those_above_stay_as_they_are(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    make_private_folder(tmp_path / "a" / "b")

    assert [rights(path) for path in (tmp_path, tmp_path / "a", tmp_path / "a" / "b")] == [0o755, 0o700, 0o700]


def test_what_is_there_is_narrowed_and_keeps_what_its_owner_may(tmp_path: Path) -> None:
    file, folder = tmp_path / "a", tmp_path / "b"
    file.write_text("kept", encoding="utf-8")
    file.chmod(0o444)
    folder.mkdir(mode=0o755)
    assert is_open_to_others(file)

    make_private_file(file)
    make_private_folder(folder)
    narrow(tmp_path / "nowhere")

    assert (file.read_text(encoding="utf-8"), rights(file), rights(folder)) == ("kept", 0o400, 0o700)
    assert not is_open_to_others(file)
    assert not is_open_to_others(tmp_path / "nowhere")


def test_a_file_in_the_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("", encoding="utf-8")

    with pytest.raises(OSError, match="a"):
        make_private_folder(tmp_path / "a")


def test_a_library_is_for_its_owner_and_one_of_before_becomes_so(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    source = tmp_path / "notes"
    source.mkdir()
    (source / "a.md").write_text("A secret wait of 14 days.", encoding="utf-8")
    with Library.open("notes", settings=settings) as assistant:
        assistant.add(source)
        while_open = {path.name: rights(path) for path in (tmp_path / "home" / "libraries").iterdir()}
    assert set(while_open.values()) == {0o600}
    file = tmp_path / "home" / "libraries" / "notes.sqlite"
    file.chmod(0o644)
    file.parent.chmod(0o755)

    Library.open("notes", settings=settings).close()

    assert (rights(file), rights(file.parent), rights(tmp_path / "home")) == (0o600, 0o700, 0o700)


def test_a_home_that_somebody_named_keeps_its_rights_and_what_it_keeps_does_not(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    for name in ("uploads", "repositories", "photos"):
        (tmp_path / name).mkdir(mode=0o755)

    Library.open("notes", settings=Settings(home=tmp_path)).close()
    UploadStore("notes", Settings(home=tmp_path, storage=f"lance:{tmp_path / 'lance'}"))

    found = {name: rights(tmp_path / name) for name in ("", "uploads", "repositories", "photos", "libraries")}
    assert found == {"": 0o755, "uploads": 0o700, "repositories": 0o700, "photos": 0o755, "libraries": 0o700}


@pytest.mark.parametrize("folder", ["/", "/etc", "/usr", "/proc/self", "~"])
def test_folders_that_nobody_means_are_refused_unless_they_are_meant(folder: str) -> None:
    with pytest.raises(SourceError) as caught:
        check_paths([Path(folder)])
    assert "--yes" in caught.value.hint

    check_paths([Path(folder)], may_be_wide=True)


def test_what_holds_the_home_folder_is_refused_and_a_folder_in_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ada" / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "ada"))

    check_paths([tmp_path / "ada" / "project"])
    with pytest.raises(SourceError, match="contains your home folder"):
        check_paths([tmp_path])


def test_a_home_folder_that_was_added_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "ada"))
    monkeypatch.setenv("OPENBOOK_HOME", str(tmp_path / "openbook"))
    (tmp_path / "ada").mkdir()

    add_paths([tmp_path / "ada"], None, course=False, rebuild=False, may_be_wide=True)

    check_paths([tmp_path / "ada"])
    with pytest.raises(SourceError, match="contains your home folder"):
        check_paths([tmp_path])
