"""Tells whether a heading asks what a question asks, or has its error message, as those of FAQs do."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from openbook.containers import HEADING, questions_in
from openbook.questions.comparisons import compared
from openbook.questions.forms import is_question
from openbook.questions.intents import intents_of
from openbook.questions.question import Question, quoted_in_marks
from openbook.questions.words import content_words_of_question
from openbook.retrieval.roles import is_aside
from openbook.retrieval.signals import coverage
from openbook.tokens import tokenize
from openbook.types import Chunk

# Least strength of a heading that is a question, as in a FAQ, and of any other: seven of ten such sections answer the
# question, and half of those with a lower strength (2,600 questions on 160 repositories).
_LEAST_OF_QUESTION, _LEAST = 0.75, 0.95

# Least words in common, and of a message, all words of which one of both has: fewer may be chance.
_MIN_SHARED, _MIN_SAID = 2, 3
# Questions for code.
_OF_CODE = frozenset({"where", "uses"})
# "Why is my file not formatted?" has the words of "format some lines of a file", and another answer.
_WHY = re.compile(r"\bwhy\b", re.IGNORECASE)

_ERROR = re.compile(r"error|exception|warning", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]*>")
# Opens or closes an example, in which `#` begins a comment.
_FENCE = re.compile(r"^[ \t]*(?:`{3}|~{3})", re.MULTILINE)

# A search reads the headings of a few dozen passages, mostly the same again. About 1 KB each.
_CACHED_HEADINGS = 1 << 13


class _Heading(NamedTuple):
    sides: tuple[str, ...]
    """The things that it compares."""
    said: tuple[frozenset[str], ...]
    """Its tokens without stop words, and those of the texts that it quotes."""
    is_name: bool
    """It is one word."""
    is_question: bool
    asks_why: bool
    is_of_code: bool


def heading_strength(query: Question, title: str, rarity: Mapping[str, float]) -> float:
    """Return how nearly a heading asks what a question asks, or has its message, from 0 to 1; 0 if it is not near.

    That is the geometric mean of the share of the question's words in the heading, weighted by rarity, and the share of
    the heading's words in the question. A message may be pasted with other words around it, and a heading may say more
    than a message.
    """
    heading = _read(title)
    if query.compared:
        return float(_compares(heading.sides, query.compared))
    if query.term is not None or (not heading.is_of_code and not _OF_CODE.isdisjoint(query.intents)):
        return 0.0
    # A function that a message names did not print it.
    may_print = not heading.is_name or _ERROR.search(title) is not None
    if may_print and any(_holds(said, _words(message)) for said in heading.said for message in query.messages):
        return 1.0
    shared = heading.said[0] & rarity.keys()
    is_other = heading.is_name or (heading.asks_why and not _WHY.search(query.text))
    is_other = is_other or (query.listed is not None and not heading.is_question)
    if is_other or len(shared) < _MIN_SHARED:
        return 0.0
    strength = math.sqrt(coverage(shared, rarity) * len(shared) / len(heading.said[0]))
    return strength if strength >= (_LEAST_OF_QUESTION if heading.is_question else _LEAST) else 0.0


def nearest_heading(query: Question, chunk: Chunk, rarity: Mapping[str, float]) -> float:
    """Return how near the nearest heading above or in a chunk of documentation is to a question, from 0 to 1."""
    if chunk.kind != "docs" or is_aside(chunk.span.path):
        return 0.0
    found = [heading_strength(query, title, rarity) for title in chunk.context[-1:]]
    titles = ((each.start(), _TAG.sub("", each[0]).strip("#\f \t")) for each in HEADING.finditer(chunk.text))
    for start, title in (*titles, *((start, title) for start, _, title in questions_in(chunk.text))):
        strength = heading_strength(query, title, rarity)
        found += [strength] if strength and not _is_in_example(chunk, start) else []
    return max(found, default=0.0)


def _is_in_example(chunk: Chunk, at: int) -> bool:
    fences = sum(1 for _ in _FENCE.finditer(chunk.text, 0, at)) + bool(chunk.code_opening)
    return chunk.language == "markdown" and fences % 2 == 1


def _holds(said: frozenset[str], message: frozenset[str]) -> bool:
    """Return whether a heading has all words of a message, or a message all words of a heading."""
    return min(len(said), len(message)) >= _MIN_SAID and (said <= message or message <= said)


def _compares(said: tuple[str, ...], asked: tuple[str, ...]) -> bool:
    """Return whether a heading compares the same things; it may name their place."""
    wanted, left = [frozenset(tokenize(side)) for side in asked], [frozenset(tokenize(side)) for side in said]
    for side in sorted(wanted, key=len, reverse=True):
        # The shortest that has it: "Local" is in "LocalProxy" as well.
        found = min((each for each in left if side <= each), key=len, default=None)
        if found is None:
            return False
        left.remove(found)
    return not left


@lru_cache(maxsize=_CACHED_HEADINGS)
def _read(title: str) -> _Heading:
    return _Heading(
        sides=compared(title),
        said=tuple(map(_words, (title, *quoted_in_marks(title)))),
        is_name=len(title.split()) == 1,
        is_question=title.endswith("?") or is_question(title),
        asks_why=_WHY.match(title) is not None,
        is_of_code=not _OF_CODE.isdisjoint(intents_of(title)),
    )


@lru_cache(maxsize=_CACHED_HEADINGS)
def _words(text: str) -> frozenset[str]:
    return frozenset(tokenize(" ".join(content_words_of_question(text))))
