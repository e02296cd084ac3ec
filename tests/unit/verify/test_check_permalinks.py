"""Permalinks go on showing what they showed, as far as their revision is here."""

from __future__ import annotations

from pathlib import Path

import pytest

from openbook.verify.verify import FileVerifier
from tests.repositories import Repository
from tests.unit.verify.checks import CODE, PUSHED, checked, only, told


def test_a_permalink_to_a_commit_still_shows_its_lines_and_is_not_wrong(repository: Repository) -> None:
    commit = repository.commit({"src/app.py": CODE})
    repository.commit({"src/app.py": PUSHED})

    finding = only(repository.folder, f"https://github.com/acme/shop/blob/{commit}/src/app.py#L14-L16\n")

    assert told(finding) == ("moved", "history", "src/app.py:16-18")
    assert not finding.is_wrong


def test_a_permalink_to_a_line_that_was_wrapped_means_the_line_as_it_was(repository: Repository) -> None:
    commit = repository.commit({"src/app.py": CODE.replace("retry(times)", "retry(times, first_s, most_s)")})
    repository.commit({"src/app.py": PUSHED.replace("retry(times)", "retry(\n    times, first_s, most_s\n)")})

    finding = only(repository.folder, f"https://github.com/acme/shop/blob/{commit}/src/app.py#L14\n")

    assert (finding.verdict, str(finding.now), finding.is_wrong) == ("changed", "src/app.py:16-18", False)
    assert finding.reason == "the line is wrapped now"


@pytest.mark.parametrize(("name", "verdict"), [("retry", "unknown"), ("sender", "ok")])
def test_a_blank_line_is_not_what_a_permalink_names_if_that_stands_elsewhere(
    repository: Repository, name: str, verdict: str
) -> None:
    commit = repository.commit({"src/app.py": CODE})

    finding = only(repository.folder, f"[`{name}`](https://github.com/acme/shop/blob/{commit}/src/app.py#L3)\n")

    assert finding.verdict == verdict


@pytest.mark.parametrize(
    ("place", "verdict"), [("src/none.py#L3", "missing file"), ("src/app.py#L300", "out of range")]
)
def test_a_permalink_to_what_its_commit_does_not_have_is_wrong(
    repository: Repository, place: str, verdict: str
) -> None:
    commit = repository.commit({"src/app.py": CODE})

    finding = only(repository.folder, f"https://github.com/acme/shop/blob/{commit}/{place}\n")

    assert (finding.verdict, finding.is_wrong) == (verdict, True)


def test_a_permalink_whose_range_ends_before_it_begins_says_so(repository: Repository) -> None:
    commit = repository.commit({"src/app.py": CODE})

    finding = only(repository.folder, f"https://github.com/acme/shop/blob/{commit}/src/app.py#L5-L4\n")

    assert (finding.verdict, finding.reason) == ("out of range", "the range ends before it begins")


def test_permalinks_of_other_repositories_are_left_alone(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE})

    assert checked(repository.folder, "https://github.com/other/shop/blob/main/src/app.py#L800\n") == []


def test_a_file_of_a_commit_is_compared_with_that_commit_and_left_as_it_is_written(repository: Repository) -> None:
    whole = repository.commit({"src/app.py": CODE})
    # One name in seventy has nothing but digits in its first nine characters, and is a number then.
    commit = next(whole[:size] for size in range(9, 41) if not whole[:size].isdigit())
    page = f"`{commit}:src/app.py:4` and `{commit}:src/app.py` (line 4)\n"
    repository.commit({"src/app.py": PUSHED, "docs/a.md": page})

    report = FileVerifier(repository.folder).verify(str(repository.folder / "docs/a.md"), fix=True)

    assert [told(finding) for finding in report.findings] == [("moved", "history", "src/app.py:6")] * 2
    assert (report.wrong, report.fixed) == ([], frozenset())
    assert (repository.folder / "docs/a.md").read_text(encoding="utf-8") == page


def test_a_file_of_a_commit_that_is_not_here_is_unknown(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE})

    assert only(repository.folder, "`1a2b3c4:src/app.py:14`\n").verdict == "unknown"


HOSTS = [
    pytest.param(
        "git@gitlab.com:acme/web/shop.git", "https://gitlab.com/acme/web/shop/-/blob/{}/{}#L{}-{}", id="gitlab"
    ),
    pytest.param(
        "https://codeberg.org/acme/shop", "https://codeberg.org/acme/shop/src/commit/{}/{}#L{}-L{}", id="gitea"
    ),
    pytest.param("ssh://git@bitbucket.org/a/s", "https://bitbucket.org/a/s/src/{}/{}#lines-{}:{}", id="bitbucket"),
    pytest.param("git@git.sr.ht:~acme/shop", "https://git.sr.ht/~acme/shop/tree/{}/item/{}#L{}-{}", id="sourcehut"),
]


@pytest.mark.parametrize(("remote", "link"), HOSTS)
def test_a_permalink_of_any_host_is_checked_and_written_in_its_form(
    repository: Repository, remote: str, link: str
) -> None:
    repository.git("remote", "set-url", "origin", remote)
    old = repository.commit({"src/app.py": CODE})
    head = repository.commit({"src/app.py": PUSHED, "docs/a.md": link.format(old, "src/app.py", 14, 16)})

    FileVerifier(repository.folder).verify(str(repository.folder / "docs/a.md"), fix=True)

    written = (repository.folder / "docs/a.md").read_text(encoding="utf-8")
    assert written == link.format(head, "src/app.py", 16, 18)


@pytest.mark.parametrize(("remote", "link"), HOSTS)
def test_a_permalink_of_another_repository_of_the_same_host_is_left_alone(
    repository: Repository, remote: str, link: str
) -> None:
    repository.git("remote", "set-url", "origin", f"{remote.removesuffix('.git')}-two")
    repository.commit({"src/app.py": CODE})

    assert checked(repository.folder, link.format("main", "src/none.py", 14, 16)) == []


def test_a_permalink_to_a_tag_becomes_one_to_a_commit_where_the_form_of_the_host_tells_them_apart(
    repository: Repository,
) -> None:
    repository.git("remote", "set-url", "origin", "https://codeberg.org/acme/shop")
    repository.commit({"src/app.py": CODE})
    repository.git("tag", "v1/0")
    head = repository.commit(
        {"src/app.py": PUSHED, "a.md": "https://codeberg.org/acme/shop/src/tag/v1/0/src/app.py?display=source#L14"}
    )

    FileVerifier(repository.folder).verify(str(repository.folder / "a.md"), fix=True)

    written = (repository.folder / "a.md").read_text(encoding="utf-8")
    assert written == f"https://codeberg.org/acme/shop/src/commit/{head}/src/app.py?display=source#L16"


def test_a_link_of_gitlab_that_says_its_revision_is_a_tag_is_not_given_a_commit(repository: Repository) -> None:
    repository.git("remote", "set-url", "origin", "https://gitlab.com/acme/shop")
    repository.commit({"src/app.py": CODE})
    repository.git("tag", "v1")
    link = "https://gitlab.com/acme/shop/-/blob/v1/src/app.py?ref_type=tags#L14"
    repository.commit({"src/app.py": PUSHED, "a.md": link})

    report = FileVerifier(repository.folder).verify(str(repository.folder / "a.md"), fix=True)

    assert (report.findings[0].verdict, report.fixed) == ("moved", frozenset())


@pytest.mark.parametrize("revision", ["feature/x", "feature/x/y"])
def test_the_branch_of_a_permalink_may_have_slashes(repository: Repository, revision: str) -> None:
    repository.commit({"src/app.py": CODE})
    repository.git("branch", revision)

    finding = only(repository.folder, f"https://github.com/acme/shop/blob/{revision}/src/app.py#L300\n")

    assert (finding.verdict, str(finding.place)) == ("out of range", "src/app.py:300")


@pytest.mark.parametrize(
    "place", ["0123456789abcdef0123456789abcdef01234567/src/gone.py#L3", "gone/branch/src/app.py#L300"]
)
def test_a_permalink_to_what_is_not_here_cannot_be_told_and_is_not_wrong(repository: Repository, place: str) -> None:
    repository.commit({"src/app.py": CODE})

    finding = only(repository.folder, f"https://github.com/acme/shop/blob/{place}\n")

    assert told(finding) == ("unknown", "", "")
    assert finding.reason == "its commit or branch is not in this clone"


def test_a_permalink_whose_file_is_gone_is_told_and_not_wrong(repository: Repository) -> None:
    commit = repository.commit({"src/app.py": CODE})
    repository.git("rm", "-q", "src/app.py")
    repository.commit()

    finding = only(repository.folder, f"https://github.com/acme/shop/blob/{commit}/src/app.py#L14-L16\n")

    assert (finding.verdict, finding.reason, finding.is_wrong) == ("missing file", "its file is gone", False)


def test_a_permalink_to_a_branch_that_went_its_own_way_is_not_judged_by_the_files_here(repository: Repository) -> None:
    link = "https://github.com/acme/shop/blob/old/src/app.py#L14-L16\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": link})
    repository.git("checkout", "-q", "-b", "old")
    repository.commit({"src/app.py": "# old\n" + CODE})
    repository.git("checkout", "-q", "main")
    repository.commit({"src/app.py": PUSHED})

    finding = only(repository.folder, link)

    assert (finding.verdict, finding.reason) == ("unknown", "it is to the branch 'old', which is not checked out")


def test_the_text_of_a_permalink_is_about_the_lines_of_its_commit(repository: Repository) -> None:
    commit = repository.commit({"src/app.py": CODE})
    repository.commit({"src/app.py": PUSHED})
    page = f"[`src/app.py:15`](https://github.com/acme/shop/blob/{commit[:8]}/src/app.py#L15)\n"
    repository.commit({"docs/a.md": page})

    written, linked = checked(repository.folder, page)

    assert str(written.now) == str(linked.now) == "src/app.py:17"


def test_the_text_of_a_permalink_moves_with_it_even_if_its_line_was_edited_since(repository: Repository) -> None:
    commit = repository.commit({"src/app.py": CODE})
    page = f"The part [`src/app.py:10`](https://github.com/acme/shop/blob/{commit}/src/app.py#L10) is endless.\n"
    repository.commit({"docs/a.md": page})
    repository.commit({"src/app.py": PUSHED})
    repository.commit({"docs/a.md": page.replace("endless", "without end")})
    file = str(repository.folder / "docs/a.md")

    head = repository.git("rev-parse", "HEAD")
    FileVerifier(repository.folder).verify(file, fix=True)
    link = f"[`src/app.py:12`](https://github.com/acme/shop/blob/{head}/src/app.py#L12)"
    assert Path(file).read_text(encoding="utf-8") == f"The part {link} is without end.\n"

    assert not FileVerifier(repository.folder).verify(file, fix=True).fixed


def test_a_permalink_to_a_commit_is_right_as_it_is_where_it_cannot_be_rewritten(repository: Repository) -> None:
    commit = repository.commit({"src/app.py": CODE})
    page = f"https://github.com/acme/shop/blob/{commit}/src/app.py?s=1:2#L14-L16\n"
    repository.commit({"src/app.py": PUSHED, "docs/a.md": page})

    (finding,) = FileVerifier(repository.folder).verify(str(repository.folder / "docs/a.md")).findings

    assert (finding.verdict, finding.pinned, finding.reason) == ("moved", True, "")
