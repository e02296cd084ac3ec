"""Classifies questions: about a whole, small talk, arithmetic, or specific.

The classifier is a linear model over words. `python -m benchmarks.kinds` trains it, and cross-validates it by project.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import resources
from typing import Literal, NamedTuple

from openbook.questions.words import FILLING_WORDS, STOP_WORDS, folded

Kind = Literal["whole", "small talk", "arithmetic", "specific"]
"""`whole` asks about the project, page or lesson as a whole. `small talk` and `arithmetic` need no source. All else is
`specific`, including questions for a summary of a part."""

_WORD = re.compile(r"\w+|[?!+*/=%]")
_DIGITS = re.compile(r"\d+")
_PREFIX = 4
# Options, paths, code names, quotations and abbreviations are subjects of specific questions.
_SPELLED = re.compile(
    r"`[^`\n]+`|\w+_\w+|\b[a-z]+[A-Z]\w*|\b\w+\.\w{1,4}\b|(?<!^)\b[A-Z]{2,}\b|--?\w+|[$#/]\w|\w\(\)|[\"«„“][^\"»”“]+[\"»”“]"
)
# "What is git rebase?", "What does git rebase do?": a command of a project, or a word on the project itself.
_ASKS_FOR_PART = (
    r"what(?:\s+is|['\u2019]s|\s+does(?=.+\sdo\W*$))\s+(?:the\s+)?`?(?:{})\s+(?P<part>\w[\w-]*)`?(?:\s+(?:for|do))?\W*"
)
_OF_WHOLE = frozenset(
    "actually basically best built called capable do doing done exactly good great is known like made meant mean offer"
    " offering project really special supposed trying useful written".split()
)
# Longer texts are always specific. Characters.
_MAX_CHARS = 500
_SHORT, _LONG = 2, 12
_MANY_UNKNOWN = 3
# Weight of the words against the shape of a question. Chosen with projects left out.
WORDS_WEIGHT = 3.0

UNKNOWN_SHARE = "@unknown share"
MAX_UNKNOWN = 0.5
MIN_SHARE: Mapping[Kind, float] = {"whole": 0.6, "small talk": 0.6, "arithmetic": 0.6, "specific": 0.0}
"""The least probability of each kind. Small talk is not searched for, so it has to be certain."""


class _Model(NamedTuple):
    kinds: tuple[Kind, ...]
    bias: tuple[float, ...]
    weights: Mapping[str, tuple[float, ...]]


def kind_of(text: str) -> Kind:
    """Return the kind of a question: `specific` unless another one is likely.

    Questions in other languages than English, German, French and Spanish, or with mostly unknown words, are `specific`.

    Example:
        >>> kind_of("in a nutshell, what is this project?"), kind_of("Summarize the chapter on sauces")
        ('whole', 'specific')
        >>> kind_of("how many seconds does the retry wait?")
        'specific'
    """
    model = _model()
    found = features(text, model.weights.keys()) if len(text) <= _MAX_CHARS else {}
    if found.get(UNKNOWN_SHARE, 1.0) > MAX_UNKNOWN:
        return "specific"
    scores = list(model.bias)
    for name, value in found.items():
        for kind, weight in enumerate(model.weights.get(name, ())):
            scores[kind] += weight * value
    most = max(scores)
    odds = [math.exp(score - most) for score in scores]
    best = odds.index(max(odds))
    return model.kinds[best] if odds[best] > MIN_SHARE[model.kinds[best]] * sum(odds) else "specific"


def without_names(text: str, names: Iterable[str]) -> str:
    """Return a question with "this project" for each of its names, as the model was trained to read it.

    Example:
        >>> without_names("Which databases does Harbour support?", ["harbour"])
        'Which databases does this project support?'
    """
    named = "|".join(re.escape(name) for name in names if name)
    return re.sub(rf"(?<!\w)(?:{named})(?!\w)", "this project", text, flags=re.IGNORECASE) if named else text


def names_part(text: str, names: Iterable[str]) -> bool:
    """Return whether a question asks what a part of a project is, called by the project's name and its own.

    Example:
        >>> [names_part(text, ["harbour"]) for text in ("What is Harbour moor?", "What is Harbour good for?")]
        [True, False]
    """
    named = "|".join(re.escape(name) for name in names if name)
    found = re.fullmatch(_ASKS_FOR_PART.format(named), text.strip(), re.IGNORECASE) if named else None
    return found is not None and found["part"].casefold() not in STOP_WORDS | FILLING_WORDS | _OF_WHOLE


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


@lru_cache(maxsize=1)
def _model() -> _Model:
    found = json.loads(resources.files("openbook.questions").joinpath("kinds.json").read_text(encoding="utf-8"))
    weights = {name: tuple(weight / 100 for weight in row) for name, row in found["weights"].items()}
    return _Model(tuple(found["kinds"]), tuple(bias / 100 for bias in found["bias"]), weights)
