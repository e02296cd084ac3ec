"""The small reranker, with weights made here: both parts are read apart, and compared by tokens."""

from __future__ import annotations

import numpy as np
import pytest

from openbook.retrieval.cross_encoder import CrossEncoder
from openbook.retrieval.small_reranker import read_safetensors, write_reranker
from tests.fakes.minilm_wheel import write_wheel


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> CrossEncoder:
    folder = tmp_path_factory.mktemp("model")
    write_reranker(write_wheel(folder), folder)
    return CrossEncoder(folder)


def test_a_text_that_is_the_question_is_as_near_as_can_be(model: CrossEncoder) -> None:
    same, other = model.scores("ferry sails noon", ["ferry sails noon", "bread"])

    # Were places not counted anew, or did one part see the other, tokens would differ.
    assert same == pytest.approx(1.0, abs=1e-4)
    assert other < 0.95


def test_its_scores_are_added_to_the_first_stage(model: CrossEncoder) -> None:
    assert model.weight > 0


def test_tensors_are_read_from_their_places_in_the_file() -> None:
    head = (
        b'{"a":{"dtype":"F32","shape":[2,1],"data_offsets":[4,12]},"b":{"dtype":"I64","shape":[],"data_offsets":[0,4]}}'
    )
    data = len(head).to_bytes(8, "little") + head + np.array([9, 1, 2], "<f4").tobytes()

    found = read_safetensors(data)

    assert found.keys() == {"a"}
    assert found["a"].tolist() == [[1.0], [2.0]]
