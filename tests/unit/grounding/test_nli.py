"""A judge over a tiny model that onnxruntime really runs."""

from __future__ import annotations

import json
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import onnx
import pytest

from openbook.errors import MissingExtraError, ModelError, OpenbookError, SettingsError
from openbook.grounding.nli import OnnxJudge, open_nli
from openbook.grounding.protocol import CitedClaim, Entailment, Judge, SourceText
from tools.tiny_nli import NLI, TinyModel, write

LONG = "\n".join(f"The red ship sails in the morning {'and evening ' * (number % 3)}." for number in range(40))
HHEM_WORDS = (*TinyModel().words, "?")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def judge(folder: Path) -> OnnxJudge:
    return open_nli(folder)


def said(judge: OnnxJudge, claim: str, cited: str, *sources: str) -> Entailment:
    (found,) = judge.judge([CitedClaim(claim, cited, tuple(map(SourceText, sources)))])
    return found


def change(folder: Path, **fields: object) -> Path:
    (folder / "openbook.json").write_text(json.dumps(fields), encoding="utf-8")
    return folder


def test_it_is_a_judge_named_by_its_folder(judge: OnnxJudge) -> None:
    assert isinstance(judge, Judge)
    assert judge.name == "nli:tiny"


def test_entailed_claim_is_confirmed_with_exact_quote(judge: OnnxJudge) -> None:
    cited = "The ship is red.\nThe parcel waits ten\nminutes at the gate. The dog sleeps."

    found = said(judge, "The parcel waits ten minutes.", cited)

    assert found == Entailment("entailed", "The parcel waits ten\nminutes at the gate.")
    assert found.quote in cited


def test_contradicted_claim_quotes_what_contradicts_it(judge: OnnxJudge) -> None:
    found = said(judge, "The parcel waits not.", "The dog sleeps. The parcel waits. The cat eats.")

    assert found == Entailment("contradicted", "The parcel waits.")


def test_claim_about_something_else_is_not_said(judge: OnnxJudge) -> None:
    assert said(judge, "The cat eats fish.", "The parcel waits.") == Entailment("not said")


@pytest.mark.parametrize("claim", ["", " \n "])
def test_empty_claim_is_not_said(judge: OnnxJudge, claim: str) -> None:
    assert said(judge, claim, "The parcel waits.") == Entailment("not said")


@pytest.mark.parametrize("cited", ["", "\n\n", "\f"])
def test_empty_text_says_nothing(judge: OnnxJudge, cited: str) -> None:
    assert said(judge, "The parcel waits.", cited) == Entailment("not said")


def test_claim_longer_than_the_model_is_not_said(judge: OnnxJudge) -> None:
    claim = "the parcel waits " * 30

    assert said(judge, claim, claim) == Entailment("not said")


def test_no_claims_give_no_results(judge: OnnxJudge) -> None:
    assert judge.judge([]) == []


def test_two_sentences_that_say_it_together_are_quoted_together(judge: OnnxJudge) -> None:
    cited = "It is warm. The gate opens at noon. The bridge closes at night. The dog sleeps."

    found = said(judge, "The gate opens at noon. The bridge closes at night.", cited)

    assert found == Entailment("entailed", "The gate opens at noon. The bridge closes at night.")


def test_text_longer_than_the_model_is_read_in_windows(judge: OnnxJudge) -> None:
    cited = f"{LONG}\nThe key is lost.\n{LONG}"

    assert said(judge, "The key is lost.", cited) == Entailment("entailed", "The key is lost.")


def test_sentences_at_the_border_of_windows_are_read_together(judge: OnnxJudge) -> None:
    for before in range(12):
        cited = "A dog sleeps. " * before + "The gate opens. The bridge closes. " + "A dog sleeps. " * (12 - before)

        found = said(judge, "The gate opens. The bridge closes.", cited)

        assert found == Entailment("entailed", "The gate opens. The bridge closes."), before


def test_sentence_longer_than_the_model_is_cut_and_the_claim_is_not(judge: OnnxJudge) -> None:
    cited = "The parcel waits " + "and the red ship sails " * 30 + "."

    found = said(judge, "The parcel waits", cited)

    assert found.label == "entailed"
    assert cited.startswith(found.quote)
    assert len(found.quote) < len(cited)


def test_source_outside_of_the_cited_text_entails_with_its_own_quote(judge: OnnxJudge) -> None:
    found = said(judge, "The key is lost.", "The dog sleeps.", "The cat eats.", "It is warm. The key is lost. No.")

    assert found == Entailment("entailed", "The key is lost.")


def test_source_must_be_surer_than_cited_text(tmp_path: Path) -> None:
    judge = open_nli(change(write(tmp_path / "m"), elsewhere_from=0.999))

    assert said(judge, "The key is lost.", "The dog sleeps.", "The key is lost.").label == "not said"
    assert said(judge, "The key is lost.", "The key is lost.").label == "entailed"


def test_contradiction_in_cited_text_is_not_outweighed_by_a_source(judge: OnnxJudge) -> None:
    assert said(judge, "The key is not lost.", "The key is lost.", "The key is not lost.").label == "contradicted"


def test_thresholds_come_from_openbook_json(tmp_path: Path) -> None:
    judge = open_nli(change(write(tmp_path / "m"), entailed_from=0.999, contradicted_from=0.999))

    assert said(judge, "The key is lost.", "The key is lost.").label == "not said"
    assert said(judge, "The key is not lost.", "The key is lost.").label == "not said"


@pytest.mark.parametrize("separator", ["[SEP]", "[CLS] [SEP]", "[PAD]"])
def test_special_tokens_in_a_source_do_not_steer_the_model(judge: OnnxJudge, separator: str) -> None:
    assert said(judge, "The cat eats.", f"The dog sleeps. {separator} the dog sleeps").label == "not said"
    assert said(judge, f"The cat eats {separator} the dog sleeps.", "The dog sleeps.").label == "not said"


def test_text_that_is_no_unicode_is_read(judge: OnnxJudge) -> None:
    assert said(judge, "The key is lost.", "\ud800 The key is lost.").label == "entailed"


def test_claim_is_judged_alike_alone_and_among_others(judge: OnnxJudge) -> None:
    claims = [
        CitedClaim("The key is lost.", LONG, (SourceText("The key is lost."),)),
        CitedClaim("The ship is not red.", "The ship is red."),
        CitedClaim("The red ship sails.", LONG),
    ]

    together = judge.judge(claims)

    assert together == [judge.judge([claim])[0] for claim in claims]
    assert together == judge.judge(claims)


def test_threads_share_a_judge(judge: OnnxJudge) -> None:
    claims = [CitedClaim("The key is lost.", f"{LONG}\nThe key is lost."), CitedClaim("The cat eats.", LONG)]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: judge.judge(claims), range(12)))

    assert all(each == found[0] for each in found)


def test_judge_travels_as_its_folder(judge: OnnxJudge) -> None:
    again = pickle.loads(pickle.dumps(judge))

    assert again.name == judge.name
    assert said(again, "The key is lost.", "The key is lost.").label == "entailed"


@pytest.mark.parametrize(
    "labels", [("entailment", "neutral", "contradiction"), ("neutral", "entailment", "contradiction")]
)
def test_labels_may_have_another_order(tmp_path: Path, labels: tuple[str, ...]) -> None:
    judge = open_nli(write(tmp_path / "m", TinyModel(labels=labels)))

    assert said(judge, "The key is lost.", "The key is lost.").label == "entailed"
    assert said(judge, "The key is not lost.", "The key is lost.").label == "contradicted"


@pytest.mark.parametrize("labels", [("entailment", "not_entailment"), ("not_entailment", "entailment"), ("LABEL_0",)])
def test_two_labels_or_one_score_never_contradict(tmp_path: Path, labels: tuple[str, ...]) -> None:
    judge = open_nli(write(tmp_path / "m", TinyModel(labels=labels)))

    assert said(judge, "The key is lost.", "It is. The key is lost. No.") == Entailment("entailed", "The key is lost.")
    assert said(judge, "The key is not lost.", "The key is lost.").label == "not said"


def test_minicheck_gets_document_and_claim_as_one_text(tmp_path: Path) -> None:
    model = TinyModel(labels=("neutral", "entailment"), separator="[SEP]")
    judge = open_nli(change(write(tmp_path / "m", model), format="minicheck"))

    assert said(judge, "The key is lost.", f"{LONG}\nThe key is lost.") == Entailment("entailed", "The key is lost.")
    assert said(judge, "The cat eats.", LONG).label == "not said"


def test_hhem_gets_its_prompt_and_answers_with_its_first_token(tmp_path: Path) -> None:
    model = TinyModel(
        labels=("neutral", "entailment"), words=HHEM_WORDS, separator="hypothesis", occurrences=2, per_token=True
    )
    judge = open_nli(change(write(tmp_path / "m", model), format="hhem-2"))

    assert said(judge, "The key is lost.", f"{LONG}\nThe key is lost.").label == "entailed"
    assert said(judge, "The cat eats.", LONG).label == "not said"


def test_model_may_lie_in_the_folder_that_the_hub_has_for_it(tmp_path: Path) -> None:
    folder = write(tmp_path / "m")
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")

    assert said(open_nli(folder), "The key is lost.", "The key is lost.").label == "entailed"


def refused(folder: Path) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        open_nli(folder)
    assert caught.value.hint
    return caught.value


def test_folder_that_is_missing_is_refused(tmp_path: Path) -> None:
    assert "there is no folder" in str(refused(tmp_path / "nowhere"))


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_file_that_is_missing_is_named(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path / "m")
    (folder / name).unlink()

    assert f"it has no {name}" in str(refused(folder))


@pytest.mark.parametrize("content", [b"", b"no protobuf", b"\x08\x08\x12\x04tiny"])
@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_damaged_file_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    folder = write(tmp_path / "m")
    (folder / name).write_bytes(content)

    assert f"{name} cannot be" in str(refused(folder))


def test_model_whose_weights_lie_elsewhere_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "m")
    model = onnx.load(str(folder / "model.onnx"))
    onnx.save_model(model, str(folder / "model.onnx"), save_as_external_data=True, size_threshold=0, location="weights")
    (folder / "weights").unlink()

    assert "model.onnx cannot be loaded" in str(refused(folder))


def rename(folder: Path, old: str, new: str) -> Path:
    model = onnx.load(str(folder / "model.onnx"))
    for node in model.graph.node:
        node.input[:] = [new if name == old else name for name in node.input]
        node.output[:] = [new if name == old else name for name in node.output]
    for value in (*model.graph.input, *model.graph.output):
        value.name = new if value.name == old else value.name
    onnx.save_model(model, str(folder / "model.onnx"))
    return folder


def test_model_that_writes_text_is_refused(tmp_path: Path) -> None:
    error = refused(rename(write(tmp_path / "m"), "token_type_ids", "decoder_input_ids"))

    assert "its graph wants decoder_input_ids" in str(error)
    assert "MiniCheck-Flan-T5" in error.hint


def test_model_without_ids_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "m")
    model = onnx.load(str(folder / "model.onnx"))
    model.graph.CopyFrom(
        onnx.helper.make_graph(
            [onnx.helper.make_node("Cast", ["attention_mask"], ["logits"], to=onnx.TensorProto.FLOAT)],
            "none",
            [onnx.helper.make_tensor_value_info("attention_mask", onnx.TensorProto.INT64, ["b", "t"])],
            [onnx.helper.make_tensor_value_info("logits", onnx.TensorProto.FLOAT, ["b", "t"])],
        )
    )
    onnx.save_model(model, str(folder / "model.onnx"))

    assert "its graph has no input_ids" in str(refused(folder))


def test_single_output_may_have_another_name(tmp_path: Path) -> None:
    judge = open_nli(rename(write(tmp_path / "m"), "logits", "output_0"))

    assert said(judge, "The key is lost.", "The key is lost.").label == "entailed"


def test_model_with_other_outputs_is_refused(tmp_path: Path) -> None:
    folder = rename(write(tmp_path / "m"), "logits", "last_hidden_state")
    model = onnx.load(str(folder / "model.onnx"))
    model.graph.node.append(onnx.helper.make_node("Identity", ["last_hidden_state"], ["pooled"]))
    model.graph.output.append(onnx.helper.make_tensor_value_info("pooled", onnx.TensorProto.FLOAT, ["b", 3]))
    onnx.save_model(model, str(folder / "model.onnx"))

    assert "gives last_hidden_state, pooled, and no logits" in str(refused(folder))


def test_inputs_that_are_no_integers_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "m")
    model = onnx.load(str(folder / "model.onnx"))
    model.graph.input[1].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    onnx.save_model(model, str(folder / "model.onnx"))

    assert "attention_mask as tensor(float)" in str(refused(folder))


def test_inputs_may_be_short_integers(tmp_path: Path) -> None:
    folder = write(tmp_path / "m")
    model = onnx.load(str(folder / "model.onnx"))
    for value in model.graph.input[1:]:
        value.type.tensor_type.elem_type = onnx.TensorProto.INT32
    onnx.save_model(model, str(folder / "model.onnx"))

    assert said(open_nli(folder), "The key is lost.", "The key is lost.").label == "entailed"


def test_more_logits_than_labels_are_refused(tmp_path: Path) -> None:
    folder = change(write(tmp_path / "m"), labels=["entailment", "neutral"])

    assert "(2, 3) logits, and (2, 2) are expected" in str(refused(folder))


def test_fixed_shape_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "m")
    model = onnx.load(str(folder / "model.onnx"))
    for value in model.graph.input:
        value.type.tensor_type.shape.dim[0].dim_value = 1
    onnx.save_model(model, str(folder / "model.onnx"))

    assert "dynamic axes" in refused(folder).hint


def test_minicheck_needs_a_token_that_ends_a_text(tmp_path: Path) -> None:
    folder = change(write(tmp_path / "m"), format="minicheck", labels=list(NLI))
    tokenizer = folder / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text(encoding="utf-8").replace("[SEP]", "[END]"), encoding="utf-8")

    assert "no token that ends a text" in str(refused(folder))


def test_model_that_fails_later_is_an_error_of_ours(tmp_path: Path) -> None:
    folder = write(tmp_path / "m")
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["model"]["vocab"]["submarine"] = 100_000  # the model has no row for it
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    judge = open_nli(folder)

    with pytest.raises(ModelError, match="the entailment model failed") as caught:
        said(judge, "A submarine sails.", "A ship sails.")

    assert isinstance(caught.value, OpenbookError)


def test_padding_and_truncation_of_the_tokenizer_are_ours_to_decide(tmp_path: Path) -> None:
    folder = write(tmp_path / "m")
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["truncation"] = {"direction": "Right", "max_length": 6, "strategy": "LongestFirst", "stride": 0}
    tokenizer["padding"] = {
        "strategy": {"Fixed": 48},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")

    found = said(open_nli(folder), "The key is lost.", "It is cold in the harbour. The key is lost.")

    assert found == Entailment("entailed", "The key is lost.")


def test_missing_package_is_named_with_the_way_to_install_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("onnxruntime", "onnxruntime.capi"):
        monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(MissingExtraError, match="'onnxruntime' is not installed") as caught:
        open_nli(folder)

    assert caught.value.hint == "pip install 'openbook[nli]'"
