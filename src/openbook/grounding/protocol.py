"""The `Judge` protocol: anything that can say whether cited text entails a claim, and with which words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

EntailmentLabel = Literal["entailed", "contradicted", "not said"]
"""Whether a text says what a claim says, says the opposite, or says neither."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """A source around cited lines, as far as the writer of the claim saw it."""

    text: str
    path: str = ""
    symbol: str = ""
    """Name that is defined there, such as `Client.get`; empty for prose."""


@dataclass(frozen=True, slots=True)
class CitedClaim:
    """A claim, and the text that it cites."""

    claim: str
    """One sentence, list item or table row, without citation marks."""
    cited_text: str
    """Exact text of the cited lines. Several places are joined by a line feed, in the order of the marks."""
    sources: tuple[SourceText, ...] = ()
    """The whole sources around the cited lines, each once."""
    places: tuple[tuple[int, int, int], ...] = ()
    """Where the cited text stands in the sources, if that is known: place of the source in the tuple, first and last
    line, counted from 1, inclusive. Else it is looked up, which can find another line with the same words."""


@dataclass(frozen=True, slots=True)
class Entailment:
    """What a judge says of one claim."""

    label: EntailmentLabel
    quote: str = ""
    """The shortest words that decide it, copied from the cited text or from one of the sources. They are looked up
    literally: `entailed` without words that stand there does not confirm a claim."""


@runtime_checkable
class Judge(Protocol):
    """Checks whether cited text entails claims.

    Raise any `openbook.errors.OpenbookError` if a batch cannot be judged; its claims stay `unverified`.
    """

    @property
    def name(self) -> str:
        """Name for people, such as `nli:minicheck`."""
        ...

    def judge(self, claims: Sequence[CitedClaim]) -> Sequence[Entailment | None]:
        """Judge claims, each by its own text alone.

        Returns:
            One result for each claim, in their order; None where it gives no verdict.
        """
        ...
