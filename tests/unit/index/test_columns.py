"""Vectors in blocks, some of which are mapped."""

from __future__ import annotations

import mmap
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from openbook.index.columns import Columns, Names, VectorBlock, arranged, gathered

# Three parts, the last one smaller, of a width that divides no page.
ROWS, DIM = 80_000, 250


@pytest.fixture(scope="module")
def rows() -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
    return np.random.default_rng(0).integers(-127, 128, (ROWS, DIM), dtype=np.int8)


@pytest.fixture
def mapped(rows: np.ndarray[tuple[int, int], np.dtype[np.int8]], tmp_path: Path) -> VectorBlock:
    """Map the rows as the beginning of a file."""
    path = tmp_path / "columns"
    path.write_bytes(rows.tobytes() + b"what follows")
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return VectorBlock(np.frombuffer(content, dtype=np.int8, count=ROWS * DIM).reshape(ROWS, DIM), mapped=content)


@pytest.mark.slow
def test_products_and_lengths_are_the_same_part_by_part(
    rows: np.ndarray[tuple[int, int], np.dtype[np.int8]], mapped: VectorBlock
) -> None:
    asked = rows[70_000:70_001]

    for block in (mapped, VectorBlock(rows)):
        assert np.array_equal(block.products(asked), rows.astype(np.int64) @ asked[0].astype(np.int64))
        assert np.allclose(block.norms, np.linalg.norm(rows.astype(np.float32), axis=1))


def test_a_block_without_rows_has_no_products() -> None:
    block = VectorBlock(np.empty((0, DIM), dtype=np.int8))

    assert block.products(np.ones((1, DIM), dtype=np.int8)).shape == block.norms.shape == (0,)


@pytest.mark.skipif(sys.platform != "linux", reason="counts the pages of a process as Linux does")
def test_a_search_of_mapped_vectors_does_not_hold_them(mapped: VectorBlock) -> None:
    def held_kb() -> int:
        return int(Path("/proc/self/status").read_text(encoding="utf-8").partition("RssFile:")[2].split()[0])

    before = held_kb()

    mapped.products(np.ones((1, DIM), dtype=np.int8))

    assert held_kb() - before < ROWS * DIM / 1024 / 2


def test_rows_of_several_arrays_are_put_in_order() -> None:
    parts = [
        np.arange(90_000, dtype=np.uint16).reshape(-1, 2),
        np.empty((0, 2), np.uint16),
        np.full((3, 2), 7, np.uint16),
    ]
    whole = np.concatenate(parts)
    places = np.arange(len(whole), dtype=np.int32)

    for wanted in (places, places[::-1].copy(), np.roll(places, 20_000), np.repeat(places[44_990:], 5_000), places[:0]):
        assert np.array_equal(gathered(parts, wanted), whole[wanted])


def test_lengths_are_put_in_order_without_a_second_copy_of_all() -> None:
    chunks = 400_000
    document = Columns(
        np.arange(2), np.array([0, chunks]), np.array([chunks, 1]), np.ones((chunks + 1, 4), np.uint16), None, (), None,
        Names([("s", "a", "code", ""), ("s", "b", "code", "")]),
    )  # fmt: skip
    tracemalloc.start()

    found = arranged([document], np.arange(2))

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found.lengths) == chunks + 1
    assert peak < 1.6 * (found.lengths.nbytes + 4 * chunks)  # they and their order
