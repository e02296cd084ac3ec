"""The words that the shipped model knows: what is common in English."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files

from openbook.embedding.static import TOKENIZER_FILE


@lru_cache(maxsize=1)
def common_words() -> frozenset[str]:
    """Return the whole words of the vocabulary, in lower case: 25,348, read in some 10 ms.

    Example:
        >>> [word in common_words() for word in ("sometimes", "protein", "twosided")]
        [True, True, False]
    """
    raw = (files("openbook.embedding") / "model" / TOKENIZER_FILE).read_text("utf-8")
    return frozenset(word for word in json.loads(raw)["model"]["vocab"] if word.isalpha())
