"""What is known of each candidate, as numbers that the ranking weighs. Names are those of `weights`.

A part behind a colon tells apart what counts differently in some questions; for people it is one signal.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Mapping, Sequence
from functools import lru_cache

from openbook.index.bm25 import inverse_frequency
from openbook.index.protocol import Matches, Outline
from openbook.questions.question import Question
from openbook.retrieval.definitions import definition_strengths
from openbook.retrieval.paths import is_generic, path_match
from openbook.retrieval.proximity import exactness
from openbook.retrieval.roles import asks_for, is_home_page, role_of
from openbook.tokens import tokenize

Signals = dict[str, float]

# Between these a question becomes long: it carries enough words of its own, and they count more.
_SHORT_WORDS, _LONG_WORDS = 5, 10

# A topic is spread over a file: its best chunks count together.
_TOP_CHUNKS = 3

# A search looks at the headings of a hundred candidates, mostly the same again. Each takes about 1 KB.
_CACHED_HEADINGS = 1 << 13


def chunk_signals(
    query: Question, matches: Matches, outlines: Sequence[Outline], texts: Sequence[str] = ()
) -> list[Signals]:
    """Measure how each chunk fits a question, in the order of `outlines`. Numbers lie between 0 and 1, or are counts.

    Args:
        query: The question.
        matches: What the index said.
        outlines: Of the same chunks as `matches.evidence`, in the same order.
        texts: Likewise, if the question is a name: what holds it as it is written comes first.
    """
    exact = [exactness(text, query.name) for text in texts] or [0.0] * len(outlines)
    rarity = rarities(query, matches.frequencies, matches.chunks)
    lexical = scaled([evidence.bm25 for evidence in matches.evidence])
    dense = scaled([evidence.cosine for evidence in matches.evidence], floor=matches.median_cosine)
    files = scaled([evidence.file_bm25 for evidence in matches.evidence])
    definitions = definition_strengths(query, outlines)
    covered = coverages(matches, rarity)
    is_asked = query.is_symbol or "where" in query.intents
    return [
        {
            "lexical": lexical[n],
            "dense": dense[n],
            "coverage": covered[n],
            "file": files[n],
            "definition": definitions[n],
            "definition:asked": is_asked * definitions[n],
            "exact": exact[n],
            "path": path_match(query, outline.span.path),
            "heading": heading_match(rarity, outline),
        }
        for n, outline in enumerate(outlines)
    ]


def question_signals(query: Question, chunks: Sequence[Signals], outlines: Sequence[Outline]) -> list[Signals]:
    """Measure chunks as answers to a question, without what their texts say."""
    is_long = min(max(query.content_words - _SHORT_WORDS, 0), _LONG_WORDS - _SHORT_WORDS) / (_LONG_WORDS - _SHORT_WORDS)
    beside = _best_of_files("dense", chunks, outlines)
    is_of_mechanism = "mechanism" in query.intents
    return [
        {
            **chunk,
            "lexical:long": is_long * chunk["lexical"],
            "dense:file": beside[_file_of(outline)],
            "dense:foreign": query.in_other_language * chunk["dense"],
            "front": float(is_home_page(outline.span.path, outline.kind)),
            "heading:mechanism": is_of_mechanism * chunk.get("heading", 0.0),
            **_role_signals(query, outline),
        }
        for chunk, outline in zip(chunks, outlines, strict=True)
    ]


def text_signals(query: Question, text: str, proximity: float, cosine: float, *, is_prose: bool) -> Signals:
    """Measure what the text of a chunk says.

    Args:
        query: The question.
        text: Of the chunk.
        proximity: How close together the text holds the words of the question, from 0 to 1.
        cosine: Of the question and the nearest sentence; 0 if not read.
        is_prose: Whether no code is among the candidates.
    """
    return {
        "proximity": proximity,
        "proximity:prose": is_prose * proximity,
        "proximity:foreign": query.in_other_language * proximity,
        "sentence": max(0.0, cosine),
        "defining": float(query.definition is not None and query.definition.search(text) is not None),
    }


def file_signals(query: Question, chunks: Sequence[Signals], outline: Outline, size: int) -> Signals:
    """Measure a file as what a topic is about.

    Args:
        query: The topic.
        chunks: Of each candidate of the file.
        outline: One of them.
        size: Chunks of the whole file.
    """
    best = {name: sorted((chunk[name] for chunk in chunks), reverse=True) for name in ("lexical", "dense")}
    first = chunks[0]
    return {
        "lexical": best["lexical"][0],
        "lexical:three": _mean(best["lexical"][:_TOP_CHUNKS]),
        "dense:three": _mean(best["dense"][:_TOP_CHUNKS]),
        "definition": max(chunk["definition"] for chunk in chunks),
        "definition:asked": max(chunk["definition:asked"] for chunk in chunks),
        "exact": max(chunk["exact"] for chunk in chunks),
        "heading": float(max(chunk["heading"] for chunk in chunks) > 1 - 1e-9),
        "file": first["file"],
        "path": first["path"],
        "path:generic": float(is_generic(outline.span.path)),
        "size": math.log1p(size),
        **_role_signals(query, outline),
    }


def _role_signals(query: Question, outline: Outline) -> Signals:
    role = role_of(outline.span.path, outline.kind)
    if role == "source" or asks_for(role, query.text):
        return {"role:source": 1.0}
    signals = {f"role:{role}": 1.0}
    if role == "documentation":
        signals |= {f"role:documentation:{intent}": 1.0 for intent in sorted(query.intents)}
    return signals


def _best_of_files(
    name: str, chunks: Sequence[Signals], outlines: Sequence[Outline]
) -> Mapping[tuple[str, str], float]:
    """Return for each file the mean of a signal over its best chunks."""
    found: dict[tuple[str, str], list[float]] = {}
    for chunk, outline in zip(chunks, outlines, strict=True):
        found.setdefault(_file_of(outline), []).append(chunk[name])
    return {file: _mean(sorted(values, reverse=True)[:_TOP_CHUNKS]) for file, values in found.items()}


def _file_of(outline: Outline) -> tuple[str, str]:
    return (outline.source, outline.span.path)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def coverages(matches: Matches, rarity: Mapping[str, float]) -> list[float]:
    """Return which share of the question's words each candidate holds, from 0 to 1, rare ones weighing more."""
    total = sum(rarity.values())
    weights = [rarity[token] for token in matches.tokens]
    return [
        sum(weight for bit, weight in enumerate(weights) if evidence.matched >> bit & 1) / total
        for evidence in matches.evidence
    ]


def rarities(query: Question, frequencies: Mapping[str, int], chunks: int) -> dict[str, float]:
    """Weigh each token of the question by how rare it is in the library.

    Args:
        query: The question.
        frequencies: How many chunks of the library hold each token; absent means none.
        chunks: Size of the library.
    """
    return {token: inverse_frequency(frequencies.get(token, 0), chunks) for token in query.tokens}


def coverage(words: Container[str], rarity: Mapping[str, float]) -> float:
    """Return which share of the question's words is among `words`, from 0 to 1, rare ones weighing more."""
    total = sum(rarity.values())
    return sum(weight for token, weight in rarity.items() if token in words) / total if total else 0.0


def scaled(scores: Sequence[float], *, floor: float = 0.0) -> list[float]:
    """Map scores to 0..1: the best becomes 1, `floor` and what is below it 0.

    Example:
        >>> scaled([4.0, 2.0, 0.0])
        [1.0, 0.5, 0.0]
    """
    top = max(scores, default=0.0)
    if top <= floor:
        return [0.0] * len(scores)
    return [max(0.0, score - floor) / (top - floor) for score in scores]


def heading_match(rarity: Mapping[str, float], outline: Outline) -> float:
    """Measure how much of the question a chunk's own heading says, and how little else, from 0 to 1; code has none.

    The geometric mean of the question's share that the heading holds, rare words weighing more, and of
    the heading's share that the question holds.
    """
    words = _heading_words(outline.context[-1]) if outline.context and outline.kind != "code" else frozenset()
    shared: Collection[str] = words & rarity.keys()
    return math.sqrt(coverage(shared, rarity) * len(shared) / len(words)) if shared else 0.0


@lru_cache(maxsize=_CACHED_HEADINGS)
def _heading_words(heading: str) -> frozenset[str]:
    return frozenset(tokenize(heading))
