"""How much speaks for each passage as the answer: a linear model over what is known of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from openbook.answering.headings import heading_over
from openbook.answering.passages import Passage
from openbook.embedding.protocol import Embedder
from openbook.questions.question import Question
from openbook.retrieval.proximity import expand_inflections, proximity
from openbook.retrieval.roles import role_of
from openbook.retrieval.signals import Signals, coverage
from openbook.tokens import tokenize

# Fitted by `python -m benchmarks.quotes`, which prints what they are worth on projects left out.
WEIGHTS: Mapping[str, float] = {
    "words": 1.91,
    "place": 2.80,
    "meaning": 3.04,
    "result": 1.68,
    "rank": 1.75,
    "proximity": 1.30,
    "number:value": 1.89,
    "prose:how-to": 1.20,
    "prose:where": -0.94,
    "fence:how-to": 2.23,
    "aside": -1.31,
    "head": 0.57,
}

_ASKS_FOR_VALUE = re.compile(
    r"\bhow (?:many|much|long|often|big|large|old)\b|\bdefault\b|\bwhich port\b|\bunless\b"
    r"|\bwie (?:viele?|lange?|oft|gro(?:ß|ss))\b|\bcombien\b|\bcu[aá]nt[oa]s?\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|zwei|drei|vier|fünf|sechs|deux|trois|quatre|dos|tres|cuatro)\b",
    re.IGNORECASE,
)
_ASIDE = frozenset({"test", "example", "changelog", "generated"})


def signals_of(
    query: Question, passages: Sequence[Passage], embedder: Embedder, rarity: Mapping[str, float]
) -> list[Signals]:
    """Measure what speaks for each passage, by the names of `WEIGHTS`.

    Args:
        query: What was asked.
        passages: What may be quoted.
        embedder: The one that made the index.
        rarity: Weight of each token of the question.
    """
    asked, *vectors = embedder.embed([query.text, *(passage.text for passage in passages)])
    best = max(passage.shown.result.score for passage in passages)
    ranks = {number: rank for rank, number in enumerate(sorted({p.shown.number for p in passages}), start=1)}
    wants_value = _ASKS_FOR_VALUE.search(query.text) is not None
    found = []
    for passage, vector in zip(passages, vectors, strict=True):
        tokens = tokenize(passage.text)
        words, result = frozenset(tokens), passage.shown.result
        is_prose = passage.shown.is_prose
        found.append(
            {
                "words": coverage(words, rarity),
                "place": coverage(words | words_around(passage), rarity),
                "meaning": max(0.0, float(asked @ vector)),
                "result": result.score / best if best > 0 else 0.0,
                "rank": 1 / ranks[passage.shown.number],
                "proximity": proximity(expand_inflections(tokens, query.tokens), rarity),
                "number:value": float(wants_value and _NUMBER.search(passage.text) is not None),
                "prose:how-to": float(is_prose and not query.intents.isdisjoint(("how-to", "definition"))),
                "prose:where": float(is_prose and "where" in query.intents),
                "fence:how-to": float("how-to" in query.intents and "```" in passage.text),
                "aside": float(role_of(result.chunk.span.path, result.chunk.kind) in _ASIDE),
                "head": float(passage.is_head),
            }
        )
    return found


def passage_score(signals: Mapping[str, float]) -> float:
    """Return the score of a passage. Scores compare within one question and may be negative."""
    return sum(WEIGHTS[name] * value for name, value in signals.items())


def words_around(passage: Passage) -> frozenset[str]:
    """Return the words of the headings or the symbol that a passage stands under."""
    chunk = passage.shown.result.chunk
    above = heading_over(chunk, passage.start_char - chunk.span.start_char) if passage.shown.is_prose else ""
    return _words(" ".join((*chunk.context, chunk.symbol, above)))


# Most passages stand under the same headings as the one before.
@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    return frozenset(tokenize(text))
