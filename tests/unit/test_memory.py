"""Memory that was freed in small pieces goes back to the system, and garbage is not looked for in vain."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from openbook.memory import collection_paused

# Every hundredth piece stays, so that none of the pages above it can be given back without being asked for.
_PROGRAM = """
import pathlib
from openbook.memory import release_memory

def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1])

pieces = [bytes(2000) for _ in range(20_000)]
kept = pieces[::5000] + pieces[-1:]
full = resident()
del pieces
release_memory()
print(full - resident())
"""


# What each round takes is more than twice the largest piece, up to which glibc would keep it by itself.
_ROUNDS = """
import resource, sys
from openbook.memory import reuse_memory

if sys.argv[1:]:
    reuse_memory(32 << 20)
for _ in range(4):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    pieces = [bytearray(3 << 20) for _ in range(8)]
    del pieces
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts the pages of a process as Linux does")
def test_what_was_freed_is_used_again_without_asking_the_system() -> None:
    asked = [
        int(subprocess.run([sys.executable, "-c", _ROUNDS, *how], capture_output=True, check=True).stdout)
        for how in ((), ("reuse",))
    ]

    assert asked[1] < asked[0] / 10


@pytest.mark.skipif(sys.platform != "linux", reason="counts the pages of a process as Linux does")
def test_what_was_freed_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, encoding="utf-8", check=True)

    assert int(done.stdout) > 5_000


def test_garbage_is_looked_for_again_after_a_pause() -> None:
    with collection_paused():
        assert not gc.isenabled()
        with collection_paused():
            pass
        assert not gc.isenabled()

    assert gc.isenabled()
