"""Texts are rewritten where they must be, and files whole or not at all."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from openbook.errors import SourceError
from openbook.verify.finding import Finding, LineRange
from openbook.verify.mentions import find_mentions
from openbook.verify.rewriting import apply, edits_for, encoded_like, replace_file


def rewritten(
    text: str, *nows: LineRange | None, old: str = "src/a.py", citing: str = "docs/x.md", head: str = ""
) -> str:
    found = []
    for mention, now in zip(find_mentions(text), nows, strict=True):
        place = LineRange(old, mention.first_line, mention.last_line)
        found.append((mention, Finding(1, "", "moved" if now else "ok", "history", place, now, pinned=bool(head))))
    return apply(text, [edit for edits in edits_for(text, found, citing, head).values() for edit in edits])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("src/a.py:3-4", "src/b.py:7-8", id="from-the-root"),
        pytest.param("../src/a.py:3-4", "../src/b.py:7-8", id="from-the-citing-file"),
        pytest.param("[a](../src/a.py#L3-L4)", "[a](../src/b.py#L7-L8)", id="link"),
        pytest.param("[a](/src/a.py#L3-L4)", "[a](/src/b.py#L7-L8)", id="link-from-the-top"),
        pytest.param("a.py:3-4", "src/b.py:7-8", id="end-of-a-path"),
        pytest.param("`src/a.py` (lines 3–4)", "`src/b.py` (lines 7–8)", id="in-words"),
        pytest.param("[a](../src/a.py) lines 3-4", "[a](../src/b.py) lines 7-8", id="in-words-behind-a-link"),
        pytest.param(
            "https://github.com/o/r/blob/main/src/a.py#L3-L4",
            "https://github.com/o/r/blob/main/src/b.py#L7-L8",
            id="permalink",
        ),
    ],
)
def test_a_path_is_written_as_its_author_wrote_it(text: str, expected: str) -> None:
    assert rewritten(text, LineRange("src/b.py", 7, 8)) == expected


def test_a_line_in_words_that_became_several_is_written_as_lines() -> None:
    assert rewritten("`src/a.py` (line 3)", LineRange("src/a.py", 7, 8)) == "`src/a.py` (lines 7-8)"


@pytest.mark.parametrize(
    ("written", "path"),
    [("./../src/a.py", "src/a.py"), ("/app/[id]/page.ts", "app/[id]/page.ts"), ("<../my src/a.py", "my src/a.py")],
)
def test_a_path_stays_where_only_lines_moved(written: str, path: str) -> None:
    end = ">" if written.startswith("<") else ""

    moved = rewritten(f"see [a]({written}#L3{end}).", LineRange(path, 7, 7), old=path)

    assert moved == f"see [a]({written}#L7{end})."


@pytest.mark.parametrize(
    "text",
    [
        "src/a.py:3 to 9",
        "`src/a.py:3` and 9",
        "src/a.py#L3 bis L9",
        "`src/a.py` (line 3 to line 9)",
        "[it](../src/a.py#L3), Zeilen 3 bis 9",
    ],
)
def test_the_first_number_of_a_range_in_words_is_not_written_without_the_second(text: str) -> None:
    assert rewritten(text, LineRange("src/a.py", 7, 7)) == text


@pytest.mark.parametrize("behind", [" to wait", ", and 3 more", " and src/b"])
def test_a_line_before_other_words_is_rewritten(behind: str) -> None:
    assert rewritten(f"src/a.py:3{behind}", LineRange("src/a.py", 7, 7)) == f"src/a.py:7{behind}"


def test_a_link_escapes_what_it_must() -> None:
    assert rewritten("[a](../src/a.py#L3)", LineRange("my src/b.py", 7, 7)) == "[a](../my%20src/b.py#L7)"


def test_ranges_behind_one_path_move_together() -> None:
    assert rewritten("src/a.py:3,9", LineRange("src/a.py", 4, 4), None) == "src/a.py:4,9"
    assert rewritten("src/a.py:3,9", LineRange("src/b.py", 4, 4), None) == "src/a.py:3,9"


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        pytest.param("https://github.com/o/r/blob/0123abc", "/src/a.py#L", id="commit"),
        pytest.param("https://github.com/o/api-v2/blob/v2", "/src/v2/a.py#L", id="tag-that-is-in-other-names"),
    ],
)
def test_a_permalink_to_a_commit_goes_to_the_new_one(before: str, behind: str) -> None:
    now = before.rpartition("/")[0] + "/" + "9" * 40

    assert rewritten(f"{before}{behind}3", LineRange("src/a.py", 7, 7), head="9" * 40) == f"{now}{behind}7"


@pytest.mark.parametrize(
    ("page", "before", "behind"),
    [
        pytest.param("https://gitlab.com/o/r/-/blob/main/src/a.py?ref_type=heads#", "L3", "L7-9", id="gitlab"),
        pytest.param("https://codeberg.org/o/r/src/branch/main/src/a.py#", "L3", "L7-L9", id="gitea"),
        pytest.param("https://bitbucket.org/o/r/src/main/src/a.py?at=main#", "lines-3", "lines-7:9", id="bitbucket"),
    ],
)
def test_a_line_that_became_several_is_a_range_in_the_form_of_its_host(page: str, before: str, behind: str) -> None:
    assert rewritten(page + before, LineRange("src/a.py", 7, 9)) == page + behind


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param("a é\r\n".encode(), id="utf-8"),
        pytest.param(codecs.BOM_UTF8 + "a é\r\n".encode(), id="utf-8-with-mark"),
        pytest.param(codecs.BOM_UTF16_LE + "a é\r\n".encode("utf-16-le"), id="utf-16-le"),
        pytest.param(codecs.BOM_UTF16_BE + "a é\r\n".encode("utf-16-be"), id="utf-16-be"),
        pytest.param("a é\r\n".encode("cp1252"), id="western"),
    ],
)
def test_text_is_encoded_as_it_was(raw: bytes) -> None:
    assert encoded_like(raw, "a é\r\n", "a é\r\n") == raw


def test_an_encoding_that_is_not_sure_is_left_alone() -> None:
    assert encoded_like("ш".encode("koi8_r"), "ш", "ш!") is None


def test_a_file_keeps_its_mode_and_a_link_stays_one(tmp_path: Path) -> None:
    file, link = tmp_path / "a.md", tmp_path / "link.md"
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to(file)

    replace_file(link, b"old", b"new")

    assert (file.read_bytes(), file.stat().st_mode & 0o777, link.is_symlink()) == (b"new", 0o640, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.md", "link.md"]


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_bytes(b"newer")

    with pytest.raises(SourceError, match="changed while it was checked"):
        replace_file(file, b"old", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a.md", b"newer")]
