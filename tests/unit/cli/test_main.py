"""What `main` makes of what ends a command: Ctrl-C, a reader that went away, a disk that is full."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from openbook import cli
from openbook.cli import app, main


def ends_with(error: BaseException) -> Callable[[Sequence[str]], int]:
    def run(arguments: Sequence[str]) -> int:
        raise error

    return run


@pytest.fixture
def output(tmp_path: Path) -> Iterator[io.TextIOWrapper]:
    """Open a file that stands for standard output: where it cannot be written, another one gets its descriptor."""
    with (tmp_path / "output").open("w", encoding="ascii") as file:
        yield file


def test_ctrl_c_ends_a_command_with_a_word_and_its_own_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app, "run", ends_with(KeyboardInterrupt()))

    assert main([]) == cli.EXIT_INTERRUPTED
    assert capsys.readouterr().err == f"{cli.INTERRUPTED}\n"


def test_ctrl_c_inside_of_a_library_that_makes_another_error_of_it_is_an_interrupt_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(arguments: Sequence[str]) -> int:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            raise RuntimeError("a callback failed") from None
        return 0

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(app, "run", run)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main([]) == cli.EXIT_INTERRUPTED
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == f"{cli.INTERRUPTED}\n"


def test_an_error_that_no_ctrl_c_caused_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "run", ends_with(RuntimeError("a bug")))

    with pytest.raises(RuntimeError, match="a bug"):
        main([])


def test_a_reader_that_closed_the_pipe_has_all_that_it_wanted(
    output: io.TextIOWrapper, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setattr(app, "run", ends_with(BrokenPipeError()))

    assert main([]) == 0
    assert os.fstat(output.fileno()).st_rdev == Path(os.devnull).stat().st_rdev
    assert capsys.readouterr().err == ""


def test_output_that_cannot_be_written_is_a_failure_with_a_hint(
    output: io.TextIOWrapper, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setattr(app, "run", ends_with(OSError(28, "No space left on device")))

    assert main([]) == cli.EXIT_FAILURE
    assert os.fstat(output.fileno()).st_rdev == Path(os.devnull).stat().st_rdev
    assert capsys.readouterr().err.startswith("error: [Errno 28] No space left on device\nhint: check the disk")


def test_what_the_encoding_of_the_output_lacks_is_escaped(
    output: io.TextIOWrapper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setattr(app, "run", lambda arguments: int(sys.stdout.write("a café") == 0))

    assert main([]) == 0
    assert (tmp_path / "output").read_text(encoding="ascii") == r"a caf\xe9"


def test_a_command_without_standard_output_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(app, "run", lambda arguments: int(sys.stdout.write("nobody reads this") == 0))

    assert main([]) == 0
    sys.stdout.close()
