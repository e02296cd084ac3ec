"""The context of an answer: numbered results with numbered units, within a token budget."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate

from openbook.answers import anchor_of
from openbook.costs import estimate_tokens
from openbook.extractive.displaying import displayed
from openbook.llm.messages import ShownSource
from openbook.text import units
from openbook.types import Chunk, RetrievalResult, Unit

# Cached chunks: users of a library ask about the same parts. Each takes about 10 KB.
_CACHED_CHUNKS = 512

# The note below a truncated source, and its tokens with a long line number; shorter numbers have no more.
_CUT = "cut here"
_NOTE_TOKENS = estimate_tokens(f"({_CUT}; goes on to line 1000000)\n")

# Any number below a thousand is one token.
_ANY_NUMBER = 1


@dataclass(frozen=True, slots=True)
class Included:
    """A directive of a page that includes code from a file."""

    first: int
    """The number of its first unit in the page."""
    last: int
    item: ContextItem | None
    """The code; None if it is not shown."""


@dataclass(frozen=True, slots=True)
class ContextItem:
    """A result in a context: its number, and the units that fit."""

    number: int
    """1-based, as in the mark `[2]`."""
    result: RetrievalResult
    units: tuple[Unit, ...]
    """Consecutive, from the first unit of the chunk."""
    included: tuple[Included, ...] = ()
    """In order."""

    @property
    def is_prose(self) -> bool:
        """Whether it is split into sentences; code and configuration are split into lines."""
        return self.result.chunk.kind in ("docs", "course")

    @property
    def is_whole(self) -> bool:
        """Whether it has all units of the chunk."""
        return len(self.units) == len(units_of(self.result.chunk))

    @property
    def note(self) -> str:
        """A note that it is truncated, with the line where it ends; empty if it is complete."""
        last = self.units[-1].span.end_line if self.units else 0
        goes_on_to = max(self.result.goes_on_to, 0 if self.is_whole else self.result.chunk.span.end_line)
        if goes_on_to > last:
            return f"{_CUT}; goes on to line {goes_on_to}"
        return "" if self.is_whole else _CUT

    @property
    def label(self) -> str:
        """Its place in the original, for people; empty if lines suffice."""
        return label_of(self.result)

    @property
    def source(self) -> ShownSource:
        """The source as it is sent to a model."""
        return replace(_opening(self.number, self.result), units=self._texts, note=self.note)

    @property
    def _texts(self) -> tuple[str, ...]:
        return _displayed(self.result.chunk)[: len(self.units)]

    def __str__(self) -> str:
        return str(self.source)


@dataclass(frozen=True, slots=True)
class Context:
    """The numbered results that a model is shown. `str()` returns the text for the model."""

    shown: tuple[ContextItem, ...]

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.shown))

    @property
    def tokens(self) -> int:
        """Estimate the tokens of the text."""
        return estimate_tokens(str(self))


def build_context(
    results: Sequence[RetrievalResult], max_tokens: int, *, first: int = 1, for_model: bool = True
) -> Context:
    """Number results and their units, best first, within a budget of estimated tokens.

    Units are never cut. The result that exceeds the budget keeps the units that fit; later ones are dropped, so that no
    lower-ranked result displaces a better one. `first` is the number of the first result. `for_model`: count the tokens
    of the text for models, rather than of the documents, as for quotes.
    """
    shown: list[ContextItem] = []
    left = max_tokens
    for number, result in enumerate(results, start=first):
        every = units_of(result.chunk)
        left -= estimate_tokens(f"{_opening(number, result)}\n\n")
        cost = _tokens_of(result.chunk, for_model=for_model)
        if for_model and (result.goes_on_to or cost > left):
            left -= _NOTE_TOKENS
        fitting = len(every) if cost <= left else _fitting(result.chunk, left, for_model=for_model)
        if fitting:
            shown.append(ContextItem(number, result, every[:fitting]))
            left -= cost
        if fitting < len(every):
            break
    return Context(tuple(shown))


def max_chunk_tokens(chunk: Chunk, *, is_joined: bool = False) -> int:
    """Estimate the most tokens of a chunk in a context; `is_joined`: as a part of an existing source."""
    body = _tokens_of(chunk)
    if is_joined:
        return body
    return body + _NOTE_TOKENS + estimate_tokens(f"{_opening(_ANY_NUMBER, RetrievalResult(chunk, 0.0))}\n\n")


def _opening(number: int, result: RetrievalResult) -> ShownSource:
    """Return a result as a source without units."""
    chunk = result.chunk
    return ShownSource(number, label_of(result) or chunk.symbol, str(chunk.span), ())


@lru_cache(maxsize=_CACHED_CHUNKS)
def units_of(chunk: Chunk) -> tuple[Unit, ...]:
    """Return the units of a chunk, cached for consecutive questions."""
    return units(chunk)


@lru_cache(maxsize=_CACHED_CHUNKS)
def _displayed(chunk: Chunk) -> tuple[str, ...]:
    return displayed(chunk, units_of(chunk))


@lru_cache(maxsize=_CACHED_CHUNKS)
def _tokens_of(chunk: Chunk, *, for_model: bool = True) -> int:
    """Estimate the tokens of all units of a chunk, at most the sum of their tokens."""
    return estimate_tokens("".join(_lines_of(chunk, for_model=for_model)))


def _fitting(chunk: Chunk, tokens: int, *, for_model: bool) -> int:
    """Return how many units of a chunk, from the first on, fit a number of tokens."""
    costs = accumulate(map(estimate_tokens, _lines_of(chunk, for_model=for_model)))
    return sum(cost <= tokens for cost in costs)


def _lines_of(chunk: Chunk, *, for_model: bool) -> Iterator[str]:
    """Yield each unit with its number, one line each, whatever counts as a line break."""
    texts = _displayed(chunk) if for_model else (unit.text for unit in units_of(chunk))
    for number, text in enumerate(texts, start=1):
        yield "".join(f"{number}| {line}\n" for line in text.splitlines())


def label_of(result: RetrievalResult) -> str:
    """Return the place of a result in the original, for people: lesson, headings and `#id`, page or cell.

    Code has no label but its lesson, as its lines and symbol suffice. Pages below headings are part of the citation.
    """
    chunk = result.chunk
    above = headed(chunk, chunk.context if chunk.kind in ("docs", "course") else ())
    anchor = "" if above and anchor_of(chunk) else chunk.anchor
    return " ".join(filter(None, (above, anchor)))


def headed(chunk: Chunk, headings: Sequence[str], most: int = sys.maxsize) -> str:
    """Format headings above a place of a chunk, at most so many of the innermost ones, below course and lesson."""
    lesson = chunk.lesson
    titles = tuple(filter(None, (lesson.course, str(lesson)))) if lesson is not None else ()
    inner = headings[len(titles) :][-most:]
    return " › ".join(filter(None, (" · ".join(titles), *inner)))
