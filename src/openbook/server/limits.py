"""Rate limits (token bucket) and daily budgets of keys."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

from openbook.errors import SettingsError, SharedError
from openbook.server.failures import RequestRefusedError
from openbook.server.keys import Key, KeyStore
from openbook.settings import Settings
from openbook.text import counted

if TYPE_CHECKING:
    # Lazy: the Redis plugin imports this module even if the server's packages are missing.
    from openbook.server.auth import Caller

_DAY_S = 24 * 3600

COUNTED_ALONE = "limits are counted by this server only"
"""Remark on answers while the shared store is unavailable. See `RecordedLimits`."""


@dataclass(frozen=True, slots=True)
class SpendReservation:
    """Money reserved for an answer."""

    usd: float
    day: str = ""
    """The day that it counts for, if already known."""


class Limits(Protocol):
    """Limits per key: a token bucket of questions, and a daily budget. Callers without a key have none.

    Thread-safe: concurrent requests never get more than sequential ones.
    """

    def take(self, caller: Caller) -> None:
        """Take a token from the bucket, which has a capacity of one minute, and count the question of the day.

        Raises:
            RequestRefusedError: A limit is reached.
            SessionError: It cannot be counted.
        """

    def reserve(self, caller: Caller, usd: float) -> SpendReservation:
        """Reserve money for an answer, at most `usd`.

        Raises:
            RequestRefusedError: The daily budget is spent.
            OpenbookError: It cannot be counted.
        """

    def settle(self, caller: Caller, grant: SpendReservation, cost_usd: Decimal | float | None) -> None:
        """Replace a reservation by the actual cost of the answer. None (unknown) keeps the reserved amount.

        Raises:
            OpenbookError: It cannot be stored. The reservation remains.
        """


class MemoryLimits:
    """Limits of one process. Questions and spending are stored with the keys.

    While these cannot be written, as on a full disk, questions are counted here, so that they are still answered.
    """

    def __init__(
        self,
        keys: KeyStore,
        settings: Settings,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._keys = keys
        self._per_minute = settings.key_questions_per_minute
        self._usd_per_day = settings.key_usd_per_day
        self._clock = clock
        self._now = now
        self._lock = threading.Lock()
        self._left: dict[str, tuple[float, float]] = {}
        self._reserved: dict[str, float] = {}
        self._unwritten: dict[str, tuple[str, int]] = {}

    def take(self, caller: Caller) -> None:
        if caller.key is None:
            return
        with self._lock:
            now = self._clock()
            left, since = self._left.get(caller.key.id, (float(self._per_minute), now))
            left = min(float(self._per_minute), left + (now - since) * self._per_minute / 60)
            if left < 1:
                raise too_many(self._per_minute, (1 - left) * 60 / self._per_minute)
            most = caller.key.grant.questions_per_day
            if not self._count(caller.key.id, most) and most is not None:
                raise too_many_today(most, _DAY_S - self._now() % _DAY_S)
            self._left[caller.key.id] = (left - 1, now)

    def _count(self, key_id: str, most: int | None) -> bool:
        """Count a question of today. Return False, without counting, if there were `most` already."""
        day, unwritten = self._unwritten.get(key_id, ("", 0))
        unwritten = unwritten if day == self._keys.today else 0
        try:
            return self._keys.count_question(key_id, None if most is None else most - unwritten)
        except SettingsError:
            if most is not None and self._keys.asked_today(key_id) + unwritten >= most:
                return False
            self._unwritten[key_id] = (self._keys.today, unwritten + 1)
            return True

    def reserve(self, caller: Caller, usd: float) -> SpendReservation:
        if caller.key is None:
            return SpendReservation(usd)
        most = usd_per_day(caller.key, self._usd_per_day)
        with self._lock:
            reserved = self._reserved.get(caller.key.id, 0.0)
            left = most - self._keys.spent_today(caller.key.id) - reserved
            if left <= 0:
                raise all_spent(most, _DAY_S - self._now() % _DAY_S)
            granted = min(usd, left)
            self._reserved[caller.key.id] = reserved + granted
        return SpendReservation(granted)

    def settle(self, caller: Caller, grant: SpendReservation, cost_usd: Decimal | float | None) -> None:
        if caller.key is None:
            return
        spent = grant.usd if cost_usd is None else float(cost_usd)
        with self._lock:
            if spent:
                self._keys.charge(caller.key.id, spent)  # if it cannot be stored, the reservation remains
            self._reserved[caller.key.id] = max(0.0, self._reserved.get(caller.key.id, 0.0) - grant.usd)


def too_many(per_minute: int, wait_s: float) -> RequestRefusedError:
    """Build the error for too many questions in a minute."""
    return RequestRefusedError(
        429,
        f"more than {per_minute} questions in a minute",
        hint=f"try again in {counted(max(1, round(wait_s)), 'second')}",
        retry_after_s=wait_s,
    )


def too_many_today(per_day: int, wait_s: float) -> RequestRefusedError:
    """Build the error for too many questions in a day."""
    return RequestRefusedError(
        429, f"more than {per_day} questions in a day", hint="ask again after midnight UTC", retry_after_s=wait_s
    )


def usd_per_day(key: Key, default: float) -> float:
    """Return the daily budget of a key in US dollars."""
    return default if key.grant.usd_per_day is None else key.grant.usd_per_day


def all_spent(usd_per_day: float, wait_s: float) -> RequestRefusedError:
    """Build the error for a spent daily budget."""
    return RequestRefusedError(
        429,
        f"the {usd_per_day:g} US dollars of this key are spent for today",
        hint="ask again after midnight UTC, or choose the model `extractive`, which costs nothing",
        retry_after_s=wait_s,
    )


def nearly_spent(left_usd: float, now_s: float) -> RequestRefusedError:
    """Build the error for a daily budget whose remainder is not enough for an answer."""
    return RequestRefusedError(
        429,
        f"the {left_usd:.2g} US dollars that this key may still spend today are too little for this answer",
        hint="ask again after midnight UTC, or choose a cheaper model; `extractive` costs nothing",
        retry_after_s=_DAY_S - now_s % _DAY_S,
    )


class RecordedLimits:
    """Limits counted in a shared store. Usage is also recorded with the keys, for owners to see.

    While the store is unavailable, each server counts its own questions, and reserves no money.
    """

    def __init__(self, limits: Limits, keys: KeyStore, settings: Settings) -> None:
        self._limits = limits
        self._keys = keys
        self._alone = MemoryLimits(keys, settings)

    def take(self, caller: Caller) -> None:
        try:
            self._limits.take(caller)
        except SharedError:
            self._alone.take(caller)
            return
        if caller.key is not None:
            with contextlib.suppress(SettingsError):  # the store counts; this is for owners to see
                self._keys.count_question(caller.key.id)

    def reserve(self, caller: Caller, usd: float) -> SpendReservation:
        return self._limits.reserve(caller, usd)

    def settle(self, caller: Caller, grant: SpendReservation, cost_usd: Decimal | float | None) -> None:
        if not grant.usd and not cost_usd:  # nothing was reserved, so there is nothing to correct
            return
        self._limits.settle(caller, grant, cost_usd)
        spent = grant.usd if cost_usd is None else float(cost_usd)
        if caller.key is not None and spent:
            self._keys.charge(caller.key.id, spent)
