"""Helpers for tests that run a function in a child process. Imports little, because each child pays for it."""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2
_STAYED_PRIVILEGED = 77


def tell(line: object) -> None:
    """Send a line to the parent process."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def start_child(
    function: Callable[..., object],
    *arguments: object,
    unprivileged: bool = False,
    **options: Any,
) -> subprocess.Popen[str]:
    """Run a function of a module in a child process, which reports the result.

    Args:
        function: A function of an importable module.
        arguments: JSON values or paths.
        unprivileged: Drop root's right to bypass permissions.
        options: Options of `Popen`.
    """
    packed = json.dumps([str(argument) if isinstance(argument, Path) else argument for argument in arguments])
    return subprocess.Popen(
        [sys.executable, "-m", "tests.children", function.__module__, function.__name__, packed, str(unprivileged)],
        cwd=Path(__file__).parents[1],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        encoding="utf-8",
        **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options,
    )


def run_child(function: Callable[..., object], *arguments: object, unprivileged: bool = False) -> str:
    """Run a function like `start_child`, wait for success, and return its result."""
    with start_child(function, *arguments, unprivileged=unprivileged) as process:
        output, errors = process.communicate()
    if process.returncode == _STAYED_PRIVILEGED:
        import pytest  # no child needs it

        pytest.skip("this system does not let root give up its rights")
    assert process.returncode == 0, errors
    return output.strip()


def _drop_privileges() -> bool:
    """Drop root's right to bypass permissions, from the next exec on."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "prctl"):
        return False
    rights = (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH)
    return all(libc.prctl(_PR_CAPBSET_DROP, right, 0, 0, 0) == 0 for right in rights)


def _main() -> None:
    module, name, packed, unprivileged = sys.argv[1:]
    if unprivileged == "True" and os.geteuid() == 0:
        if not _drop_privileges():
            sys.exit(_STAYED_PRIVILEGED)
        os.execv(sys.executable, [sys.executable, "-m", "tests.children", module, name, packed, "False"])
    answer = getattr(importlib.import_module(module), name)(*json.loads(packed))
    if answer is not None:
        tell(answer)


if __name__ == "__main__":
    _main()
