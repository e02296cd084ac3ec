"""Ctrl-C at any moment: one line, exit code 130, an index that opens, and a next run that goes on."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.support_cli import finish, run, start

Captured = pytest.CaptureFixture[str]

# Enough for several commits, and with the spaces for child processes to be started: blank lines take long to read.
FILES = 240
SPACES = 10_000
# Bounds a wait for something that does not come; nothing here takes as long.
PATIENCE_S = 60.0
# Python ends itself with the signal where the interrupt came within a nested run of its own: a shell shows 130, too.
INTERRUPTED = (130, -signal.SIGINT)


@pytest.fixture(scope="module")
def birds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that takes about a second to index."""
    root = tmp_path_factory.mktemp("large") / "birds"
    root.mkdir()
    for number in range(FILES):
        lines = [f"def gull_{number}_{egg}(nest):\n    return nest.hatch({egg}, rock={number})\n" for egg in range(20)]
        text = "\n\n".join(lines) + " " * SPACES
        (root / f"gull{number}.py").write_text(text, encoding="utf-8")
    return root


def size_of(pattern: str) -> int:
    """Add up the sizes in bytes of the library's files whose names fit."""
    total = 0
    for file in Path(os.environ["OPENBOOK_HOME"]).glob(f"libraries/{pattern}"):
        with contextlib.suppress(FileNotFoundError):  # a journal goes with its transaction
            total += file.stat().st_size
    return total


def children_of(process: subprocess.Popen[str]) -> int:
    tasks = Path(f"/proc/{process.pid}/task").glob("*/children")
    return sum(len(file.read_text(encoding="ascii").split()) for file in tasks)


def has_loaded(process: subprocess.Popen[str], library: str) -> bool:
    return library in Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8", errors="replace")


MOMENTS: dict[str, Callable[[subprocess.Popen[str]], bool]] = {
    "while-libraries-load": lambda process: has_loaded(process, "numpy"),
    "when-the-library-is-made": lambda _: size_of("*.sqlite") > 0,
    "when-children-start": lambda process: children_of(process) > 0,
    "when-the-first-files-are-written": lambda _: size_of("*.sqlite-wal") > 300_000,
    "when-many-files-are-written": lambda _: size_of("*.sqlite*") > 1_500_000,
}


def interrupt_when(reached: Callable[[subprocess.Popen[str]], bool], process: subprocess.Popen[str]) -> None:
    """Press Ctrl-C for a command and all its children as soon as a moment is reached."""
    ends = time.monotonic() + PATIENCE_S
    while process.poll() is None and not reached(process):
        assert time.monotonic() < ends
        time.sleep(0.001)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)


@pytest.mark.slow
@pytest.mark.skipif(
    not Path("/proc/self/maps").exists(), reason="the moments are told by what Linux shows of a process"
)
@pytest.mark.parametrize("moment", list(MOMENTS.values()), ids=list(MOMENTS))
def test_an_interrupt_keeps_what_was_indexed(
    birds: Path, capsys: Captured, moment: Callable[[subprocess.Popen[str]], bool]
) -> None:
    process = start(
        "search", "gull_7_7", birds, env={"OPENBOOK_WORKERS": "2"}, interrupted=True, start_new_session=True
    )
    interrupt_when(moment, process)
    stopped = finish(process)

    again = run(capsys, "search", "gull_7_7", birds, "--json", "--limit", "1", env={"OPENBOOK_WORKERS": "1"})

    assert (stopped.err, stopped.out) == ("interrupted; what was finished is kept\n", "")
    assert stopped.code in INTERRUPTED
    assert again.code == 0
    assert again.json["results"][0]["path"] == "gull7.py"
    assert f"documents  {FILES}\n" in run(capsys, "status", birds).out


@pytest.mark.slow
def test_an_interrupted_update_keeps_the_old_answers(birds: Path, capsys: Captured, tmp_path: Path) -> None:
    folder = tmp_path / "birds"
    folder.mkdir()
    (folder / "owls.md").write_text("# Owls\n\nOwls hunt at night.\n", encoding="utf-8")
    run(capsys, "search", "owls", folder)
    held = size_of("*.sqlite*")
    for file in birds.iterdir():
        (folder / file.name).hardlink_to(file)

    process = start("search", "owls", folder, env={"OPENBOOK_WORKERS": "1"}, interrupted=True, start_new_session=True)
    interrupt_when(lambda _: size_of("*.sqlite*") > held + 300_000, process)
    stopped = finish(process)
    for file in birds.iterdir():
        (folder / file.name).unlink()
    again = run(capsys, "search", "owls", folder, "--json")

    assert stopped.code in INTERRUPTED
    assert "Traceback" not in stopped.err
    assert [result["path"] for result in again.json["results"]] == ["owls.md"]


class Interrupted(io.BytesIO):
    """Standard input during which Ctrl-C is pressed."""

    def read(self, size: int | None = -1, /) -> bytes:
        raise KeyboardInterrupt


def test_an_interrupt_while_input_is_read_is_told_in_the_same_words(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Interrupted(), "utf-8"))

    stopped = run(capsys, "judge", "-")

    assert (stopped.code, stopped.out, stopped.err) == (130, "", "interrupted; what was finished is kept\n")
