"""What tools show in one run: one context that grows, numbered through, so that all of it can be cited."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from openbook.agent.hooks import Hooks
from openbook.answering.context import Context, Shown, build_context
from openbook.llm.messages import ToolCall, ToolResult
from openbook.types import RetrievalResult, Span

# Estimated tokens of what one call shows: six passages, or a list of sixty lines.
_CALL_TOKENS = 2_500


@dataclass(frozen=True, slots=True)
class Found:
    """What one call of a tool found."""

    results: tuple[RetrievalResult, ...]
    note: str = ""
    """In words of ours, for the model."""


class Keeper(Protocol):
    """Takes what a tool found."""

    def keep(self, results: Sequence[RetrievalResult], note: str = "") -> str:
        """Take results in their order, with a note in words of ours, and give what the tool returns."""
        ...


class Numbering(Hooks):
    """Numbers what tools find, call by call in the order of the calls, whichever ends first."""

    def __init__(self) -> None:
        self._shown: list[Shown] = []
        self._numbers: dict[tuple[str, Span], int] = {}
        self._found: dict[str, Found] = {}
        self._keys = map("found-{}".format, itertools.count())

    @property
    def context(self) -> Context:
        """All that was shown so far."""
        return Context(tuple(self._shown))

    def keep(self, results: Sequence[RetrievalResult], note: str = "") -> str:
        """Take what a tool found, and give what the tool must return for it. Any thread may call it."""
        key = next(self._keys)
        self._found[key] = Found(tuple(results), note)
        return key

    def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Put numbered sources in the place of what `keep` gave."""
        found = self._found.pop(result.text, None)
        return result if found is None or result.is_error else replace(result, text=self._numbered(found))

    def _numbered(self, found: Found) -> str:
        new = [result for result in found.results if result.chunk.key not in self._numbers]
        fitting = build_context(new, _CALL_TOKENS, first=len(self._shown) + 1).shown
        notes = [self._repeated(result) for result in found.results if result.chunk.key in self._numbers]
        self._shown += fitting
        self._numbers |= {shown.result.chunk.key: shown.number for shown in fitting}
        if fitting and not fitting[-1].is_whole:
            notes.append(f"[{fitting[-1].number}] is cut: line {fitting[-1].units[-1].span.end_line} is its last here.")
        if len(fitting) < len(new):
            notes.append(f"{len(new) - len(fitting)} more did not fit.")
        return "\n\n".join(filter(None, (*map(str, fitting), *notes, found.note))) or "Nothing was found."

    def _repeated(self, result: RetrievalResult) -> str:
        return f"[{self._numbers[result.chunk.key]}] was found again; it is shown above."
