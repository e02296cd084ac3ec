"""The `Judge` protocol: decides whether cited text entails a claim, and by which words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

EntailmentLabel = Literal["entailed", "contradicted", "not said"]
"""Whether a text says what a claim says, says the opposite, or says neither."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """A source around cited lines, as far as the author of the claim saw it."""

    text: str
    path: str = ""
    symbol: str = ""
    """Name of the symbol defined there, such as `Client.get`; empty for prose."""


@dataclass(frozen=True, slots=True)
class CitedClaim:
    """A claim and the text it cites."""

    claim: str
    """One sentence, list item or table row, without citation marks."""
    cited_text: str
    """Exact text of the cited lines. Several places are joined by a line feed, in the order of the marks."""
    sources: tuple[SourceText, ...] = ()
    """The whole sources of the cited lines, each once."""
    places: tuple[tuple[int, int, int], ...] = ()
    """Positions of the cited text, if known: index of the source in the tuple, first and last line, 1-based, inclusive.
    Without them the text is searched for, which may find an identical line elsewhere."""
    premise: str = ""
    """For a conclusion ("So ..."), the text that the claim before it cites: its numbers may come from there."""


@dataclass(frozen=True, slots=True)
class Entailment:
    """A judge's verdict on one claim."""

    label: EntailmentLabel
    quote: str = ""
    """The shortest deciding words, copied verbatim from the cited text or a source. They are looked up:
    `entailed` confirms a claim only if they occur there."""


@runtime_checkable
class Judge(Protocol):
    """Checks whether cited text entails claims.

    Raise any `openbook.errors.OpenbookError` if a batch cannot be judged; its claims stay `unverified`.
    """

    @property
    def name(self) -> str:
        """Display name, such as `nli:minicheck`."""

    def judge(self, claims: Sequence[CitedClaim]) -> Sequence[Entailment | None]:
        """Judge claims, each by its own text alone.

        Returns:
            One result per claim, in order; None where there is no verdict.
        """
