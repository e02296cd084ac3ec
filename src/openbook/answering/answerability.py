"""Whether the sources answer a question at all: how far what was found speaks of it."""

from __future__ import annotations

import heapq
import math
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from openbook.embedding.protocol import Embedder
from openbook.index.bm25 import inverse_frequency
from openbook.index.protocol import EVERYTHING, Index, Matches
from openbook.questions.names import compounds, proper_names
from openbook.questions.question import Question
from openbook.retrieval.fields import embedding_text
from openbook.retrieval.signals import coverage, coverages, rarities
from openbook.text import sentences
from openbook.tokens import WORD, tokenize
from openbook.types import Filter, RetrievalResult

if TYPE_CHECKING:
    from openbook.index.protocol import Vector


# A text has to hold the words of the question and to be near it. Half and half: with .65 for words, conversations
# (`benchmarks/conversations.py`) lose .02 of AUC.
_WORDS_SHARE = 0.5

# What answers stands in the first results. Of ten, more come near by chance: of the unanswerable
# turns of conversations six in a hundred fewer are told.
_RESULTS = 3

# Below this no course or lesson speaks of a topic, and no small library of a question.
# `benchmarks/refusal.py` prints the curve.
SUPPORT_FLOOR = 0.33

# In a library of fewer chunks most words are missing, and half of them is no measure of nearness: there the floor
# above decides alone. No library that the odds were trained on is as small.
FEWEST_CHUNKS = 30

# In a conversation the earlier turns lend a text their nearness, so more is asked of it.
# `benchmarks/conversations.py` has both halves that it was chosen with.
FOLLOW_UP_FLOOR = 0.40

# A word that is nearer to its question than this is what the question is about. Of the words of 376 questions to
# 24 repositories that no source of theirs has, "Kafka" and "CORS" lie above it, and "truly" and "touch" below it.
_DECIDING = 0.5

# Documents that the baseline is measured on if another embedder made the index. Each takes a third of a millisecond.
_SAMPLED_DOCUMENTS = 30

# Chunks that are best by words, and by nearness, of which it counts how many are the same. On projects left out, 30
# tell questions apart as well, and 10, 20, 70 or 100 less. In a library of few, most would be the same by chance.
_COMPARED_CHUNKS, _COMPARED_SHARE = 50, 1 / 3

# The mean of answerable questions that the odds were trained on; said where another embedder made the library, whose
# agreement with words may be another.
_USUAL_AGREEMENT = 0.3

# An embedder whose vectors all lie together tells nothing.
_LEAST_SCALE = 1e-3

# A run of letters that is no ASCII and has more tokens is a sentence of a script without spaces.
_MOST_PARTS = 2

_MANY_WORDS = 20

# A name that so many chunks in a hundred have is what the library is about. With .2 or 3 of a hundred, two of 446
# questions get another sign.
_COMMON_SHARE, _FEW_CHUNKS = 0.01, 3


class AnswerabilityFeatures(NamedTuple):
    """Features of the answerability model, each from 0 to 1."""

    support: float
    """See `support`."""
    left_out: float
    """Nearness to the question, above the baseline, of the nearest of its words that is not in the best results."""
    left_out_rarity: float
    """Rarity of the rarest of these words."""
    missing_share: float
    """Share of the question's words that stand nowhere in the library, rare ones weighing more."""
    missing_where_all_is_near: float
    """That share, times the baseline: where all chunks are near, as in languages that the embedder does not know, only
    words tell."""
    decided: float
    """1 if a deciding word stands nowhere in the library, see `Answerability.deciding`; else 0."""
    length: float
    """How many words it has: 1 for twenty. A longer question has more that can be left out."""
    unnamed: float
    """1 if a name or a compound of the question, which is rare in the library, is in none of the results; else 0."""
    agreement: float
    """Share of the chunks that are best by words which are also among the nearest."""
    best_coverage: float
    """Share of the question's words that the chunk with most of them holds, rare ones weighing more."""


# Of a logistic regression on 782 questions to 48 repositories, 392 that were asked of another repository, and 364 in
# nine languages: `python -m benchmarks.refusal_cases` trains it, and reports it by projects left out.
_WEIGHTS = AnswerabilityFeatures(5.81, -3.21, 1.72, -1.29, -3.21, -0.88, 6.89, -2.53, 3.98, 2.73)
_BIAS = -8.98

# Of the answerable ones that people really ask, 4 in 100 have lower odds (same command).
ANSWERABLE_FLOOR = -1.5

# Below even odds, an answer says that it is doubtful: `python -m benchmarks.answers` prints how often answers on each
# side of it are right.
DOUBTED_BELOW = 0.0


class Answerability(NamedTuple):
    """The odds that a library answers a question, and the words that decide it."""

    signs: AnswerabilityFeatures
    deciding: tuple[str, ...]
    """Words that the question is about, as written, and that stand nowhere in the library."""

    @property
    def odds(self) -> float:
        """The log odds that the library answers the question, if it stands alone."""
        return _BIAS + sum(weight * sign for weight, sign in zip(_WEIGHTS, self.signs, strict=True))


def support(
    text: str,
    results: Sequence[RetrievalResult],
    embedder: Embedder,
    rarity: Mapping[str, float],
    baseline: float = 0.0,
) -> float:
    """Return how far the best sentence and the best chunk speak of a question, from 0 to 1; 0 without results.

    The mean of both: a sentence has to say it, and the chunk around it has the words that it leaves
    out. On questions that other libraries answer, the mean has an AUC of .995, sentences alone .994.

    Args:
        text: What is asked, with earlier turns of a conversation in front.
        results: What was found for it, best first.
        embedder: The one that made the index.
        rarity: Weight of each token of what is asked, without those of earlier turns: their subject
            is among the results whether the question is answered there or not.
        baseline: Nearness of what is asked to any chunk. The nearer, the less nearness counts, and words count more.
    """
    chunks = [result.chunk for result in results[:_RESULTS]]
    said = [chunk.text[start:end] for chunk in chunks for start, end in sentences(chunk.text)]
    if not said:
        return 0.0
    texts = [*said, *map(embedding_text, chunks)]
    asked, *vectors = embedder.embed([text, *texts])
    share = _WORDS_SHARE + (1 - _WORDS_SHARE) * baseline
    scores = [
        share * coverage(frozenset(tokenize(one)), rarity) + (1 - share) * max(0.0, float(asked @ vector))
        for one, vector in zip(texts, vectors, strict=True)
    ]
    return (max(scores[: len(said)]) + max(scores[len(said) :])) / 2


def measure_answerability(
    question: Question,
    results: Sequence[RetrievalResult],
    matches: Matches,
    index: Index,
    embedder: Embedder,
    where: Filter = EVERYTHING,
    *,
    made_by_other: bool = False,
) -> Answerability:
    """Measure what tells whether a library answers a question.

    Args:
        question: One that stands alone.
        results: What was found for it, best first.
        matches: What the index says of it, of what the filter lets through.
        index: The library.
        embedder: The one that the weights were trained with.
        where: The filter.
        made_by_other: Whether another embedder made the index, so that its vectors cannot be compared.
    """
    words = _words_of(question)
    telling = frozenset().union(*words.values())
    rarity = rarities(question, matches.frequencies, matches.chunks)
    best_coverage = max(coverages(matches, rarity), default=0.0)
    rarity = {token: each for token, each in rarity.items() if token in telling}
    asked = embedder.embed([question.text])[0]
    baseline = max(0.0, _median_cosine(asked, matches, index, embedder, where, made_by_other=made_by_other))
    nearness = _nearness(asked, words, embedder, baseline)
    weight = {word: max(rarity[token] for token in tokens) for word, tokens in words.items()}
    said = {token for result in results[:_RESULTS] for token in tokenize(embedding_text(result.chunk))}
    left_out = [word for word, tokens in words.items() if tokens.isdisjoint(said)]
    missing = [word for word, tokens in words.items() if tokens.isdisjoint(matches.frequencies)]
    # A word that says no more of the question than its other words do decides nothing.
    least = max(_DECIDING, 1 / math.sqrt(len(words)))
    deciding = tuple(word for word in missing if nearness[word] > least)
    missing_share = sum(weight[word] for word in missing) / sum(weight.values())
    signs = AnswerabilityFeatures(
        support(question.text, results, embedder, rarity, baseline),
        max((nearness[word] for word in left_out), default=0.0),
        max((weight[word] for word in left_out), default=0.0) / inverse_frequency(0, matches.chunks),
        missing_share,
        missing_share * baseline,
        float(bool(deciding)),
        min(math.log1p(len(words)) / math.log1p(_MANY_WORDS), 1.0),
        float(_is_unnamed(question, results, index)),
        _USUAL_AGREEMENT if made_by_other else _agreement(matches, where),
        best_coverage,
    )
    return Answerability(signs, deciding)


def _agreement(matches: Matches, where: Filter) -> float:
    """Return how many of the chunks that are best by words are among the nearest, as a share.

    Where words and meaning lead to the same passages, something there speaks of what is asked; words that only occur
    lead elsewhere.
    """
    # Of a filter that lets few chunks through, all are among the evidence.
    chunks = matches.chunks if where == EVERYTHING else len(matches.evidence)
    compared = max(1, min(_COMPARED_CHUNKS, int(chunks * _COMPARED_SHARE)))
    by_words = heapq.nsmallest(compared, matches.evidence, key=lambda each: -each.bm25)
    nearest = heapq.nsmallest(compared, matches.evidence, key=lambda each: -each.cosine)
    return len({each.id for each in by_words if each.bm25 > 0} & {each.id for each in nearest}) / compared


def _is_unnamed(question: Question, results: Sequence[RetrievalResult], index: Index) -> bool:
    """Return whether something that an English question names is in none of the results, and rare in the library.

    "Can jobs run on Kubernetes?" is of jobs, and so are the results; what they say of Kubernetes is the answer.
    """
    if question.in_other_language or question.stop_words:
        return False
    texts = [f"{embedding_text(result.chunk)} {result.chunk.span.path}" for result in results]
    if any(not any(_has_compound(text, compound) for text in texts) for compound in compounds(question.text)):
        return True
    own = {root.name.lower() for root in index.roots()}
    # The last token of a name is all of it: `s3` of S3, which is also `s` and `3`.
    names = {tokenize(name)[-1] for name in proper_names(question.text) if name.lower() not in own and tokenize(name)}
    names &= set(question.tokens)
    frequencies = index.frequencies(sorted(names))
    common = max(_FEW_CHUNKS, _COMMON_SHARE * index.stats().chunks)
    said = frozenset(token for text in texts for token in tokenize(text)) if names else frozenset()
    return any(name not in said and frequencies.get(name, 0) <= common for name in names)


def _has_compound(text: str, compound: str) -> bool:
    """Return whether a text has a compound, whichever way it is joined: `two-factor`, two factor, `twofactor`."""
    joined = r"[\s_/-]?".join(map(re.escape, re.split("[-/]", compound)))
    return re.search(rf"(?<![^\W_]){joined}(?![^\W_])", text, re.IGNORECASE) is not None


def _median_cosine(
    asked: Vector, matches: Matches, index: Index, embedder: Embedder, where: Filter, *, made_by_other: bool
) -> float:
    """Return the nearness of a question to any chunk, without the filter: what it lets through may all be near."""
    if made_by_other:
        return _sampled_cosine(asked, index, embedder)
    return (matches if where == EVERYTHING else index.match((), asked, 1, EVERYTHING)).median_cosine


def _sampled_cosine(asked: Vector, index: Index, embedder: Embedder) -> float:
    """Return the median cosine of a question with one chunk each of documents all over the library."""
    documents = index.documents(EVERYTHING)
    step = math.ceil(len(documents) / _SAMPLED_DOCUMENTS)
    found = [index.chunks(each.source, each.path) for each in documents[:: max(1, step)]]
    texts = [embedding_text(chunks[len(chunks) // 2]) for chunks in found if chunks]
    return statistics.median(float(vector @ asked) for vector in embedder.embed(texts)) if texts else 0.0


def _nearness(asked: Vector, words: Iterable[str], embedder: Embedder, baseline: float) -> dict[str, float]:
    """Return how near each word is to the question, 0 for the baseline: how much of the question it is."""
    scale = max(1 - baseline, _LEAST_SCALE)
    vectors = embedder.embed([word.lower() for word in words])
    return {word: max(0.0, float(each @ asked) - baseline) / scale for word, each in zip(words, vectors, strict=True)}


def _words_of(question: Question) -> dict[str, frozenset[str]]:
    """Return the telling words of a question with their tokens; of scripts without spaces, pairs of characters."""
    found: dict[str, frozenset[str]] = {}
    for word in WORD.findall(question.text):
        tokens = [token for token in tokenize(word) if token in question.tokens]
        if not word.isascii() and len(tokens) > _MOST_PARTS:
            found |= {token: frozenset({token}) for token in tokens}
        elif tokens and word.lower() not in question.stop_words:
            found[word] = frozenset(tokens)
    return found or {question.text: frozenset(question.tokens)}
