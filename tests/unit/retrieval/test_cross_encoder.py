"""A cross-encoder from a folder: a real graph, run by onnxruntime."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from openbook.errors import SettingsError
from openbook.retrieval.cross_encoder import CrossEncoder, load_cross_encoder
from tools.tiny_nli import RERANKER, TinyModel, write

QUESTION = "ferry sails noon"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "tiny", RERANKER)


def test_texts_are_scored_by_what_the_model_says_of_the_pair(folder: Path) -> None:
    scores = CrossEncoder(folder).scores(QUESTION, ["bread", "the ferry", "the ferry sails at noon"])

    assert scores == [0.0, 1.0, 3.0]


def test_a_text_has_the_same_score_whatever_else_is_scored(folder: Path) -> None:
    model = CrossEncoder(folder)

    assert model.scores(QUESTION, ["ferry " * 40, "ferry"])[1:] == model.scores(QUESTION, ["ferry"])


def test_a_text_is_cut_and_the_question_stays_whole(folder: Path) -> None:
    model = CrossEncoder(folder)

    near, far = model.scores(QUESTION, ["bread " * 10 + "noon", "bread " * 100 + "noon"])

    assert (near, far) == (1.0, 0.0)


def test_a_question_leaves_half_of_the_model_to_the_text(folder: Path) -> None:
    (score,) = CrossEncoder(folder).scores("noon " * 500, ["at noon"])

    assert score == 1.0


def test_a_separator_in_a_text_does_not_end_it(folder: Path) -> None:
    (score,) = CrossEncoder(folder).scores("bread [SEP] ferry", ["ferry"])

    assert score == 1.0


def test_fewer_tokens_are_read_where_the_folder_says_so(folder: Path) -> None:
    (folder / "openbook.json").write_text(json.dumps({"max_tokens": 32}), encoding="utf-8")

    (score,) = CrossEncoder(folder).scores(QUESTION, ["bread " * 40 + "noon"])

    assert score == 0.0


def test_scores_replace_those_of_the_first_stage_unless_the_folder_says_what_they_weigh(folder: Path) -> None:
    assert CrossEncoder(folder).weight == 0.0

    (folder / "openbook.json").write_text(json.dumps({"weight": 12}), encoding="utf-8")

    assert CrossEncoder(folder).weight == 12.0


@pytest.mark.parametrize("weight", [-1, "12", True, None])
def test_a_weight_that_is_no_number_is_refused(folder: Path, weight: object) -> None:
    (folder / "openbook.json").write_text(json.dumps({"weight": weight}), encoding="utf-8")

    with pytest.raises(SettingsError, match=r"openbook.json: its weight is"):
        CrossEncoder(folder)


def test_it_travels_as_the_path_of_its_folder(folder: Path) -> None:
    again = pickle.loads(pickle.dumps(CrossEncoder(folder)))

    assert again.name == "onnx:tiny"
    assert again.scores(QUESTION, ["ferry"]) == [1.0]


def test_a_folder_is_loaded_once(folder: Path) -> None:
    assert load_cross_encoder(folder) is load_cross_encoder(folder)


def test_a_model_with_labels_is_no_reranker(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"cannot use the reranker in .*logits") as caught:
        CrossEncoder(write(tmp_path, TinyModel()))

    assert "one logit" in caught.value.hint


def test_a_folder_that_is_not_there_or_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="there is no such folder"):
        CrossEncoder(tmp_path / "missing")
    with pytest.raises(SettingsError, match="tokenizer"):
        CrossEncoder(tmp_path)
