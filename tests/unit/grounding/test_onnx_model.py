from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from openbook.errors import MissingExtraError, SettingsError
from openbook.grounding.nli import EntailmentModel
from tools.tiny_nli import TinyModel, write

PREMISES = ["The key is lost.", "It is cold in the harbour and the key is lost in the evening.", "The cat eats."]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "tiny")


def test_scores_are_probabilities_in_the_order_of_the_premises(folder: Path) -> None:
    scores = EntailmentModel(folder).scores("The key is lost.", PREMISES)

    assert [round(score.entailed, 1) for score in scores] == [1.0, 1.0, 0.0]
    assert all(0 <= score.contradicted <= 1 - score.entailed for score in scores)


def test_scores_do_not_depend_on_the_rest_of_a_batch(folder: Path) -> None:
    model = EntailmentModel(folder)

    together = model.scores("The key is lost.", PREMISES * 5)

    assert together == [score for premise in PREMISES * 5 for score in model.scores("The key is lost.", [premise])]


def test_rows_are_filled_with_the_padding_of_the_tokenizer(folder: Path) -> None:
    wanted = EntailmentModel(folder).scores("The key is lost.", PREMISES)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    del config["pad_token_id"]
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")

    assert EntailmentModel(folder).scores("The key is lost.", PREMISES) == wanted


def test_single_score_is_a_sigmoid(tmp_path: Path) -> None:
    model = EntailmentModel(write(tmp_path / "m", TinyModel(labels=("LABEL_0",))))

    yes, _, no = model.scores("The key is lost.", PREMISES)

    assert yes.entailed > 0.98
    assert no.entailed == pytest.approx(1 / (1 + np.exp(4)))


def test_premise_is_cut_until_it_fits(folder: Path) -> None:
    model, text = EntailmentModel(folder), "the cat eats fish " * 40

    end = model.fit(text, 4, len(text), "The dog runs.")

    assert 4 < end < len(text)
    assert model.count(text[4:end]) <= model.room("The dog runs.")
    assert model.fit(text, 4, end, "The dog runs.") == end


def test_premise_without_room_is_nothing(folder: Path) -> None:
    claim = "the dog runs " * 40

    assert EntailmentModel(folder).fit("the cat", 0, 7, claim) == 0


def test_logits_that_are_no_numbers_are_refused(folder: Path) -> None:
    graph = onnx.load(str(folder / "model.onnx"))
    for node in graph.graph.node:
        node.output[:] = ["finite" if name == "logits" else name for name in node.output]
    graph.graph.node.append(onnx.helper.make_node("Log", ["finite"], ["small"]))
    graph.graph.node.append(onnx.helper.make_node("Sub", ["small", "small"], ["logits"]))
    onnx.save_model(graph, str(folder / "model.onnx"))

    with pytest.raises(SettingsError, match="logits that are not numbers"):
        EntailmentModel(folder)


def test_missing_tokenizers_are_named_with_the_way_to_install_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)

    with pytest.raises(MissingExtraError, match="'tokenizers' is not installed"):
        EntailmentModel(folder)
