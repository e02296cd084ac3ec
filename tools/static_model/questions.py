"""Questions that a language model wrote, with the texts that answer them, put into batches beside mined pairs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from tools.static_model.tokens import MAX_QUERY_PIECES, MAX_TEXT_PIECES, Pieces, order_of, pieces_of, read_pairs

QUESTIONS = Path(__file__).resolve().parents[1] / "training_questions"
BATCH = 512
# More epochs, and other batches, change nothing beyond noise: docs/static-model.md.
_EPOCHS = 4
_SEED = 1


@dataclass(frozen=True, slots=True)
class Batches:
    """Questions with their texts, and which of them are used in what order."""

    queries: Pieces
    texts: Pieces
    order: np.ndarray
    """int64: places of pairs, a batch after the other."""


def read_questions(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield each question with the text that answers it, by file and line.

    A line is `{"text": ..., "questions": [...]}`.
    """
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            for question in record["questions"]:
                yield question, record["text"]


def read_batches(tokenizer: Tokenizer, asked: list[tuple[str, str]], mined: Path) -> Batches:
    """Put as many mined pairs into each batch as questions, both shuffled; every epoch takes other mined ones."""
    half = BATCH // 2
    rng = np.random.default_rng(_SEED)
    steps = _EPOCHS * len(asked) // half
    own = np.concatenate([rng.permutation(len(asked)) for _ in range(_EPOCHS)])[: steps * half]
    kinds, _, queries, texts = zip(*read_pairs(mined), strict=True)
    chosen = order_of(kinds, _SEED)[: steps * half]
    others = len(asked) + np.arange(steps * half) % len(chosen)
    return Batches(
        queries=pieces_of(tokenizer, [q for q, _ in asked] + [queries[n] for n in chosen], MAX_QUERY_PIECES),
        texts=pieces_of(tokenizer, [t for _, t in asked] + [texts[n] for n in chosen], MAX_TEXT_PIECES),
        order=np.concatenate([own.reshape(steps, half), others.reshape(steps, half)], axis=1).ravel(),
    )
