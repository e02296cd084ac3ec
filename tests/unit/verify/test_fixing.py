"""`--fix` writes a new place if the lines are the same there, and were surely meant; others are reported with why."""

from __future__ import annotations

import pytest

from openbook.verify.finding import Finding
from openbook.verify.verify import FileVerifier
from tests.repositories import Repository, write
from tests.unit.verify.checks import CODE, PUSHED

PAGE = "docs/a.md"


EDITED = "the lines were edited"
LINE_EDITED = "the citing line was edited when other lines stood there"
EITHER_VERSION = "the commit that wrote the citation edited its file as well, and either version may be meant"


def fixed(repository: Repository, *, unsafe_fixes: bool = False) -> tuple[Finding, int]:
    """Fix the one citation of the page; return its finding, and how many were rewritten."""
    report = FileVerifier(repository.folder, unsafe_fixes=unsafe_fixes).verify(str(repository.folder / PAGE), fix=True)
    (finding,) = report.findings
    return finding, len(report.fixed)


def test_a_sentence_edited_when_a_blank_line_stood_there_is_as_certain_as_before(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, PAGE: "See src/app.py:10.\n"})
    repository.commit({"src/app.py": CODE.replace("import os\n", "import os\nimport re\n")})
    repository.commit({PAGE: "Look at src/app.py:10.\n"})

    finding, count = fixed(repository)

    assert (finding.verdict, str(finding.now), count) == ("moved", "src/app.py:11", 1)


def test_a_citation_is_no_more_certain_when_another_one_in_its_line_was_rewritten(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, PAGE: "See src/app.py:10.\n"})
    repository.commit({"src/app.py": PUSHED})
    repository.commit({PAGE: "Look at src/app.py:10, and `retry` (src/app.py:16-18).\n"})
    repository.commit({"src/app.py": f"# shop\n{PUSHED}"})
    page = repository.folder / PAGE

    fixes = [FileVerifier(repository.folder).verify(str(page), fix=True).fixed for _ in range(2)]

    assert [len(each) for each in fixes] == [1, 0]
    assert page.read_text(encoding="utf-8") == "Look at src/app.py:10, and `retry` (src/app.py:17-19).\n"


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


def test_a_citation_whose_sentence_was_edited_after_the_lines_moved_is_not_rewritten(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, PAGE: "See src/app.py:10.\n"})
    repository.commit({"src/app.py": PUSHED})
    repository.commit({PAGE: "Look at src/app.py:10.\n"})

    finding, count = fixed(repository)

    assert (finding.verdict, str(finding.now), finding.doubt, count) == ("moved", "src/app.py:12", LINE_EDITED, 0)


POST = '    def post(self, url):\n        return self.send("POST", url)\n'


@pytest.mark.parametrize(
    ("new", "place", "doubt"),
    [
        pytest.param(POST, "src/app.py:12-13", "", id="the-same"),
        pytest.param(POST.replace("\n", " \n"), "src/app.py:12-13", "", id="with-blanks-at-the-ends"),
        pytest.param(POST.replace("\n", "\r\n"), "src/app.py:12-13", "", id="with-other-line-ends"),
        pytest.param(POST.replace('"POST"', '"PUT"'), "src/app.py:12-13", EDITED, id="edited"),
        pytest.param(POST.replace("    def", "   def"), "src/app.py:12-13", EDITED, id="indented-otherwise"),
        pytest.param(POST.replace("self.send(", "self.send(\n"), "src/app.py:12-14", EDITED, id="wrapped"),
    ],
)
def test_only_lines_that_are_the_same_are_rewritten(repository: Repository, new: str, place: str, doubt: str) -> None:
    repository.commit({"src/app.py": CODE, PAGE: "See src/app.py:10-11.\n"})
    repository.commit({"src/app.py": PUSHED.replace(POST, new)})

    finding, count = fixed(repository)

    assert (finding.verdict, str(finding.now), finding.doubt, count) == ("moved", place, doubt, int(not doubt))


def test_an_unsafe_fix_writes_what_is_not_certain_once(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, PAGE: "See src/app.py:10-11.\n"})
    repository.commit({"src/app.py": PUSHED.replace('"POST"', '"PUT"')})

    found = [fixed(repository, unsafe_fixes=True) for _ in range(2)]

    assert [(finding.verdict, finding.doubt, count) for finding, count in found] == [
        ("moved", EDITED, 1),
        ("ok", "", 0),
    ]
    assert (repository.folder / PAGE).read_text(encoding="utf-8") == "See src/app.py:12-13.\n"


def test_lines_that_the_named_definition_begins_in_have_moved_with_it(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, PAGE: "`retry` (src/app.py:10-14) is near the calls.\n"})
    repository.commit({"src/app.py": PUSHED})

    finding, _ = fixed(repository)

    assert (finding.verdict, str(finding.now), finding.doubt) == ("moved", "src/app.py:12-16", "")


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


@pytest.mark.parametrize(
    ("page", "now", "doubt"),
    [
        pytest.param("See src/app.py:4.\n", "src/app.py:6", EITHER_VERSION, id="nothing-said"),
        pytest.param("`timeout_s` (src/app.py:5) is it.\n", "src/app.py:7", EITHER_VERSION, id="named-after"),
        pytest.param("`timeout_s` (src/app.py:4) is it.\n", "src/app.py:7", EITHER_VERSION, id="named-before"),
        pytest.param("See src/app.py:10.\n", "src/app.py:12", "", id="the-same-in-both"),
    ],
)
def test_lines_that_the_citing_commit_moved_are_not_written(
    repository: Repository, page: str, now: str, doubt: str
) -> None:
    limit = "    timeout_s = 30\n"
    repository.commit({"src/app.py": CODE.replace("import os\n", "").replace(limit, f"{limit}    pause_s = 1\n")})
    repository.commit({"src/app.py": CODE, PAGE: page})
    repository.commit({"src/app.py": PUSHED})

    finding, count = fixed(repository)

    assert (finding.verdict, str(finding.now), finding.doubt, count) == ("moved", now, doubt, int(not doubt))


def test_a_citation_that_follows_an_edit_in_one_commit_with_it_is_rewritten_again(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, PAGE: "See src/app.py:14.\n"})
    repository.commit({"src/app.py": PUSHED, PAGE: "See src/app.py:16.\n"})
    repository.commit({"src/app.py": f"# shop\n{PUSHED}"})

    finding, count = fixed(repository)

    assert (finding.verdict, str(finding.now), count) == ("moved", "src/app.py:17", 1)
