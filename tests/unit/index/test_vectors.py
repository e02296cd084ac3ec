from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from openbook.index.vectors import pack

SHAPES = st.tuples(st.integers(0, 5), st.integers(1, 9))


@given(arrays(np.float32, SHAPES, elements=st.integers(-1000, 1000).map(lambda thousandths: thousandths / 1000)))
def test_a_packed_row_points_where_it_did(rows: np.ndarray[tuple[int, int], np.dtype[np.float32]]) -> None:
    packed = np.frombuffer(pack(rows), dtype=np.int8).reshape(rows.shape).astype(np.float64)

    peaks = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    assert np.abs(packed / 127 * peaks - rows).max(initial=0.0) <= peaks.max(initial=0.0) / 127


def test_a_row_of_zeros_stays_one() -> None:
    assert pack(np.zeros((2, 3), dtype=np.float32)) == bytes(6)


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_the_length_of_a_row_says_nothing(scale: float) -> None:
    rows = np.array([[3.0, -1.0, 0.5]], dtype=np.float32)

    assert pack((rows * np.float32(scale)).astype(np.float32)) == pack(rows)
