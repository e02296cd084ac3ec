"""Linear models over the words of a question, as shipped in JSON files beside this module."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Iterator, Mapping
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

from openbook.questions.words import folded

_WORD = re.compile(r"\w+|[?!+*/=%]")
_DIGITS = re.compile(r"\d+")
_PREFIX = 4
# Options, paths, code names, quotations and abbreviations are subjects of specific questions.
_SPELLED = re.compile(
    r"`[^`\n]+`|\w+_\w+|\b[a-z]+[A-Z]\w*|\b\w+\.\w{1,4}\b|(?<!^)\b[A-Z]{2,}\b|--?\w+|[$#/]\w|\w\(\)|[\"«„“][^\"»”“]+[\"»”“]"
)

# Longer texts are pasted, and have no scores. Characters.
MAX_CHARS = 500
_SHORT, _LONG = 2, 12
_MANY_UNKNOWN = 3
# Weight of the words against the shape of a question. Chosen with projects left out.
WORDS_WEIGHT = 3.0

UNKNOWN_SHARE = "@unknown share"
MAX_UNKNOWN = 0.5
"""With a larger share of words that a model does not know, as in other languages, a text has no scores."""


class LinearModel(NamedTuple):
    """Scores that are sums of the weights of features."""

    names: tuple[str, ...]
    """What is scored, in the order of `bias` and of each row of `weights`."""
    bias: tuple[float, ...]
    weights: Mapping[str, tuple[float, ...]]

    def scores(self, text: str) -> dict[str, float] | None:
        """Return the score of each name; None for long texts, and texts of mostly unknown words."""
        found = features(text, self.weights.keys()) if len(text) <= MAX_CHARS else {}
        if found.get(UNKNOWN_SHARE, 1.0) > MAX_UNKNOWN:
            return None
        scores = list(self.bias)
        for name, value in found.items():
            for place, weight in enumerate(self.weights.get(name, ())):
                scores[place] += weight * value
        return dict(zip(self.names, scores, strict=True))


@lru_cache
def load_model(name: str) -> LinearModel:
    """Read the model of a file, whose weights are in hundredths."""
    found = json.loads(resources.files("openbook.questions").joinpath(f"{name}.json").read_text(encoding="utf-8"))
    weights = {name: tuple(weight / 100 for weight in row) for name, row in found["weights"].items()}
    return LinearModel(tuple(found["names"]), tuple(bias / 100 for bias in found["bias"]), weights)


def features(text: str, known: Container[str]) -> dict[str, float]:
    """Return the features of a question by name: words, word pairs, prefixes, and its shape.

    Words that are not `known` to the model count as one; most of them name the subject.
    """
    words = [_DIGITS.sub("0", word) for word in _WORD.findall(folded(text))]
    named = {name for name in _of_words(words) if name in known}
    weight = WORDS_WEIGHT / math.sqrt(len(named)) if named else 0.0
    spoken = [word for word in words if word.isalpha()]
    unknown = sum(word not in known for word in spoken)
    has_words = bool(spoken) or "0" in words
    return {
        **dict.fromkeys(sorted(named), weight),
        f"@unknown {min(unknown, _MANY_UNKNOWN)}": 1.0,
        UNKNOWN_SHARE: unknown / max(len(spoken), 1) if has_words else 1.0,
        "@spelled": float(_SPELLED.search(text) is not None),
        "@short": float(len(spoken) <= _SHORT),
        "@long": float(len(spoken) >= _LONG),
    }


def _of_words(words: list[str]) -> Iterator[str]:
    yield from words
    for before, after in zip(["^", *words], [*words, "$"], strict=True):
        yield f"{before} {after}"
    for word in words:
        if len(word) > _PREFIX:
            yield f"{word[:_PREFIX]}-"
