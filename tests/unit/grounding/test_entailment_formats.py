from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from openbook.errors import SettingsError
from openbook.grounding.entailment_formats import read_config

CROSS_ENCODER = {"id2label": {"0": "contradiction", "1": "entailment", "2": "neutral"}, "max_position_embeddings": 512}


def write(folder: Path, config: Any = None, own: Any = None) -> Path:
    for name, value in (("config.json", config), ("openbook.json", own)):
        if value is not None:
            text = value if isinstance(value, str) else json.dumps(value)
            (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("config", "labels", "name"),
    [
        pytest.param(CROSS_ENCODER, ("contradicted", "entailed", "not said"), "pair", id="cross-encoder"),
        pytest.param(
            {"id2label": {"2": "contradiction", "0": "entailment", "1": "neutral"}},
            ("entailed", "not said", "contradicted"),
            "pair",
            id="mnli-out-of-order",
        ),
        pytest.param(
            {"id2label": {"0": "CONTRADICTION", "1": "NEUTRAL", "2": "ENTAILMENT"}},
            ("contradicted", "not said", "entailed"),
            "pair",
            id="capitals",
        ),
        pytest.param(
            {"id2label": {"0": "entailment", "1": "not_entailment"}}, ("entailed", "not said"), "pair", id="zero-shot"
        ),
        pytest.param({"id2label": {"0": "LABEL_0"}}, ("entailed",), "pair", id="score"),
        pytest.param(
            {"_name_or_path": "lytang/MiniCheck-RoBERTa-Large", "id2label": {"0": "0", "1": "1"}},
            ("not said", "entailed"),
            "minicheck",
            id="minicheck",
        ),
        pytest.param({"model_type": "HHEMv2Config"}, ("not said", "entailed"), "hhem-2", id="hhem"),
    ],
)
def test_labels_and_format_are_read_from_the_config_of_each_family(
    tmp_path: Path, config: dict[str, Any], labels: tuple[str, ...], name: str
) -> None:
    found = read_config(write(tmp_path, config))

    assert (found.labels, found.input_format.name) == (labels, name)


@pytest.mark.parametrize(
    ("config", "tokens"),
    [
        pytest.param({"max_position_embeddings": 256}, 256, id="bert"),
        pytest.param({"max_position_embeddings": 514, "model_type": "roberta"}, 512, id="roberta"),
        pytest.param({"max_position_embeddings": 130, "model_type": "roberta"}, 128, id="short-roberta"),
        pytest.param({"max_position_embeddings": 8192, "model_type": "modernbert"}, 512, id="long"),
        pytest.param({"n_positions": 512}, 512, id="t5"),
        pytest.param({}, 512, id="unknown"),
    ],
)
def test_the_length_of_input_is_read_from_the_config(tmp_path: Path, config: dict[str, Any], tokens: int) -> None:
    assert read_config(write(tmp_path, {**CROSS_ENCODER, "max_position_embeddings": 512} | config)).max_tokens == tokens


def test_openbook_json_wins_over_the_config(tmp_path: Path) -> None:
    own = {
        "format": "minicheck",
        "labels": ["entailment", "neutral"],
        "max_tokens": 2048,
        "entailed_from": 0.7,
        "contradicted_from": 0.8,
        "elsewhere_from": 1,
    }

    found = read_config(write(tmp_path, CROSS_ENCODER, own))

    assert (found.input_format.name, found.labels, found.max_tokens) == ("minicheck", ("entailed", "not said"), 2048)
    assert (found.entailed_from, found.contradicted_from, found.elsewhere_from) == (0.7, 0.8, 1.0)


def test_two_labels_never_contradict(tmp_path: Path) -> None:
    assert not read_config(write(tmp_path, own={"labels": ["entailment", "contradiction"]})).contradicts


@pytest.mark.parametrize(
    ("config", "own", "words"),
    [
        pytest.param("{", None, "config.json: it is not JSON", id="broken"),
        pytest.param("[" * 100_000, None, "config.json: it is not JSON", id="deep"),
        pytest.param("[]", None, "config.json: it is not a JSON object", id="list"),
        pytest.param(" " * 1_100_000, None, "config.json: it is too large", id="large"),
        pytest.param(None, None, "the labels are not declared", id="nothing"),
        pytest.param({"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}, None, "'LABEL_0' is not a label", id="label-0"),
        pytest.param({"id2label": {"x": "entailment"}}, None, "the labels are not declared", id="no-numbers"),
        pytest.param(
            {"id2label": {"0": "neutral", "1": "neutral"}}, None, "one label must be entailment", id="neutral"
        ),
        pytest.param({"id2label": {"0": "neutral"}}, None, "one label must be entailment", id="one-neutral"),
        pytest.param({"id2label": {"0": 1}}, None, "not a list of names", id="numbers"),
        pytest.param(CROSS_ENCODER, {"labels": "entailment"}, "not a list of names", id="own-labels"),
        pytest.param(CROSS_ENCODER, {"format": "t5"}, "unknown format 't5'", id="format"),
        pytest.param(CROSS_ENCODER, {"threshold": 1}, "unknown field 'threshold'", id="field"),
        pytest.param(CROSS_ENCODER, {"entailed_from": 0}, "'entailed_from' is 0", id="zero"),
        pytest.param(CROSS_ENCODER, '{"entailed_from": NaN}', "'entailed_from' is nan", id="nan"),
        pytest.param(CROSS_ENCODER, {"elsewhere_from": "much"}, "'elsewhere_from' is 'much'", id="text"),
        pytest.param(CROSS_ENCODER, {"max_tokens": 8}, "read 8 tokens", id="short"),
        pytest.param({**CROSS_ENCODER, "max_position_embeddings": "x"}, None, "read 'x' tokens", id="positions"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_the_file_and_a_hint(
    tmp_path: Path, config: Any, own: Any, words: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        read_config(write(tmp_path, config, own))

    assert words in str(caught.value)
    assert caught.value.hint


def test_a_config_that_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").mkdir()

    with pytest.raises(SettingsError, match=r"config\.json: Is a directory"):
        read_config(tmp_path)
