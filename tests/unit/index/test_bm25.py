from __future__ import annotations

import math

import numpy as np
import pytest

from openbook.index.bm25 import ChunkWeights, FileWeights, chunk_weights, file_weights, inverse_frequency


def test_a_rarer_word_weighs_more_and_none_weighs_nothing() -> None:
    weights = [inverse_frequency(frequency, 1000) for frequency in range(1001)]

    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0
    assert weights[1] == pytest.approx(math.log(1 + 999.5 / 1.5))


def test_a_small_library_weighs_words_as_one_of_a_hundred_chunks_does() -> None:
    assert [inverse_frequency(2, chunks) for chunks in (2, 99, 100)] == [inverse_frequency(2, 100)] * 3
    assert inverse_frequency(2, 101) > inverse_frequency(2, 100)


def test_scores_grow_with_each_occurrence_and_stay_below_one() -> None:
    weights = chunk_weights(np.full((2, 4), 10, dtype=np.uint16))
    counts = np.array([[0, 0, 0, count] for count in (1, 2, 10, 255)], dtype=np.uint8)

    scores = weights.scores(np.zeros(4, dtype=np.int64), counts)

    assert scores.dtype == np.float32
    assert scores.tolist() == pytest.approx([1 / 2, 2 / 3, 10 / 11, 255 / 256])


@pytest.mark.parametrize(
    ("weights", "scores"),
    [
        pytest.param(
            chunk_weights(np.full((1, 4), 10, dtype=np.uint16)), [1 / 2, 1.5 / 2.5, 0.7 / 1.7, 1 / 2], id="chunk"
        ),
        pytest.param(file_weights(np.full((1, 4), 10, dtype=np.float32)), [3 / 7, 2 / 6, 0, 1 / 5], id="file"),
    ],
)
def test_each_field_has_a_weight(weights: ChunkWeights | FileWeights, scores: list[float]) -> None:
    assert weights.scores(np.zeros(4, dtype=np.int64), np.eye(4, dtype=np.uint8)).tolist() == pytest.approx(scores)


def test_a_word_in_a_longer_field_is_worth_less() -> None:
    weights = chunk_weights(np.array([[1, 1, 1, 1], [3, 3, 3, 3]], dtype=np.uint16))

    shorter, longer = (weights.scores(np.full(4, place), np.eye(4, dtype=np.uint8)) for place in (0, 1))

    assert (shorter > longer).all()
    worth = [1 / (0.3 + 0.7 * 0.5), 1 / (0.3 + 0.7 * 1.5)]
    assert [shorter[3], longer[3]] == pytest.approx([each / (1 + each) for each in worth])


def test_fields_that_are_empty_everywhere_and_no_chunks_at_all_are_no_error() -> None:
    empty = chunk_weights(np.zeros((2, 4), dtype=np.uint16))
    no_place, no_count = np.empty(0, dtype=np.int64), np.empty((0, 4), dtype=np.uint8)

    assert np.isfinite(empty.scores(np.zeros(4, dtype=np.int64), np.eye(4, dtype=np.uint8))).all()
    assert len(chunk_weights(np.empty((0, 4), dtype=np.uint16)).scores(no_place, no_count)) == 0
    assert len(file_weights(np.empty((0, 4), dtype=np.float32)).scores(no_place, no_count)) == 0
