"""A sentence encoder in ONNX: how near a question and a text are, for a model that reads words in context.

The folder has `model.onnx`, whose output is a vector for each token, and `tokenizer.json`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

# Texts of like length that are read together. All 20 at once are slower, for they no longer fit into the cache.
_BATCH = 4
_ERRORS_ONLY = 3


class Nearness(NamedTuple):
    """How near a text is to a question."""

    cosine: float
    """Of the means of their tokens."""
    tokens: float
    """The mean, over tokens of the question, of the cosine with the nearest token of the text."""


class SentenceEncoder:
    """Reads texts up to so many tokens. What has been read is kept in a file, if one is named."""

    def __init__(self, folder: Path, tokens: int, threads: int = 1, cache: Path | None = None) -> None:
        """Load the model."""
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(tokens)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = threads, _ERRORS_ONLY
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
        self._cache = cache
        # What another model has read, or this one up to other tokens, is not known.
        self._read_by = f"{hashlib.sha256((folder / 'model.onnx').read_bytes()).hexdigest()}\0{tokens}"
        self._known: dict[str, list[float]] = (
            json.loads(cache.read_text(encoding="utf-8")) if cache and cache.exists() else {}
        )

    def nearness(self, question: str, texts: Sequence[str]) -> list[Nearness]:
        """Measure texts, in their order."""
        keys = [self._key(question, text) for text in texts]
        unread = [place for place, key in enumerate(keys) if key not in self._known]
        if unread:
            (asked,) = self._read([question])
            for place, said in zip(unread, self._read([texts[place] for place in unread]), strict=True):
                self._known[keys[place]] = list(_compare(asked, said))
        return [Nearness(*self._known[key]) for key in keys]

    def is_known(self, question: str, texts: Sequence[str]) -> bool:
        """Return whether nothing of these has to be read."""
        return all(self._key(question, text) in self._known for text in texts)

    def save(self) -> None:
        """Keep what has been read."""
        if self._cache:
            self._cache.write_text(json.dumps(self._known), encoding="utf-8")

    def _key(self, question: str, text: str) -> str:
        return hashlib.sha256(f"{self._read_by}\0{question}\0{text}".encode("utf-8", "replace")).hexdigest()[:24]

    def _read(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return the vectors of the tokens of each text."""
        encoded = [self._tokenizer.encode(text).ids for text in texts]
        found: dict[int, NDArray[np.float32]] = {}
        order = sorted(range(len(texts)), key=lambda place: len(encoded[place]))
        for start in range(0, len(order), _BATCH):
            places = order[start : start + _BATCH]
            for place, vectors in zip(places, self._run([encoded[each] for each in places]), strict=True):
                found[place] = vectors[: len(encoded[place])]
        return [found[place] for place in range(len(texts))]

    def _run(self, batch: Sequence[Sequence[int]]) -> Any:
        ids = np.zeros((len(batch), max(map(len, batch))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, each in enumerate(batch):
            ids[row, : len(each)], mask[row, : len(each)] = each, 1
        fed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        return self._session.run(None, {each.name: fed[each.name] for each in self._session.get_inputs()})[0]


def _compare(asked: NDArray[np.float32], said: NDArray[np.float32]) -> Nearness:
    cosine = float(_unit(asked.mean(axis=0)) @ _unit(said.mean(axis=0)))
    # Without the tokens that open and close the question.
    nearest = (_unit(asked[1:-1]) @ _unit(said).T).max(axis=1)
    return Nearness(cosine, float(nearest.mean()))


def _unit(vectors: Any) -> Any:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)
