"""Whether the sources answer a question at all: how far what was found speaks of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from openbook.embedding.protocol import Embedder
from openbook.retrieval.fields import embedding_text
from openbook.retrieval.signals import coverage
from openbook.retrieval.tokens import tokenize
from openbook.spans import sentences
from openbook.types import RetrievalResult

# A text has to hold the words of the question and to be near it. Half and half: with .65 for words,
# as for the relevance of one result, conversations (`benchmarks/conversations.py`) lose .02 of AUC.
_WORDS_SHARE = 0.5

# What answers stands in the first results. Of ten, more come near by chance: of the unanswerable
# turns of conversations six in a hundred fewer are told.
_RESULTS = 3

# Below this nothing answers a question that stands alone. `benchmarks/refusal.py` prints the curve.
SUPPORT_FLOOR = 0.33

# In a conversation the earlier turns lend a text their nearness, so more is asked of it.
# `benchmarks/conversations.py` has both halves that it was chosen with.
FOLLOW_UP_FLOOR = 0.40


def support(text: str, results: Sequence[RetrievalResult], embedder: Embedder, rarity: Mapping[str, float]) -> float:
    """Say how far the best sentence and the best chunk speak of a question, from 0 to 1; 0 without results.

    The mean of both: a sentence has to say it, and the chunk around it has the words that it leaves
    out. On questions that other libraries answer, the mean has an AUC of .995, sentences alone .994,
    and the relevance of results, which knows no sentences, .992.

    Args:
        text: What is asked, with earlier turns of a conversation in front.
        results: What was found for it, best first.
        embedder: The one that made the index.
        rarity: Weight of each token of what is asked, without those of earlier turns: their subject
            is among the results whether the question is answered there or not.
    """
    chunks = [result.chunk for result in results[:_RESULTS]]
    said = [chunk.text[start:end] for chunk in chunks for start, end in sentences(chunk.text)]
    if not said:
        return 0.0
    texts = [*said, *map(embedding_text, chunks)]
    asked, *vectors = embedder.embed([text, *texts])
    scores = [
        _WORDS_SHARE * coverage(frozenset(tokenize(one)), rarity) + (1 - _WORDS_SHARE) * max(0.0, float(asked @ vector))
        for one, vector in zip(texts, vectors, strict=True)
    ]
    return (max(scores[: len(said)]) + max(scores[len(said) :])) / 2
