"""Numbers the results of tool calls across a run, so that all of them can be cited."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from openbook.agent.hooks import Hooks
from openbook.extractive.context import Context, ContextItem, build_context
from openbook.extractive.outlines import unseen
from openbook.llm.messages import ToolCall, ToolResult
from openbook.types import Chunk, RetrievalResult, Span

# Limit of the results of a call in estimated tokens: six passages, or a list of sixty lines.
_CALL_TOKENS = 2_500


@dataclass(frozen=True, slots=True)
class ToolFindings:
    """The results of one tool call."""

    results: tuple[RetrievalResult, ...]
    note: str = ""
    """For the model, without text of sources."""


class ResultSink(Protocol):
    """Receives the results of tool calls."""

    def keep(self, results: Sequence[RetrievalResult], note: str = "") -> str:
        """Keep results with a note, and return the output of the tool."""
        ...


class ResultNumbering(Hooks):
    """Numbers the results of tools in the order of the calls, whichever ends first."""

    def __init__(self) -> None:
        self._shown: list[ContextItem] = []
        self._numbers: dict[tuple[str, Span], int] = {}
        self._found: dict[str, ToolFindings] = {}
        self._keys = map("found-{}".format, itertools.count())

    @property
    def context(self) -> Context:
        """All results so far."""
        return Context(tuple(self._shown))

    def keep(self, results: Sequence[RetrievalResult], note: str = "") -> str:
        """Keep the results of a tool, and return the output that the tool must return. Thread-safe."""
        key = next(self._keys)
        self._found[key] = ToolFindings(tuple(results), note)
        return key

    def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """Replace the output of `keep` by numbered sources."""
        found = self._found.pop(result.text, None)
        return result if found is None or result.is_error else replace(result, text=self._numbered(found))

    def _numbered(self, found: ToolFindings) -> str:
        new = [result for result in found.results if result.chunk.key not in self._numbers]
        fitting = build_context(self._unseen(new), _CALL_TOKENS, first=len(self._shown) + 1).shown
        notes = [self._repeated(result) for result in found.results if result.chunk.key in self._numbers]
        self._shown += fitting
        self._numbers |= {result.chunk.key: shown.number for result, shown in zip(new, fitting, strict=False)}
        if len(fitting) < len(new):
            notes.append(f"{len(new) - len(fitting)} more did not fit.")
        return "\n\n".join(filter(None, (*map(str, fitting), *notes, found.note))) or "Nothing was found."

    def _unseen(self, results: Sequence[RetrievalResult]) -> list[RetrievalResult]:
        """Return results without the sentences that chunks of a course share with earlier ones."""
        found: list[RetrievalResult] = []
        for result in results:
            chunk, before = result.chunk, [*self._shown_spans(result.chunk), *_spans(found, result.chunk)]
            found.append(replace(result, chunk=unseen(chunk, before)) if chunk.kind == "course" else result)
        return found

    def _shown_spans(self, chunk: Chunk) -> list[Span]:
        return [
            replace(shown.result.chunk.span, end_char=shown.units[-1].span.end_char)
            for shown in self._shown
            if _is_of(shown.result.chunk, chunk)
        ]

    def _repeated(self, result: RetrievalResult) -> str:
        return f"[{self._numbers[result.chunk.key]}] was found again; it is shown above."


def _spans(results: Sequence[RetrievalResult], chunk: Chunk) -> list[Span]:
    return [result.chunk.span for result in results if _is_of(result.chunk, chunk)]


def _is_of(other: Chunk, chunk: Chunk) -> bool:
    return (other.source, other.span.path) == (chunk.source, chunk.span.path)
