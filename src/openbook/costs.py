"""The cost of model calls in tokens, money and time: estimated before, counted after, and limited."""

from __future__ import annotations

import math
import re
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

from openbook.errors import InvalidArgumentError
from openbook.usage import PricedUsage, Usage

__all__ = [
    "Budget",
    "BudgetExceeded",
    "BudgetLedger",
    "Limit",
    "Price",
    "Reservation",
    "Spent",
    "Usage",
    "estimate_cost",
    "estimate_tokens",
    "format_usd",
    "price_of",
]

Price = Callable[[str, Usage], Decimal | None]
"""Returns the price of one call in US dollars, given model name and usage. None: unknown."""

Limit = Literal["max_rounds", "max_tokens", "max_usd", "max_seconds"]

# Providers with known prices. For other servers, a model name such as `llama3` does not tell who charges for it.
_PRICED = frozenset({"anthropic", "groq", "openai"})

# Hundredths of a token, fitted to the mean of four vocabularies by least squares and rounded.
# `python -m benchmarks.tokens --data DATA` prints the error of the sum.
_WORD, _LATER_LETTER, _SYMBOLS, _DIGITS, _GAP, _NON_ASCII = 100, 40, 100, 150, 75, 100
# Most words of up to six letters are a single token.
_EARLY_LETTERS = 6

# Hangul, Kana, Han and their full-width punctuation: each character counts by itself.
_WIDE = "\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef"
_WORDS = re.compile(rf"[^\W\d_{_WIDE}]+")
_SYMBOL_RUNS = re.compile(rf"[^\w\s{_WIDE}]+|_+")
_THREE_DIGITS = re.compile(r"\d{1,3}")
_GAPS = re.compile(r"\s*\n\s*|[ \t]{2,}")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")

# With fewer tokens, about ninety words, the reply would only be truncated.
_MIN_REPLY_TOKENS = 128


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens in a text.

    Depending on text and vocabulary, the estimate is 1.06 to 1.20 times the real count for code, Markdown
    and English, 0.88 to 1.14 for German, 0.81 to 1.53 for Chinese. For texts that start on their own lines,
    the estimate of the concatenation is at most the sum of the estimates.

    Example:
        >>> estimate_tokens("def read(path: str) -> str:")
        10
    """
    words = _WORDS.findall(text)
    later = sum(len(word) - _EARLY_LETTERS for word in words if len(word) > _EARLY_LETTERS)
    hundredths = (
        len(words) * _WORD
        + later * _LATER_LETTER
        + len(_SYMBOL_RUNS.findall(text)) * _SYMBOLS
        + len(_THREE_DIGITS.findall(text)) * _DIGITS
        + len(_GAPS.findall(text)) * _GAP
        + (0 if text.isascii() else len(_BEYOND_ASCII.findall(text)) * _NON_ASCII)
    )
    return -(-hundredths // 100)


def price_of(model: str, usage: Usage) -> Decimal | None:
    """Return the published price of one call in US dollars; None if unknown.

    Cache reads, cache writes and other input have different prices. Prices can depend on the input
    size of a call, so calls are priced one by one, not by their sum. No network: prices come from
    the installed `genai-prices`, which takes a second to load.

    Args:
        model: Provider and name, such as `anthropic:claude-sonnet-5-5`. For names separated by commas: the sum.
        usage: Usage of the call.
    """
    if isinstance(usage, PricedUsage) and usage.cost_usd is not None:
        return usage.cost_usd
    if "," in model:
        return None if isinstance(usage, PricedUsage) else _price_of_all(model.split(","), usage)
    provider, _, name = model.partition(":")
    if provider not in _PRICED or not name or not usage.known:
        return None
    import genai_prices

    counted = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_input_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    try:
        found = genai_prices.calc_price(counted, name, provider_id=provider)
    except (LookupError, ValueError):  # an unlisted model, or inconsistent numbers
        return None
    # It also lists models without a price, whose cost would come out as 0.
    listed = found.model_price.input_mtok is not None and found.model_price.output_mtok is not None
    return found.total_price if listed else None


def _price_of_all(models: Sequence[str], usage: Usage) -> Decimal | None:
    """Return the maximum price of a call to models that are fallbacks of each other: all of them are called."""
    prices = [price_of(name, usage) for name in models]
    known = [price for price in prices if price is not None]
    return sum(known, Decimal(0)) if len(known) == len(prices) else None


def estimate_cost(model: str, input_tokens: int, output_tokens: int, *, price: Price = price_of) -> Decimal | None:
    """Return the maximum price of a planned call in US dollars; None if unknown.

    Assumes no cache reads, and that cache writes may cost more than plain input.
    """
    plain = price(model, Usage(input_tokens, output_tokens))
    written = price(model, Usage(input_tokens, output_tokens, cache_write_tokens=input_tokens))
    return None if plain is None or written is None else max(plain, written)


def format_usd(cost_usd: Decimal | None) -> str:
    """Format a price for users.

    Example:
        >>> format_usd(Decimal("0.00123")), format_usd(Decimal(0)), format_usd(None)
        ('$0.0012', '$0.0000', 'unknown')
    """
    return "unknown" if cost_usd is None else f"${cost_usd:.4f}"


@dataclass(frozen=True, slots=True)
class Spent:
    """The cost of calls."""

    usage: Usage = field(default_factory=Usage)
    known_usd: Decimal = Decimal(0)
    """Sum of the known prices."""
    unpriced_calls: int = 0
    """Number of calls whose price is unknown."""

    @property
    def cost_usd(self) -> Decimal | None:
        """Total in US dollars; None if the price of any call is unknown."""
        return None if self.unpriced_calls else self.known_usd

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.usage + other.usage, self.known_usd + other.known_usd, self.unpriced_calls + other.unpriced_calls
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The limits of one run. None means no limit.

    Before each call, its maximum cost is reserved; a call that does not fit is not made. A run can
    exceed a limit only if a call reads more than estimated or costs more than the published price.
    """

    max_rounds: int = 8
    """Rounds of tool calls. After the last one, the model must answer without tools."""
    max_tokens: int | None = None
    """Tokens read and written by all calls."""
    max_usd: Decimal | float | None = None
    """US dollars. With this limit, models with unknown prices are not called."""
    max_seconds: float | None = None
    """Seconds from the start of the run, including tools."""

    def __post_init__(self) -> None:
        for name in ("max_rounds", "max_tokens", "max_usd", "max_seconds"):
            value = getattr(self, name)
            if value is not None and (math.isnan(value) or value < 0):
                raise InvalidArgumentError(f"{name} is {value}", hint="give 0 or more, or None for no limit")


@dataclass(frozen=True, slots=True)
class Reservation:
    """The maximum cost of a call."""

    input_tokens: int
    output_tokens: int
    """As requested, or fewer if the budget allows no more."""
    deadline_s: float
    cost_usd: Decimal | None
    """None if the price is unknown."""


@dataclass(frozen=True, slots=True)
class BudgetExceeded:
    """A call that the budget does not allow, and the reason."""

    limit: Limit
    reason: str
    """Message for users."""


class BudgetLedger:
    """Tracks the spending of one run against its budget. The clock starts on creation."""

    def __init__(
        self, budget: Budget, model: str, *, price: Price = price_of, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Start the clock.

        Args:
            budget: The limits.
            model: Name of the model.
            price: The price list.
            clock: Returns seconds.
        """
        self.spent = Spent()
        self._budget = budget
        self._model = model
        self._price = price
        self._clock = clock
        self._started_s = clock()
        # What counts against the limits. Higher than the spending if a provider reported no usage.
        self._tokens = 0
        self._usd = Decimal(0)
        self._open: Reservation | None = None

    @property
    def left_s(self) -> float:
        """Seconds left; infinite without a limit."""
        if self._budget.max_seconds is None:
            return math.inf
        return self._budget.max_seconds - (self._clock() - self._started_s)

    @property
    def left(self) -> Budget:
        """Return the remaining budget, except rounds, for another run."""
        budget = self._budget
        return replace(
            budget,
            max_tokens=None if budget.max_tokens is None else max(budget.max_tokens - self._tokens, 0),
            max_usd=None if budget.max_usd is None else max(self._left_usd, Decimal(0)),
            max_seconds=None if budget.max_seconds is None else max(self.left_s, 0.0),
        )

    def reserve(self, input_tokens: int, output_tokens: int, deadline_s: float) -> Reservation | BudgetExceeded:
        """Reserve the maximum cost of a call, or return the limit that forbids it.

        Args:
            input_tokens: Maximum number of tokens to read.
            output_tokens: Maximum number of tokens to write; fewer may be granted.
            deadline_s: Maximum seconds; fewer may be granted.
        """
        if self.left_s <= 0:
            return BudgetExceeded("max_seconds", f"the {self._budget.max_seconds:g} seconds are over")
        shortest = min(output_tokens, _MIN_REPLY_TOKENS)
        if self._budget.max_tokens is not None:
            left = self._budget.max_tokens - self._tokens
            output_tokens = min(output_tokens, left - input_tokens)
            if output_tokens < shortest:
                return BudgetExceeded("max_tokens", f"{max(left, 0)} of {self._budget.max_tokens} tokens are left")
        if self._budget.max_usd is not None:
            affordable = self._affordable(input_tokens, output_tokens)
            if affordable is None:
                return BudgetExceeded("max_usd", f"the price of {self._model!r} is not known, so no limit can be kept")
            if affordable < shortest:
                left_usd = max(self._left_usd, Decimal(0))
                return BudgetExceeded("max_usd", f"{format_usd(left_usd)} of ${self._budget.max_usd} are left")
            output_tokens = affordable
        self._open = Reservation(
            input_tokens, output_tokens, min(deadline_s, self.left_s), self._most(input_tokens, output_tokens)
        )
        return self._open

    def allows(self, input_tokens: int, output_tokens: int) -> bool:
        """Return whether a call of this size could be reserved in full now, without reserving it."""
        granted = self.reserve(input_tokens, output_tokens, math.inf)
        self._open = None
        return isinstance(granted, Reservation) and granted.output_tokens == output_tokens

    def settle(self, usage: Usage) -> Spent:
        """Replace the reservation with the actual usage and return it. Unreported usage counts as reserved."""
        reserved, self._open = self._open, None
        if reserved is None:
            raise ValueError("nothing is reserved")
        cost_usd = self._price(self._model, usage)
        spent = Spent(usage, cost_usd or Decimal(0), unpriced_calls=int(cost_usd is None))
        self.spent += spent
        most = reserved.input_tokens + reserved.output_tokens
        self._tokens += usage.input_tokens + usage.output_tokens if usage.known else most
        self._usd += reserved.cost_usd or Decimal(0) if cost_usd is None else cost_usd
        return spent

    def charge(self, cost_usd: Decimal) -> BudgetExceeded | None:
        """Charge the cost of something other than the model, or return that the budget does not allow it."""
        if self._budget.max_usd is not None and cost_usd > self._left_usd:
            return BudgetExceeded(
                "max_usd", f"{format_usd(max(self._left_usd, Decimal(0)))} of ${self._budget.max_usd} are left"
            )
        self._usd += cost_usd
        self.spent += Spent(known_usd=cost_usd)
        return None

    def abandon(self) -> None:
        """End the run. An interrupted call has an unknown cost."""
        if self._open is not None:
            self.settle(Usage(known=False))

    @property
    def _left_usd(self) -> Decimal:
        return Decimal(str(self._budget.max_usd)) - self._usd

    def _most(self, input_tokens: int, output_tokens: int) -> Decimal | None:
        if self._budget.max_usd is None:
            return None
        return estimate_cost(self._model, input_tokens, output_tokens, price=self._price)

    def _affordable(self, input_tokens: int, output_tokens: int) -> int | None:
        """Return how many output tokens are affordable, -1 if not even the input is; None if the price is unknown."""
        most = self._most(input_tokens, output_tokens)
        if most is None or most <= self._left_usd:
            return None if most is None else output_tokens

        def is_too_much(count: int) -> bool:
            cost_usd = self._most(input_tokens, count)
            return cost_usd is None or cost_usd > self._left_usd

        return bisect_right(range(output_tokens + 1), False, key=is_too_much) - 1
