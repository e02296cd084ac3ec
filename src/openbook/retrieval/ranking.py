"""How much each signal is worth: pure functions on numbers, names and paths.

Figures in the comments are from the prototype in the design notes, over 13 packages (a), seven
packages with documentation (b), questions on two repositories (c) and one codebase (d). Each
constant sits on a plateau: halving or doubling it moved the joint score by less than 1 %.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal

from openbook.retrieval.names import Query
from openbook.retrieval.tokens import tokenize
from openbook.types import Chunk

Role = Literal["source", "test", "example", "changelog", "legal"]

# Short questions are names and topics, where meaning fills gaps; long ones carry enough words of
# their own, and a static model only blurs them: .5 for all lengths costs .087 of span recall (c).
_DENSE_WEIGHT_SYMBOL = 0.2
_DENSE_WEIGHT_SHORT, _SHORT_WORDS = 0.5, 5
_DENSE_WEIGHT_LONG, _LONG_WORDS = 0.1, 8

# A definition of the name asked for outweighs any number of mentions; inside a sentence a name is
# one hint among others. Without them: a -.006, d@5 -3.2.
_DEFINITION_OF_SYMBOL = 2.0
_DEFINITION_OF_WORD = 1.0
_DEFINITION_IN_TEXT = 0.8
_INNER_DEFINITION = 0.6
_OTHER_CASE = 0.6
_FILE_NAMED_SO = 1.5
# `get` is defined in every second class: a name defined often identifies nothing.
_COMMON_DEFINITIONS = 5

# Without the path signal: a -.014, b -.020.
_PATH_WEIGHT = 0.6
_PREFIX_MATCH, _PREFIX_CHARS = 0.8, 4
_FOLDER_MATCH, _FOLDERS = 0.5, 3
# These say nothing; the folder is the name.
_GENERIC_STEMS = frozenset({"index", "__init__", "mod", "lib", "init", "main"})

# Tests and examples repeat the words of what they exercise. Without these priors: b -.209 (with
# documentation), a -.023.
_ROLE_PRIORS: Mapping[Role, float] = {"source": 1.0, "test": 0.5, "example": 0.45, "changelog": 0.3, "legal": 0.3}
_ROLE_FOLDERS: Mapping[str, Role] = {
    **dict.fromkeys(("test", "tests", "spec", "specs", "__tests__", "testdata", "fixtures"), "test"),
    **dict.fromkeys(("example", "examples", "docs_src", "samples", "demo", "demos"), "example"),
}
# `history.py` and `authors.rb` are sources.
_PROSE_SUFFIXES = frozenset({"", ".md", ".rst", ".txt", ".adoc", ".html", ".org"})
_TEST_STEM = re.compile(r"^test_|^conftest$|[._-](test|tests|spec)$|(?<=[a-z0-9])(Test|Tests|Spec)$")
_CHANGELOG_STEM = re.compile(r"^(changelog|changes|history|news|releases?|release[-_]notes)$", re.IGNORECASE)
_LEGAL_STEM = re.compile(r"^(licen[sc]e|copying|notice|authors|contributors|code[-_]of[-_]conduct)", re.IGNORECASE)
_ASKS_FOR: Mapping[Role, re.Pattern[str]] = {
    # "test client" and "test runner" are things, not tests.
    "test": re.compile(r"\btest_\w|\bTest[A-Z]|\btests\b|\btested\b|\bunit tests?\b|\btest (case|suite)s?\b|fixture"),
    "example": re.compile(r"\b(example|sample|demo)s?\b", re.IGNORECASE),
    "changelog": re.compile(r"\b(change ?log|changed|release|deprecated|since (v|version))\b", re.IGNORECASE),
    "legal": re.compile(r"\b(licen[sc]e|copyright|author|contributor)s?\b", re.IGNORECASE),
}


# In a library of two chunks every absent word would outweigh all that are there. 30 and 300 do as well.
_FEWEST_CHUNKS = 100

# Words in common say more than nearness of static vectors. As a sign that a library answers a
# question (`benchmarks/refusal.py`): AUC .971 for words alone, .796 for nearness, .980 for .6 to .7.
_COVERAGE_SHARE = 0.65


# A search looks at the paths of two hundred candidates, which mostly are the same ones again. Each
# takes about 1 KB.
_CACHED_PATHS = 1 << 13


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that a leg found, with what the legs said."""

    chunk: Chunk
    words: frozenset[str]
    """Distinct tokens of all its fields."""
    bm25: float = 0.0
    """0 if the lexical leg did not find it."""
    cosine: float = 0.0
    """0 if the dense leg did not find it."""


def dense_weight(query: Query) -> float:
    """Give the share of the dense leg in the fused score, from .1 to .5.

    Example:
        >>> from openbook.retrieval.names import read_query
        >>> dense_weight(read_query("retry policy"))
        0.5
    """
    if query.is_symbol:
        return _DENSE_WEIGHT_SYMBOL
    if query.identifiers:
        return _DENSE_WEIGHT_LONG
    beyond = min(max(query.content_words - _SHORT_WORDS, 0), _LONG_WORDS - _SHORT_WORDS)
    return _DENSE_WEIGHT_SHORT - (_DENSE_WEIGHT_SHORT - _DENSE_WEIGHT_LONG) * beyond / (_LONG_WORDS - _SHORT_WORDS)


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


def definition_strengths(query: Query, chunks: Sequence[Chunk]) -> list[float]:
    """Say how strongly each chunk defines what the query names; 0 for most."""
    if not query.identifiers:
        return [0.0] * len(chunks)
    if not query.is_symbol:
        worth = _DEFINITION_IN_TEXT
    else:
        worth = _DEFINITION_OF_WORD if query.text.islower() and query.text.isalpha() else _DEFINITION_OF_SYMBOL
    totals = [0.0] * len(chunks)
    for name in query.identifiers:
        strengths = [_defines(name, chunk) for chunk in chunks]
        equals = Counter(strengths)
        for position, strength in enumerate(strengths):
            rarity = min(1.0, math.sqrt(_COMMON_DEFINITIONS / equals[strength])) if strength else 0.0
            totals[position] += worth * strength * rarity
    return totals


def _defines(name: str, chunk: Chunk) -> float:
    if name in chunk.defines:
        found, strength = name, 1.0
    else:
        found = next((other for other in chunk.defines if other.lower() == name.lower()), "")
        strength = _OTHER_CASE
    if not found:
        return 0.0
    if found != chunk.symbol:
        strength *= _INNER_DEFINITION
    if _stem(chunk.span.path).lower() == name.lower():
        strength *= _FILE_NAMED_SO
    return strength


def path_match(query: Query, path: str) -> float:
    """Say which share of the question's words the path holds, from 0 to 1.

    Example:
        >>> from openbook.retrieval.names import read_query
        >>> path_match(read_query("retry transport"), "http/transport.py")
        0.5
    """
    stem_words, folder_words = _path_words(path)
    total = 0.0
    for token in query.tokens:
        if token in stem_words:
            total += 1.0
        elif any(_share_prefix(token, word) for word in stem_words):
            total += _PREFIX_MATCH
        elif token in folder_words:
            total += _FOLDER_MATCH
    return total / len(query.tokens)


@lru_cache(maxsize=_CACHED_PATHS)
def _path_words(path: str) -> tuple[frozenset[str], frozenset[str]]:
    folders = " ".join(PurePosixPath(path).parent.parts[-_FOLDERS:])
    return frozenset(tokenize(_stem(path))), frozenset(tokenize(folders))


def _share_prefix(a: str, b: str) -> bool:
    return min(len(a), len(b)) >= _PREFIX_CHARS and (a.startswith(b) or b.startswith(a))


def _stem(path: str) -> str:
    pure = PurePosixPath(path)
    return pure.parent.name if pure.stem in _GENERIC_STEMS and pure.parent.name else pure.stem


@lru_cache(maxsize=_CACHED_PATHS)
def role_of(path: str) -> Role:
    """Say what a file is for, from its path.

    Example:
        >>> role_of("pkg/tests/conftest.py"), role_of("src/testing.py")
        ('test', 'source')
    """
    pure = PurePosixPath(path)
    if _TEST_STEM.search(pure.stem):
        return "test"
    if pure.suffix.lower() in _PROSE_SUFFIXES:
        if _CHANGELOG_STEM.match(pure.stem):
            return "changelog"
        if _LEGAL_STEM.match(pure.stem):
            return "legal"
    return next((_ROLE_FOLDERS[part] for part in pure.parent.parts if part in _ROLE_FOLDERS), "source")


def prior(query: Query, path: str) -> float:
    """Give the factor for what a file is for: 1, unless the question asks for something else."""
    role = role_of(path)
    asked = role in _ASKS_FOR and _ASKS_FOR[role].search(query.text)
    return 1.0 if asked else _ROLE_PRIORS[role]


def coverage(tokens: Sequence[str], words: frozenset[str], frequencies: Mapping[str, int], chunks: int) -> float:
    """Say which share of the question's words is there, from 0 to 1, rare words weighing more.

    Args:
        tokens: Distinct tokens of the question.
        words: Distinct tokens of a text.
        frequencies: How many chunks of the library hold each token; absent means none.
        chunks: Size of the library.
    """
    weights = {token: inverse_frequency(frequencies.get(token, 0), chunks) for token in tokens}
    total = sum(weights.values())
    return sum(weight for token, weight in weights.items() if token in words) / total if total else 0.0


def relevance(query: Query, candidate: Candidate, frequencies: Mapping[str, int], chunks: int) -> float:
    """Say how far a candidate speaks of the question at all, from 0 to 1, across questions."""
    covered = coverage(query.tokens, candidate.words, frequencies, chunks)
    return _COVERAGE_SHARE * covered + (1 - _COVERAGE_SHARE) * max(0.0, candidate.cosine)


def inverse_frequency(frequency: int, chunks: int) -> float:
    """Weigh a word by its rarity: the idf of BM25, never negative (Robertson and Zaragoza, 2009).

    Small libraries count as having a hundred chunks.
    """
    chunks = max(chunks, _FEWEST_CHUNKS)
    return math.log(1 + (chunks - frequency + 0.5) / (frequency + 0.5))


def signals_of(query: Query, candidates: Sequence[Candidate]) -> list[dict[str, float]]:
    """Give what each signal adds to each candidate. The sum of a row is its score."""
    weight = dense_weight(query)
    lexical = scaled([candidate.bm25 for candidate in candidates])
    near = [candidate.cosine for candidate in candidates if candidate.cosine]
    dense = scaled([candidate.cosine for candidate in candidates], floor=min(near, default=0.0))
    definitions = definition_strengths(query, [candidate.chunk for candidate in candidates])
    rows = []
    for position, candidate in enumerate(candidates):
        path = candidate.chunk.span.path
        row = {
            "lexical": (1 - weight) * lexical[position],
            "dense": weight * dense[position],
            "definition": definitions[position],
            "path": _PATH_WEIGHT * path_match(query, path),
        }
        row["role"] = (prior(query, path) - 1) * sum(row.values())
        rows.append({name: value for name, value in row.items() if value})
    return rows
