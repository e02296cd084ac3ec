"""Runs git where a repository must not be trusted: nothing is written, fetched, or run that its configuration names."""

from __future__ import annotations

import re
import subprocess
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path

from openbook.sources.git_environment import LOCAL_GIT, environment_of_local_git

# Questions about single objects take milliseconds; a walk of 55,000 commits takes 2 s.
_TIMEOUT_S = 60.0

_SAFE = (
    *(*LOCAL_GIT, "--literal-pathspecs", "-c", "core.quotePath=false"),
    *("-c", "log.showSignature=false", "-c", "log.mailmap=false"),
    *("-c", "log.showRoot=true", "-c", "diff.relative=false"),  # else changes or parts of their names are left out
)

_OBJECT = re.compile(rb"[0-9a-f]{40,64} (\w+) (\d+)\n")
_NO_REPOSITORY = "not a git repository"


class GitFailedError(Exception):
    """Git gave no answer, so that nothing follows from what is not there."""


class Git:
    """Git in a folder. One process answers all questions about objects."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._objects: subprocess.Popen[bytes] | None = None
        self.failure = ""
        """Why git could not answer a question, for people; empty as long as it could."""

    def run(self, *arguments: str, asked: str = "", is_try: bool = False) -> bytes:
        """Return what a command prints.

        `is_try`: there is another way if it fails, so that the failure is not kept.
        """
        done = self._done(arguments, asked)
        if done.returncode != 0 and is_try:
            raise GitFailedError(arguments[0])
        if done.returncode != 0:
            raise self._failed(_first_line(done.stderr) or f"git {arguments[0]} failed")
        return done.stdout

    def ask(self, *arguments: str) -> str:
        """Return what a command prints, without the last line feed; empty if its answer is no, or if git fails."""
        try:
            done = self._done(arguments)
        except GitFailedError:
            return ""
        said = _first_line(done.stderr)
        if done.returncode != 0 and said and _NO_REPOSITORY not in said:
            self._failed(said)
        return decoded(done.stdout).removesuffix("\n") if done.returncode == 0 else ""

    def _done(self, arguments: Sequence[str], asked: str = "") -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                [*_SAFE, *arguments],
                cwd=self._folder,
                env=environment_of_local_git(),
                input=asked.encode(),
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired as exc:
            raise self._failed(f"git {arguments[0]} took longer than {_TIMEOUT_S:.0f} seconds") from exc
        except (OSError, ValueError) as exc:  # ValueError: a NUL in a path
            raise self._failed("git cannot be run") from exc

    def _failed(self, reason: str) -> GitFailedError:
        self.failure = self.failure or reason
        return GitFailedError(reason)

    def read(self, name: str) -> tuple[str, str, bytes] | None:
        """Return name, kind and content of an object, such as `HEAD:src/app.py`; None if there is no such object."""
        if "\n" in name:
            raise GitFailedError(name)
        process = self._objects = self._objects or self._started()
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None
        watchdog = threading.Timer(_TIMEOUT_S, process.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            stdin.write(name.encode("utf-8", "surrogateescape") + b"\n")
            stdin.flush()
            head = stdout.readline()
            match = _OBJECT.fullmatch(head)
            content = stdout.read(int(match[2]) + 1) if match else b""
        except OSError:
            head, match, content = b"", None, b""
        finally:
            watchdog.cancel()
        if not head.endswith(b"\n") or (match and len(content) != int(match[2]) + 1):
            process.kill()
            self._objects = None
            raise self._failed("git cat-file failed")
        return (head.split(b" ")[0].decode(), match[1].decode(), content[:-1]) if match else None

    def _started(self) -> subprocess.Popen[bytes]:
        try:
            process = subprocess.Popen(
                [*_SAFE, "cat-file", "--batch"],
                cwd=self._folder,
                env=environment_of_local_git(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as exc:
            raise self._failed("git cannot be run") from exc
        weakref.finalize(self, _end, process)
        return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def decoded(output: bytes) -> str:
    """Decode what git prints; bytes of paths that are no UTF-8 come back when they are encoded again."""
    return output.decode("utf-8", "surrogateescape")


def _first_line(output: bytes) -> str:
    said = decoded(output).strip().split("\n")[0]
    return said.removeprefix("fatal: ").removeprefix("error: ")
