"""Processes that index a folder and are killed meanwhile."""

from __future__ import annotations

import contextlib
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.children import start_child


def make_tree(files: int) -> dict[str, str]:
    """Make files with one to four chunks each, all of which contain the word `river`."""
    chance = random.Random(1)
    return {
        f"{number % 7}/{number}.md": "".join(
            f"## Part {part}\n\nThe river {chance.random()} {'w' * 500}\n\n" for part in range(chance.randint(1, 4))
        )
        for number in range(files)
    }


def run_and_kill(index_when_told: Callable[[str, str], None], tree: Path, library: Path | str, delay_s: float) -> int:
    """Index in a child, kill it after a while, and return how many documents it had reported.

    The child reports that it is ready, waits for a line, and reports the number of documents after each commit.
    """
    with start_child(index_when_told, tree, library) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.stdin.write("go\n")
        child.stdin.flush()
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(delay_s)
        child.kill()
        lines = child.stdout.read().split()
        assert child.stderr is not None
        assert child.stderr.read() == ""
    return int(lines[-1]) if lines else 0
