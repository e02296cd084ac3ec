"""How much each signal is worth: pure functions on numbers, names and paths.

What each signal is worth is measured in docs/retrieval.md, on the half of the questions that its
constants were not fitted to. Constants sit on plateaus: a neighbouring value does about as well.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

from openbook.index.bm25 import inverse_frequency
from openbook.index.protocol import Matches, Outline
from openbook.retrieval.definitions import definition_strengths
from openbook.retrieval.names import Query
from openbook.retrieval.paths import path_match
from openbook.retrieval.roles import old_versions, prior
from openbook.retrieval.tokens import tokenize
from openbook.types import View

# In topics, meaning fills gaps. A long question carries enough words of its own, and a static model
# only blurs them; so it does a name.
_DENSE_WEIGHT_TOPIC = 0.6
_DENSE_WEIGHT_SYMBOL = 0.2
_DENSE_WEIGHT_SHORT = 0.6
_DENSE_WEIGHT_LONG = 0.1
_SHORT_WORDS, _LONG_WORDS = 6, 9
# The shipped model has read little but English: +.7 points on the held half of German XQuAD, 0 on the tuned one.
_DENSE_WEIGHT_OTHER_LANGUAGE = 0.2

# A file is as good as its best chunk and, more so, its three best: a topic is spread over a file.
_BEST_CHUNK_WEIGHT = 0.35
_TOP_CHUNKS, _TOP_CHUNKS_WEIGHT = 3, 0.7
_FILE_WORDS_WEIGHT = 0.5
_PATH_WEIGHT = 1.0
# A file that gathers names of others (`__init__.py`, `index.ts`) has all the words and none of the code.
_GATHERING_STEMS = frozenset({"index", "__init__"})
_GATHERING, _GATHERING_NAMES = 0.7, 2

# How much the file counts for its passages, and how much each of the better passages of a file takes from
# the next: the answer to a long question is spread over files. Not more than four take from one: a file that
# holds ten is what the question is about, and after the first few they come before those of other files.
_FILE_WEIGHT = 0.6
_SPREAD, _SPREAD_WORDS, _SPREAD_MOST = 0.7, 10, 4

# A section whose heading has the words of the question, and few others, is about it: MRR .81 to .86 on
# the held half of docs-qa. From 1 on, such headings push code out of the lists of mixed libraries.
_HEADING_WEIGHT = 0.9

# Words in common say more than nearness of static vectors. As a sign that a library answers a
# question (`benchmarks/refusal.py`): AUC .971 for words alone, .796 for nearness, .980 for .6 to .7.
_COVERAGE_SHARE = 0.65

# A search looks at the paths and headings of a hundred candidates, mostly the same again. Each takes about 1 KB.
_CACHED_PATHS = 1 << 13

Signals = dict[str, float]
"""What each signal adds to a score, by name."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A chunk in a ranked list."""

    outline: Outline
    signals: Signals = field(default_factory=dict)
    prior: float = 1.0
    """Factor for what its file is for."""
    coverage: float = 0.0
    """Share of the question's words that it holds, from 0 to 1, rare words weighing more."""
    cosine: float = 0.0

    @property
    def score(self) -> float:
        """The sum of the signals."""
        return sum(self.signals.values())

    @property
    def relevance(self) -> float:
        """How far it speaks of the question at all, from 0 to 1, across questions."""
        return relevance(self.coverage, self.cosine)


def relevance(coverage: float, cosine: float) -> float:
    """Say how far a text speaks of a question at all, from 0 to 1, across questions."""
    return _COVERAGE_SHARE * coverage + (1 - _COVERAGE_SHARE) * max(0.0, cosine)


def rank(query: Query, view: View, matches: Matches, outlines: Sequence[Outline]) -> list[Ranked]:
    """Order chunks, best first, ties by source and span.

    Args:
        query: The question.
        view: `files` gives each file once, with its best chunk; `passages` gives every chunk.
        matches: What the index said.
        outlines: Of the same chunks as `matches.evidence`, in the same order.
    """
    rarity = rarities(query, matches.frequencies, matches.chunks)
    chunks = _chunks(query, view, matches, outlines, rarity)
    members: dict[tuple[str, str], list[int]] = {}
    for position, outline in enumerate(outlines):
        members.setdefault((outline.source, outline.span.path), []).append(position)
    old = _old_files(query, members)
    words = scaled([evidence.file_bm25 for evidence in matches.evidence])
    ranked: list[Ranked] = []
    for key, positions in members.items():
        group = sorted((chunks[position] for position in positions), key=_order)
        factor = prior(query.text, key[1], group[0].outline.kind, is_question=view == "passages") * old.get(key, 1.0)
        file = _file_signals(query, group, _FILE_WORDS_WEIGHT * words[positions[0]])
        file["role"] = (factor * _gathering(group) - 1) * sum(file.values())
        if view == "files":
            ranked.append(_with_signals(_telling(group), file, factor))
        else:
            ranked.extend(_passages(group, factor, _FILE_WEIGHT * sum(file.values()), rarity))
    ranked.sort(key=_order)
    return _spread(ranked) if view == "passages" and _is_spread(query, outlines) else ranked


def _is_spread(query: Query, outlines: Sequence[Outline]) -> bool:
    """Tell whether the answer is spread over files, as to a long question on code. A page answers as a whole."""
    return query.content_words >= _SPREAD_WORDS and any(outline.kind == "code" for outline in outlines)


def _old_files(query: Query, files: Collection[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Give the factor of files that hold another version than the one that is meant, source by source."""
    paths: dict[str, set[str]] = {}
    for source, path in files:
        paths.setdefault(source, set()).add(path)
    return {
        (source, path): factor
        for source, of_source in paths.items()
        for path, factor in old_versions(query.text, of_source).items()
    }


def _order(ranked: Ranked) -> tuple[float, str, object]:
    return (-ranked.score, ranked.outline.source, ranked.outline.span)


def _with_signals(ranked: Ranked, signals: Signals, factor: float) -> Ranked:
    """Give it other signals, without those that add nothing."""
    kept = {name: value for name, value in signals.items() if value}
    return Ranked(ranked.outline, kept, factor, ranked.coverage, ranked.cosine)


def _chunks(
    query: Query, view: View, matches: Matches, outlines: Sequence[Outline], rarity: Mapping[str, float]
) -> list[Ranked]:
    """Fuse what the legs say of each chunk, and add definitions."""
    share = dense_weight(query, view)
    total = sum(rarity.values())
    weights = [rarity[token] for token in matches.tokens]
    covered = [
        sum(weight for bit, weight in enumerate(weights) if evidence.matched >> bit & 1) / total
        for evidence in matches.evidence
    ]
    lexical = scaled([evidence.bm25 for evidence in matches.evidence])
    dense = scaled([evidence.cosine for evidence in matches.evidence], floor=matches.median_cosine)
    definitions = definition_strengths(query, outlines)
    return [
        Ranked(
            outline,
            {"lexical": (1 - share) * lexical[n], "dense": share * dense[n], "definition": definitions[n]},
            coverage=covered[n],
            cosine=matches.evidence[n].cosine,
        )
        for n, outline in enumerate(outlines)
    ]


def _file_signals(query: Query, group: Sequence[Ranked], words: float) -> Signals:
    """Score a file by its chunks, best first, by its words as a whole, and by its path."""
    top = group[:_TOP_CHUNKS]
    signals = {
        name: _BEST_CHUNK_WEIGHT * group[0].signals[name]
        + _TOP_CHUNKS_WEIGHT * sum(chunk.signals[name] for chunk in top) / len(top)
        for name in group[0].signals
    }
    return signals | {"file": words, "path": _PATH_WEIGHT * path_match(query, group[0].outline.span.path)}


def _telling(group: Sequence[Ranked]) -> Ranked:
    """Choose what to show of a file: of its best chunks a definition, else the one that speaks most of the question."""
    return max(group[:_TOP_CHUNKS], key=lambda chunk: (chunk.signals["definition"], chunk.relevance))


def _gathering(group: Sequence[Ranked]) -> float:
    """Give the factor for a file that only gathers names of other files."""
    outline = group[0].outline
    if outline.kind != "code" or not _is_gathering(outline.span.path):
        return 1.0
    names = sum(len(chunk.outline.defines) for chunk in group)
    return _GATHERING if names <= _GATHERING_NAMES else 1.0


@lru_cache(maxsize=_CACHED_PATHS)
def _is_gathering(path: str) -> bool:
    return PurePosixPath(path).stem in _GATHERING_STEMS


def _passages(group: Sequence[Ranked], factor: float, file: float, rarity: Mapping[str, float]) -> list[Ranked]:
    passages = []
    for chunk in group:
        heading = factor * _HEADING_WEIGHT * heading_match(rarity, chunk.outline)
        signals = {"role": (factor - 1) * chunk.score, "file": file, "heading": heading}
        passages.append(_with_signals(chunk, chunk.signals | signals, factor))
    return passages


def _spread(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Take from each passage for the better ones of the same file."""
    seen: Counter[tuple[str, str]] = Counter()
    spread = []
    for each in ranked:
        file = (each.outline.source, each.outline.span.path)
        loss = (_SPREAD ** min(seen[file], _SPREAD_MOST) - 1) * each.score
        spread.append(_with_signals(each, each.signals | {"spread": loss}, each.prior))
        seen[file] += 1
    return sorted(spread, key=_order)


def near_together(ranked: Sequence[Ranked], found: Sequence[Signals]) -> list[Ranked]:
    """Order passages again by what their texts say: signals of each, which count as what its file is for counts."""
    closer = [
        _with_signals(each, each.signals | {name: each.prior * value for name, value in signals.items()}, each.prior)
        for each, signals in zip(ranked, found, strict=True)
    ]
    return sorted(closer, key=_order)


def rarities(query: Query, frequencies: Mapping[str, int], chunks: int) -> dict[str, float]:
    """Weigh each token of the question by how rare it is in the library.

    Args:
        query: The question.
        frequencies: How many chunks of the library hold each token; absent means none.
        chunks: Size of the library.
    """
    return {token: inverse_frequency(frequencies.get(token, 0), chunks) for token in query.tokens}


def coverage(words: Container[str], rarity: Mapping[str, float]) -> float:
    """Say which share of the question's words is among `words`, from 0 to 1, rare ones weighing more."""
    total = sum(rarity.values())
    return sum(weight for token, weight in rarity.items() if token in words) / total if total else 0.0


def dense_weight(query: Query, view: View) -> float:
    """Give the share of the dense leg in the fused score, from .1 to .6.

    Example:
        >>> from openbook.retrieval.names import read_query
        >>> dense_weight(read_query("retry policy"), "files")
        0.6
    """
    if query.is_symbol:
        return _DENSE_WEIGHT_SYMBOL
    if query.identifiers:
        return _DENSE_WEIGHT_LONG
    if view == "files":
        return _DENSE_WEIGHT_TOPIC
    beyond = min(max(query.content_words - _SHORT_WORDS, 0), _LONG_WORDS - _SHORT_WORDS)
    weight = _DENSE_WEIGHT_SHORT - (_DENSE_WEIGHT_SHORT - _DENSE_WEIGHT_LONG) * beyond / (_LONG_WORDS - _SHORT_WORDS)
    return min(weight, _DENSE_WEIGHT_OTHER_LANGUAGE) if query.in_other_language else weight


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
    """Say how much of the question a chunk's own heading says, and how little else, from 0 to 1; code has none.

    The geometric mean of the question's share that the heading holds, rare words weighing more, and of
    the heading's share that the question holds.
    """
    words = _heading_words(outline.context[-1]) if outline.context and outline.kind != "code" else frozenset()
    shared = words & rarity.keys()
    return math.sqrt(coverage(shared, rarity) * len(shared) / len(words)) if shared else 0.0


@lru_cache(maxsize=_CACHED_PATHS)
def _heading_words(heading: str) -> frozenset[str]:
    return frozenset(tokenize(heading))
