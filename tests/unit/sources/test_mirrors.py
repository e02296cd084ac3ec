"""A mirror changes from one commit to the next, or stays; what a kill leaves behind is put right."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha1
from pathlib import Path

import pytest

from openbook.errors import FetchError
from openbook.sources.git import CommitHead, GitRemote, TreeListing, list_files
from openbook.sources.loading import LoadOptions
from openbook.sources.mirrors import Mirror, _choose
from openbook.sources.repository_urls import read_repository_url


def named(text: str) -> str:
    return sha1(text.encode()).hexdigest()


@dataclass
class Told(GitRemote):
    """A repository that holds files, and remembers what it was asked for."""

    files: dict[str, str]
    commit: str = "a" * 40
    folder: str = ""
    fetched: list[str] = field(default_factory=list)
    break_after: int | None = None

    def newest(self, known: CommitHead | None) -> CommitHead | None:
        if known and known.commit == self.commit:
            return None
        return CommitHead(commit=self.commit, web_url="https://github.com/octo/shop", folder=self.folder)

    def listing(self, head: CommitHead) -> TreeListing:
        return list_files(("100644", named(text), len(text), path) for path, text in self.files.items())

    def contents(self, wanted: Collection[str]) -> Iterator[tuple[str, bytes]]:
        texts = {named(text): text.encode() for text in self.files.values()}
        for number, sha in enumerate(sorted(wanted)):
            if number == self.break_after:
                raise FetchError("shop", "it broke off")
            self.fetched.append(texts[sha].decode())
            yield sha, texts[sha]


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror.of(tmp_path, read_repository_url("octo/shop"), LoadOptions())


def update(mirror: Mirror, remote: Told, options: LoadOptions | None = None, *, max_bytes: int = 1000) -> bool:
    with mirror.locked(1.0):
        return mirror.update("octo/shop", remote, options or LoadOptions(), max_bytes=max_bytes, now=lambda: 7.0)


def held(mirror: Mirror) -> dict[str, str]:
    files = (path for path in mirror.files.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(mirror.files).as_posix(): path.read_text(encoding="utf-8") for path in files}


def test_a_file_may_become_a_folder_and_a_folder_a_file(mirror: Mirror) -> None:
    update(mirror, Told({"a": "1", "b/c/d": "2"}))

    update(mirror, Told({"a/b/c": "3", "b": "4"}, commit="b" * 40))

    assert held(mirror) == {"a/b/c": "3", "b": "4"}


def test_it_is_told_how_much_is_there(mirror: Mirror) -> None:
    told: list[tuple[int, int]] = []

    with mirror.locked(1.0):
        remote = Told({"a.md": "1", "b.md": "2"})
        mirror.update("shop", remote, LoadOptions(), max_bytes=9, progress=lambda *counts: told.append(counts))

    assert told == [(1, 2), (2, 2)]


def test_of_a_changed_repository_only_what_has_changed_is_written(mirror: Mirror) -> None:
    update(mirror, Told({"a.md": "1", "b.md": "2", "c/d.md": "3"}))
    stamp = (mirror.files / "b.md").stat().st_mtime_ns
    remote = Told({"a.md": "4", "b.md": "2", "moved/d.md": "3"}, commit="b" * 40)

    update(mirror, remote)

    assert sorted(remote.fetched) == ["3", "4"]
    assert held(mirror) == remote.files
    assert (mirror.files / "b.md").stat().st_mtime_ns == stamp
    assert not (mirror.files / "c").exists()


def test_one_content_under_two_names_is_read_once(mirror: Mirror) -> None:
    remote = Told({"a.md": "same", "b.md": "same"})

    update(mirror, remote)

    assert remote.fetched == ["same"]
    assert held(mirror) == {"a.md": "same", "b.md": "same"}


def test_a_failed_fetch_changes_nothing(mirror: Mirror) -> None:
    update(mirror, Told({"a.md": "1", "b.md": "2"}))
    state = mirror.state

    with pytest.raises(FetchError, match="broke off"):
        update(mirror, Told({"a.md": "3", "b.md": "4"}, commit="b" * 40, break_after=1))

    assert held(mirror) == {"a.md": "1", "b.md": "2"}
    assert mirror.state == state


@pytest.mark.parametrize("goes_on", [False, True])
@pytest.mark.parametrize("files_placed", range(5))
def test_an_update_that_was_killed_is_repaired_by_the_next_one(
    mirror: Mirror, monkeypatch: pytest.MonkeyPatch, files_placed: int, goes_on: bool
) -> None:
    before = {"a": "1", "b": "2", "c": "3", "d/e": "4", "f/g": "9"}
    after = {"a": "5", "b": "2", "c/d": "6", "d/f": "7", "f": "8", "g": "8"}
    update(mirror, Told(before))
    left = iter(range(files_placed))

    def place(source: Path, target: Path) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        target.write_bytes(source.read_bytes())

    with monkeypatch.context() as context:
        context.setattr(shutil, "copyfile", place)
        with pytest.raises(KeyboardInterrupt):
            update(mirror, Told(after, commit="b" * 40))
    killed = mirror.state
    wanted = after if goes_on else before  # where it was is not where the files are
    update(mirror, Told(wanted))

    assert killed is not None
    assert killed.head is None
    assert held(mirror) == wanted


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"version": 99}'])
def test_a_mirror_whose_state_cannot_be_read_is_made_again(mirror: Mirror, content: str) -> None:
    update(mirror, Told({"a.md": "1"}))
    (mirror.folder / "state.json").write_text(content, encoding="utf-8")
    (mirror.files / "old.md").write_text("old", encoding="utf-8")

    update(mirror, Told({"a.md": "1"}))

    assert held(mirror) == {"a.md": "1"}


def test_paths_that_lead_out_of_the_folder_are_never_written(mirror: Mirror) -> None:
    evil = [
        "../evil.md",
        "/evil.md",
        "a/../../evil.md",
        "a\\..\\evil.md",
        ".git/hooks/pre-commit",
        "x/.GIT /y",
        "c:evil",
    ]
    evil += ["a\ufffd.md", "\udcff.md"]

    update(mirror, Told({"a.md": "1", **dict.fromkeys(evil, "evil")}))

    assert held(mirror) == {"a.md": "1"}
    assert mirror.state is not None
    assert set(mirror.state.skipped) == {"name is not safe"}
    assert not list(mirror.folder.parent.rglob("*evil*"))


def test_a_name_that_no_file_can_have_here_is_left_out_and_named(mirror: Mirror) -> None:
    long = f"{'n' * 300}.md"

    update(mirror, Told({"a.md": "1", long: "2"}))

    assert held(mirror) == {"a.md": "1"}
    assert mirror.state is not None
    assert mirror.state.skipped == {"name not allowed on this system": (long,)}


def test_a_repository_that_is_too_large_is_refused_before_fetching(mirror: Mirror) -> None:
    remote = Told({"a.md": "x" * 600, "b.md": "y" * 600})

    with pytest.raises(FetchError, match="exceeds OPENBOOK_MAX_REPOSITORY_BYTES"):
        update(mirror, remote)

    assert remote.fetched == []


def test_options_choose_and_each_choice_has_a_mirror_of_its_own(mirror: Mirror, tmp_path: Path) -> None:
    options = LoadOptions(file_patterns=("*.md",), max_file_bytes=3)
    other = Mirror.of(tmp_path, read_repository_url("octo/shop"), options)

    update(other, Told({"a.md": "1", "b.py": "2", "c.md": "long"}), options)

    assert other.folder != mirror.folder
    assert held(other) == {"a.md": "1"}
    assert other.state is not None
    assert other.state.skipped == {"too large": ("c.md",)}


def test_a_document_may_be_as_large_as_it_is_told_and_no_larger(mirror: Mirror) -> None:
    remote = Told({"a.pdf": "four", "b.pdf": "fives", "c.md": "longer"})

    with mirror.locked(1.0):
        mirror.update("octo/shop", remote, LoadOptions(), max_bytes=1000, max_document_bytes=4, now=lambda: 7.0)

    assert held(mirror) == {"a.pdf": "four", "c.md": "longer"}
    assert mirror.state is not None
    assert mirror.state.skipped == {"too large": ("b.pdf",)}


def test_where_capital_letters_make_no_difference_the_first_of_two_names_is_kept() -> None:
    entries = [("100644", f"{number}" * 40, 1, path) for number, path in enumerate(["README.md", "Readme.md", "ß.md"])]
    head = CommitHead(commit="a" * 40, web_url="")

    wanted, skipped = _choose(head, list_files(entries), LoadOptions(), 1, case_blind=True)

    assert [entry.path for entry in wanted] == ["README.md", "ß.md"]
    assert skipped == {"differs only in case": ("Readme.md",)}


def test_only_the_folder_that_was_asked_for_is_kept(mirror: Mirror) -> None:
    update(mirror, Told({"docs/a.md": "1", "docs2/b.md": "2"}, folder="docs"))

    assert held(mirror) == {"docs/a.md": "1"}


def test_ignore_rules_of_folders_above_are_none_of_a_mirrors(mirror: Mirror, tmp_path: Path) -> None:
    from openbook.sources.folder import Folder

    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*\n", encoding="utf-8")
    update(mirror, Told({"a.md": "1"}))

    assert [file.path for file in Folder(mirror.files).scan().files] == ["a.md"]


def test_what_was_fetched_is_tracked_so_no_rule_of_git_leaves_it_out(mirror: Mirror) -> None:
    from openbook.sources.folder import Folder

    rules = {".gitignore": "*.conf\nbuild/\n", ".openbookignore": "b.md\n"}
    update(mirror, Told({**rules, "server/a.conf": "1", "build/notes.md": "2", "b.md": "3", "node_modules/c.md": "4"}))

    read = {file.path for file in Folder(mirror.files).scan().files}
    assert read - rules.keys() == {"server/a.conf", "build/notes.md"}


def test_two_processes_do_not_change_a_mirror_at_once(mirror: Mirror) -> None:
    with mirror.locked(1.0), pytest.raises(FetchError, match="cannot be locked"), mirror.locked(0.01):
        pass

    with mirror.locked(0.01):
        pass


def test_a_mirror_is_known_by_its_files(mirror: Mirror, tmp_path: Path) -> None:
    update(mirror, Told({"a.md": "1"}))

    assert Mirror.at(tmp_path, mirror.files) is not None
    assert Mirror.at(tmp_path, mirror.folder) is None
    assert Mirror.at(tmp_path / "elsewhere", mirror.files) is None


def test_an_unchanged_repository_is_remembered_as_asked(mirror: Mirror) -> None:
    remote = Told({"a.md": "1"})
    update(mirror, remote)
    before = mirror.state

    changed = update(mirror, remote)

    assert not changed
    assert before is not None
    assert mirror.state == replace(before, fetched_at=7.0)


def test_an_address_that_was_kept_with_a_secret_is_replaced(mirror: Mirror) -> None:
    remote = Told({"a.md": "1"})
    update(mirror, remote)
    assert mirror.state is not None
    mirror._write(replace(mirror.state, asked="https://s3cret@github.com/octo/shop"))

    update(mirror, remote)

    assert "s3cret" not in (mirror.folder / "state.json").read_text(encoding="utf-8")
