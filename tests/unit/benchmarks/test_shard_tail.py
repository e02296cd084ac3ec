"""The simulated tail over shards behaves as probability says."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.shard_tail import SHARDS, Shard, all_of_them, hedged, main, most_of_them, times_ms


def test_one_shard_has_the_quantiles_that_it_was_given() -> None:
    drawn = times_ms(Shard(50, 150, held_up=0), 200_000, 1, np.random.default_rng(1))

    assert np.quantile(drawn, [0.5, 0.99]) == pytest.approx([50, 150], rel=0.02)


def test_the_median_of_the_slowest_of_many_is_the_quantile_that_probability_says() -> None:
    drawn = times_ms(Shard(held_up=0), 20_000, 100, np.random.default_rng(1))

    # The slowest of n is below x with the n-th power of the probability that one is.
    expected = np.quantile(drawn, 0.5 ** (1 / 100))
    assert np.median(all_of_them(drawn)) == pytest.approx(expected, rel=0.02)


def test_waiting_for_most_and_asking_again_are_never_slower() -> None:
    rng = np.random.default_rng(1)
    drawn, again = (times_ms(Shard(), 2_000, 50, rng) for _ in range(2))

    assert (most_of_them(drawn, 0.98) <= all_of_them(drawn)).all()
    assert (most_of_them(drawn, 1.0) == all_of_them(drawn)).all()
    assert (hedged(drawn, again, 100.0) <= all_of_them(drawn)).all()
    assert (hedged(drawn, again, np.inf) == all_of_them(drawn)).all()


def test_the_same_seed_prints_the_same_table(capsys: pytest.CaptureFixture[str]) -> None:
    tables = [(main(["--searches", "50"]), capsys.readouterr().out)[1] for _ in range(2)]

    assert tables[0] == tables[1]
    assert tables[0].count("\n") == 2 + len(SHARDS)
