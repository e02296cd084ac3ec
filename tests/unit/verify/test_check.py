"""What became of cited lines, by their history, and without one by what stands next to the citation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repositories import Repository, write
from tests.unit.verify.checks import CODE, PUSHED, checked, drifted, only, told


@pytest.mark.parametrize(
    ("page", "now"),
    [
        pytest.param("See src/app.py:14-16.\n", "src/app.py:16-18", id="path"),
        pytest.param("See [this](../src/app.py#L14-L16).\n", "src/app.py:16-18", id="link"),
        pytest.param("See `app.py:8`.\n", "src/app.py:10", id="end-of-a-path"),
        pytest.param("https://github.com/acme/shop/blob/main/src/app.py#L8\n", "src/app.py:10", id="permalink"),
        pytest.param("See `src/app.py` (lines 14-16).\n", "src/app.py:16-18", id="in-words"),
        pytest.param("See [it](../src/app.py), line 8.\n", "src/app.py:10", id="in-words-behind-a-link"),
    ],
)
def test_lines_that_were_pushed_down_have_moved(repository: Repository, page: str, now: str) -> None:
    assert told(drifted(repository, page)) == ("moved", "history", now)


def test_lines_that_stayed_are_ok(repository: Repository) -> None:
    finding = drifted(repository, "See src/app.py:4-8.\n", CODE + "\n\ndef more():\n    return None\n")

    assert told(finding) == ("ok", "history", "")


def test_lines_whose_content_went_have_changed(repository: Repository) -> None:
    finding = drifted(repository, "See src/app.py:14-16.\n", CODE.partition("def retry")[0])

    assert finding.verdict == "changed"
    assert finding.reason == "the cited text is gone"


def test_a_number_that_the_page_states_and_the_lines_lost_is_a_change(repository: Repository) -> None:
    finding = drifted(repository, "It waits 30 seconds (src/app.py:5).\n", CODE.replace("= 30", "= 60"))

    assert (finding.verdict, finding.reason) == ("changed", "'30' is no longer there")


def test_an_edit_that_keeps_what_is_said_is_told_and_no_change(repository: Repository) -> None:
    finding = drifted(repository, "See src/app.py:4-11.\n", CODE.replace("timeout_s = 30", "timeout_s = 60"))

    assert (finding.verdict, finding.reason) == ("ok", "edited since")


def test_a_renamed_file_is_followed(repository: Repository) -> None:
    page = "See src/app.py:14-16.\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page})
    repository.git("mv", "src/app.py", "src/client.py")
    repository.commit({"src/client.py": PUSHED})

    assert told(only(repository.folder, page)) == ("moved", "history", "src/client.py:16-18")


def test_a_rename_that_is_not_committed_is_found_by_content(repository: Repository) -> None:
    page = "See src/app.py:14-16.\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page})
    (repository.folder / "src/app.py").rename(repository.folder / "src/client.py")

    assert told(only(repository.folder, page)) == ("moved", "history", "src/client.py:14-16")


def test_a_function_that_went_to_another_file_is_found(repository: Repository) -> None:
    page = "See src/app.py:14-16.\n"
    before, _, retry = CODE.partition("def retry")
    repository.commit({"src/app.py": CODE, "src/other.py": "x = 1\n", "docs/a.md": page})
    write(repository.folder, {"src/app.py": before, "src/other.py": f"x = 1\n\n\ndef retry{retry}"})

    assert told(only(repository.folder, page)) == ("moved", "history", "src/other.py:4-6")


def test_rewording_the_sentence_does_not_hide_that_its_lines_moved_before(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, "docs/a.md": "See src/app.py:14-16.\n"})
    page = "Please see src/app.py:14-16.\n"
    repository.commit({"src/app.py": PUSHED, "docs/a.md": page})

    assert told(only(repository.folder, page)) == ("moved", "history", "src/app.py:16-18")


SENT = CODE.replace("def retry(times):", "def send(path):").replace("times", "path").replace("yield", "print")


def test_a_sentence_that_is_reworded_and_not_committed_is_judged_by_what_was(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, "docs/a.md": "See src/app.py:14-16.\n"})
    write(repository.folder, {"src/app.py": SENT})

    assert only(repository.folder, "`send` (src/app.py:14-16)\n").verdict == "changed"


def test_a_definition_that_moved_with_its_name_is_where_its_name_is(repository: Repository) -> None:
    assert told(drifted(repository, "`retry` (src/app.py:14-16)\n")) == ("moved", "history", "src/app.py:16-18")


def test_lines_that_are_unchanged_are_ok_whatever_the_sentence_names(repository: Repository) -> None:
    page = "`post` (src/app.py:4-5)\n"
    assert told(drifted(repository, page, CODE + "\nx = 1\n")) == ("ok", "history", "")


def test_a_citation_that_is_not_committed_is_judged_by_its_names(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, "docs/a.md": "Nothing.\n"})

    assert told(only(repository.folder, "`retry` (src/app.py:14-16)\n")) == ("ok", "names", "")


@pytest.mark.parametrize(
    ("page", "verdict"),
    [
        pytest.param("See src/none.py:3.", "missing file", id="missing"),
        pytest.param("See `none.py:3`.", "missing file", id="missing-name-in-code"),
        pytest.param("See [a](none.md#L3).", "missing file", id="missing-link"),
        pytest.param("See src/same.py:1.", "unknown", id="several-are-called-so"),
        pytest.param("See src/app.py:17.", "out of range", id="behind-the-end"),
        pytest.param("See src/app.py:0.", "out of range", id="line-zero"),
        pytest.param("See src/app.py:9-3.", "out of range", id="backwards"),
        pytest.param("See ../../outside.py:1.", "refused", id="out-of-the-root"),
        pytest.param("See [a](../../outside.py#L1).", "refused", id="link-out-of-the-root"),
        pytest.param("See src/blob.py:1.", "refused", id="binary"),
        pytest.param("See src/app.py:3.", "unknown", id="there"),
    ],
)
def test_without_history_a_place_must_at_least_exist(tmp_path: Path, page: str, verdict: str) -> None:
    folder = tmp_path / "shop"
    write(folder, {"src/app.py": CODE, "x/src/same.py": "x\n", "y/src/same.py": "x\n", "docs/a.md": "x\n"})
    write(tmp_path, {"outside.py": "x\n"})
    (folder / "src/blob.py").write_bytes(b"\0")

    assert only(folder, page).verdict == verdict


@pytest.mark.parametrize(
    ("page", "cited", "verdict"),
    [
        pytest.param("`my notes/the app.py:3`", "my notes/the app.py:3", "unknown", id="in-backticks"),
        pytest.param("`a` and `my notes/the app.py:99`", "my notes/the app.py:99", "out of range", id="too-long"),
        pytest.param("`see src/app.py:3`", "src/app.py:3", "unknown", id="a-word-before-it"),
        pytest.param("`look` at src/app.py:3", "src/app.py:3", "unknown", id="outside-of-backticks"),
    ],
)
def test_a_path_in_backticks_may_have_blanks(tmp_path: Path, page: str, cited: str, verdict: str) -> None:
    write(tmp_path, {"src/app.py": CODE, "my notes/the app.py": CODE})

    finding = only(tmp_path, page)

    assert (finding.cited, finding.verdict) == (cited, verdict)


def test_lines_that_exist_prove_nothing_without_history(tmp_path: Path) -> None:
    write(tmp_path, {"src/app.py": CODE})

    assert told(only(tmp_path, "See src/app.py:3.")) == ("unknown", "", "")


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        pytest.param("`retry` (src/app.py:12-14)", ("moved", "names", "src/app.py:14-16"), id="definition"),
        pytest.param('`return self.send("GET", url)` (src/app.py:2)', ("moved", "names", "src/app.py:8"), id="quote"),
        pytest.param("`retry` (src/app.py:1-2)", ("changed", "names", "src/app.py:14-16"), id="of-another-length"),
        pytest.param("`retry` (src/old.py:1-3)", ("missing file", "names", "src/app.py:14-16"), id="other-file"),
    ],
)
def test_without_history_names_and_quotes_decide(tmp_path: Path, page: str, expected: tuple[str, str, str]) -> None:
    write(tmp_path, {"src/app.py": CODE})

    assert told(only(tmp_path, page)) == expected


def test_a_citation_that_is_not_committed_yet_is_about_the_lines_of_today(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, "docs/a.md": "Nothing.\n"})

    assert told(only(repository.folder, "See src/app.py:3.\n")) == ("ok", "new", "")


def test_lines_that_did_not_exist_when_they_were_cited_are_unknown(repository: Repository) -> None:
    page = "See src/app.py:3.\n"
    repository.commit({"docs/a.md": page})
    repository.commit({"src/app.py": CODE})

    finding = only(repository.folder, page)

    assert (finding.verdict, finding.is_wrong) == ("unknown", False)
    assert finding.reason == "when this was written, no file had these lines"


@pytest.mark.parametrize(
    ("cited", "verdict", "reason"),
    [
        pytest.param("lib/other.py:3", "foreign", "the repository never had such a file", id="never-had"),
        pytest.param("src/gone.py:3", "missing file", "", id="had"),
        pytest.param("gone.py:3", "missing file", "", id="had-by-its-end"),
        pytest.param("src/clint.py:3", "missing file", "perhaps src/client.py", id="slip-of-the-pen"),
        pytest.param("Src/client.py:3", "missing file", "perhaps src/client.py", id="case-of-a-folder"),
        pytest.param("src/handler/a.py:3", "missing file", "perhaps src/handlers/a.py", id="slip-in-a-folder"),
        pytest.param(
            "src/former.py:3", "missing file", "it was renamed to src/client.py", id="written-after-the-rename"
        ),
        pytest.param("[it](../lib/other.py#L3)", "missing file", "", id="link"),
    ],
)
def test_a_path_that_the_history_never_had_is_not_of_this_repository(
    repository: Repository, cited: str, verdict: str, reason: str
) -> None:
    repository.commit({"src/former.py": CODE, "src/gone.py": "rows = [1, 2, 3]\n"})
    repository.git("rm", "-q", "src/gone.py")
    repository.git("mv", "src/former.py", "src/client.py")
    page = f"See `{cited}`.\n" if cited[0] != "[" else cited
    repository.commit({"lib/one.py": "x = 1\n", "src/handlers/a.py": "", "docs/a.md": page})

    finding = only(repository.folder, page)

    assert (finding.verdict, finding.reason) == (verdict, reason)


def test_a_path_of_which_only_the_end_is_written_is_followed_through_a_rename(repository: Repository) -> None:
    page = "See `app.py:14-16`.\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page})
    repository.git("mv", "src/app.py", "src/client.py")
    repository.commit({"src/client.py": PUSHED})

    assert told(only(repository.folder, page)) == ("moved", "history", "src/client.py:16-18")


def test_a_name_that_several_files_have_is_of_the_one_that_the_text_has_named_in_full(repository: Repository) -> None:
    page = "## The client (`src/app.py`)\n\nSee `app.py:14-16`.\n"
    repository.commit({"lib/app.py": "x = 1\n", "src/app.py": CODE, "docs/a.md": page})
    write(repository.folder, {"src/app.py": PUSHED})

    assert told(only(repository.folder, page)) == ("moved", "history", "src/app.py:16-18")


def test_a_call_is_not_moved_to_the_definition_of_what_it_calls(tmp_path: Path) -> None:
    write(tmp_path, {"src/app.py": CODE + "\n\nretry(3)\n"})

    assert only(tmp_path, "`retry` (src/app.py:19)\n").verdict != "moved"


def test_a_sentence_that_names_more_than_it_cites_follows_its_lines(repository: Repository) -> None:
    page = "With `import os` it fails, and `retry` helps, at src/app.py:8.\n"

    assert told(drifted(repository, page)) == ("moved", "history", "src/app.py:10")


@pytest.mark.parametrize("words", ["here", "code", "Call", "**this**"])
def test_a_link_of_one_word_of_prose_names_no_symbol(repository: Repository, words: str) -> None:
    page = f"Retries are [{words}](../src/app.py#L14-L16).\n"

    finding = drifted(
        repository, page, PUSHED + "\n\nhere = code = Call = this = retry(3)\nlet here = code\nconst this = Call\n"
    )

    assert told(finding) == ("moved", "history", "src/app.py:16-18")


def test_lines_are_not_moved_away_from_the_symbol_that_the_link_names(repository: Repository) -> None:
    """The lines went to another function, and the link names the one that stayed."""
    page = "[send](../src/app.py#L5)\n"
    old = "def send(url):\n    pass\n\n\nlimit = compute(30, 'seconds')\n"
    repository.commit({"src/app.py": old, "docs/a.md": page})
    write(repository.folder, {"src/app.py": "import os\n" + old})

    finding = only(repository.folder, page)

    assert (finding.verdict, finding.now) == ("changed", None)


@pytest.mark.parametrize(
    ("old", "verdict"),
    [
        pytest.param("# Keeps the properties.\nlimit = compute(30, 'seconds')\n", "moved", id="in-a-comment"),
        pytest.param("def properties(): ...\nlimit = compute(30, 'seconds')\n", "changed", id="defined"),
    ],
)
def test_a_plain_word_of_a_link_is_a_symbol_only_where_it_is_defined(
    repository: Repository, old: str, verdict: str
) -> None:
    page = "You can pass [`properties`](../src/app.py#L3).\n"
    old = "import sys\n" + old
    repository.commit({"src/app.py": old, "docs/a.md": page})
    write(repository.folder, {"src/app.py": "import os\n" + old})

    assert only(repository.folder, page).verdict == verdict


RULES = 'The rule "boats may not enter after nine" is in {}.\n'


def test_a_file_that_only_speaks_of_lines_is_not_where_they_went(tmp_path: Path) -> None:
    page = RULES.format("docs/rules.md:3")
    write(tmp_path, {"docs/a.md": page})

    assert told(only(tmp_path, page)) == ("missing file", "", "")


def test_a_citation_does_not_find_itself(tmp_path: Path) -> None:
    page = "\n\n\n" + RULES.format("docs/a.md:1")
    write(tmp_path, {"docs/a.md": page})

    assert told(only(tmp_path, page)) == ("unknown", "", "")


def test_lines_that_the_citing_file_took_over_are_not_found_in_it(repository: Repository) -> None:
    page = "See src/app.md:1.\n"
    repository.commit({"src/app.md": "boats may not enter after nine\nx\n", "docs/a.md": page})
    write(repository.folder, {"src/app.md": "x\n"})
    page += "\nboats may not enter after nine\n"
    write(repository.folder, {"docs/a.md": page})

    assert only(repository.folder, page).verdict == "changed"


def test_another_file_that_has_the_name_is_a_hint_and_no_place(tmp_path: Path) -> None:
    write(tmp_path, {"lib/jobs.py": "\ndef run(tasks):\n    pass\n"})

    finding = only(tmp_path, "`run` (web/server.py:88)\n")

    assert (finding.verdict, finding.reason, finding.is_wrong) == ("missing file", "perhaps lib/jobs.py:2", True)


def test_what_code_says_behind_a_comment_is_not_said_of_its_citation(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": 'x = 1\n\n\n    return "return 1"\n'})
    code = 'x = 1  # see a.py:1 for "nothing here"\n\ndef f():\n    return "return 1"\n'

    (finding,) = checked(tmp_path, code, "c.py")

    assert told(finding) == ("unknown", "", "")


def test_a_comment_of_several_lines_is_read_as_one(tmp_path: Path) -> None:
    write(tmp_path, {"src/app.js": "\n\nfunction retry(times) {\n}\n"})

    (finding,) = checked(tmp_path, "// Here is what `retry`\n// (src/app.js:1) does.\n", "c.js")

    assert told(finding) == ("changed", "names", "src/app.js:3-4")


@pytest.mark.parametrize(
    "written",
    [
        "../../etc/passwd:1",
        "../../../up:1",
        "/etc/passwd:1",
        ".env:1",
        ".env.local:3",
        ".git/config:1",
        "deep/.git/config:2",
    ],
)
def test_what_leads_away_from_the_files_of_the_root_is_refused_whatever_it_is_called(
    tmp_path: Path, written: str
) -> None:
    write(tmp_path, {"docs/a.md": "x\n"})

    assert only(tmp_path, f"See `{written}` there.\n").verdict == "refused"


@pytest.mark.parametrize("words", ["100 km/h:1", "a rate of /s:1", "1/2:3", "POST /users:1", "id_rsa:1", "and/or:2"])
def test_prose_that_looks_like_a_path_is_not_refused(tmp_path: Path, words: str) -> None:
    write(tmp_path, {"docs/a.md": "x\n"})

    assert checked(tmp_path, f"See {words} there.\n") == []


def test_a_file_of_one_line_has_one_line(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "x\n"})

    assert only(tmp_path, "See a.py:9.").reason == "the file has 1 line"


def test_the_very_place_that_is_cited_is_no_hint(repository: Repository) -> None:
    finding = drifted(repository, "It waits 30 seconds (src/app.py:5).\n", CODE.replace("= 30", "= 60"))

    assert told(finding) == ("changed", "history", "")


def test_a_path_that_begins_the_code_in_ticks_is_meant_as_one(tmp_path: Path) -> None:
    """`app`, `js` and others are endings of products as well, so that only ticks tell."""
    write(tmp_path, {"src/app.py": CODE})

    assert [finding.cited for finding in checked(tmp_path, "x `none.js:3` none.js:3 xx`none.js:4`\n")] == [
        "none.js:3",
        "none.js:4",
    ]


def test_nobody_can_tell_what_lines_without_words_were_cited_for(repository: Repository) -> None:
    finding = drifted(repository, "See src/app.py:9.\n")

    assert told(finding) == ("unknown", "", "")
    assert (finding.reason, finding.is_wrong) == ("the cited lines were blank, or brackets alone", False)


def test_lines_without_words_of_a_file_that_is_gone_are_missing(repository: Repository) -> None:
    repository.commit({"src/app.py": CODE, "docs/a.md": "See src/app.py:9.\n"})
    repository.git("rm", "-q", "src/app.py")

    assert only(repository.folder, "See src/app.py:9.\n").verdict == "missing file"


def test_lines_that_moved_away_from_what_the_link_names_are_changed(repository: Repository) -> None:
    page = "See [`retry`](../src/app.py#L5).\n"

    finding = drifted(repository, page)

    assert finding.verdict != "ok"
    assert str(finding.now or "") in ("", "src/app.py:16")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("localhost:8080, example.com:443, Node.js:18, crates.rs:443", id="hosts-and-products"),
        pytest.param("2024-01-02T12:30:45", id="time"),
        pytest.param(
            "as in path/to/file.py:12 or your_file.py:3 or foo.py:1 or path#L12 or [text](path#L3)", id="placeholders"
        ),
        pytest.param("Note:12, Step:3, python:3", id="words"),
        pytest.param("```\nsrc/none.py:3: error\n```", id="output-in-a-fence"),
    ],
)
def test_what_is_evidently_no_path_of_the_root_is_left_alone(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"src/app.py": CODE})

    assert checked(tmp_path, text) == []


def test_line_ends_of_other_systems_do_not_matter(repository: Repository) -> None:
    page = "See src/app.py:14-16.\r\n"
    repository.commit({"src/app.py": CODE.replace("\n", "\r\n"), "docs/a.md": page})
    write(repository.folder, {"src/app.py": PUSHED})

    assert told(only(repository.folder, page)) == ("moved", "history", "src/app.py:16-18")


def test_findings_come_in_order_with_their_lines(tmp_path: Path) -> None:
    write(tmp_path, {"src/app.py": CODE})

    findings = checked(tmp_path, "src/app.py:1\n\nsrc/app.py:2,4\n")

    assert [(finding.line, finding.cited) for finding in findings] == [
        (1, "src/app.py:1"),
        (3, "src/app.py:2"),
        (3, "src/app.py:4"),
    ]


def test_a_name_in_the_line_above_of_a_block_quote_is_missed_where_the_lines_lost_it(repository: Repository) -> None:
    page = "> The existing `timeout_s`\n> field (at `src/app.py:5`) is sent with each call.\n"
    repository.commit({"src/app.py": CODE, "docs/a.md": page})
    repository.commit({"src/app.py": PUSHED.replace("timeout_s", "timeout")})

    finding = only(repository.folder, page)

    assert (finding.verdict, finding.reason) == ("changed", "'timeout_s' is no longer there")
