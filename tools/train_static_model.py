"""Distil all-MiniLM-L6-v2 into a static model, then train its rows on pairs.

    python -m tools.train_static_model --pairs pairs.jsonl --teacher teacher.npz --output FOLDER

tools/README.md says where pairs and teacher come from.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from tools.distill_static_model import (
    INPUTS,
    distil,
    find_weights,
    report,
    silence,
    undocumented,
    write_model,
)
from tools.static_model.tokens import MAX_QUERY_PIECES, MAX_TEXT_PIECES, Pieces, order_of, pieces_of, read_pairs
from tools.static_model.vocabulary import MAX_ROWS, extend, words_to_add

# One text in three is enough to count words by.
_COUNTED = 3

# A piece met so often moved half by training, half as the pieces met often did.
_HALF_LEARNED = 30
# What is more frequent than this weighs no more when it is told how pieces moved.
_FREQUENT = 2_000


def main() -> int:
    """Distil, extend, train, write, and say what came out. 1 if the result is not the documented one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=Path, required=True, help="from python -m tools.static_model.mine")
    parser.add_argument("--teacher", type=Path, required=True, help="from python -m tools.static_model.teacher")
    parser.add_argument("--output", type=Path, required=True, help="folder to write to")
    parser.add_argument("--float32", type=Path, help="also write the rows before rounding, to this .npy file")
    arguments = parser.parse_args()

    source = find_weights()
    inputs = {name: source / name for name in INPUTS}
    report("input", inputs | {"pairs": arguments.pairs, "teacher": arguments.teacher})
    rows, tokenizer = distil(source)
    os.environ["TOKENIZERS_PARALLELISM"] = "true"
    trained, tokenizer = train_on(arguments.pairs, arguments.teacher, silence(rows, tokenizer), tokenizer)
    if arguments.float32:
        np.save(arguments.float32, silence(trained, tokenizer))
    return undocumented(write_model(arguments.output, trained, tokenizer))


def train_on(
    pairs: Path, teacher: Path, rows: np.ndarray, tokenizer: dict[str, Any]
) -> tuple[np.ndarray, dict[str, Any]]:
    """Return trained rows, float32, and the tokenizer with the words that were added."""
    from tools.static_model.train import STEMS, Lessons, Recipe, train

    kinds, packages, queries, texts = zip(*read_pairs(pairs), strict=True)
    counted = zip(packages[::_COUNTED], texts[::_COUNTED], strict=True)
    words = words_to_add(counted, set(tokenizer["model"]["vocab"]), most=MAX_ROWS - len(rows))
    tokenizer, rows = extend(tokenizer, rows, words)
    loaded = Tokenizer.from_str(json.dumps(tokenizer))
    asked = pieces_of(loaded, queries, MAX_QUERY_PIECES)
    found = pieces_of(loaded, texts, MAX_TEXT_PIECES)
    stems = pieces_of(loaded, STEMS, MAX_QUERY_PIECES)
    with np.load(teacher) as said:
        lessons = Lessons(said["places"], said["queries"], said["texts"])
    recipe = Recipe()
    trained = train(rows, asked, found, stems, order_of(kinds, recipe.seed), lessons, recipe)
    return carry(rows, trained, met(len(rows), asked, found)), tokenizer


def met(rows: int, *pieces: Pieces) -> np.ndarray:
    """Count how often each piece is met."""
    return np.sum([np.bincount(texts.ids, minlength=rows) for texts in pieces], axis=0)


def carry(start: np.ndarray, trained: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Take pieces that were seldom met along: the frequent ones tell, by least squares, how the space was turned."""
    before = start / np.linalg.norm(start, axis=1).mean()
    frequent = count >= _HALF_LEARNED
    weights = np.sqrt(np.minimum(count[frequent], _FREQUENT))[:, None].astype(np.float64)
    turn, *_ = np.linalg.lstsq(before[frequent] * weights, trained[frequent] * weights, rcond=None)
    learned = (count / (count + _HALF_LEARNED))[:, None]
    return (learned * trained + (1 - learned) * (before @ turn)).astype(np.float32)


if __name__ == "__main__":
    sys.exit(main())
