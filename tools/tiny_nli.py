"""Writes a tiny entailment model in ONNX into a folder: `python -m tools.tiny_nli FOLDER`.

It is a real graph with real tensors, a few kilobytes large, and knows a few words: a claim is entailed when each of
its words stands in the premise, contradicted when besides that "not" stands on one side only, and neutral otherwise.
With `--ranks` it is a reranker: a text scores the number of known words that it shares with the question.
Tests load it where weights of a real model cannot be had. It needs the packages `onnx` and `tokenizers`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

NLI = ("contradiction", "entailment", "neutral")

_PAD, _CLS, _SEP, _UNKNOWN, _NOT = range(5)
_SPECIAL = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "not")

WORDS = (
    "a an the is are was it its no only every all of in on at to from by for with and or but if then when before after"
    " server port listens requests request retries retried waits seconds minutes times three two five ten eight client"
    " parcel parcels ship ships harbour ferry boat sails sail morning evening night heavy light crane lifts red blue"
    " cat dog sleeps runs eats fish bread water cold warm bridge opens closes noon gate locked open closed key lost"
    " determine hypothesis premise true given . , : ; ? ! ( ) = -"
).split()

# How sure the model is: the softmax of 4 against twice 0 is 0.96.
_SURE = 4.0
_OPSET = 17  # read by onnxruntime 1.12 and later
_IR_VERSION = 8


@dataclass(frozen=True, slots=True)
class TinyModel:
    """What is made. The defaults are a cross-encoder with three labels."""

    labels: Sequence[str] = NLI
    """In the order of the logits: three of NLI, two (`entailment` and another name), or one name for a score."""
    words: Sequence[str] = tuple(WORDS)
    separator: str = ""
    """Token behind whose last occurrence the claim stands, for models that read one text; empty for pairs."""
    occurrences: int = 1
    """How many of them there are before the claim."""
    per_token: bool = False
    """Whether there are logits for each token, as classifiers of tokens have them."""
    ranks: bool = False
    """Whether it is a reranker instead: one logit, the number of words that the first text shares with the second."""
    max_tokens: int = 64


RERANKER = TinyModel(labels=("LABEL_0",), ranks=True)


def write(folder: Path, model: TinyModel | None = None) -> Path:
    """Write `model.onnx`, `tokenizer.json` and `config.json`, the same bytes each time. Returns the folder."""
    model = model or TinyModel()
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys((*_SPECIAL, *model.words)))}
    _tokenizer(vocabulary).save(str(folder / "tokenizer.json"))
    onnx.save_model(_graph(vocabulary, model), str(folder / "model.onnx"))
    config = {
        "model_type": "tiny",
        "max_position_embeddings": model.max_tokens,
        "pad_token_id": _PAD,
        "id2label": {str(number): label for number, label in enumerate(model.labels)},
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    return folder


def _tokenizer(vocabulary: dict[str, int]) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(["[PAD]", "[CLS]", "[SEP]", "[UNK]"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", _CLS), ("[SEP]", _SEP)],
    )
    return tokenizer


class _Nodes:
    """The nodes of a graph, each with a name of its own."""

    def __init__(self) -> None:
        self.all: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def add(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        output = output or f"n{len(self.all)}"
        self.all.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def number(self, name: str) -> str:
        return self.add("Cast", name, to=TensorProto.FLOAT)


def _graph(vocabulary: dict[str, int], model: TinyModel) -> Any:
    nodes = _Nodes()
    inputs = ["input_ids", "attention_mask", *([] if model.separator else ["token_type_ids"])]
    is_claim = _segments(nodes, vocabulary, model)
    size = len(vocabulary)
    # Embeddings: one dimension for each word. A word that is not known is in no premise, but it is in a claim.
    claimed = np.eye(size, dtype=np.float32)
    claimed[[_PAD, _CLS, _SEP]] = 0
    said = claimed.copy()
    said[_UNKNOWN] = 0
    mask = nodes.number("attention_mask")
    of_claim = nodes.add("Mul", mask, is_claim)
    of_premise = nodes.add("Sub", mask, of_claim)
    claim = _bag(nodes, claimed, of_claim)
    premise = _bag(nodes, said, of_premise)
    zero, one = nodes.constant(np.float32(0)), nodes.constant(np.float32(1))
    content = np.ones((size, 1), dtype=np.float32)
    content[_NOT] = 0
    words = nodes.constant(content)
    if model.ranks:
        nodes.add("MatMul", nodes.add("Mul", claim, premise), words, output="logits")
        return _model(nodes, inputs, model)
    denial = nodes.constant(1 - content)
    missing = nodes.add("MatMul", nodes.add("Relu", nodes.add("Sub", claim, premise)), words)
    has_words = nodes.add("Min", nodes.add("MatMul", claim, words), one)
    covered = nodes.add("Mul", nodes.add("Max", nodes.add("Sub", one, missing), zero), has_words)
    differs = nodes.add("Abs", nodes.add("MatMul", nodes.add("Sub", claim, premise), denial))
    # A little less for each word more in the premise, so that of two premises the shorter one says it best.
    axis = nodes.constant(np.asarray([1], dtype=np.int64))
    length = nodes.add("ReduceSum", premise, axis, keepdims=1)
    focus = nodes.add("Div", one, nodes.add("Add", one, length))
    sure = nodes.add("Mul", covered, nodes.add("Add", nodes.constant(np.float32(_SURE)), focus))
    against = nodes.add("Mul", sure, differs)
    parts = {
        "contradiction": against,
        "entailment": nodes.add("Sub", sure, against),
        "neutral": nodes.add("Mul", nodes.add("Sub", one, covered), nodes.constant(np.float32(_SURE))),
    }
    _logits(nodes, parts, model)
    return _model(nodes, inputs, model)


def _segments(nodes: _Nodes, vocabulary: dict[str, int], model: TinyModel) -> str:
    """Return 1 for tokens of the claim, and 0 for the others."""
    if not model.separator:
        return nodes.number("token_type_ids")
    token = nodes.constant(np.asarray(vocabulary[model.separator], dtype=np.int64))
    is_separator = nodes.number(nodes.add("Equal", "input_ids", token))
    before = nodes.add("CumSum", is_separator, nodes.constant(np.asarray(1, dtype=np.int64)), exclusive=1)
    wanted = nodes.constant(np.float32(model.occurrences))
    return nodes.number(nodes.add("Equal", before, wanted))


def _bag(nodes: _Nodes, embeddings: Any, mask: str) -> str:
    """Return which words stand in the tokens of a mask, as (batch, words) of 0 and 1."""
    vectors = nodes.add("Gather", nodes.constant(embeddings), "input_ids")
    last = nodes.constant(np.asarray([2], dtype=np.int64))
    masked = nodes.add("Mul", vectors, nodes.add("Unsqueeze", mask, last))
    return nodes.add("ReduceMax", masked, axes=[1], keepdims=0)


def _logits(nodes: _Nodes, parts: dict[str, str], model: TinyModel) -> None:
    """Order the three parts as the labels say; with fewer labels, all but entailment are one."""
    entailment = parts["entailment"]
    other = nodes.add("Max", parts["contradiction"], parts["neutral"])
    if len(model.labels) == 1:
        columns = [nodes.add("Sub", entailment, other)]
    elif len(model.labels) == 2:
        columns = [entailment if label == "entailment" else other for label in model.labels]
    else:
        columns = [parts[label] for label in model.labels]
    if not model.per_token:
        nodes.add("Concat", *columns, axis=1, output="logits")
        return
    joined = nodes.add("Unsqueeze", nodes.add("Concat", *columns, axis=1), nodes.constant(np.asarray([1])))
    tokens = nodes.add("Unsqueeze", nodes.number("input_ids"), nodes.constant(np.asarray([2])))
    nothing = nodes.add("Mul", tokens, nodes.constant(np.float32(0)))
    nodes.add("Add", nothing, joined, output="logits")


def _model(nodes: _Nodes, inputs: Sequence[str], model: TinyModel) -> Any:
    rows: list[str | int | None] = ["batch", "tokens"]
    shape: list[str | int | None] = [*rows, len(model.labels)] if model.per_token else ["batch", len(model.labels)]
    graph = helper.make_graph(
        nodes.all,
        "tiny_nli",
        [helper.make_tensor_value_info(name, TensorProto.INT64, rows) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, shape)],
        nodes.constants,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION)
    onnx.checker.check_model(made)
    return made


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where to write model.onnx, tokenizer.json and config.json")
    parser.add_argument("--ranks", action="store_true", help="write a reranker")
    arguments = parser.parse_args()
    print(write(arguments.folder, RERANKER if arguments.ranks else None))
