"""Graphs are written as the package `onnx` reads them, and what is rounded to 8 bits stays near."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from openbook.retrieval.onnx_graph import GraphWriter
from openbook.retrieval.small_reranker import write_reranker
from tests.fakes.minilm_wheel import write_wheel


def test_onnx_accepts_the_reranker(tmp_path: Path) -> None:
    write_reranker(write_wheel(tmp_path), tmp_path)

    model = onnx.load(str(tmp_path / "model.onnx"))

    onnx.checker.check_model(model)
    assert [each.name for each in model.graph.input] == ["input_ids", "attention_mask", "token_type_ids"]
    assert [dim.dim_param or dim.dim_value for dim in model.graph.output[0].type.tensor_type.shape.dim] == ["batch", 1]


def test_attributes_and_names_are_read_back() -> None:
    nodes = GraphWriter()
    nodes.add("Transpose", "x", perm=[0, 2, 1])
    nodes.add("LayerNormalization", "n0", "x", axis=-1, epsilon=0.5)
    nodes.add("Split", "n1", output="y", outputs=2, fused=True)

    turned, normal, split = onnx.load_from_string(nodes.written("graph", ["x"], "y")).graph.node

    assert onnx.helper.get_node_attr_value(turned, "perm") == [0, 2, 1]
    assert onnx.helper.get_node_attr_value(normal, "axis") == -1
    assert onnx.helper.get_node_attr_value(normal, "epsilon") == 0.5
    assert (list(split.output), split.domain) == (["y", "y_1"], "com.microsoft")


def test_columns_of_8_bits_are_within_half_a_step() -> None:
    matrix = np.random.default_rng(3).normal(size=(50, 4)).astype(np.float32) * np.array([1, 10, 0.01, 0], np.float32)
    nodes = GraphWriter()
    nodes.columns(matrix)

    whole, scales, zeros = _constants(nodes)

    assert np.abs(whole).max() == 64  # the half of the range that cannot overflow
    assert not zeros.any()
    assert (np.abs(whole * scales - matrix) <= scales * 0.501).all()


def test_tables_of_8_bits_are_within_a_step() -> None:
    table = np.random.default_rng(3).normal(loc=0.2, size=(50, 4)).astype(np.float32)
    nodes = GraphWriter()
    nodes.rows(table, "chosen")

    whole, scale, zero = _constants(nodes)

    assert (whole.min(), whole.max()) == (0, 255)
    assert (np.abs((whole.astype(np.int32) - int(zero)) * scale - table) <= scale * 1.01).all()


def _constants(nodes: GraphWriter) -> list[Any]:
    return [
        numpy_helper.to_array(each) for each in onnx.load_from_string(nodes.written("g", [], "y")).graph.initializer
    ]
