"""Memory that was freed in small pieces goes back to the system, and garbage is not looked for in vain."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from openbook.memory import collection_paused
from openbook.process_pool import ProcessPool
from tests.jobs import act

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


_ROOT = Path(__file__).parents[2]
_ROUNDS = """
import sys
from openbook.cli import main
from tests.jobs import faults_of_large_pieces

if "command" in sys.argv:
    main(["--version"])
print(faults_of_large_pieces())
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts the pages of a process as Linux does")
def test_what_was_freed_is_used_again_by_a_process_of_ours_alone() -> None:
    program, command = (
        int(
            subprocess.run(
                [sys.executable, "-c", _ROUNDS, *how], capture_output=True, check=True, cwd=_ROOT
            ).stdout.split()[-1]
        )
        for how in ((), ("command",))
    )
    ((_, child),) = ProcessPool(act, count=1, timeout_s=60).run(["faults"])

    assert isinstance(child, int)
    assert max(command, child) < program / 10


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
