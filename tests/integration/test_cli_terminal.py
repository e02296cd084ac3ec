"""What reaches a terminal, a pipe or a file: results and nothing else, whatever the sources hold."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.support_cli import (
    copy_sample,
    environment,
    finish,
    run,
    run_alone,
    run_on_terminal,
    start,
)

Captured = pytest.CaptureFixture[str]

# Sets the title of the window, opens a link, moves the cursor, turns the writing direction.
DRIVING = ["\x1b]0;owned\x07", "\x1b]8;;http://x\x1b\\", "\x9b2J", "\u202e", "\u2066", "\x08\x08"]

HEAVY = {"charset_normalizer", "markdown_it", "numpy", "pathspec", "pygments", "rich", "sqlite3", "Stemmer"}
HEAVY |= {"tokenizers", "tree_sitter", "openbook.library"}

_COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Return a folder whose files try to drive the terminal, by their content and by their names."""
    root = tmp_path / "hostile"
    root.mkdir()
    text = "# Anchor [bold]winch[/bold] [link=http://x]\n\nThe anchor winch {0} needs [red]oil[/red] {1}.\n"
    (root / "anchor.md").write_text(text.format(*DRIVING[:2]), encoding="utf-8")
    code = "def winch(rope: list[int]) -> None:\n    '''Wind the anchor winch {}.'''\n" + 20 * "    # slowly, by hand\n"
    (root / "winch.py").write_text(code.format(" ".join(DRIVING)), encoding="utf-8")
    for name in (
        "\x1b]0;owned\x07 winch.md",
        "winch\nSources:\n  [1:1]  forged.md.md",
        "\u202egpj.winch.md",
        "[bold]winch.md",
    ):
        (root / name).write_text(f"The anchor winch is described in {len(name)} words here.\n", encoding="utf-8")
    return root


def assert_harmless(text: str) -> None:
    assert [sequence for sequence in DRIVING if sequence in text] == []
    assert "\nSources:\n  [1:1]  forged" not in text


@pytest.mark.parametrize("command", ["ask", "search"])
@pytest.mark.parametrize("option", ["--limit=20", "--show"])
def test_nothing_in_a_source_drives_the_terminal(hostile: Path, capsys: Captured, command: str, option: str) -> None:
    outcome = run(capsys, command, "anchor winch", hostile, option)

    assert outcome.code == 0
    assert_harmless(outcome.out + outcome.err)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["ask", "search"])
def test_nothing_in_a_source_drives_a_real_terminal(hostile: Path, command: str) -> None:
    outcome = run_on_terminal(command, "anchor winch", "--show", cwd=hostile)

    assert outcome.code == 0
    assert_harmless(outcome.out)
    assert "\x1b[" in outcome.out
    plain = _COLOURS.sub("", outcome.out)
    assert "[bold]winch[/bold]" in plain
    assert "list[int]" in plain


def test_brackets_are_text_and_no_style(hostile: Path, capsys: Captured) -> None:
    outcome = run(capsys, "search", "anchor winch oil", hostile, "--limit", "20")

    assert "# Anchor [bold]winch[/bold] [link=http://x]" in outcome.out
    assert "[red]oil[/red]" in outcome.out
    assert "[bold]winch.md:1" in outcome.out


def test_every_result_is_listed_on_one_line_whatever_its_name(hostile: Path, capsys: Captured) -> None:
    outcome = run(capsys, "search", "anchor winch", hostile, "--limit", "20")

    assert len(re.findall(r"^ ?\d+\. ", outcome.out, re.MULTILINE)) == 6


@pytest.mark.parametrize("question", ["\x1b]0;owned\x07", "\u202ewinch [bold] \x9b2J", "submarine \x1b]0;owned\x07"])
def test_nothing_in_a_question_drives_the_terminal(hostile: Path, capsys: Captured, question: str) -> None:
    outcome = run(capsys, "ask", question, hostile)

    assert_harmless(outcome.out + outcome.err)


@pytest.mark.parametrize("name", ["\x1b]0;owned\x07", "\u202egpj", "a\nerror: forged", "[bold]"])
@pytest.mark.parametrize(
    "arguments",
    [
        *(["{}"], ["status", "{}"], ["remove", "{}"], ["search", "--queries", "{}"], ["ask", "the winch", "{}"]),
        *(["ask", "winch", "--library", "{}"], ["ask", "winch", "--kind", "{}"], ["ask", "winch", "--limit", "{}"]),
    ],
)
def test_no_name_in_an_error_drives_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, name: str, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    outcome = run(capsys, *[argument.format(name) for argument in arguments])

    assert outcome.code == 2
    assert_harmless(outcome.err)
    assert "\nerror: forged" not in outcome.err


def test_json_keeps_the_text_as_it_is_and_is_harmless(hostile: Path, capsys: Captured) -> None:
    outcome = run(capsys, "search", "anchor winch", hostile, "--limit", "20", "--json")

    assert outcome.out.isascii()
    assert_harmless(outcome.out)
    (winch,) = [result for result in outcome.json["results"] if result["path"] == "winch.py"]
    assert winch["text"].rstrip() == (hostile / "winch.py").read_bytes().decode("utf-8").rstrip()


@pytest.mark.slow
def test_a_pipe_gets_results_without_colours_or_progress(tmp_path: Path, capsys: Captured) -> None:
    root = copy_sample(tmp_path)
    question, env = ("ask", "Who lifts heavy parcels?"), {"TERM": "xterm-256color"}

    first = run_alone(*question, cwd=root, env=env)
    others = [run(capsys, *question, option, cwd=root, env=env) for option in ("--json", "--show")]

    assert [outcome.code for outcome in (first, *others)] == [0, 0, 0]
    assert [outcome for outcome in (first, *others) if "\x1b" in outcome.out + outcome.err] == []
    assert [outcome for outcome in (first, *others) if "indexed" in outcome.out] == []
    assert re.fullmatch(r"indexed harbour: \d+ added in \d+\.\d s(; \d+ skipped \(.*\))?\n", first.err)


@pytest.mark.slow
def test_a_terminal_sees_the_answer_in_the_end_and_no_bar(tmp_path: Path) -> None:
    root = copy_sample(tmp_path)

    outcome = run_on_terminal("ask", "Who lifts heavy parcels?", cwd=root)

    assert outcome.code == 0
    assert "Sources:" in _COLOURS.sub("", outcome.out).rpartition("indexed harbour")[2]


@pytest.mark.slow
def test_a_closed_pipe_is_no_failure(tmp_path: Path) -> None:
    root = copy_sample(tmp_path)
    read_end, write_end = os.pipe()
    os.close(read_end)

    process = start("search", "parcel", "--show", "--limit", "100", cwd=root, stdout=write_end)
    os.close(write_end)

    outcome = finish(process)
    assert outcome.code == 0
    assert "Traceback" not in outcome.err
    assert "Broken" not in outcome.err


@pytest.mark.slow
def test_the_first_line_can_be_taken_by_head(tmp_path: Path) -> None:
    root = copy_sample(tmp_path)

    process = start("search", "parcel", "--show", "--limit", "100", cwd=root)
    head = subprocess.run(["head", "-1"], stdin=process.stdout, capture_output=True, encoding="utf-8", check=True)
    outcome = finish(process)

    assert re.match(r" 1\. \S+:\d+-\d+ ", head.stdout)
    assert outcome.code == 0
    assert "Traceback" not in outcome.err


@pytest.mark.slow
def test_a_full_disk_behind_the_output_is_a_failure_and_no_crash(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no device that is always full")
    root = copy_sample(tmp_path)

    with full.open("w", encoding="utf-8") as output:
        outcome = finish(start("search", "parcel", cwd=root, stdout=output))

    assert outcome.code == 3
    assert "error: [Errno 28]" in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["1", "2"])
def test_a_closed_output_is_no_crash(tmp_path: Path, closed: str) -> None:
    root = copy_sample(tmp_path)
    script = (
        "import os, sys; os.close(int(sys.argv[1]));"
        " os.execv(sys.executable, [sys.executable, '-m', 'openbook', *sys.argv[2:]])"
    )

    done = subprocess.run(
        [sys.executable, "-c", script, closed, "search", "ParseLabel", str(root)],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env=environment(),
    )

    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert ("scanner.go" in done.stdout) == (closed == "2")


@pytest.mark.slow
def test_an_output_without_the_characters_gets_them_escaped(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "mast.md").write_text("# Der Mast 🚢\n\nDer Mast trägt drei höhere Segel 帆.\n", encoding="utf-8")

    in_latin_1 = run_alone("search", "Mast Segel", tmp_path, env={"PYTHONIOENCODING": "latin-1"})
    in_utf_8 = run(capsys, "search", "Mast Segel", tmp_path)

    assert (in_latin_1.code, in_utf_8.code) == (0, 0)
    assert "here Segel \\u5e06" in in_latin_1.out
    assert "drei höhere Segel 帆" in in_utf_8.out


@pytest.mark.slow
def test_bytes_of_a_question_that_are_no_text_are_no_crash(tmp_path: Path, capsys: Captured) -> None:
    root = copy_sample(tmp_path)

    outcome = run_alone("ask", b"lost \xff parcel", root)
    in_json = run(capsys, "ask", os.fsdecode(b"lost \xff parcel"), root, "--json")

    assert (outcome.code, in_json.code) == (0, 0)
    assert "Traceback" not in outcome.err + in_json.err


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["--help"], ["ask", "--help"], ["search", "--help"], ["--version"], ["ask"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import json, sys; from openbook.cli import main; main(sys.argv[1:]);"
        " print(json.dumps(sorted({*sys.modules, *(name.partition('.')[0] for name in sys.modules)})))"
    )

    printed = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, check=True, encoding="utf-8", env=environment()
    )

    assert HEAVY.isdisjoint(json.loads(printed.stdout.splitlines()[-1]))


@pytest.mark.slow
def test_the_module_runs_as_the_command_does() -> None:
    outcome = run_alone("--version")

    assert outcome.code == 0
    assert outcome.out.startswith("openbook ")
