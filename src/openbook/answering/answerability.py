"""Answerability: estimates from the search results whether the library answers a question."""

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
from openbook.questions.dates_asked import NAMES_OF_TIME
from openbook.questions.names import compounds, proper_names
from openbook.questions.question import Question
from openbook.questions.words import folded, is_everyday
from openbook.retrieval.fields import embedding_text
from openbook.retrieval.signals import coverage, coverages, rarities
from openbook.text import sentences
from openbook.tokens import WORD, tokenize
from openbook.types import Filter, RetrievalResult

if TYPE_CHECKING:
    from openbook.index.protocol import Vector


# Weight of the words of a text against its cosine similarity. With .65 for words, conversations
# (`benchmarks/conversations.py`) lose .02 of AUC.
_WORDS_SHARE = 0.5

# Results that are compared with the question. With ten, chance matches hide 6 % more of the unanswerable turns of
# conversations.
_RESULTS = 3

# Minimum support of a topic in courses, and of a question in a small library. `benchmarks/refusal.py` prints the curve.
SUPPORT_FLOOR = 0.33

# Smaller libraries lack most words, and have too few chunks for a baseline, so only the floor above decides. No library
# in the training set is that small.
MIN_CHUNKS = 30

# Minimum support of a follow-up. It is higher because the earlier turns raise the similarity. Chosen on both halves of
# `benchmarks/conversations.py`.
FOLLOW_UP_FLOOR = 0.40

# Minimum similarity of a word to its question for the question to be about it. Of the words in 376 questions to 24
# repositories that their sources lack, "Kafka" and "CORS" are above, "truly" and "touch" below.
_DECIDING = 0.5

# Sample size for the baseline if another embedder made the index. A document takes a third of a millisecond.
_SAMPLED_DOCUMENTS = 30

# Top chunks by BM25 and by cosine whose overlap is measured, and the largest share of a library that they may be: in a
# small one, most would overlap by chance. On projects left out, 30 is as good, and 10, 20, 70 or 100 are worse.
_COMPARED_CHUNKS, _COMPARED_SHARE = 50, 1 / 3

# The mean of the answerable training questions, for libraries of other embedders, whose agreement may differ.
_USUAL_AGREEMENT = 0.3

# Avoids a division by zero if all vectors are equal.
_MIN_SCALE = 1e-3

# A word outside ASCII with more tokens is a sentence in a script without spaces.
_MAX_PARTS = 2

_MANY_WORDS = 20

# A name in more chunks than this is common in the library. With .2 % or 3 %, the feature changes for two of 446
# questions.
_COMMON_SHARE, _FEW_CHUNKS = 0.01, 3


class AnswerabilityFeatures(NamedTuple):
    """Features of the answerability model, each from 0 to 1."""

    support: float
    """See `support`."""
    left_out: float
    """The highest similarity to the question, above the baseline, of its words that the best results lack."""
    left_out_rarity: float
    """The rarity of the rarest of these words."""
    missing_share: float
    """The share of the question's words that the library lacks, weighted by rarity."""
    missing_where_all_is_near: float
    """That share times the baseline. If all chunks are similar, as in languages that the embedder does not know, only
    words discriminate."""
    decided: float
    """1 if the library lacks a deciding word, see `Answerability.deciding`; else 0."""
    length: float
    """The number of its words on a logarithmic scale, 1 for twenty: results lack more words of a longer question."""
    unnamed: float
    """1 if the results lack a name or a compound of the question that is rare in the library; else 0."""
    agreement: float
    """The share of the top chunks by BM25 that are also among the top chunks by cosine."""
    best_coverage: float
    """The largest share of the question's words in one chunk, weighted by rarity."""


# A logistic regression on 782 questions to 48 repositories, 392 questions to other repositories, and 364 questions in
# nine languages. `python -m benchmarks.refusal_cases` trains it and cross-validates it by project.
_WEIGHTS = AnswerabilityFeatures(5.81, -3.21, 1.72, -1.29, -3.21, -0.88, 6.89, -2.53, 3.98, 2.73)
_BIAS = -8.98

# 4 % of the answerable questions that people really asked have lower log odds (same command).
ANSWERABLE_FLOOR = -1.65

# Answers with lower log odds say that they are doubtful: even odds. `python -m benchmarks.answers` prints how often
# answers on either side are right.
DOUBTED_BELOW = 0.0


class Answerability(NamedTuple):
    """The features of a question, its log odds of an answer, and the words that decide it."""

    signs: AnswerabilityFeatures
    deciding: tuple[str, ...]
    """Words that the question is about and that the library lacks, as written."""

    @property
    def odds(self) -> float:
        """The log odds that the library answers the question, if that is no follow-up."""
        return _BIAS + sum(weight * sign for weight, sign in zip(_WEIGHTS, self.signs, strict=True))


def support(
    text: str,
    results: Sequence[RetrievalResult],
    embedder: Embedder,
    rarity: Mapping[str, float],
    baseline: float = 0.0,
) -> float:
    """Return how well results match a question, from 0 to 1; 0 without results.

    It is the mean of the best sentence, which should answer, and the best chunk, which has the words that the sentence
    leaves out. On questions for other libraries, the mean has an AUC of .995, sentences alone .994. `text` begins with
    earlier turns of a conversation; `rarity` has the weights of the tokens without those, because results are about
    their subject in any case. The higher the `baseline`, the similarity of the question to any chunk, the less
    similarity counts.
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
    """Measure the features that tell whether a library answers a question.

    The question is no follow-up. `embedder` is the one that the weights were trained with; `made_by_other`: another one
    made the index, so that its vectors cannot be compared.
    """
    dated = _tokens_of_dates(question, results)
    words = _words_of(question, matches)
    words = {word: tokens for word, tokens in words.items() if not tokens <= dated} or words
    telling = frozenset().union(*words.values())
    rarity = rarities(question, matches.frequencies, matches.chunks)
    rarity = {token: each * (token not in dated) for token, each in rarity.items()}
    best_coverage = max(coverages(matches, rarity), default=0.0)
    rarity = {token: each for token, each in rarity.items() if token in telling}
    asked = embedder.embed([question.text])[0]
    baseline = max(0.0, _median_cosine(asked, matches, index, embedder, where, made_by_other=made_by_other))
    nearness = _nearness(asked, words, embedder, baseline)
    weight = {word: max(rarity[token] for token in tokens) for word, tokens in words.items()}
    said = {token for result in results[:_RESULTS] for token in tokenize(embedding_text(result.chunk))}
    left_out = [word for word, tokens in words.items() if tokens.isdisjoint(said)]
    missing = [word for word, tokens in words.items() if tokens.isdisjoint(matches.frequencies)]
    # A word that is no more similar to the question than its other words are decides nothing.
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


def _tokens_of_dates(question: Question, results: Sequence[RetrievalResult]) -> frozenset[str]:
    """Return the tokens of the dates of a question that the results are of: they may write them in another way."""
    is_found = question.dates is not None and any(each.signals.get("date") for each in results[:_RESULTS])
    dated = question.dates.tokens if question.dates and is_found else frozenset()
    return frozenset() if dated.issuperset(question.tokens) else dated


def _agreement(matches: Matches, where: Filter) -> float:
    """Return the overlap of the top chunks by BM25 and by cosine, as a share.

    Both agree on passages about the question. Words that merely occur lead BM25 elsewhere.
    """
    # With a narrow filter, the evidence has all chunks.
    chunks = matches.chunks if where == EVERYTHING else len(matches.evidence)
    compared = max(1, min(_COMPARED_CHUNKS, int(chunks * _COMPARED_SHARE)))
    by_words = heapq.nsmallest(compared, matches.evidence, key=lambda each: -each.bm25)
    nearest = heapq.nsmallest(compared, matches.evidence, key=lambda each: -each.cosine)
    return len({each.id for each in by_words if each.bm25 > 0} & {each.id for each in nearest}) / compared


def _is_unnamed(question: Question, results: Sequence[RetrievalResult], index: Index) -> bool:
    """Return whether the results lack a name of an English question that is rare in the library.

    The results for "Can jobs run on Kubernetes?" are about jobs; only those about Kubernetes can answer.
    """
    if question.in_other_language or question.stop_words:
        return False
    texts = [f"{embedding_text(result.chunk)} {result.chunk.span.path}" for result in results]
    if any(not any(_has_compound(text, compound) for text in texts) for compound in compounds(question.text)):
        return True
    own = {folded(root.name) for root in index.roots()}
    # The last token of a name is the whole name: `s3` of S3, beside `s` and `3`.
    named = (name for name in proper_names(question.text) if folded(name) not in own | NAMES_OF_TIME)
    names = {tokens[-1] for name in named if (tokens := tokenize(name))}
    names &= set(question.tokens)
    frequencies = index.frequencies(sorted(names))
    common = max(_FEW_CHUNKS, _COMMON_SHARE * index.stats().chunks)
    said = frozenset(token for text in texts for token in tokenize(text)) if names else frozenset()
    return any(name not in said and frequencies.get(name, 0) <= common for name in names)


def _has_compound(text: str, compound: str) -> bool:
    """Return whether a text contains a compound in any spelling: `two-factor`, two factor, `twofactor`."""
    joined = r"[\s_/-]?".join(map(re.escape, re.split("[-/]", compound)))
    return re.search(rf"(?<![^\W_]){joined}(?![^\W_])", text, re.IGNORECASE) is not None


def _median_cosine(
    asked: Vector, matches: Matches, index: Index, embedder: Embedder, where: Filter, *, made_by_other: bool
) -> float:
    """Return the median cosine of a question and all chunks, without the filter: its chunks may all be similar."""
    if made_by_other:
        return _sampled_cosine(asked, index, embedder)
    return (matches if where == EVERYTHING else index.match((), asked, 1, EVERYTHING)).median_cosine


def _sampled_cosine(asked: Vector, index: Index, embedder: Embedder) -> float:
    """Return the median cosine of a question and one chunk each of a sample of documents."""
    documents = index.documents(EVERYTHING)
    step = math.ceil(len(documents) / _SAMPLED_DOCUMENTS)
    found = [index.chunks(each.source, each.path) for each in documents[:: max(1, step)]]
    texts = [embedding_text(chunks[len(chunks) // 2]) for chunks in found if chunks]
    return statistics.median(float(vector @ asked) for vector in embedder.embed(texts)) if texts else 0.0


def _nearness(asked: Vector, words: Iterable[str], embedder: Embedder, baseline: float) -> dict[str, float]:
    """Return the similarity of each word to the question, scaled to 0 for the baseline."""
    scale = max(1 - baseline, _MIN_SCALE)
    vectors = embedder.embed([word.lower() for word in words])
    return {word: max(0.0, float(each @ asked) - baseline) / scale for word, each in zip(words, vectors, strict=True)}


def _words_of(question: Question, matches: Matches) -> dict[str, frozenset[str]]:
    """Return the content words of a question with their tokens; in scripts without spaces, pairs of characters.

    Everyday words that the library lacks are left out, unless there are no others.
    """
    found: dict[str, frozenset[str]] = {}
    everyday: dict[str, frozenset[str]] = {}
    for word in WORD.findall(question.text):
        tokens = [token for token in tokenize(word) if token in question.tokens]
        if not word.isascii() and len(tokens) > _MAX_PARTS:
            found |= {token: frozenset({token}) for token in tokens}
        elif tokens and is_everyday(word) and matches.frequencies.keys().isdisjoint(tokens):
            everyday[word] = frozenset(tokens)
        elif tokens and word.lower() not in question.stop_words:
            found[word] = frozenset(tokens)
    return found or everyday or {question.text: frozenset(question.tokens)}
