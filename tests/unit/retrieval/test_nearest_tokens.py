"""The reranker of `tools.make_reranker`, with weights made here: both parts are read apart, and compared by tokens."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from openbook.retrieval.cross_encoder import CrossEncoder
from tools.make_reranker import read_safetensors, write

_SIZE, _INNER, _PLACES = 8, 16, 64
_WORDS = {"[PAD]": 0, "[UNK]": 1, "ferry": 2, "sails": 3, "bread": 4, "noon": 5, "[CLS]": 101, "[SEP]": 102}
_LAYER = "encoder.layer.0."


def _weights() -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
    numbers = np.random.default_rng(7)
    shapes = {
        "embeddings.word_embeddings": (103, _SIZE),
        "embeddings.position_embeddings": (_PLACES, _SIZE),
        "embeddings.token_type_embeddings": (2, _SIZE),
        **{f"{_LAYER}attention.self.{part}": (_SIZE, _SIZE) for part in ("query", "key", "value")},
        f"{_LAYER}attention.output.dense": (_SIZE, _SIZE),
        f"{_LAYER}intermediate.dense": (_INNER, _SIZE),
        f"{_LAYER}output.dense": (_SIZE, _INNER),
    }
    made = {f"{name}.weight": numbers.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    made |= {f"{name}.bias": np.zeros(shape[0], np.float32) for name, shape in shapes.items() if _LAYER in name}
    for name in ("embeddings.", f"{_LAYER}attention.output.", f"{_LAYER}output."):
        made[f"{name}LayerNorm.weight"] = np.ones(_SIZE, np.float32)
        made[f"{name}LayerNorm.bias"] = np.zeros(_SIZE, np.float32)
    return made


def _tokenizer() -> dict[str, Any]:
    part = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    closing = {"SpecialToken": {"id": "[SEP]", "type_id": 0}}
    text = [{"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}]
    special = {name: {"id": name, "ids": [_WORDS[name]], "tokens": [name]} for name in ("[CLS]", "[SEP]")}
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [*part, closing],
            "pair": [*part, closing, *text],
            "special_tokens": special,
        },
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": _WORDS, "unk_token": "[UNK]"},
    }


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> CrossEncoder:
    folder = tmp_path_factory.mktemp("model") / "small"
    write(folder, _weights(), _tokenizer(), heads=2)
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
