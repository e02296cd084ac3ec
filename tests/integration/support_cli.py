"""Helpers for tests of the command line: the sample project, and running commands on it."""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import os
import pty
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from openbook.cli import main
from tests.support import heed_interrupts

SAMPLE = Path(__file__).parents[1] / "sample"
SECRET = "hunter2-stays-where-it-is"

# Twice what file systems tick at worst on Linux.
_TICK_S = 0.02

_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2


@dataclass(frozen=True)
class Outcome:
    """The result of a command: exit code and output."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]

    def hinted_command(self) -> list[str]:
        """Return the arguments of the `openbook` command that a hint names, without splitting them."""
        (hint,) = [line for line in self.err.splitlines() if line.startswith("hint: ")]
        return hint.partition("openbook ")[2].split()


def settled(folder: Path) -> Path:
    """Wait until timestamps are reliable: a file younger than a clock tick may be written again unnoticed."""
    newest = max(file.stat().st_ctime for file in folder.rglob("*"))
    while time.time() < newest + _TICK_S:
        time.sleep(_TICK_S / 10)
    return folder


def copy_sample(folder: Path) -> Path:
    """Copy the sample, and add files that no repository should contain: a log and a secret."""
    root = folder / "harbour"
    shutil.copytree(SAMPLE, root)
    (root / "server.log").write_text("the log of the parcel server\n", encoding="utf-8")
    (root / "generated").mkdir()
    (root / "generated" / "labels.py").write_text("GENERATED_LABELS = True\n", encoding="utf-8")
    (root / ".env").write_text(f"PARCEL_PASSWORD={SECRET}\n", encoding="utf-8")
    (root / "id_rsa").write_text(f"{SECRET}\n", encoding="utf-8")
    return root


def run(
    capsys: pytest.CaptureFixture[str],
    *arguments: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str | None = None,
) -> Outcome:
    """Run a command in this process, which takes a tenth of the time of `run_alone`.

    Args:
        capsys: Captures its output.
        arguments: Arguments of the command.
        cwd: Its working folder.
        env: Additional environment variables.
        stdin: Standard input.
    """
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (env or {}).items():
            patch.setenv(name, value)
        if cwd is not None:
            patch.chdir(cwd)
        if stdin is not None:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8"))
        code = main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return Outcome(code, printed.out, printed.err)


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a child: that of this process, and its import path."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **more}
    # Warnings about the packages we use are for us; no user sees them.
    environ.pop("PYTHONWARNDEFAULTENCODING", None)
    return environ


def start(
    *arguments: str | bytes | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    interrupted: bool = False,
    unprivileged: bool = False,
    largest_file_bytes: int = 0,
    **options: Any,
) -> subprocess.Popen[str]:
    """Start a command in its own process.

    Args:
        arguments: Arguments of the command.
        cwd: Its working folder.
        env: Additional environment variables.
        interrupted: Whether it will be interrupted by Ctrl-C.
        unprivileged: Drop root's right to bypass permissions.
        largest_file_bytes: System limit for file sizes, to simulate a full disk; 0 for none.
        options: Options of `Popen`.
    """
    lowers_rights = unprivileged and os.geteuid() == 0
    if lowers_rights and not hasattr(ctypes.CDLL(None), "prctl"):
        pytest.skip("this system does not let root give up its rights")

    def prepare() -> None:
        if interrupted:
            heed_interrupts()
        if lowers_rights:
            for right in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
                ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, right, 0, 0, 0)
        if largest_file_bytes:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file_bytes, largest_file_bytes))

    return subprocess.Popen(
        [sys.executable, "-m", "openbook", *arguments],
        cwd=cwd,
        env=environment(**(env or {})),
        encoding="utf-8",
        errors="surrogateescape",
        preexec_fn=prepare if interrupted or lowers_rights or largest_file_bytes else None,
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options,
    )


def finish(process: subprocess.Popen[str]) -> Outcome:
    """Wait for a command to end."""
    with process:
        out, err = process.communicate(timeout=120)
    return Outcome(process.returncode, out or "", err or "")


def run_alone(*arguments: str | bytes | Path, **options: Any) -> Outcome:
    """Run a command in its own process; see `start`."""
    return finish(start(*arguments, **options))


def run_on_terminal(*arguments: str | Path, cwd: Path, columns: int = 200, errors: bool = True, **env: str) -> Outcome:
    """Run a command on its own terminal; without `errors`, standard error does not go there."""
    screen, slave = pty.openpty()
    variables = {"COLUMNS": str(columns), "TERM": "xterm-256color", **env}
    target = slave if errors else subprocess.DEVNULL
    process = start(*arguments, cwd=cwd, env=variables, stdout=slave, stderr=target)
    os.close(slave)
    shown = b""
    with contextlib.suppress(OSError):  # how Linux says that the other side is closed
        while read := os.read(screen, 65536):
            shown += read
    os.close(screen)
    return Outcome(finish(process).code, shown.decode("utf-8"), "")


def library_files() -> list[Path]:
    """List the library files of this test."""
    return sorted((Path(os.environ["OPENBOOK_HOME"]) / "libraries").iterdir())


def only_library() -> Path:
    """Return the only library file of this test."""
    (file,) = [file for file in library_files() if file.suffix == ".sqlite"]
    return file


def assert_fails_clearly(outcome: Outcome, code: int, *words: str) -> None:
    """Check that a command ended with one error line that contains some words, and a hint."""
    assert outcome.code == code, outcome
    assert "Traceback" not in outcome.err
    assert outcome.out == ""
    lines = outcome.err.splitlines()
    assert sum(line.lower().startswith("error: ") for line in lines) == 1, outcome.err
    assert any(line.startswith(("hint: ", "Try 'openbook")) for line in lines), outcome.err
    for word in words:
        assert word in outcome.err
