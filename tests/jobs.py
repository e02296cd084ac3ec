"""What tests have done in child processes, which load this module and so pay for what it imports."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from openbook.testing import HashEmbedder

if TYPE_CHECKING:
    from openbook.embedding.protocol import Vectors


class Unreadable:
    """Pickles, but does not come back."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return (int, ("x",))


class Litter:
    """Holds itself, so that only a collection of garbage frees it."""

    def __init__(self, seconds: float) -> None:
        self.itself = self
        time.sleep(seconds)


def faults_of_large_pieces() -> int:
    """Return how many pages the system has given for memory that was freed just before, after `reuse_memory`."""
    import resource  # not on Windows

    from openbook.memory import reuse_memory

    reuse_memory(32 << 20)
    before = 0
    # What each round takes is more than twice the largest piece, up to which glibc would keep it by itself.
    for _ in range(4):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        pieces = [bytearray(3 << 20) for _ in range(8)]
        del pieces
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def act(job: str) -> object:
    """Do what a job says, in a child process."""
    verb, _, argument = job.partition(" ")
    actions: dict[str, Callable[[], object]] = {
        "say": lambda: argument,
        "pid": os.getpid,
        "fail": lambda: int(argument),
        "exit": lambda: os._exit(int(argument)),
        "mark": lambda: (os.write(os.open(argument, os.O_CREAT | os.O_APPEND | os.O_WRONLY), b"x"), os._exit(7)),
        "fade": lambda: threading.Timer(0.05, os._exit, [0]).start(),
        "crash": lambda: ctypes.string_at(0),
        "sleep": lambda: time.sleep(float(argument)),
        "print": lambda: sys.stdout.write(f"{argument}\n"),
        "big": lambda: "x" * int(argument),
        "swell": lambda: len(bytearray(int(argument))),
        "litter": lambda: Litter(float(argument)).itself is None,
        "left": lambda: sum(isinstance(one, Litter) for one in gc.get_objects()),
        "lambda": lambda: lambda: None,
        "unreadable": Unreadable,
        "modules": lambda: sorted(sys.modules),
        "path": lambda: list(sys.path),
        "faults": faults_of_large_pieces,
    }
    return actions[verb]()


class FragileEmbedder(HashEmbedder):
    """Ends its process at the words `poison` and `venom`, hangs at `mire`, fails at `thorn`."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        text = " ".join(texts)
        if "poison" in text:
            os._exit(7)
        if "venom" in text:
            ctypes.string_at(0)
        if "mire" in text:
            time.sleep(600)
        if "thorn" in text:
            raise ArithmeticError("thorn")
        return super().embed(texts)


class OtherHashEmbedder(HashEmbedder):
    """Has another identity in each process, as if each had another version of it."""

    @property
    def identity(self) -> str:
        return f"{super().identity}-{os.getpid()}"


class EndingLoader:
    """Loads an embedder, and ends the first other processes in which it does."""

    def __init__(self, mark: Path, times: int) -> None:
        self._mark = mark
        self._times = times
        self._home = os.getpid()

    def __call__(self) -> HashEmbedder:
        if os.getpid() != self._home:
            ended = self._mark.stat().st_size if self._mark.exists() else 0
            if ended < self._times:
                self._mark.write_bytes(b"x" * (ended + 1))
                os._exit(7)
        return HashEmbedder()


class HangingLoader:
    """Loads an embedder, but in no other process."""

    def __init__(self) -> None:
        self._home = os.getpid()

    def __call__(self) -> HashEmbedder:
        if os.getpid() != self._home:
            time.sleep(600)
        return HashEmbedder()


class FirstLoader:
    """Loads an embedder, and fails where it has come to by pickling."""

    def __init__(self, *, fails: bool = False) -> None:
        self._fails = fails

    def __call__(self) -> HashEmbedder:
        if self._fails:
            raise ArithmeticError("no model here")
        return HashEmbedder()

    def __reduce__(self) -> tuple[Callable[[], object], tuple[()]]:
        return (_failing, ())


def _failing() -> FirstLoader:
    return FirstLoader(fails=True)
