"""A new place is written only if lines, file, dates and page agree on it; else it is reported with what does not."""

from __future__ import annotations

import pytest

from openbook.verify.finding import Finding
from openbook.verify.verify import FileVerifier
from tests.repositories import Repository, write
from tests.unit.verify.checks import CODE, PUSHED

PAGE = "docs/a.md"


def fixed(repository: Repository) -> tuple[Finding, int]:
    """Fix the one citation of the page; return its finding, and how many were rewritten."""
    report = FileVerifier(repository.folder).verify(str(repository.folder / PAGE), fix=True)
    (finding,) = report.findings
    return finding, len(report.fixed)


def test_a_sentence_edited_when_a_blank_line_stood_there_is_as_certain_as_before(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, PAGE: "See src/app.py:10.\n"})
    repository.commit({"src/app.py": CODE.replace("import os\n", "import os\nimport re\n")})
    repository.commit({PAGE: "Look at src/app.py:10.\n"})

    finding, count = fixed(repository)

    assert (finding.verdict, str(finding.now), count) == ("moved", "src/app.py:11", 1)


def test_a_citation_is_no_more_certain_when_another_one_in_its_line_was_rewritten(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, PAGE: "See src/app.py:10, and `retry` (src/app.py:14-16).\n"})
    repository.commit({"src/app.py": PUSHED})
    repository.commit({PAGE: "Look at src/app.py:10, and `retry` (src/app.py:14-16).\n"})
    page = repository.folder / PAGE

    fixes = [FileVerifier(repository.folder).verify(str(page), fix=True).fixed for _ in range(2)]

    assert [len(each) for each in fixes] == [1, 0]
    assert page.read_text(encoding="utf-8") == "Look at src/app.py:10, and `retry` (src/app.py:16-18).\n"


def test_the_old_and_the_new_name_of_a_file_are_no_two_files(repository: Repository) -> None:
    repository.commit({"old/app.py": CODE, "lib/app.py": "x = 1\n", PAGE: "See `old/app.py:10`, and `app.py:14-16`.\n"})
    repository.git("mv", "old", "src")
    repository.commit()
    repository.commit({"src/app.py": PUSHED})
    repository.commit({PAGE: "Of `src/app.py`:\n\nSee `old/app.py:10`, and `app.py:14-16`.\n"})
    page = repository.folder / PAGE

    fixes = [FileVerifier(repository.folder).verify(str(page), fix=True).fixed for _ in range(2)]

    assert [len(each) for each in fixes] == [2, 0]


@pytest.mark.slow
def test_the_end_of_a_path_means_the_same_file_before_and_after_the_page_is_rewritten(repository: Repository) -> None:
    page = "Of `old/hooks/app.py:1`.\n\nSee `app.py:10`.\n"
    repository.commit({"old/app.py": CODE, "old/hooks/app.py": "x = 1\n", PAGE: page})
    repository.git("mv", "old", "src")
    repository.commit()
    repository.commit({"src/app.py": PUSHED})
    path = repository.folder / PAGE

    found = [FileVerifier(repository.folder).verify(str(path), fix=True).findings[1] for _ in range(2)]

    assert path.read_text(encoding="utf-8") == page.replace("old/", "src/")
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("sentence", "heading", "written"),
    [
        pytest.param("Look at src/app.py:10.", "Use", 0, id="nothing-is-named"),
        pytest.param("Look at src/app.py:10.", "`Client.post`", 1, id="named-by-the-heading"),
        pytest.param("Then `post` does it (src/app.py:10).", "Use", 1, id="named-by-the-sentence"),
        pytest.param("Look at src/app.py:10.", "`retry`", 0, id="another-is-named"),
    ],
)
def test_a_sentence_edited_after_the_lines_moved_is_rewritten_only_if_the_page_names_them(
    repository: Repository, sentence: str, heading: str, written: int
) -> None:
    repository.commit({"src/app.py": CODE, PAGE: f"# {heading}\n\nSee src/app.py:10.\n"})
    repository.commit({"src/app.py": PUSHED})
    repository.commit({PAGE: f"# {heading}\n\n{sentence}\n"})

    finding, count = fixed(repository)

    assert (finding.verdict, str(finding.now), count) == ("moved", "src/app.py:12", written)
    assert bool(finding.doubt) == (not written)


AGAIN = "\n\ndef again(all):\n    for each in range(times):\n        yield 2 * each\n"
HEAD = "def retry(times):\n"


@pytest.mark.parametrize(
    ("code", "new", "place", "written"),
    [
        pytest.param(CODE + AGAIN, PUSHED + AGAIN, "src/app.py:17", 1, id="nothing-else-changed"),
        pytest.param(CODE + AGAIN, PUSHED.replace(HEAD, "    wait()\n") + AGAIN, "src/app.py:17", 0, id="of-two"),
        pytest.param(CODE, PUSHED.replace(HEAD, "    wait()\n"), "src/app.py:17", 1, id="the-only-one"),
    ],
)
def test_one_of_several_such_lines_whose_surroundings_have_changed_is_not_rewritten(
    repository: Repository, code: str, new: str, place: str, written: int
) -> None:
    repository.commit({"src/app.py": code, PAGE: "See src/app.py:15.\n"})
    repository.commit({"src/app.py": new})

    finding, count = fixed(repository)

    assert (finding.verdict, str(finding.now), count) == ("moved", place, written)


@pytest.mark.parametrize(
    ("sentence", "written"),
    [pytest.param("See src/app.py:14.", 0, id="unnamed"), pytest.param("`retry` (src/app.py:14)", 1, id="named")],
)
def test_the_head_of_a_definition_of_which_little_is_left_is_rewritten_only_if_the_page_names_it(
    repository: Repository, sentence: str, written: int
) -> None:
    repository.commit({"src/app.py": CODE, PAGE: f"{sentence}\n"})
    repository.commit(
        {"src/app.py": PUSHED.replace("def retry(times):", "def retry(policy, *, pause_s=0.1, clock=now):")}
    )

    finding, count = fixed(repository)

    assert (finding.verdict, str(finding.now), count) == ("moved", "src/app.py:16", written)


@pytest.mark.parametrize(
    ("at_once", "words", "written"),
    [
        pytest.param(True, "See", 1, id="renamed"),
        pytest.param(False, "See", 0, id="one-that-is-like-it"),
        pytest.param(False, "`the_3th` and `the_4th`:", 0, id="named-in-one-that-is-like-it"),
    ],
)
def test_edited_lines_are_written_only_in_a_file_that_git_knows_as_the_same(
    repository: Repository, at_once: bool, words: str, written: int
) -> None:
    lines = [f"    the_{number}th = make_the_{number}th(one, another)\n" for number in range(12)]
    edited = [line.replace("another", "other") if number in range(3, 6) else line for number, line in enumerate(lines)]
    repository.commit({"src/app.py": "".join(lines), PAGE: f"{words} src/app.py:3-7.\n"})
    if at_once:
        (repository.folder / "src/app.py").unlink()
    repository.commit({"src/more.py": "import x\n" + "".join(edited)})
    (repository.folder / "src/app.py").unlink(missing_ok=True)
    repository.commit()

    finding, count = fixed(repository)

    assert (finding.verdict, str(finding.now), count) == ("moved", "src/more.py:4-8", written)


ENTRY = "### {0}\n\nIt does its part.\n\n#### Defined in\n\n[app](../src/app.py#L{1})\n\n"


@pytest.mark.parametrize(
    ("heading", "written"),
    [
        pytest.param("post", 1, id="of-the-lines"),
        pytest.param("retry", 0, id="of-other-lines"),
        pytest.param("Before you `retry`", 1, id="of-a-chapter"),
    ],
)
def test_a_citation_of_which_only_the_heading_says_something_is_rewritten_if_that_fits(
    repository: Repository, heading: str, written: int
) -> None:
    repository.commit({"src/app.py": CODE, PAGE: ENTRY.format(heading, 10)})
    repository.commit({"src/app.py": PUSHED})

    finding, count = fixed(repository)

    assert (finding.verdict, str(finding.now), count) == ("moved", "src/app.py:12", written)


def test_lines_that_the_named_definition_begins_in_have_moved_with_it(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, PAGE: "`retry` (src/app.py:10-14) is near the calls.\n"})
    repository.commit({"src/app.py": PUSHED})

    finding, _ = fixed(repository)

    assert (finding.verdict, str(finding.now), finding.doubt) == ("moved", "src/app.py:12-16", "")


@pytest.mark.parametrize(
    ("code", "written"), [("def post(self, url):", 1), ("def get(self, url):", 0)], ids=["these-lines", "other-lines"]
)
@pytest.mark.parametrize(
    "page", ["```python\n{code}\n```\n\n{link}\n", "{link}\n\n```\n{code}\n```\n"], ids=["above", "below"]
)
def test_a_link_edited_after_the_lines_moved_is_rewritten_if_the_page_quotes_them(
    repository: Repository, page: str, code: str, written: int
) -> None:
    repository.commit({"src/app.py": CODE, PAGE: page.format(code=code, link="[Code](../src/app.py#L10)")})
    repository.commit({"src/app.py": PUSHED})
    repository.commit({PAGE: page.format(code=code, link="The [code](../src/app.py#L10)")})

    finding, count = fixed(repository)

    assert (finding.verdict, str(finding.now), count) == ("moved", "src/app.py:12", written)


NUMBERED = "".join(f"def f{number}(x):\n    y = x + {number}\n    return y\n\n" for number in range(9))


@pytest.mark.parametrize(
    ("listing", "written"),
    [
        pytest.param("z = f0(2)\nreturn y", 0, id="a-line-that-many-functions-have"),
        pytest.param("return y", 0, id="nothing-but-this-line"),
        pytest.param("def f0(x):\n    y = x + 0\n    return y", 1, id="with-two-lines-above"),
        pytest.param("    y = x + 1\n    return y", 0, id="of-another-function"),
        pytest.param("    return y\n\ndef f1(x):\n    y = x + 1\n", 1, id="with-two-lines-below"),
    ],
)
def test_a_listing_settles_only_what_can_be_but_one_place(repository: Repository, listing: str, written: int) -> None:
    page = "See src/app.py:3 {0}.\n\n```python\n" + listing + "\n```\n"
    repository.commit({"src/app.py": NUMBERED, PAGE: page.format("too")})
    repository.commit({"src/app.py": "# one\n# two\n# three\n# four\n" + NUMBERED})
    repository.commit({PAGE: page.format("now")})

    finding, count = fixed(repository)

    assert (finding.verdict, str(finding.now), count) == ("moved", "src/app.py:7", written)


@pytest.mark.parametrize(
    ("listing", "written"),
    [
        pytest.param("answer = post(4)\nif not answer:\n    return None", 0, id="that-uses-it"),
        pytest.param("return None", 1, id="of-the-line"),
    ],
)
def test_a_short_line_in_code_that_only_uses_the_lines_settles_nothing(
    repository: Repository, listing: str, written: int
) -> None:
    page = "See src/app.py:4 {0}.\n\n```python\n" + listing + "\n```\n"
    code = "def get(url):\n    if url:\n        send(url)\n    return None\n"
    repository.commit({"src/app.py": code, PAGE: page.format("too")})
    repository.commit({"src/app.py": "# one\n" + code})
    repository.commit({PAGE: page.format("now")})

    finding, count = fixed(repository)

    assert (finding.verdict, str(finding.now), count) == ("moved", "src/app.py:5", written)


@pytest.mark.parametrize(
    ("page", "written"),
    [
        pytest.param("Of `src/app.py`, see `app.py:10`.\n", 1, id="one-is-named"),
        pytest.param("Of `lib/app.py` and `src/app.py`, see `app.py:10`.\n", 0, id="both-are-named"),
        pytest.param("Of `old/app.py` and `src/app.py`, see `app.py:10`.\n", 0, id="one-that-is-gone-is-named-too"),
        pytest.param("See `app.py:10`.\n", 0, id="none-is-named"),
    ],
)
def test_the_end_of_a_path_is_rewritten_only_if_the_page_names_one_of_the_files(
    repository: Repository, page: str, written: int
) -> None:
    repository.commit({"src/app.py": CODE, "lib/app.py": "x = 1\n", PAGE: page})
    repository.commit({"src/app.py": PUSHED})

    report = FileVerifier(repository.folder).verify(str(repository.folder / PAGE), fix=True)

    assert ([finding.verdict for finding in report.findings], len(report.fixed)) == (["moved"], written)


@pytest.mark.parametrize(
    ("sentence", "written"),
    [
        pytest.param("The check of `retry()` happens early, see src/app.py:7-8.", 0, id="defined-at-other-lines"),
        pytest.param("The check of `again()` happens early, see src/app.py:7-8.", 1, id="of-another-file"),
    ],
)
def test_lines_that_never_were_what_the_sentence_names_are_not_rewritten(
    repository: Repository, sentence: str, written: int
) -> None:
    repository.commit({"src/app.py": CODE, PAGE: f"{sentence}\n"})
    repository.commit({"src/app.py": PUSHED})

    finding, count = fixed(repository)

    assert (finding.verdict, str(finding.now), count) == ("moved", "src/app.py:9-10", written)


@pytest.mark.parametrize(
    ("named", "written"), [("src/app.py", 1), ("lib/app.py and src/app.py", 0), ("others", 0)], ids=["one", "two", "0"]
)
def test_a_name_that_only_one_of_several_files_can_have_is_rewritten_only_if_the_page_names_that(
    repository: Repository, named: str, written: int
) -> None:
    page = f"There is {named}, with `retry` (app.py:14).\n"
    write(repository.folder, {"src/app.py": PUSHED, "lib/app.py": "x = 1\n", PAGE: page})

    report = FileVerifier(repository.folder).verify(str(repository.folder / PAGE), fix=True)

    finding = report.findings[-1]
    assert (finding.verdict, finding.basis, str(finding.now)) == ("moved", "names", "src/app.py:16")
    assert (bool(finding.doubt), len(report.fixed)) == (not written, written)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param("`retry` (app.py:14) is there, unlike in lib/app.py.\n", id="another"),
        pytest.param("`retry` (app.py:14) is there, that is in common/app.py.\n", id="with-the-end-of-two-paths"),
    ],
)
def test_a_file_is_not_written_where_the_one_that_the_page_names_in_full_is_another(
    repository: Repository, page: str
) -> None:
    files = {"src/common/app.py": PUSHED, "lib/common/app.py": "x = 1\n", "lib/app.py": "x = 1\n"}
    write(repository.folder, {**files, PAGE: page})

    finding, count = fixed(repository)

    assert (finding.verdict, finding.doubt, count) == ("moved", "several files have that name", 0)


def test_quoted_code_does_not_settle_which_of_several_files_is_meant(repository: Repository) -> None:
    page = "```python\ndef post(self, url):\n```\n\nSee `app.py:10`.\n"
    repository.commit({"src/app.py": CODE, "lib/app.py": "x = 1\n", PAGE: page})
    repository.commit({"src/app.py": PUSHED, "lib/app.py": PUSHED})

    finding, count = fixed(repository)

    assert (finding.verdict, finding.doubt, count) == ("moved", "several files have that name", 0)


@pytest.mark.parametrize(
    ("page", "verdict", "now", "count"),
    [
        pytest.param("See src/app.py:10.\n", "moved", "src/app.py:12", 0, id="nothing-said"),
        pytest.param("`timeout_s` (src/app.py:5) is the limit.\n", "moved", "src/app.py:7", 1, id="named-after"),
        pytest.param("`get` (src/app.py:6) sends.\n", "moved", "src/app.py:9", 0, id="named-before"),
        pytest.param(
            'See src/app.py:10:\n\n```python\n    return self.send("POST", url)\n```\n',
            "moved",
            "src/app.py:13",
            1,
            id="quoted-before",
        ),
    ],
)
def test_the_page_tells_which_version_is_cited_where_its_commit_edited_the_file(
    repository: Repository, page: str, verdict: str, now: str, count: int
) -> None:
    repository.commit({"src/app.py": CODE.replace("import os\n", "")})
    repository.commit({"src/app.py": CODE, PAGE: page})
    repository.commit({"src/app.py": PUSHED})

    finding, written = fixed(repository)

    assert (finding.verdict, str(finding.now), written) == (verdict, now, count)


def test_lines_that_are_no_longer_as_the_page_quotes_them_are_not_written(repository: Repository) -> None:
    page = 'The lines src/app.py:7-8:\n\n```python\nreturn self.send("GET", url)\n```\n'
    repository.commit({"src/app.py": CODE, PAGE: page})
    repository.commit({"src/app.py": PUSHED.replace('"GET", url', '"GET", url, None')})

    finding, count = fixed(repository)

    quoted = "the page quotes the lines as they were before they were edited"
    assert (finding.verdict, finding.doubt, count) == ("moved", quoted, 0)


def test_a_citation_that_follows_an_edit_in_one_commit_with_it_is_rewritten_again(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, PAGE: "See src/app.py:14.\n"})
    repository.commit({"src/app.py": PUSHED, PAGE: "See src/app.py:16.\n"})
    repository.commit({"src/app.py": f"# shop\n{PUSHED}"})

    finding, count = fixed(repository)

    assert (finding.verdict, str(finding.now), count) == ("moved", "src/app.py:17", 1)
