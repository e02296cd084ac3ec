"""Token usage of models."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Usage:
    """Token usage of one call, or the sum of several."""

    input_tokens: int = 0
    """Input tokens, including cached ones."""
    output_tokens: int = 0
    """Output tokens, including thinking."""
    cached_input_tokens: int = 0
    """Input tokens read from the provider's cache."""
    cache_write_tokens: int = 0
    """Input tokens written to it."""
    known: bool = True
    """Whether the provider reported everything; otherwise the numbers are a lower bound."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_input_tokens + other.cached_input_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            self.known and other.known,
        )


@dataclass(frozen=True, slots=True)
class PricedUsage(Usage):
    """Usage of one call with a known cost."""

    cost_usd: Decimal | None = None
    """In US dollars, as reported by the provider. None: unknown."""
