"""What only a terminal is shown: an answer while it is written, and how far indexing has come."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

import pytest

from openbook.answers import Answered, AnswerEvent, GenerationResult, ToolUsed, Written
from openbook.cli.asking import follow
from openbook.cli.opening import progress_bar
from openbook.errors import CutOffError

ANSWER = GenerationResult("Where does the ferry go?", "To the island.", model="scripted:one")
EVENTS = (
    Written("An unchecked ", is_checked=False),
    Written("draft\x1b[2J", is_checked=False),
    ToolUsed("search", "ferry", "2 results"),
    Written("To the island.", is_checked=True),
    Answered(ANSWER),
)


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return what can stand for standard error in a test."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    return Terminal()


def test_a_draft_is_shown_on_a_terminal_and_what_would_drive_it_is_not(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", terminal)

    assert follow(iter(EVENTS)) is ANSWER

    shown = terminal.getvalue()
    assert "An unchecked draft" in shown
    assert "\x1b[2J" not in shown
    assert "search ferry: 2 results" in shown
    assert "To the island." not in shown  # printed as the answer


def broken_off() -> Iterator[AnswerEvent]:
    yield Written("It goes\x1b[2J to the ", is_checked=False)
    yield Written("island.\n" * 20, is_checked=False)
    raise CutOffError("the server broke off its reply")


def test_what_was_written_before_a_reply_broke_off_stays_on_a_terminal(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CutOffError):
        follow(broken_off())
    piped = capsys.readouterr()
    monkeypatch.setattr(sys, "stderr", terminal)
    with pytest.raises(CutOffError):
        follow(broken_off())

    _, _, left = terminal.getvalue().rpartition("It goes\ufffd[2J to the island.")
    assert left.count("island.") == 19
    assert "(unfinished, and not checked)" in left
    assert (piped.out, piped.err) == ("", "")


def test_a_pipe_is_told_of_tools_and_never_of_a_draft(capsys: pytest.CaptureFixture[str]) -> None:
    assert follow(iter(EVENTS)) is ANSWER

    assert capsys.readouterr().err == "search ferry: 2 results\n"


def test_a_terminal_is_told_how_many_files_are_done(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal)

    with progress_bar("reading") as update:
        assert update is not None
        update(0, 0)
        assert terminal.getvalue() == ""  # nothing has changed yet, so there is nothing to flash
        update(3, 4)

    shown = terminal.getvalue()
    assert "reading" in shown
    assert "3/4" in shown
    assert "files/s" in shown


def test_a_pipe_is_told_of_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as update:
        assert update is None

    assert capsys.readouterr().err == ""
