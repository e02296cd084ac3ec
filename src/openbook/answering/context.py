"""What an answer is written from: numbered results, cut into numbered units, within a budget."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from openbook.costs import estimate_tokens
from openbook.generation import place_of
from openbook.llm.messages import Source
from openbook.spans import units
from openbook.types import RetrievalResult, Unit

_LONGEST_FENCE = re.compile(r"`{3,}")


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
        return len(self.units) == len(units(self.result.chunk))

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
        every = units(result.chunk)
        left -= estimate_tokens(f"{Shown(number, result, ())}\n\n")
        fitting = _fitting(every, left)
        if fitting:
            shown.append(Shown(number, result, fitting))
        left -= sum(_cost(unit) for unit in fitting)
        if len(fitting) < len(every):
            break
    return Context(tuple(shown))


def _fitting(every: Sequence[Unit], tokens: int) -> tuple[Unit, ...]:
    kept = []
    for unit in every:
        tokens -= _cost(unit)
        if tokens < 0:
            break
        kept.append(unit)
    return tuple(kept)


def _cost(unit: Unit) -> int:
    # What looks like the end of a line to some program gets a number on each side.
    return sum(estimate_tokens(f"{unit.number}| {line}\n") for line in unit.text.splitlines())


def label_of(result: RetrievalResult) -> str:
    """Say where the original puts a result, for people: lesson, cell or heading.

    Code needs no label: its lines and symbol say it all.
    """
    chunk = result.chunk
    if chunk.lesson is not None:
        return " · ".join(part for part in (chunk.lesson.course, str(chunk.lesson)) if part)
    if chunk.anchor:
        return chunk.anchor
    return " › ".join(chunk.context) if chunk.kind == "docs" else ""


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
