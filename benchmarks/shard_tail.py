"""Simulates the tail of a search that asks many shards and waits for all of them, or for most.

    python -m benchmarks.shard_tail

Nothing is measured here: the times of one shard are drawn from a log-normal distribution with a given median and p99,
and a few of them are held up (garbage collection, a cold cache, a busy neighbour). docs/billion.md has the table.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Of the normal distribution.
_Z99 = 2.3263478740408408


@dataclass(frozen=True, slots=True)
class Shard:
    """How long one shard takes, in milliseconds."""

    p50_ms: float = 50.0
    """The goal of a million chunks on one machine."""
    p99_ms: float = 150.0
    held_up: float = 0.002
    """Share of requests that wait for something else."""
    held_up_ms: float = 500.0


SHARDS = (1, 10, 50, 200, 1000)

HEDGE_AFTER = 0.95


def times_ms(shard: Shard, searches: int, shards: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return what each shard takes for each search: (searches, shards), in milliseconds."""
    sigma = math.log(shard.p99_ms / shard.p50_ms) / _Z99
    drawn = rng.lognormal(math.log(shard.p50_ms), sigma, (searches, shards))
    drawn += (rng.random((searches, shards)) < shard.held_up) * shard.held_up_ms
    return drawn


def all_of_them(drawn: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the time of each search that waits for the last shard."""
    return np.asarray(drawn.max(axis=1))


def most_of_them(drawn: NDArray[np.float64], share: float) -> NDArray[np.float64]:
    """Return the time of each search that goes on when a share of the shards, and at least one, has answered."""
    wanted = max(1, math.ceil(drawn.shape[1] * share))
    return np.sort(drawn, axis=1)[:, wanted - 1]


def hedged(drawn: NDArray[np.float64], again: NDArray[np.float64], after_ms: float) -> NDArray[np.float64]:
    """Return the time of each search that asks a replica of each shard which is late, and takes the first reply."""
    late = drawn > after_ms
    return np.asarray(np.where(late, np.minimum(drawn, after_ms + again), drawn).max(axis=1))


def rows(shard: Shard, searches: int, seed: int) -> list[tuple[int, list[float], float]]:
    """Return for each number of shards p50 and p99 of the three ways, and the share of requests that hedging adds."""
    rng, found = np.random.default_rng(seed), []
    alone = times_ms(shard, 200_000, 1, rng)
    after_ms = float(np.quantile(alone, HEDGE_AFTER))
    for shards in SHARDS:
        drawn, again = (times_ms(shard, searches, shards, rng) for _ in range(2))
        ways = (all_of_them(drawn), most_of_them(drawn, 0.99), hedged(drawn, again, after_ms))
        quantiles = [float(np.quantile(way, share)) for way in ways for share in (0.5, 0.99)]
        found.append((shards, quantiles, float((drawn > after_ms).mean())))
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--p50", type=float, default=Shard().p50_ms, help="milliseconds of one shard")
    parser.add_argument("--p99", type=float, default=Shard().p99_ms)
    parser.add_argument("--searches", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args(arguments)
    sys.stdout.write(
        "| shards | all: p50 / p99 | 99 % of them: p50 / p99 | all, hedged: p50 / p99 | requests added |\n"
    )
    sys.stdout.write("|---|---|---|---|---|\n")
    for shards, quantiles, added in rows(Shard(given.p50, given.p99), given.searches, given.seed):
        pairs = [f"{quantiles[at]:,.0f} / {quantiles[at + 1]:,.0f} ms" for at in (0, 2, 4)]
        sys.stdout.write(f"| {shards:,} | {' | '.join(pairs)} | {added:.1%} |\n".replace("%", " %"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
