"""What git remembers of citations and files, and that nothing of a repository is run."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from openbook.verify.history import History
from openbook.verify.past_pages import Revision
from tests.repositories import Repository, write


def test_words_date_from_the_commit_that_brought_them(repository: Repository) -> None:
    repository.commit({"a.md": "nothing yet\n"})
    brought = repository.commit({"a.md": "see b.py:12 there\n"})
    repository.commit({"a.md": "now, see b.py:12 there\n"})

    revision = History(repository.folder).written("a.md", "b.py:12")

    assert revision is not None
    assert revision.commit == brought


def test_longer_numbers_are_other_words(repository: Repository) -> None:
    repository.commit({"a.md": "see b.py:123\n"})
    brought = repository.commit({"a.md": "see b.py:12\n"})

    revision = History(repository.folder).written("a.md", "b.py:12")

    assert revision is not None
    assert revision.commit == brought


def test_the_age_of_words_survives_a_rename_of_their_file(repository: Repository) -> None:
    brought = repository.commit({"a.md": "see b.py:12\n" + "more text\n" * 5})
    repository.git("mv", "a.md", "c.md")
    repository.commit()

    revision = History(repository.folder).written("c.md", "b.py:12")

    assert revision is not None
    assert (revision.commit, revision.path) == (brought, "a.md")


def test_words_that_are_not_committed_have_no_date(repository: Repository) -> None:
    repository.commit({"a.md": "nothing\n"})

    assert History(repository.folder).written("a.md", "b.py:12") is None


def test_a_file_is_given_as_it_was(repository: Repository) -> None:
    first = repository.commit({"b.py": "one\n"})
    repository.commit({"b.py": "two\n"})

    page = History(repository.folder).page(first, "b.py")

    assert page is not None
    assert page.text == "one\n"
    assert History(repository.folder).page(first, "none.py") is None


def test_a_folder_of_a_repository_has_its_own_paths(repository: Repository) -> None:
    first = repository.commit({"sub/a.md": "b.py:1\n", "sub/b.py": "one\n"})
    history = History(repository.folder / "sub")

    page, revision = history.page(first, "b.py"), history.written("a.md", "b.py:1")

    assert page is not None
    assert revision is not None


def test_renames_are_followed_one_after_the_other(repository: Repository) -> None:
    first = repository.commit({"a.py": "".join(f"line {n}\n" for n in range(20))})
    repository.git("mv", "a.py", "b.py")
    repository.commit()
    (repository.folder / "deep").mkdir()
    repository.git("mv", "b.py", "deep/c.py")
    repository.commit()

    assert History(repository.folder).renamed(first, "a.py") == "deep/c.py"


def test_a_file_that_was_deleted_has_no_new_name(repository: Repository) -> None:
    first = repository.commit({"a.py": "x\n"})
    repository.git("rm", "-q", "a.py")
    repository.commit()

    assert History(repository.folder).renamed(first, "a.py") == ""


def test_commits_and_tags_pin_and_branches_do_not(repository: Repository) -> None:
    commit = repository.commit({"a.py": "x\n"})
    repository.git("tag", "v1.0")
    history = History(repository.folder)

    assert [history.pin(name) for name in (commit, commit[:9], "v1.0")] == [commit] * 3
    assert [history.pin(name) for name in ("main", "0" * 40, "-rf")] == ["", "", ""]


def test_a_line_that_had_the_numbers_of_another_is_dated_apart_from_its_path(repository: Repository) -> None:
    page = "Intro\n- src/app.py:{}\nOutro\n\n\nThe end\n- src/app.py:{}\nIt is over\n"
    first = repository.commit({"docs/a.md": page.format(7, 11)})
    second = repository.commit({"docs/a.md": page.format(3, 7)})
    history, words = History(repository.folder), "src/app.py:7"

    older, newer = history.written_first("docs/a.md", words), history.written("docs/a.md", words)

    assert older is not None
    assert newer is not None
    assert (older[0].commit, older[1], newer.commit) == (first, words, second)


def test_branches_and_tags_are_known_by_name_also_those_of_remotes(repository: Repository) -> None:
    repository.commit({"a.py": "x\n"})
    repository.git("tag", "v1.0")
    repository.git("update-ref", "refs/remotes/origin/feature/x", "HEAD")

    assert History(repository.folder).names == {"main", "v1.0", "feature/x"}


def test_a_file_of_a_submodule_is_given_as_it_was_when_its_commit_was_taken(
    repository: Repository, tmp_path: Path
) -> None:
    library = Repository(tmp_path / "library")
    library.commit({"b.py": "one\n"})
    repository.git("-c", "protocol.file.allow=always", "submodule", "-q", "add", str(library.folder), "vendor/lib")
    first = repository.commit({"a.md": "vendor/lib/b.py:1\n"})
    write(repository.folder, {"vendor/lib/b.py": "zero\none\n"})

    page = History(repository.folder).page(first, "vendor/lib/b.py")

    assert page is not None
    assert page.text == "one\n"


@pytest.mark.parametrize("name", ['d "x".md', "tab\t.md", "back\\slash.md", "lines\u2028and\x85.md"])
def test_names_that_git_quotes_or_that_hold_line_ends_are_followed(repository: Repository, name: str) -> None:
    brought = repository.commit({name: "see b.py:12\n" + "more text\n" * 5})
    repository.git("mv", name, f"new {name}")
    repository.commit()
    history = History(repository.folder)

    revision = history.written(f"new {name}", "b.py:12")

    assert revision == Revision(brought, name)
    assert history.renamed(brought, name) == f"new {name}"


@pytest.mark.parametrize(("key", "value"), [("log.showRoot", "false"), ("diff.relative", "true")])
def test_settings_of_git_do_not_change_when_words_were_written(repository: Repository, key: str, value: str) -> None:
    brought = repository.commit({"sub/a.md": "see b.py:12\n"})
    repository.commit({"sub/a.md": "see b.py:12 there\n"})
    repository.git("config", key, value)

    assert History(repository.folder / "sub").written("a.md", "b.py:12") == Revision(brought, "sub/a.md")


def test_where_git_gives_no_log_nobody_knows_when_words_were_written(repository: Repository) -> None:
    repository.commit({"a.md": "see b.py:12\n"})
    repository.commit({"b.py": "x\n"})
    repository.git("config", "diff.orderFile", "a-file-that-is-not-there")
    history = History(repository.folder)

    assert history.head
    assert history.written("a.md", "b.py:12") is None
    assert history.holding("a.md", lambda text: "b.py:1 " in text) is None


def test_an_old_name_that_git_cannot_be_asked_for_hides_when_words_were_written(repository: Repository) -> None:
    repository.commit({"a\nb.md": "see b.py:12\n" + "more text\n" * 5})
    repository.git("mv", "a\nb.md", "c.md")
    repository.commit()

    assert History(repository.folder).written("c.md", "b.py:12") is None


def test_the_repository_is_that_of_the_folder_whatever_git_has_set_for_a_hook(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brought = repository.commit({"a.md": "see b.py:12\n"})
    Repository(tmp_path / "other").commit({"c.md": "x\n"})
    repository.git("worktree", "add", "-q", str(tmp_path / "linked"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "other" / ".git" / "index"))

    for folder in (repository.folder, tmp_path / "linked"):
        assert History(folder).written("a.md", "b.py:12") == Revision(brought, "a.md")


def test_a_shallow_clone_does_not_claim_to_know(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a.md": "see b.py:12\n"})
    repository.commit({"b.py": "x\n"})
    repository.git("clone", "-q", "--depth=1", f"file://{repository.folder}", str(tmp_path / "clone"))
    history = History(tmp_path / "clone")

    assert history.cut_at
    assert history.written("a.md", "b.py:12") is None


def test_a_folder_without_git_has_no_history(tmp_path: Path) -> None:
    history = History(tmp_path)

    assert (history.head, history.cut_at) == ("", frozenset())
    assert history.page("HEAD", "a.py") is None
    assert history.written("a.md", "x") is None
    assert history.renamed("HEAD", "a.py") == ""


def test_nothing_that_the_repository_configures_is_run(repository: Repository, tmp_path: Path) -> None:
    repository.commit({".gitattributes": "* diff=spy filter=spy\n", "a.md": "see b.py:1\n", "b.py": "x\n"})
    trap = f"touch {tmp_path / 'sprung'}; cat"
    for key in (
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "diff.spy.textconv",
        "diff.spy.command",
        "filter.spy.clean",
    ):
        repository.git("config", key, trap)
    repository.git("config", "log.showSignature", "true")
    repository.git("config", "gpg.program", trap)
    history = History(repository.folder)

    revision = history.written("a.md", "b.py:1")

    assert revision is not None
    assert history.renamed(history.head, "b.py") == ""
    assert not (tmp_path / "sprung").exists()


def test_a_broken_repository_says_that_git_failed_and_tells_nothing(repository: Repository) -> None:
    repository.commit({"a.md": "see b.py:12\n", "b.py": "x\n"})
    history = History(repository.folder)
    assert (history.gap, history.had("b.py"), history.had("c.py")) == ("", True, False)
    for pack in (repository.folder / ".git/objects").glob("??"):
        pack.rename(pack.with_name(f"lost-{pack.name}"))

    broken = History(repository.folder)

    assert broken.written("a.md", "b.py:12") is None
    assert broken.gap.startswith("git failed (")
    assert broken.had("c.py") is None


def test_a_shallow_clone_cannot_say_what_was_never_there(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"a.md": "see b.py:12\n"})
    repository.commit({"b.py": "x\n"})
    repository.git("clone", "-q", "--depth=1", f"file://{repository.folder}", str(tmp_path / "clone"))

    assert History(tmp_path / "clone").had("c.py") is None
    assert History(tmp_path / "clone").gap == "the git history is incomplete (a shallow clone)"


def test_files_that_are_prepared_together_date_as_if_asked_one_by_one(repository: Repository) -> None:
    brought = repository.commit({"a.md": "see b.py:12\n" + "more text\n" * 5, "c.md": "nothing\n"})
    repository.git("mv", "a.md", "d.md")
    repository.commit()
    later = repository.commit({"c.md": "see b.py:3\n"})
    history = History(repository.folder)

    history.prepare(["d.md", "c.md", "none.md"])

    assert history.written("d.md", "b.py:12") == Revision(brought, "a.md")
    assert history.written("c.md", "b.py:3") == Revision(later, "c.md")


@pytest.mark.parametrize("edit", [pytest.param("", id="unchanged"), pytest.param("and more\n", id="edited")])
def test_words_of_a_copied_file_are_as_old_as_those_of_its_original(repository: Repository, edit: str) -> None:
    page = "see b.py:12\n" + "more text\n" * 5
    brought = repository.commit({"v1/a.md": page, "v1/other.md": "see c.py:1\n"})
    repository.commit({"x.py": "x = 1\n"})
    repository.commit({"v2/b.md": page + edit, "v3/other.md": "nothing that was there\n"})

    revision = History(repository.folder).written("v2/b.md", "b.py:12")

    assert revision is not None
    assert (revision.commit, revision.path) == (brought, "v1/a.md")


def test_words_that_were_added_to_a_copy_date_from_it(repository: Repository) -> None:
    page = "see b.py:12\n" + "more text\n" * 5
    repository.commit({"v1/a.md": page})
    copied = repository.commit({"v2/a.md": page + "and d.py:7\n"})

    revision = History(repository.folder).written("v2/a.md", "d.py:7")

    assert revision is not None
    assert revision.commit == copied


@pytest.mark.slow
def test_pages_that_one_commit_copied_share_the_walks_of_git(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {f"{n:02}.md": f"see b.py:{n}\n" + f"text of page {n}\n" * 5 for n in range(1, 31)}
    brought = repository.commit({f"v1/{name}": text for name, text in pages.items()})
    repository.commit({f"v2/{name}": f"{text}and more\n" for name, text in pages.items()})
    history = History(repository.folder)
    walks: list[Sequence[str]] = []
    run = subprocess.run

    def counted(command: Sequence[str], **options: Any) -> Any:
        walks.extend([command] if "log" in command else [])
        return run(command, **options)

    monkeypatch.setattr(subprocess, "run", counted)
    history.prepare([f"v2/{name}" for name in pages])
    found = [history.written(f"v2/{name}", f"b.py:{int(name[:2])}") for name in pages]

    assert found == [Revision(brought, f"v1/{name}") for name in pages]
    assert len(walks) < len(pages)


def test_a_copy_without_a_suffix_is_as_old_as_its_original(repository: Repository) -> None:
    page = "see b.py:12\n" + "more text\n" * 5
    brought = repository.commit({"v1/README": page, "NOTES.E": page})
    repository.commit({"v2/README": page})

    revision = History(repository.folder).written("v2/README", "b.py:12")

    assert revision == Revision(brought, "v1/README")


def test_a_reworded_line_is_as_old_as_its_words_beside_another_of_its_shape(repository: Repository) -> None:
    first = repository.commit({"a.md": "It is in a.py:3. Now.\n\nIt is in a.py:7.\n"})
    repository.commit({"a.md": "It is in a.py:3. Now.\n\nIt is in a.py:7. Now.\n"})

    found = History(repository.folder).written("a.md", "a.py:7", "It is in a.py:7. Now.")

    assert found is not None
    assert found.commit == first
