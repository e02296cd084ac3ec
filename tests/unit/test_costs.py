from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openbook.costs import (
    Budget,
    BudgetExceeded,
    BudgetLedger,
    Reservation,
    Spent,
    estimate_cost,
    estimate_tokens,
    price_of,
)
from openbook.usage import Usage
from tests.fakes.clock import Clock

# A model that is no longer sold: what it did cost does not change. Dollars per million tokens:
# 0.80 read, 0.08 from the cache, 1.00 into it, 4.00 written.
SOLD = "anthropic:claude-3-5-haiku-latest"


def by_thousand(model: str, usage: Usage) -> Decimal:
    """One dollar for a thousand tokens read, two for a thousand written."""
    return Decimal(usage.input_tokens + 2 * usage.output_tokens) / 1000


def unknown(model: str, usage: Usage) -> None:
    return None


@pytest.mark.parametrize(
    ("usage", "dollars"),
    [
        pytest.param(Usage(1_000_000, 0), "0.80", id="read"),
        pytest.param(Usage(0, 1_000_000), "4.00", id="written"),
        pytest.param(Usage(1_000_000, 0, cached_input_tokens=1_000_000), "0.08", id="from-the-cache"),
        pytest.param(Usage(1_000_000, 0, cache_write_tokens=1_000_000), "1.00", id="into-the-cache"),
        pytest.param(Usage(1_000_000, 0, cached_input_tokens=500_000), "0.44", id="half-of-it-cached"),
    ],
)
def test_cached_and_uncached_tokens_have_prices_of_their_own(usage: Usage, dollars: str) -> None:
    assert price_of(SOLD, usage) == Decimal(dollars)


@pytest.mark.parametrize(
    ("model", "usage"),
    [
        pytest.param("ollama:llama3", Usage(10, 10), id="on-this-machine"),
        pytest.param("http://127.0.0.1:9000/v1#gpt-4o", Usage(10, 10), id="an-address"),
        pytest.param("anthropic:claude-nobody-knows", Usage(10, 10), id="unknown-model"),
        pytest.param("openai:", Usage(10, 10), id="no-model"),
        pytest.param("openai", Usage(10, 10), id="no-provider"),
        pytest.param("openai:text-embedding-3-small", Usage(10, 10), id="no-price-for-writing"),
        pytest.param(SOLD, Usage(10, 10, known=False), id="unknown-usage"),
        pytest.param(SOLD, Usage(10, 10, cached_input_tokens=20), id="impossible-usage"),
    ],
)
def test_a_price_that_is_not_known_is_none_and_never_zero(model: str, usage: Usage) -> None:
    assert price_of(model, usage) is None


def test_local_models_do_not_load_the_list_of_prices() -> None:
    script = (
        "import sys; from openbook.costs import Usage, price_of; price_of('ollama:x', Usage(1, 1)); "
        "print('genai_prices' in sys.modules)"
    )

    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, encoding="utf-8").stdout

    assert printed.strip() == "False"


def test_a_planned_call_is_estimated_with_the_dearest_way_to_read() -> None:
    assert estimate_cost(SOLD, 1_000_000, 1_000_000) == Decimal(5)
    assert estimate_cost("ollama:llama3", 1, 1) is None


def test_what_is_spent_adds_up_and_stays_unknown() -> None:
    known = Spent(Usage(1, 2), Decimal(3))
    hidden = Spent(Usage(10, 20), unpriced_calls=1)

    assert (known + known).cost_usd == Decimal(6)
    assert (known + hidden).cost_usd is None
    assert (known + hidden).known_usd == Decimal(3)
    assert (known + hidden).usage == Usage(11, 22)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("", 0, id="empty"),
        pytest.param("a", 1, id="letter"),
        pytest.param("向量索引", 4, id="han"),
        pytest.param("über", 2, id="umlaut"),
        pytest.param("2026-11", 6, id="digits"),
        pytest.param("misunderstanding", 5, id="long-word"),
    ],
)
def test_tokens_are_estimated_by_words_digits_and_marks(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@pytest.mark.slow
@given(st.lists(st.text(), max_size=5))
def test_lines_are_estimated_as_no_more_than_their_sum(lines: Sequence[str]) -> None:
    parts = [f"{line}\n" for line in lines]

    assert estimate_tokens("".join(parts)) <= sum(map(estimate_tokens, parts))


@given(st.text(), st.text())
def test_more_text_is_never_fewer_tokens(text: str, more: str) -> None:
    assert estimate_tokens(text) <= estimate_tokens(text + more)


@pytest.mark.parametrize("name", ["max_rounds", "max_tokens", "max_usd", "max_seconds"])
def test_a_budget_cannot_be_negative(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Budget(**{name: -1})


@pytest.mark.parametrize("usd", [float("nan"), Decimal("nan")])
def test_a_budget_cannot_be_no_number(usd: float | Decimal) -> None:
    with pytest.raises(ValueError, match="max_usd"):
        Budget(max_usd=usd)


def test_a_call_that_does_not_fit_is_granted_fewer_tokens_to_write() -> None:
    ledger = BudgetLedger(Budget(max_tokens=1000), "m", price=unknown)

    assert ledger.reserve(700, 500, 9.0) == Reservation(700, 300, 9.0, None)


def test_money_grants_what_it_can_still_pay() -> None:
    ledger = BudgetLedger(Budget(max_usd=1.0), "m", price=by_thousand)

    assert ledger.reserve(500, 500, 9.0) == Reservation(500, 250, 9.0, Decimal(1))


def test_a_free_model_is_never_too_dear() -> None:
    ledger = BudgetLedger(Budget(max_usd=0), "m", price=lambda model, usage: Decimal(0))

    assert ledger.reserve(500, 500, 9.0) == Reservation(500, 500, 9.0, Decimal(0))


@pytest.mark.parametrize(
    ("budget", "limit", "reason"),
    [
        (Budget(max_tokens=1000), "max_tokens", "1000 of 1000 tokens are left"),
        (Budget(max_usd=Decimal("0.95")), "max_usd", "$0.9500 of $0.95 are left"),
        (Budget(max_seconds=0), "max_seconds", "the 0 seconds are over"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_call_too_large_for_any_reply_is_refused_by_the_limit_that_forbids_it(
    budget: Budget, limit: str, reason: str
) -> None:
    refused = BudgetLedger(budget, "m", price=by_thousand).reserve(950, 500, 9.0)

    assert refused == BudgetExceeded(limit, reason)  # type: ignore[arg-type]


def test_a_limit_of_money_refuses_a_model_whose_price_is_not_known() -> None:
    refused = BudgetLedger(Budget(max_usd=10), "ollama:x", price=unknown).reserve(1, 1, 9.0)

    assert isinstance(refused, BudgetExceeded)
    assert refused.reason == "the price of 'ollama:x' is not known, so no limit can be kept"


def test_a_call_may_take_no_longer_than_what_is_left_of_the_seconds() -> None:
    clock = Clock(100.0)
    ledger = BudgetLedger(Budget(max_seconds=10), "m", price=unknown, clock=clock)
    clock.now_s += 7

    granted = ledger.reserve(1, 1, 120.0)

    assert isinstance(granted, Reservation)
    assert granted.deadline_s == 3.0


def test_what_is_not_reported_counts_as_reserved() -> None:
    ledger = BudgetLedger(
        Budget(max_tokens=1000, max_usd=5), "m", price=lambda m, usage: by_thousand(m, usage) if usage.known else None
    )
    ledger.reserve(300, 500, 9.0)

    spent = ledger.settle(Usage(known=False))

    assert spent.cost_usd is None
    assert ledger.reserve(150, 50, 9.0) == Reservation(150, 50, 9.0, Decimal("0.25"))
    assert isinstance(ledger.reserve(151, 50, 9.0), BudgetExceeded)


def test_what_is_left_of_a_budget_is_a_budget_for_another_run() -> None:
    clock = Clock(100.0)
    ledger = BudgetLedger(
        Budget(max_rounds=3, max_tokens=1000, max_usd=5, max_seconds=60.0), "m", price=by_thousand, clock=clock
    )
    ledger.reserve(300, 200, 9.0)
    clock.now_s += 20.0
    ledger.settle(Usage(known=False))

    left = ledger.left
    clock.now_s += 90.0

    assert (left.max_rounds, left.max_tokens, left.max_seconds) == (3, 500, 40.0)
    assert ledger.left.max_seconds == 0.0
    assert BudgetLedger(Budget(), "m").left == Budget()


def test_a_call_that_was_cut_short_has_a_price_that_nobody_knows() -> None:
    ledger = BudgetLedger(Budget(), "m", price=lambda m, usage: by_thousand(m, usage) if usage.known else None)
    ledger.reserve(300, 500, 9.0)

    ledger.abandon()
    ledger.abandon()

    assert ledger.spent == Spent(Usage(known=False), unpriced_calls=1)


def test_nothing_is_settled_that_was_not_reserved() -> None:
    with pytest.raises(ValueError, match="nothing is reserved"):
        BudgetLedger(Budget(), "m").settle(Usage())


CALLS = st.lists(st.tuples(st.integers(0, 900), st.integers(1, 900), st.floats(0, 1), st.integers(0, 50)), max_size=12)


@pytest.mark.slow
@given(CALLS, st.none() | st.integers(0, 3000), st.none() | st.integers(0, 4))
def test_a_run_passes_its_limits_only_by_what_calls_read_beyond_what_was_declared(
    calls: list[tuple[int, int, float, int]], max_tokens: int | None, max_usd: int | None
) -> None:
    ledger = BudgetLedger(Budget(max_tokens=max_tokens, max_usd=max_usd), "m", price=by_thousand)
    beyond = 0

    for declared, wanted, share, surplus in calls:
        granted = ledger.reserve(declared, wanted, 1.0)
        if isinstance(granted, Reservation):
            assert granted.output_tokens <= wanted
            ledger.settle(Usage(declared + surplus, int(granted.output_tokens * share)))
            beyond += surplus

    spent = ledger.spent
    if max_tokens is not None:
        assert spent.usage.input_tokens + spent.usage.output_tokens <= max_tokens + beyond
    if max_usd is not None:
        assert spent.known_usd <= max_usd + Decimal(beyond) / 1000


def test_a_call_is_allowed_only_as_a_whole_and_nothing_is_reserved_for_it() -> None:
    ledger = BudgetLedger(Budget(max_tokens=1_000), SOLD)

    assert ledger.allows(600, 400)
    assert not ledger.allows(600, 401)
    assert ledger.spent == Spent()
    with pytest.raises(ValueError, match="nothing is reserved"):
        ledger.settle(Usage())
