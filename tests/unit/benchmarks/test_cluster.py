"""Processes that take turns go on when the measuring has ended."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.cluster import in_turns

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

# As the executor starts its workers: this is how they are found.
_WORKER = "import pickle, sys; print(pickle.load(sys.stdin.buffer))"


def test_no_worker_stays_stopped_when_its_turns_end_with_an_error() -> None:
    workers = [
        subprocess.Popen([sys.executable, "-c", _WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(2)
    ]

    try:
        with pytest.raises(KeyError), in_turns(2):
            _fail_when_one_is_stopped(workers)
        said = [worker.communicate(b"I7\n.", timeout=60)[0] for worker in workers]
    finally:
        for worker in workers:
            worker.kill()

    assert said == [b"7\n", b"7\n"]


def _fail_when_one_is_stopped(workers: Sequence[subprocess.Popen[bytes]]) -> None:
    while not any(map(_is_stopped, workers)):
        time.sleep(0.01)
    raise KeyError


def _is_stopped(worker: subprocess.Popen[bytes]) -> bool:
    return Path(f"/proc/{worker.pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "T"
