"""Turns pairs into arrays of word pieces, once, so that training only adds rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

MAX_QUERY_PIECES = 48
MAX_TEXT_PIECES = 128
# 128 pieces of code are seldom more characters; tokenizing the rest would be for nothing.
_MAX_CHARS = 900
_BATCH = 4_096

# Of these kinds there are more than help: names and comments crowd out what is said in sentences.
MAX_PER_KIND = {"name": 120_000, "asked": 60_000, "comment": 60_000}


@dataclass(frozen=True, slots=True)
class Pieces:
    """The word pieces of many texts, one after the other."""

    ids: np.ndarray
    """int32 (pieces,)."""
    starts: np.ndarray
    """int64 (texts + 1,): where each text starts, and the end."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    def take(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the pieces of some texts, int64, and where each of these starts."""
        lengths = self.starts[places + 1] - self.starts[places]
        offsets = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        within = np.arange(int(lengths.sum())) - np.repeat(offsets, lengths)
        return self.ids[np.repeat(self.starts[places], lengths) + within].astype(np.int64), offsets


def pieces_of(tokenizer: Tokenizer, texts: Sequence[str], most: int) -> Pieces:
    """Tokenize texts, each up to so many pieces; one without any gets the piece that stands for nothing."""
    found: list[np.ndarray] = []
    for start in range(0, len(texts), _BATCH):
        batch = [text[:_MAX_CHARS] for text in texts[start : start + _BATCH]]
        encodings = tokenizer.encode_batch_fast(batch, add_special_tokens=False)
        found += [np.array(encoding.ids[:most] or [0], dtype=np.int32) for encoding in encodings]
    starts = np.concatenate([[0], np.cumsum([len(ids) for ids in found])])
    return Pieces(np.concatenate(found), starts)


def read_pairs(path: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield kind, package, query and text of what `tools.static_model.mine` wrote."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            kind, package, query, text = json.loads(line)
            yield kind, package, query, text


def order_of(kinds: Iterable[str], seed: int) -> np.ndarray:
    """Shuffle the places of pairs, leaving out what is too much of a kind. Int64."""
    rng = np.random.default_rng(seed)
    named = np.array(kinds)
    chosen = []
    for kind in sorted(set(named.tolist())):
        places = np.flatnonzero(named == kind)
        rng.shuffle(places)
        chosen.append(places[: MAX_PER_KIND.get(kind, len(places))])
    order = np.concatenate(chosen)
    rng.shuffle(order)
    return order
