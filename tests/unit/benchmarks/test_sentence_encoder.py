"""How near texts are by a sentence encoder: a real graph, run by onnxruntime, in which each word is a direction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from benchmarks.sentence_encoder import Nearness, SentenceEncoder
from tools.tiny_nli import RERANKER, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, RERANKER)
    words = numpy_helper.from_array(np.eye(200, dtype=np.float32), "words")
    shape = ["batch", "tokens"]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["words", "input_ids"], ["last_hidden_state"])],
        "tiny_encoder",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, shape)],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, 200])],
        [words],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save_model(model, str(tmp_path / "model.onnx"))
    return tmp_path


def test_texts_are_near_by_their_tokens_in_the_order_given(folder: Path) -> None:
    found = SentenceEncoder(folder, tokens=32).nearness(
        "ferry sails", ["the ferry sails at noon", "bread", "ferry sails"]
    )

    # Each text is opened and closed by a token, as the question is, so two of the tokens of "bread" are its own.
    assert found[1] == pytest.approx(Nearness(cosine=2 / (4 * 3) ** 0.5, tokens=0.0))
    assert found[0] == pytest.approx(Nearness(cosine=4 / (4 * 7) ** 0.5, tokens=1.0))
    assert found[2] == pytest.approx(Nearness(cosine=1.0, tokens=1.0))


def test_what_stands_behind_the_most_tokens_is_not_read(folder: Path) -> None:
    (found,) = SentenceEncoder(folder, tokens=8).nearness("ferry", ["bread " * 8 + "ferry"])

    assert found.tokens == 0.0


def test_what_was_read_is_kept_for_the_same_question_and_tokens_alone(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache.json"
    encoder = SentenceEncoder(folder, tokens=32, cache=cache)
    found = encoder.nearness("ferry", ["the ferry"])
    encoder.save()

    again = SentenceEncoder(folder, tokens=32, cache=cache)

    assert again.is_known("ferry", ["the ferry"])
    assert again.nearness("ferry", ["the ferry"]) == found
    assert not again.is_known("bread", ["the ferry"])
    assert not SentenceEncoder(folder, tokens=8, cache=cache).is_known("ferry", ["the ferry"])


def test_what_another_model_has_read_is_not_known(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache.json"
    encoder = SentenceEncoder(folder, tokens=32, cache=cache)
    encoder.nearness("ferry", ["the ferry"])
    encoder.save()
    model = onnx.load(str(folder / "model.onnx"))
    model.producer_name = "another"
    onnx.save_model(model, str(folder / "model.onnx"))

    assert not SentenceEncoder(folder, tokens=32, cache=cache).is_known("ferry", ["the ferry"])
