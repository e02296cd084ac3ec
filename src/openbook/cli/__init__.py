"""The command line: parses arguments, calls the library, and prints results. No other logic.

Exit codes: 0 answered or found, 1 nothing found, refused or a failed check, 2 wrong usage, 3 a failure, 130 Ctrl-C.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

EXIT_NOTHING = 1
EXIT_USAGE = 2
EXIT_FAILURE = 3
EXIT_INTERRUPTED = 130
INTERRUPTED = "interrupted; what was finished is kept"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or handler is not signal.default_int_handler:
        return _run(arguments)
    interrupt = _Interrupt()
    signal.signal(signal.SIGINT, interrupt)
    try:
        return _run(arguments)
    except Exception:
        # C code may replace the KeyboardInterrupt of a callback by an exception of its own.
        if not interrupt.came:
            raise
        return _say_interrupted()
    finally:
        signal.signal(signal.SIGINT, handler)


class _Interrupt:
    """A SIGINT handler that raises KeyboardInterrupt, and records it."""

    def __init__(self) -> None:
        self.came = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        signal.default_int_handler(number, frame)


def _say_interrupted() -> int:
    sys.stderr.write(INTERRUPTED + "\n")
    return EXIT_INTERRUPTED


def _run(arguments: Sequence[str] | None) -> int:
    try:
        # Takes 0.1 s, in which Ctrl-C may already come.
        from openbook.cli.app import run
        from openbook.memory import own_process

        own_process()
        _prepare_output()
        code = run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _say_interrupted()
    except BrokenPipeError:
        # The reader has closed the pipe (`| head`).
        _drop_output()
        return 0
    except OSError as exc:
        # The package converts its other I/O errors, so this is mostly an error of standard output.
        _drop_output()
        sys.stderr.write(f"error: {exc}\nhint: check the disk and the permissions behind it\n")
        return EXIT_FAILURE
    return code


def _prepare_output() -> None:
    """Escape characters that the output encoding does not have, instead of failing."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed, by `>&-`
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - for good
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    # Otherwise Python would flush at exit, and report the error again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
