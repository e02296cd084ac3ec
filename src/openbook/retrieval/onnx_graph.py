"""Writes ONNX graphs with weights of 8 bits, without the package `onnx`.

It knows the few messages of `onnx.proto` that such a graph needs.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

FLOAT, INT32, INT64 = 1, 6, 7  # of TensorProto.DataType
_TYPES = {"float32": FLOAT, "uint8": 2, "int8": 3, "int64": INT64}
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7

_OPSET, _IR_VERSION = 17, 8  # read by onnxruntime 1.12 and later
_RUNTIME = "com.microsoft"  # operators of onnxruntime

_STEPS = 255  # of 8 bits
_FACTOR_STEPS = 128  # half of that: without VNNI, sums of 8 times 8 bits overflow

Array = NDArray[Any]


class GraphWriter:
    """The nodes and constants of a graph, named by their number. Each method returns the name of a value."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []

    def constant(self, value: Any) -> str:
        """Add a tensor."""
        array = np.asarray(value, order="C")
        name = f"c{len(self._constants)}"
        dims = b"".join(_field(1, size) for size in array.shape)
        raw = array.astype(array.dtype.newbyteorder("<")).tobytes()
        self._constants.append(dims + _field(2, _TYPES[array.dtype.name]) + _field(8, name) + _field(9, raw))
        return name

    def add(
        self, kind: str, *inputs: str, output: str = "", fused: bool = False, outputs: int = 1, **given: Any
    ) -> str:
        """Add a node, and return its first output; the further ones have `_1`, `_2` behind that name.

        `fused` is for operators of onnxruntime; `given` has the attributes.
        """
        output = output or f"n{len(self._nodes)}"
        names = [output, *(f"{output}_{index}" for index in range(1, outputs))]
        node = b"".join([*(_field(1, each) for each in inputs), *(_field(2, each) for each in names)])
        node += _field(4, kind) + b"".join(_field(5, _attribute(name, value)) for name, value in given.items())
        self._nodes.append(node + _field(7, _RUNTIME if fused else ""))
        return output

    def multiplied(self, left: str, matrix: Array) -> str:
        """Multiply by a matrix of 8 bits, which has a scale for each column."""
        return self.add("DynamicQuantizeMatMul", left, *self.columns(matrix), fused=True)

    def columns(self, matrix: Array) -> tuple[str, str, str]:
        """Add a matrix of 8 bits, with the scales of its columns, and zeros."""
        scales = (2.0 * np.abs(matrix).max(axis=0).astype(np.float64) / _FACTOR_STEPS).astype(np.float32)
        scales[scales == 0] = 1.0
        whole = (matrix / scales).round().astype(np.int8)
        return self.constant(whole), self.constant(scales), self.constant(np.zeros(len(scales), np.int8))

    def rows(self, table: Array, chosen: str) -> str:
        """Take rows out of a table of 8 bits, which has one scale."""
        low, high = min(float(table.min()), 0.0), max(float(table.max()), 0.0)
        scale = (high - low) / _STEPS or 1.0
        zero = np.uint8(round(-low / scale))
        whole = np.clip((table / np.float32(scale)).round() + zero, 0, 255).astype(np.uint8)
        taken = self.add("Gather", self.constant(whole), chosen)
        return self.add("DequantizeLinear", taken, self.constant(np.float32(scale)), self.constant(zero))

    def written(self, name: str, inputs: Sequence[str], output: str) -> bytes:
        """Return the model: `inputs` are whole numbers (batch, tokens), and the output numbers (batch, 1)."""
        graph = b"".join(_field(1, node) for node in self._nodes) + _field(2, name)
        graph += b"".join(_field(5, constant) for constant in self._constants)
        graph += b"".join(_field(11, _value(each, INT64, ("batch", "tokens"))) for each in inputs)
        graph += _field(12, _value(output, FLOAT, ("batch", 1)))
        versions = {"": _OPSET, _RUNTIME: 1}
        opsets = b"".join(_field(8, _field(1, domain) + _field(2, number)) for domain, number in versions.items())
        return _field(1, _IR_VERSION) + _field(2, "openbook") + _field(7, graph) + opsets


def _attribute(name: str, value: float | Sequence[int]) -> bytes:
    if isinstance(value, int):
        return _field(1, name) + _field(3, value) + _field(20, _ATTRIBUTE_INT)
    if isinstance(value, float):
        return _field(1, name) + _field(2, value) + _field(20, _ATTRIBUTE_FLOAT)
    return _field(1, name) + b"".join(_field(8, each) for each in value) + _field(20, _ATTRIBUTE_INTS)


def _value(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    sizes = b"".join(_field(1, _field(2 if isinstance(each, str) else 1, each)) for each in shape)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, sizes)))


def _field(number: int, value: float | str | bytes) -> bytes:
    """Write a field of a protobuf message: a varint, a float of 32 bits, or a length and bytes."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value % 2**64)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    body = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(body)) + body


def _varint(value: int) -> bytes:
    groups = []
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])
