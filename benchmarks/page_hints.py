"""What hints to the system change for vectors that are mapped: `python -m benchmarks.page_hints FOLDER [--rows N]`.

A file of N vectors (a million, 256 MB) is written into FOLDER, which should be on a disk, and compared with one vector
as a search does it: part by part, each let go after it. Rows of the table are states of the pages that the system
holds of the file:

- large: written in pieces of 8 MB
- small: written in pieces of 4 KB, as they are where memory has no larger pieces left
- none: let go before each question (`POSIX_FADV_DONTNEED`), so that the disk is read

Columns are hints: none, as it is; the whole file as SEQUENTIAL; WILLNEED of the next part before each part;
POPULATE_READ of a part before it is looked at; and two ways without hints: the pages are not let go (`held`), and
parts are read into a buffer instead of mapped (`read`). Each figure is the median of wall-clock milliseconds.
"""

from __future__ import annotations

import argparse
import mmap
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from openbook.index.columns import VectorBlock

if TYPE_CHECKING:
    from openbook.index.columns import Rows

_DIM = 256
_PART_BYTES = 1 << 23
_SMALL_BYTES = 1 << 12
_ROUNDS = 7

# Linux has it since 5.14; Python has no name for it.
_POPULATE_READ = 22


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    arguments = parser.parse_args()
    path = arguments.folder / "vectors"
    ways = ("as it is", "SEQUENTIAL", "WILLNEED", "POPULATE_READ", "held", "read")
    print("| pages | " + " | ".join(ways) + " |\n" + "|---" * (len(ways) + 1) + "|")
    try:
        for state, piece in (("large", _PART_BYTES), ("small", _SMALL_BYTES), ("none", _PART_BYTES)):
            _write(path, arguments.rows * _DIM, piece)
            took_ms = [_took_ms(path, way, is_cold=state == "none") for way in ways]
            print(f"| {state} | " + " | ".join(f"{each:.0f}" for each in took_ms) + " |", flush=True)
            path.unlink()
    finally:
        path.unlink(missing_ok=True)


def _write(path: Path, size_bytes: int, piece_bytes: int) -> None:
    part = np.random.default_rng(1).integers(-127, 128, _PART_BYTES, dtype=np.int8).tobytes()
    with path.open("wb", buffering=0) as file:
        for start in range(0, size_bytes, piece_bytes):
            at = start % _PART_BYTES
            file.write(part[at : at + min(piece_bytes, size_bytes - start)])
        os.fsync(file.fileno())


def _took_ms(path: Path, way: str, *, is_cold: bool) -> float:
    asked = np.random.default_rng(2).integers(-127, 128, (1, _DIM), dtype=np.int8)
    took_ms = []
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        search = _search(mapped, asked, way, file.fileno())
        for _ in range(_ROUNDS):
            if is_cold:
                mapped.madvise(mmap.MADV_DONTNEED)
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            started = time.perf_counter()
            search()
            took_ms.append(1000 * (time.perf_counter() - started))
    return statistics.median(took_ms)


def _search(mapped: mmap.mmap, asked: Rows, way: str, file: int) -> Callable[[], object]:
    rows = np.frombuffer(mapped, np.int8).reshape(-1, _DIM)
    block = VectorBlock(rows, mapped=mapped)
    if way == "held":
        return lambda: VectorBlock(rows).products(asked)
    if way == "read":
        buffer = bytearray(_PART_BYTES)
        return lambda: [_read(file, start, buffer, asked) for start in range(0, rows.nbytes, _PART_BYTES)]
    if way == "SEQUENTIAL":
        mapped.madvise(mmap.MADV_SEQUENTIAL)
    hint = {"WILLNEED": mmap.MADV_WILLNEED, "POPULATE_READ": _POPULATE_READ}.get(way)
    return lambda: block.products(asked) if hint is None else _hinted(block, asked, mapped, hint)


def _read(file: int, start: int, buffer: bytearray, asked: Rows) -> object:
    read = os.preadv(file, [buffer], start)
    return VectorBlock(np.frombuffer(buffer, np.int8, read).reshape(-1, _DIM)).products(asked)


def _hinted(block: VectorBlock, asked: Rows, mapped: mmap.mmap, hint: int) -> None:
    size = block.rows.nbytes
    for start in range(0, size, _PART_BYTES):
        at = start if hint == _POPULATE_READ else min(start + _PART_BYTES, size - 1) // mmap.PAGESIZE * mmap.PAGESIZE
        mapped.madvise(hint, at, min(_PART_BYTES, size - at))
        rows = slice(start // _DIM, (start + _PART_BYTES) // _DIM)
        VectorBlock(block.rows[rows]).products(asked)
        block.release(rows.start, rows.stop)


if __name__ == "__main__":
    main()
