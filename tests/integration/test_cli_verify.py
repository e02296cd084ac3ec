"""`openbook verify`, from files on disk to what is printed and rewritten."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

import pytest

from tests.integration.support_cli import assert_fails_clearly, run, run_alone
from tests.repositories import Repository, write

Captured = pytest.CaptureFixture[str]

CODE = "import os\n\n\ndef retry(times):\n    for each in range(times):\n        yield each\n"
PAGE = "# Shop\n\nThe loop (src/app.py:4-6) is short; see [it](../src/app.py#L5).\n"
MOVED = "# Shop\n\nThe loop (src/app.py:6-8) is short; see [it](../src/app.py#L7).\n"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Return a repository whose page cites code that has moved since, as the working folder."""
    repository = Repository(tmp_path / "shop")
    repository.commit({"src/app.py": CODE, "docs/a.md": PAGE})
    write(repository.folder, {"src/app.py": CODE.replace("import os\n", "import os\nimport re\nimport sys\n")})
    monkeypatch.chdir(repository.folder)
    return repository


def test_moved_citations_are_listed_and_the_exit_code_is_1(shop: Repository, capsys: Captured) -> None:
    outcome = run(capsys, "verify", "docs/a.md")

    assert outcome.code == 1
    assert outcome.out == (
        "docs/a.md:3: moved: src/app.py:4-6 -> src/app.py:6-8\ndocs/a.md:3: moved: ../src/app.py#L5 -> src/app.py:7\n"
    )
    assert outcome.err.splitlines()[0] == "2 citations in 1 file: 2 moved"


@pytest.mark.parametrize(
    ("page", "fix", "said", "unsaid"),
    [
        pytest.param(PAGE, (), ["--fix updates what moved unchanged", "--write-baseline"], "by hand", id="moved"),
        pytest.param("See src/ap.py:3.\n", (), ["the cited lines by hand", "openbook: ignore"], "--fix", id="missing"),
        pytest.param("See src/ap.py:3.\n", ("--fix",), ["the cited lines by hand"], "--fix", id="fixed-already"),
    ],
)
def test_what_is_wrong_ends_with_what_to_do_next(
    shop: Repository, capsys: Captured, page: str, fix: tuple[str, ...], said: list[str], unsaid: str
) -> None:
    write(shop.folder, {"docs/a.md": page})

    outcome = run(capsys, "verify", *fix, "docs/a.md")

    assert all(words in outcome.err for words in said)
    assert unsaid not in outcome.err


def test_fix_rewrites_them_and_nothing_else(shop: Repository, capsys: Captured) -> None:
    outcome = run(capsys, "verify", "--fix", "docs/a.md")

    assert outcome.code == 0
    assert outcome.out.count("fixed: ") == 2
    assert (shop.folder / "docs/a.md").read_text(encoding="utf-8") == MOVED


def test_a_fixed_file_is_right(shop: Repository, capsys: Captured) -> None:
    run(capsys, "verify", "--fix", "docs/a.md")
    shop.commit()

    assert run(capsys, "verify", "docs/a.md").code == 0


def test_without_moves_fix_touches_no_file(shop: Repository, capsys: Captured) -> None:
    write(shop.folder, {"docs/b.md": "See src/ap.py:3.\n"})
    before = (shop.folder / "docs/b.md").stat()

    outcome = run(capsys, "verify", "--fix", "docs/b.md")
    after = (shop.folder / "docs/b.md").stat()

    assert outcome.code == 1
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        pytest.param(codecs.BOM_UTF8, "utf-8", id="utf-8-with-mark"),
        pytest.param(codecs.BOM_UTF16_LE, "utf-16-le", id="utf-16"),
        pytest.param(b"", "utf-8", id="utf-8"),
    ],
)
def test_fix_keeps_encoding_line_ends_and_mode(shop: Repository, capsys: Captured, mark: bytes, encoding: str) -> None:
    file = shop.folder / "docs/a.md"
    file.write_bytes(mark + PAGE.replace("\n", "\r\n").encode(encoding))
    file.chmod(0o640)
    shop.git("add", "-A")
    shop.git("commit", "-q", "-m", "page", "--", "docs/a.md")
    # The page is as old as this commit now, so the code has to move once more.
    write(shop.folder, {"src/app.py": "import abc\n" + (shop.folder / "src/app.py").read_text(encoding="utf-8")})

    run(capsys, "verify", "--fix", "docs/a.md")

    assert file.read_bytes().startswith(mark)
    text = file.read_bytes().removeprefix(mark).decode(encoding)
    assert "app.py:7-9)" in text
    assert text.count("\r\n") == text.count("\n") == PAGE.count("\n")
    assert file.stat().st_mode & 0o777 == 0o640


def test_json_holds_every_citation(shop: Repository, capsys: Captured) -> None:
    outcome = run(capsys, "verify", "--json", "docs/a.md")

    (report,) = outcome.json["files"]
    assert report["file"] == "docs/a.md"
    assert report["findings"][0] == {
        "line": 3,
        "cited": "src/app.py:4-6",
        "verdict": "moved",
        "wrong": True,
        "basis": "history",
        "place": {"path": "src/app.py", "start_line": 4, "end_line": 6},
        "now": {"path": "src/app.py", "start_line": 6, "end_line": 8},
        "reason": "",
        "doubt": "",
        "pinned": False,
        "fixed": False,
        "known": False,
    }
    assert outcome.json["counts"]["moved"] == 2


def test_each_key_of_a_finding_is_documented(shop: Repository, capsys: Captured) -> None:
    page = (Path(__file__).parents[2] / "docs" / "verify.md").read_text(encoding="utf-8")
    _, _, table = page.partition("| key of a finding |")

    ((report,), *_) = run(capsys, "verify", "--json", "docs/a.md").json.values()

    assert list(report["findings"][0]) == re.findall(r"^\| `(\w+)`", table.partition("\n\n")[0], re.MULTILINE)


@pytest.mark.slow
def test_a_saved_answer_is_checked_and_fixed(shop: Repository, capsys: Captured) -> None:
    answer = run(capsys, "ask", "--json", "what does retry yield?", "src")
    (shop.folder / "answer.json").write_text(answer.out, encoding="utf-8")
    write(shop.folder, {"src/app.py": "import abc\n" + (shop.folder / "src/app.py").read_text(encoding="utf-8")})

    told = run(capsys, "verify", "answer.json")
    fixed = run(capsys, "verify", "--fix", "answer.json")
    again = run(capsys, "verify", "answer.json")

    assert answer.json["citations"]
    assert (told.code, fixed.code, again.code) == (1, 0, 0)
    assert " moved: [1" in told.out


def test_an_answer_that_cannot_be_rewritten_says_why(shop: Repository, capsys: Captured) -> None:
    answer = run(capsys, "ask", "--json", "what does retry yield?", "src")
    (shop.folder / "answer.json").write_text(answer.out.replace('"answer"', ' "answer"', 1), encoding="utf-8")
    write(shop.folder, {"src/app.py": "import abc\n" + (shop.folder / "src/app.py").read_text(encoding="utf-8")})

    fixed = run(capsys, "verify", "--fix", "answer.json")

    assert fixed.code == 1
    assert "(not rewritten: its JSON is formatted in a way that cannot be kept)" in fixed.out


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        pytest.param(
            "См. src/app.py:4-6, там всё".encode("koi8-r"), "the encoding of the file is not certain", id="koi8"
        ),
        pytest.param(b"[it](src/app.py?s=10:20#L4-L6)", "its notation cannot be kept", id="query"),
    ],
)
def test_a_citation_that_cannot_be_rewritten_says_why(
    shop: Repository, capsys: Captured, page: bytes, reason: str
) -> None:
    code = (shop.folder / "src/app.py").read_text(encoding="utf-8")
    shop.commit()
    (shop.folder / "f.md").write_bytes(page)
    shop.commit()
    write(shop.folder, {"src/app.py": "import abc\n" + code})

    told = run(capsys, "verify", "f.md")
    fixed = run(capsys, "verify", "--fix", "f.md")

    assert f"(not rewritten: {reason})" in told.out
    assert fixed.out == told.out
    assert "--fix updates" not in told.err
    assert (shop.folder / "f.md").read_bytes() == page


def test_a_permalink_to_a_commit_goes_to_the_one_that_is_checked_out(shop: Repository, capsys: Captured) -> None:
    shop.git("remote", "add", "origin", "git@github.com:acme/shop.git")
    link = f"https://github.com/acme/shop/blob/{shop.git('rev-parse', 'HEAD')}/src/app.py#L4-L6"
    write(shop.folder, {"e.md": f"{link}\n"})

    not_committed = run(capsys, "verify", "--fix", "e.md")
    head = shop.commit()
    committed = run(capsys, "verify", "--fix", "e.md")

    assert "moved" in not_committed.out
    assert "the link still shows the old lines" in not_committed.out
    assert "fixed" in committed.out
    assert "still" not in committed.out
    assert (not_committed.code, committed.code) == (0, 0)
    assert (shop.folder / "e.md").read_text("utf-8") == f"https://github.com/acme/shop/blob/{head}/src/app.py#L6-L8\n"


def test_comments_of_code_are_read(shop: Repository, capsys: Captured) -> None:
    write(shop.folder, {"src/b.py": "x = 'src/app.py:91'  # see src/app.py:92\n"})

    assert run(capsys, "verify", "src/b.py").out == "src/b.py:1: out of range: src/app.py:92 (the file has 8 lines)\n"


def test_a_file_without_citations_is_fine(shop: Repository, capsys: Captured) -> None:
    write(shop.folder, {"c.md": "At 12:30 on localhost:8080.\n"})

    outcome = run(capsys, "verify", "c.md")

    assert (outcome.code, outcome.out, outcome.err) == (0, "", "0 citations in 1 file\n")


def test_annotations_name_the_line_of_the_page_and_what_is_wrong(shop: Repository, capsys: Captured) -> None:
    outcome = run(capsys, "verify", "--github", "docs/a.md")

    assert outcome.code == 1
    assert outcome.out == (
        "::error file=docs/a.md,line=3,title=citation%3A moved::src/app.py:4-6 -> src/app.py:6-8\n"
        "::error file=docs/a.md,line=3,title=citation%3A moved::../src/app.py#L5 -> src/app.py:7\n"
    )
    assert outcome.err.splitlines()[0] == "2 citations in 1 file: 2 moved"


def test_no_name_of_a_file_can_end_an_annotation_or_begin_another(shop: Repository, capsys: Captured) -> None:
    write(shop.folder, {"50%,a:b\n::error::c.md": "See src/ap.py:3.\n"})

    outcome = run(capsys, "verify", "--github", "50%,a:b\n::error::c.md")

    assert outcome.out == (
        "::error file=50%25%2Ca%3Ab%0A%3A%3Aerror%3A%3Ac.md,line=1,title=citation%3A missing file::src/ap.py:3"
        " (perhaps src/app.py)\n"
    )


def test_what_is_fixed_and_what_cannot_be_checked_is_annotated_too(shop: Repository, capsys: Captured) -> None:
    (shop.folder / "blob.md").write_bytes(b"\0\1\2\3")

    outcome = run(capsys, "verify", "--github", "--fix", "blob.md", "docs/a.md")

    assert outcome.code == 3
    assert [line.partition("::")[2].partition("::")[0] for line in outcome.out.splitlines()] == [
        "error file=blob.md,title=cannot be checked",
        "notice file=docs/a.md,line=3,title=citation%3A fixed",
        "notice file=docs/a.md,line=3,title=citation%3A fixed",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["docs/a.md", "--github", "--json"], "it cannot be given together with --json", id="two-styles"),
        pytest.param(["docs", "--format", "xml"], "choose from text, json, github, sarif", id="format"),
        pytest.param(["docs", "--exclude", "[z-a]"], "is no pattern of paths", id="pattern"),
        pytest.param(["docs/a.md", "--root", "none"], "cannot read 'none': does not exist", id="missing-root"),
        pytest.param(["docs/a.md", "--root", "docs/a.md"], "is a file; name the folder", id="root-is-a-file"),
        pytest.param(["docs/a.md", "--unsafe-fixes"], "it only works with --fix", id="unsafe-fixes-alone"),
        pytest.param([""], "the path is empty; is a shell variable unset?", id="empty"),
    ],
)
def test_bad_arguments_are_wrong_usage(shop: Repository, capsys: Captured, arguments: list[str], words: str) -> None:
    outcome = run(capsys, "verify", *arguments, cwd=shop.folder, env={"COLUMNS": "200"})

    assert outcome.code == 2
    assert words in re.sub(r"\s+", " ", outcome.err)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        pytest.param("blob.md", b"\0\1\2\3", "cannot read 'blob.md': binary", id="binary"),
        pytest.param("torn.ipynb", b'{"cells": [', "cannot read 'torn.ipynb': is no notebook", id="notebook"),
        pytest.param(
            "half.json", b'{"answer": "x", "cita', "cannot read 'half.json': contains no saved answer", id="no-answer"
        ),
        pytest.param(
            "bad.json", b'{"answer": "x", "citations": [1]}', "cannot read 'bad.json': a citation lacks", id="bad"
        ),
    ],
)
def test_a_file_that_cannot_be_checked_fails_and_the_rest_is_checked(
    shop: Repository, capsys: Captured, name: str, content: bytes, words: str
) -> None:
    (shop.folder / name).write_bytes(content)

    alone = run(capsys, "verify", name)
    both = run(capsys, "verify", name, "docs/a.md")

    assert_fails_clearly(alone, 3, "error: ")
    assert words in alone.err
    assert both.code == 3
    assert "docs/a.md:3: moved" in both.out


@pytest.mark.parametrize("target", [None, "gone.md"], ids=["gone", "loop-of-links"])
def test_a_file_that_does_not_exist_is_wrong_usage_and_the_rest_is_checked(
    shop: Repository, capsys: Captured, target: str | None
) -> None:
    if target:
        (shop.folder / "gone.md").symlink_to(target)

    alone = run(capsys, "verify", "gone.md")
    both = run(capsys, "verify", "gone.md", "docs/a.md")

    assert_fails_clearly(alone, 2, "error: cannot read 'gone.md': does not exist")
    assert both.code == 2
    assert "docs/a.md:3: moved" in both.out


@pytest.mark.slow
def test_a_file_that_cannot_be_written_fails_and_stays(shop: Repository) -> None:
    (shop.folder / "docs").chmod(0o555)

    outcome = run_alone("verify", "--fix", "docs/a.md", cwd=shop.folder, unprivileged=True)

    (shop.folder / "docs").chmod(0o755)
    assert_fails_clearly(outcome, 3, "cannot be written")
    assert (shop.folder / "docs/a.md").read_text(encoding="utf-8") == PAGE


def test_a_shallow_clone_says_that_history_was_not_asked(shop: Repository, capsys: Captured, tmp_path: Path) -> None:
    shop.commit()
    shop.git("clone", "-q", "--depth=1", f"file://{shop.folder}", str(tmp_path / "clone"))

    outcome = run(capsys, "verify", tmp_path / "clone/docs/a.md", "--root", tmp_path / "clone")

    assert outcome.code == 0
    assert outcome.out == ""
    assert outcome.err.splitlines()[0] == "2 citations in 1 file: 2 unknown"
    assert outcome.err.count("the git history is incomplete") == 1


def test_a_shallow_clone_names_the_lines_that_cite_a_missing_file(
    shop: Repository, capsys: Captured, tmp_path: Path
) -> None:
    shop.commit({"docs/a.md": PAGE + "\n[gone](../src/no.py#L3) and `src/never.py:3`\n"})
    shop.git("clone", "-q", "--depth=1", f"file://{shop.folder}", str(tmp_path / "clone"))

    outcome = run(capsys, "verify", "docs/a.md", cwd=tmp_path / "clone")

    assert outcome.code == 1
    assert outcome.out == (
        "docs/a.md:5: missing file: ../src/no.py#L3\ndocs/a.md:5: unknown: src/never.py:3 (there is no such file)\n"
    )


def test_control_characters_of_a_page_do_not_reach_the_terminal(shop: Repository, capsys: Captured) -> None:
    write(shop.folder, {"d.md": "[x](<src/no\x1b[31mne.py#L3>)\n"})

    assert "\x1b" not in run(capsys, "verify", "d.md").out


def test_a_folder_stands_for_its_documents_and_on_request_for_its_code(shop: Repository, capsys: Captured) -> None:
    notebook = '{"cells": [{"cell_type": "markdown", "source": "See src/app.py:93"}]}'
    files = {"docs/b.mdx": "See src/app.py:91\n", "docs/c.adoc": "link:src/app.py#L92[it]\n", "docs/d.ipynb": notebook}
    write(
        shop.folder,
        {**files, "docs/e.txt": "See src/app.py:94\n", "src/b.py": "# See src/app.py:95\n", "package.json": "{}\n"},
    )

    documents = run(capsys, "verify", ".")
    all_ = run(capsys, "verify", "--comments", ".")

    assert re.findall(r"^(\S+):\d+: out", documents.out, re.MULTILINE) == ["docs/b.mdx", "docs/c.adoc", "docs/d.ipynb"]
    assert re.findall(r"^(\S+):\d+: out", all_.out, re.MULTILINE)[-1] == "src/b.py"
    assert all_.code == 1


def test_excluded_files_are_not_checked(shop: Repository, capsys: Captured) -> None:
    write(shop.folder, {"docs/old/b.md": "See src/app.py:91\n"})

    outcome = run(capsys, "verify", ".", "docs/a.md", "--exclude", "docs/old/", "--exclude", "a.md")

    assert (outcome.code, outcome.err) == (0, "0 citations in 0 files\n")


def test_only_what_a_baseline_does_not_have_fails_and_stale_entries_are_named(
    shop: Repository, capsys: Captured
) -> None:
    written = run(capsys, "verify", "docs", "--write-baseline", "known.json")
    known = run(capsys, "verify", "docs", "--baseline", "known.json")
    page = "\n\nSee src/app.py:91\n" + PAGE.replace(" (src/app.py:4-6)", "")
    write(shop.folder, {"docs/a.md": page})
    new = run(capsys, "verify", "docs", "--baseline", "known.json")

    assert (written.code, known.code, new.code) == (0, 0, 1)
    assert "2 findings written to known.json" in written.err
    assert (known.out, known.err) == ("", "2 citations in 1 file: 2 moved; 2 in the baseline\n")
    assert new.out == "docs/a.md:3: out of range: src/app.py:91 (the file has 8 lines)\n"
    assert "no longer found, though in the baseline: docs/a.md: src/app.py:4-6 (moved);" in new.err


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [("none.json", 2, "does not exist"), ("docs", 3, "Is a directory"), ("docs/a.md", 3, "is no baseline")],
)
def test_a_baseline_that_cannot_be_read_fails(
    shop: Repository, capsys: Captured, name: str, code: int, words: str
) -> None:
    assert_fails_clearly(run(capsys, "verify", "docs", "--baseline", name), code, words)


def test_sarif_names_rule_file_and_line_of_each_finding(shop: Repository, capsys: Captured) -> None:
    (shop.folder / "a blob.md").write_bytes(b"\0\1\2\3")

    log = run(capsys, "verify", "--format", "sarif", "docs/a.md", "a blob.md").json

    (run_,) = log["runs"]
    rules = run_["tool"]["driver"]["rules"]
    first = run_["results"][0]
    place = first["locations"][0]["physicalLocation"]
    assert log["version"] == "2.1.0"
    assert rules[first["ruleIndex"]]["id"] == first["ruleId"] == "citation-moved"
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"], first["level"]) == ("docs/a.md", 3, "error")
    assert [one["physicalLocation"]["region"]["startLine"] for one in first["relatedLocations"]] == [4, 6]
    (invocation,) = run_["invocations"]
    (failure,) = invocation["toolExecutionNotifications"]
    assert not invocation["executionSuccessful"]
    assert failure["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20blob.md"


def test_fix_keeps_all_other_bytes_of_a_notebook(shop: Repository, capsys: Captured) -> None:
    raw = (
        '{"cells": [\n {"cell_type": "code", "source": ["# src/app.py:4-6"]},\n'
        ' {"metadata": {}, "source": ["\\u00dcber \\ud83d\\ude00 \\"it\\":\\n",\n  "see src/app.py:4-6\\n"],'
        ' "cell_type": "markdown"}],  "nbformat": 4 }'
    )
    code = (shop.folder / "src/app.py").read_text(encoding="utf-8")
    write(shop.folder, {"docs/n.ipynb": raw, "src/app.py": CODE})
    shop.commit()
    write(shop.folder, {"src/app.py": code})

    outcome = run(capsys, "verify", "--fix", "docs/n.ipynb")

    assert outcome.out == "docs/n.ipynb:4: fixed: src/app.py:4-6 -> src/app.py:6-8\n"
    assert (shop.folder / "docs/n.ipynb").read_text("utf-8") == raw.replace("see src/app.py:4-6", "see src/app.py:6-8")


@pytest.mark.slow
def test_fixing_twice_changes_nothing(shop: Repository, capsys: Captured) -> None:
    """What moved by its history, and what moves back by the names beside it."""
    page = "`retry` and `send` (src/app.py:4-6); [send](../src/app.py#L5) and [`retry`](../src/app.py#L4).\n"
    write(shop.folder, {"docs/a.md": page, "src/app.py": CODE})
    shop.commit()
    write(shop.folder, {"src/app.py": "import abc\n\n\ndef send(times):\n    pass\n\n\n" + CODE})

    run(capsys, "verify", "--fix", "docs/a.md")
    once = (shop.folder / "docs/a.md").read_text(encoding="utf-8")
    run(capsys, "verify", "--fix", "docs/a.md")

    assert once != page
    assert (shop.folder / "docs/a.md").read_text(encoding="utf-8") == once


def test_a_path_in_a_folder_that_does_not_exist_is_not_only_taken_for_a_repository(
    shop: Repository, capsys: Captured
) -> None:
    outcome = run(capsys, "verify", "guide/a.md")

    assert_fails_clearly(outcome, 2, "error: cannot read 'guide/a.md': there is no such path, and a repository")
