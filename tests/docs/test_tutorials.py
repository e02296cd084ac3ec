"""The commands of each tutorial work one after the other. Other tests compare the output."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from itertools import takewhile
from pathlib import Path

import pytest

from openbook.cli import EXIT_NOTHING, main
from tests.docs.snippets import PAGES, PROJECT, ROOT, commands
from tests.support import write_tree

# A folder that fits every tutorial.
FILES = {
    **PROJECT,
    "bread/course.txt": "Course Title: Baking Bread\nCourse Instructor: Ada Miller\n",
    "bread/01-flour.md": "# Flour\n\nStrong flour has more protein.\n",
    "bread/02-dough.md": "# Dough\n\n"
    "Knead the dough for ten minutes. Then it rests for one hour at room temperature.\n",
    "examples/course/tides.txt": (ROOT / "examples" / "course" / "tides.txt").read_text(encoding="utf-8"),
    "tides/tides.txt": (ROOT / "examples" / "course" / "tides.txt").read_text(encoding="utf-8"),
}
TUTORIALS = [page for page in PAGES if page.startswith("docs/tutorials/")]
NOT_RUN = re.compile(r"(?:serve|mcp|chat|--version)\b|.*--model ")  # do not end by themselves, or need a key


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS)
def test_the_commands_of_a_tutorial_work(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write_tree(tmp_path, FILES))
    typed = [line for line in commands(PAGES[page].read_text(encoding="utf-8")) if not NOT_RUN.match(line)]

    codes = {line: run(line) for line in typed}

    assert codes
    assert {line: code for line, code in codes.items() if code not in (0, EXIT_NOTHING)} == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "commands_before", "command"),
    [
        (
            "ask-your-repository",
            ['ask "How much can the sea rise in the Bay of Fundy?" examples --json > answer.json'],
            "verify answer.json",
        ),
        ("a-class-with-courses", ["add --course bread tides --library class"], "courses --library class"),
        (
            "a-class-with-courses",
            ["add --course bread tides --library class"],
            'ask "How long does the dough rest?" --library class',
        ),
    ],
)
def test_a_tutorial_shows_what_a_command_prints(
    page: str, commands_before: list[str], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write_tree(tmp_path, FILES))
    for line in commands_before:
        assert run(line) == 0

    monkeypatch.setattr(sys, "stderr", errors := io.StringIO())
    _, printed = printed_by(command)
    text = PAGES[f"docs/tutorials/{page}.md"].read_text(encoding="utf-8")
    _, _, after = text.partition(f"    $ openbook {command}\n")

    shown = takewhile(lambda line: line == "" or re.match("    [^$]", line), after.splitlines())
    assert words_of("\n".join(shown)) == words_of(printed + errors.getvalue())


def words_of(text: str) -> list[str]:
    """Return the words of an output without its times. Pages wrap quotes, which commands do not."""
    return re.sub(r"\b(indexed .*) in [\d.]+ s|(?m:^ *> )", r"\1 ", text).split()


def run(line: str) -> int:
    return printed_by(line)[0]


def printed_by(line: str) -> tuple[int, str]:
    """Run a command as a shell would, with `*` and `>`, and return its exit code and output."""
    command, _, target = line.partition(" > ")
    words = [found for word in shlex.split(command) for found in (sorted(map(str, Path().glob(word))) or [word])]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = main(words)
    if target:
        Path(target).write_text(printed.getvalue(), encoding="utf-8")
    return code, printed.getvalue()
