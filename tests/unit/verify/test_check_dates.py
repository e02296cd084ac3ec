"""The commit that a citation is of: the one that wrote it, the one before, or an older one of the same sentence."""

from __future__ import annotations

import pytest

from tests.repositories import Repository, write
from tests.unit.verify.checks import CODE, PUSHED, checked, only, told


def test_a_page_that_was_taken_back_and_came_again_is_as_old_as_before(repository: Repository) -> None:
    page = "See src/app.py:14-16.\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page})
    (repository.folder / "docs/a.md").unlink()
    repository.commit({"src/app.py": PUSHED})
    repository.commit({"docs/a.md": page})

    assert told(only(repository.folder, page)) == ("moved", "history", "src/app.py:16-18")


def test_a_page_that_describes_the_code_before_its_commit_means_that_in_all_its_citations(
    repository: Repository,
) -> None:
    page = "`retry` (src/app.py:14-16) yields.\n\n`Client` (src/app.py:4) sends.\n\nMore is in src/app.py:7-8.\n"
    repository.commit({"src/app.py": CODE})
    repository.commit({"src/app.py": PUSHED, "docs/a.md": page})

    found = [told(finding) for finding in checked(repository.folder, page)]

    assert found == [("moved", "history", f"src/app.py:{lines}") for lines in ("16-18", "6", "9-10")]


def test_one_citation_of_the_code_before_a_commit_does_not_date_the_others(repository: Repository) -> None:
    page = "`retry` (src/app.py:14-16) yields.\n\nMore is in src/app.py:7-8.\n"
    repository.commit({"src/app.py": CODE})
    repository.commit({"src/app.py": PUSHED, "docs/a.md": page})

    found = [told(finding) for finding in checked(repository.folder, page)]

    assert found == [("moved", "history", "src/app.py:16-18"), ("ok", "history", "")]


@pytest.mark.parametrize("own", ["`sys` (src/app.py:3)", "`url` (src/app.py:10)"])
def test_a_citation_that_fits_the_code_of_its_commit_is_not_dated_by_its_page(repository: Repository, own: str) -> None:
    others = [f"`{name}` (src/app.py:{line}) is it.\n\n" for name, line in (("Client", 4), ("get", 7), ("retry", 14))]
    page = "".join(others) + "`post` (src/app.py:10-11) sends.\n\n" + f"{own} is there.\n"
    repository.commit({"src/app.py": CODE})
    repository.commit({"src/app.py": PUSHED, "docs/a.md": page})

    *found, last = (told(finding) for finding in checked(repository.folder, page))

    assert found == [("moved", "history", f"src/app.py:{lines}") for lines in ("6", "9", "16", "12-13")]
    assert last == ("ok", "history", "")


def test_the_same_lines_in_a_new_sentence_are_as_new_as_that(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, "docs/a.md": "See src/app.py:14-16.\n"})
    repository.commit({"docs/a.md": "Nothing.\n", "src/app.py": PUSHED})
    page = "Now the client is in src/app.py:14-16.\n"
    repository.commit({"docs/a.md": page})

    assert told(only(repository.folder, page)) == ("ok", "history", "")


def test_a_sentence_that_was_taken_out_and_came_again_is_as_old_as_before(repository: Repository) -> None:
    page = "See src/app.py:14-16.\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page})
    repository.commit({"docs/a.md": "Nothing.\n", "src/app.py": PUSHED})
    repository.commit({"docs/a.md": f"{page}\nMore.\n"})

    assert told(only(repository.folder, f"{page}\nMore.\n")) == ("moved", "history", "src/app.py:16-18")


@pytest.mark.parametrize(
    "page",
    [
        pytest.param("See {path}:14-16.\n", id="plain"),
        pytest.param("See [the retries](../{path}#L14-L16) of [this](../{path}#L5).\n", id="links"),
        pytest.param("See [it](https://github.com/octo/shop/blob/main/{path}#L14-L16).\n", id="permalink"),
    ],
)
def test_a_commit_that_changed_only_paths_of_citations_is_looked_through(repository: Repository, page: str) -> None:
    repository.git("remote", "set-url", "origin", "https://github.com/octo/shop")
    repository.commit({"src/app.py": CODE, "docs/a.md": page.format(path="src/app.py")})
    repository.git("rm", "-q", "src/app.py")
    repository.commit({"lib/app.py": PUSHED})  # the lines move here, and the page is late
    repository.commit({"docs/a.md": page.format(path="lib/app.py")})

    finding = checked(repository.folder, page.format(path="lib/app.py"))[0]

    assert told(finding) == ("moved", "history", "lib/app.py:16-18")


def test_a_citation_whose_lines_were_rewritten_with_its_path_is_as_new(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, "docs/a.md": "See src/app.py:14-16.\n"})
    repository.git("mv", "src/app.py", "src/client.py")
    repository.commit({"src/client.py": PUSHED, "docs/a.md": "See src/client.py:16-18.\n"})

    assert told(only(repository.folder, "See src/client.py:16-18.\n")) == ("ok", "history", "")


def test_lines_that_the_citing_commit_took_away_are_followed_to_the_file_it_moved_them_to(
    repository: Repository,
) -> None:
    page = "The client is in src/app.py:4-8.\n"
    before, _, client = CODE.partition("class Client")
    repository.commit({"src/app.py": CODE})
    repository.commit(
        {"src/app.py": "x = 1\n", "src/client.py": f"{before}\n\nclass Client{client}", "docs/a.md": page}
    )

    finding = only(repository.folder, page)

    assert told(finding) == ("moved", "history", "src/client.py:6-10")
    assert "the commit that wrote the citation edited its file" in finding.doubt


def test_lines_that_the_citing_commit_took_away_are_found_after_a_rename_of_their_file(repository: Repository) -> None:
    page = "It posts (app.py:18-19).\n"
    before, _, after = CODE.partition("    def post")
    repository.commit({"src/app.py": "import re\n" * 8 + CODE})
    repository.commit({"src/app.py": before, "docs/a.md": page})
    (repository.folder / "lib").mkdir()
    (repository.folder / "src" / "app.py").rename(repository.folder / "lib" / "app.py")
    repository.commit()
    repository.commit({"lib/app.py": f"{before}    def post{after}"})

    assert told(only(repository.folder, page)) == ("moved", "history", "lib/app.py:10-11")


# A name that the lines lack is weak evidence against them, unless it stands directly before the citation.
NEW_PAGE = "See src/app.py:5. The loop `retry` is at src/app.py:8.\n"


@pytest.mark.parametrize("is_staged", [True, False])
def test_a_new_page_is_about_the_lines_of_today_before_its_commit_and_after(
    repository: Repository, is_staged: bool
) -> None:
    repository.commit({"src/app.py": CODE})
    write(repository.folder, {"docs/a.md": NEW_PAGE})
    if is_staged:
        repository.git("add", "-A")

    before = [told(finding) for finding in checked(repository.folder, NEW_PAGE)]
    repository.commit()
    after = [told(finding) for finding in checked(repository.folder, NEW_PAGE)]

    assert before == [("ok", "new", "")] * 2
    assert after == [("ok", "history", "")] * 2


def test_a_name_directly_before_a_new_citation_must_be_that_of_its_lines(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE})
    write(repository.folder, {"docs/a.md": "`retry` (src/app.py:7-8)\n"})

    assert told(only(repository.folder, "`retry` (src/app.py:7-8)\n")) == ("changed", "names", "src/app.py:14-16")


@pytest.mark.parametrize("how", ["renamed", "moved", "ignored"])
def test_a_page_that_git_does_not_know_may_be_older_than_it_looks(repository: Repository, how: str) -> None:
    repository.commit({"src/app.py": CODE, "docs/old.md": NEW_PAGE, ".gitignore": "out/\n"})
    page = "out/a.md" if how == "ignored" else "docs/a.md"
    if how == "renamed":
        repository.git("mv", "docs/old.md", page)
    elif how == "moved":
        (repository.folder / "docs/old.md").rename(repository.folder / page)
    else:
        write(repository.folder, {page: NEW_PAGE})

    finding = checked(repository.folder, NEW_PAGE, page)[0]

    assert (finding.verdict, finding.reason) == ("unknown", "the file that cites it is not committed here")
