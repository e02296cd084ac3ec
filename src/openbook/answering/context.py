"""What an answer is written from: numbered results, cut into numbered units, within a budget."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from openbook.costs import estimate_tokens
from openbook.generation import anchor_of, place_of
from openbook.llm.messages import Source
from openbook.retrieval.tokens import tokenize
from openbook.spans import units
from openbook.types import Chunk, RetrievalResult, Unit

_LONGEST_FENCE = re.compile(r"`{3,}")

# Those who share a library ask about the same parts of it. Each takes about 10 KB.
_KEPT_CHUNKS = 512


@dataclass(frozen=True, slots=True)
class Shown:
    """One result as it is shown: a number, and the units that fitted."""

    number: int
    """1-based. What `[2]` means."""
    result: RetrievalResult
    units: tuple[Unit, ...]
    """Consecutive, from the first unit of the chunk."""

    @property
    def is_prose(self) -> bool:
        """Whether it is read by the sentence; code and settings are read by the line."""
        return self.result.chunk.kind in ("docs", "course")

    @property
    def is_whole(self) -> bool:
        """Whether all units of the chunk are shown."""
        return len(self.units) == len(_measured(self.result.chunk)[0])

    @property
    def label(self) -> str:
        """Say where the original puts it, for people; empty if lines say it all."""
        return label_of(self.result)

    @property
    def source(self) -> Source:
        """Give it as a model is sent it."""
        chunk = self.result.chunk
        return Source(self.number, self.label or chunk.symbol, str(chunk.span), tuple(unit.text for unit in self.units))

    def __str__(self) -> str:
        return str(self.source)


@dataclass(frozen=True, slots=True)
class Context:
    """Everything that is shown. `str()` is the text that a model reads."""

    shown: tuple[Shown, ...]

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.shown))

    @property
    def tokens(self) -> int:
        """Estimate the tokens of the text."""
        return estimate_tokens(str(self))


def build_context(results: Sequence[RetrievalResult], max_tokens: int, *, first: int = 1) -> Context:
    """Number results and their units, best first, within a budget of estimated tokens.

    Units are whole or absent. The result that crosses the budget keeps the units that still fit;
    those behind it are left out, so that nothing worse pushes out something better. Numbers begin
    with `first`.
    """
    shown: list[Shown] = []
    left = max_tokens
    for number, result in enumerate(results, start=first):
        every, costs = _measured(result.chunk)
        left -= estimate_tokens(f"{Shown(number, result, ())}\n\n")
        fitting = bisect_right(costs, left)
        if fitting:
            shown.append(Shown(number, result, every[:fitting]))
            left -= costs[fitting - 1]
        if fitting < len(every):
            break
    return Context(tuple(shown))


@lru_cache(maxsize=_KEPT_CHUNKS)
def _measured(chunk: Chunk) -> tuple[tuple[Unit, ...], tuple[int, ...]]:
    """Give the units of a chunk, and what each costs with all those before it."""
    every = units(chunk)
    return every, tuple(accumulate(map(_cost, every)))


@lru_cache(maxsize=_KEPT_CHUNKS)
def words_of_units(chunk: Chunk) -> tuple[tuple[str, ...], ...]:
    """Give the tokens of each unit of a chunk, in no order, each once."""
    return tuple(tuple(set(tokenize(unit.text))) for unit in _measured(chunk)[0])


def _cost(unit: Unit) -> int:
    # What looks like the end of a line to some program gets a number on each side.
    return sum(estimate_tokens(f"{unit.number}| {line}\n") for line in unit.text.splitlines())


def label_of(result: RetrievalResult) -> str:
    """Say where the original puts a result, for people: lesson, headings and `#id`, page or cell.

    Code needs no label: its lines and symbol say it all. A page below headings is said by the place.
    """
    chunk = result.chunk
    if chunk.lesson is not None:
        return " · ".join(part for part in (chunk.lesson.course, str(chunk.lesson)) if part)
    headings = " › ".join(chunk.context) if chunk.kind == "docs" else ""
    anchor = "" if headings and anchor_of(chunk) else chunk.anchor
    return " ".join(filter(None, (headings, anchor)))


def format_chunk(result: RetrievalResult, number: int) -> str:
    """Print a result for people: `[1] file.py:10-20` and its text in a fence."""
    chunk = result.chunk
    longest = max((len(run) for run in _LONGEST_FENCE.findall(chunk.text)), default=2)
    fence = "`" * (longest + 1)
    language = chunk.language if chunk.kind == "code" else ""
    return f"[{number}] {place_of(chunk)}\n{fence}{language}\n{chunk.text}\n{fence}\n"


def format_context(results: Iterable[RetrievalResult]) -> str:
    """Print results for people, in order, with a blank line between them."""
    return "\n".join(format_chunk(result, number) for number, result in enumerate(results, start=1))
