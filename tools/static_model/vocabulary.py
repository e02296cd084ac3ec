"""Gives the distilled model words of code that MiniLM has no piece for, such as `str`, `args` and `nil`."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
from tokenizers import Tokenizer

# A word in fewer packages is a name of one project.
MIN_PACKAGES = 12
# 32,500 rows of 256 bytes and the tokenizer stay below 9 MB.
MAX_ROWS = 32_500
# The first words of a text are enough to know a package by.
_SAMPLED_CHARS = 600

_SPLIT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")
_WORD = re.compile(r"^[a-z][a-z0-9]{2,18}$")


def words_to_add(texts: Iterable[tuple[str, str]], known: set[str], *, most: int) -> list[str]:
    """Return the words in most packages that are no piece yet, the most frequent first; equal ones by letters.

    Args:
        texts: Package and text.
        known: The pieces of the tokenizer.
        most: How many words at most.
    """
    packages: defaultdict[str, set[str]] = defaultdict(set)
    for package, text in texts:
        for word in _SPLIT.split(text[:_SAMPLED_CHARS]):
            lowered = word.lower()
            if lowered not in known and _WORD.match(lowered) and sum(map(str.isdigit, lowered)) <= 2:
                packages[lowered].add(package)
    frequent = [(word, len(where)) for word, where in packages.items() if len(where) >= MIN_PACKAGES]
    return [word for word, _ in sorted(frequent, key=lambda item: (-item[1], item[0]))[:most]]


def extend(tokenizer: dict[str, Any], rows: np.ndarray, words: list[str]) -> tuple[dict[str, Any], np.ndarray]:
    """Add words to a WordPiece tokenizer; a word starts at the sum of its pieces over the root of their number."""
    known = Tokenizer.from_str(json.dumps(tokenizer))
    encoded = [known.encode(word, add_special_tokens=False).ids for word in words]
    added = np.stack([rows[ids].sum(axis=0) / np.sqrt(len(ids)) for ids in encoded]).astype(rows.dtype)
    vocabulary = tokenizer["model"]["vocab"] | {word: len(rows) + place for place, word in enumerate(words)}
    return tokenizer | {"model": tokenizer["model"] | {"vocab": vocabulary}}, np.concatenate([rows, added])
