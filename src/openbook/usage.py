"""What a model read and wrote, in tokens."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call or, added up, of several."""

    input_tokens: int = 0
    """All that it read, the cached ones included."""
    output_tokens: int = 0
    """All that it wrote, its thinking included."""
    cached_input_tokens: int = 0
    """Of the input: read from the provider's cache."""
    cache_write_tokens: int = 0
    """Of the input: written to it."""
    known: bool = True
    """Whether the provider reported everything; else the numbers are a lower bound."""

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
    """Tokens of one call of which is known what it cost."""

    cost_usd: Decimal | None = None
    """In US dollars, as whoever answered says. None: not known."""
