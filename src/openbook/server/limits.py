"""What one key may do: questions a minute, and money a day."""

from __future__ import annotations

import time
from collections.abc import Callable
from decimal import Decimal

from openbook.server.auth import Caller
from openbook.server.failures import RequestRefusedError
from openbook.server.keys import Keys
from openbook.settings import Settings

_DAY_S = 24 * 3600


class Limits:
    """Counts for each key. Who needs no key has no limits. One thread may use it: that of the event loop."""

    def __init__(
        self,
        keys: Keys,
        settings: Settings,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Take the keys and their limits."""
        self._keys = keys
        self._per_minute = settings.key_questions_per_minute
        self._usd_per_day = settings.key_usd_per_day
        self._clock = clock
        self._now = now
        self._left: dict[str, tuple[float, float]] = {}
        self._reserved: dict[str, float] = {}

    def take(self, caller: Caller) -> None:
        """Count a question. A key that was quiet may send a minute's worth at once.

        Raises:
            RequestRefusedError: There were too many.
        """
        if caller.key is None:
            return
        now = self._clock()
        left, since = self._left.get(caller.key.id, (float(self._per_minute), now))
        left = min(float(self._per_minute), left + (now - since) * self._per_minute / 60)
        if left < 1:
            wait_s = (1 - left) * 60 / self._per_minute
            raise RequestRefusedError(
                429,
                f"more than {self._per_minute} questions in a minute",
                hint=f"try again in {max(1, round(wait_s))} seconds",
                retry_after_s=wait_s,
            )
        self._left[caller.key.id] = (left - 1, now)

    def reserve(self, caller: Caller, usd: float) -> float:
        """Set money aside for an answer, at most `usd`, and give how much.

        Raises:
            RequestRefusedError: The day's money is spent.
        """
        if caller.key is None:
            return usd
        reserved = self._reserved.get(caller.key.id, 0.0)
        left = self._usd_per_day - self._keys.spent_today(caller.key.id) - reserved
        if left <= 0:
            wait_s = _DAY_S - self._now() % _DAY_S
            raise RequestRefusedError(
                429,
                f"the {self._usd_per_day:g} US dollars of this key are spent for today",
                hint="ask again after midnight UTC, or choose the model `extractive`, which costs nothing",
                retry_after_s=wait_s,
            )
        granted = min(usd, left)
        self._reserved[caller.key.id] = reserved + granted
        return granted

    def settle(self, caller: Caller, granted: float, cost_usd: Decimal | float | None) -> None:
        """Count what an answer did cost. None: nobody knows, so it counts as what was set aside."""
        if caller.key is None:
            return
        spent = granted if cost_usd is None else float(cost_usd)
        if spent:
            self._keys.charge(caller.key.id, spent)  # what cannot be written down stays set aside
        self._reserved[caller.key.id] = max(0.0, self._reserved.get(caller.key.id, 0.0) - granted)
